"""Looking after a database: facts and check. Functions of a DSN; no console.

Backup and recovery are the database's own: `pg_dump` writes one consistent copy, and PostgreSQL heals itself.
"""

from __future__ import annotations

from typing import Any

import psycopg

from sidecar.core.errors import StorageUnavailable
from sidecar.store.checking import Facts, Finding, blob_is_whole, check_versions
from sidecar.store.postgres.engine import ENGINE, connect, translated
from sidecar.store.postgres.schema import TABLES, schema_of
from sidecar.store.postgres.transaction import PostgresTransaction


def place(dsn: str) -> str:
    """Name the database without the secrets of its DSN."""
    known = psycopg.conninfo.conninfo_to_dict(dsn)
    return f"{known.get('dbname') or known.get('user') or '?'} on {known.get('host') or 'localhost'}"


def facts(dsn: str) -> Facts:
    """Count what a store holds; its size is that of its tables and their indexes."""
    with translated(), _reading(dsn) as connection:

        def one(statement: str, *values: Any) -> int:
            row = connection.execute(statement.encode(), values).fetchone()
            return int(row[0]) if row is not None else 0

        return Facts(
            schema=schema_of(connection),
            histories=one("SELECT count(*) FROM history WHERE live = 1"),
            deleted=one("SELECT count(*) FROM history WHERE live = 0"),
            versions=one("SELECT count(*) FROM change WHERE hid > 0"),
            entries=one("SELECT count(*) FROM entry"),
            body_bytes=one("SELECT coalesce(sum(octet_length(body)), 0) FROM entry"),
            blobs=one("SELECT count(*) FROM blob"),
            blob_bytes=one("SELECT coalesce(sum(size), 0) FROM blob"),
            file_bytes=one(
                "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", list(TABLES)
            ),
        )


def check(dsn: str) -> tuple[Finding, ...]:
    """Check that every version reads back, all as of one moment; an empty answer means that all is well."""
    with translated(), _reading(dsn) as connection:
        findings = [*check_versions(PostgresTransaction(connection, 0))]
        with connection.cursor("blobs", binary=True) as cursor:  # one after the other: they are large
            cursor.itersize = 16
            for digest, data, coded in cursor.execute("SELECT hash, data, coded FROM blob"):
                if not blob_is_whole(digest, data, bool(coded)):
                    findings.append(Finding(history="", version=None, problem="a blob is damaged"))
        return tuple(findings)


def _reading(dsn: str) -> psycopg.Connection[Any]:
    connection = connect(dsn, autocommit=False)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    if not schema_of(connection):
        connection.close()
        raise StorageUnavailable("there is no store in this database", ENGINE, detail="cannotOpen")
    return connection
