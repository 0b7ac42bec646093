"""The stores: memory, SQLite and PostgreSQL behind one protocol (`store.base.Store`)."""

from __future__ import annotations

from sidecar.store.base import Store


def is_database(location: str) -> bool:
    """Say whether a location names a PostgreSQL database."""
    return location.startswith(("postgresql://", "postgres://"))


def open_store(location: str) -> Store:
    """Return the store that a location names: `:memory:`, a SQLite file, or `postgresql://…`; not opened yet."""
    # Each engine's driver is imported only where it is used: it is the larger part of its cost.
    if is_database(location):
        from sidecar.store.postgres.engine import PostgresStore

        return PostgresStore(location)
    from sidecar.store.sqlite.engine import SqliteStore

    return SqliteStore(location)
