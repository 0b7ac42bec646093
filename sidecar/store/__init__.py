"""The stores: memory, SQLite and PostgreSQL behind one protocol (`store.base.Store`)."""

from __future__ import annotations

from sidecar.store.base import Store


def open_store(location: str) -> Store:
    """Return the store that a location names: `:memory:`, a SQLite file, or `postgresql://…`; not opened yet."""
    # Each engine's driver is imported only where it is used: it is the larger part of its cost.
    if location.startswith(("postgresql://", "postgres://")):
        from sidecar.store.postgres.engine import PostgresStore

        return PostgresStore(location)
    from sidecar.store.sqlite.engine import SqliteStore

    return SqliteStore(location)
