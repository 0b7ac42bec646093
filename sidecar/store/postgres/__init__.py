"""The PostgreSQL engine, through psycopg 3 (extra `postgres`): one store for many machines."""
