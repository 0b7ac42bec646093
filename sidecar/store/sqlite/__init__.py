"""The SQLite engine, through apsw: one file, many processes, one fsync per commit."""
