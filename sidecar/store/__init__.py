"""The stores: memory, SQLite and PostgreSQL behind one protocol (`store.base.Store`)."""

from __future__ import annotations

from sidecar.store.base import Store


def open_store(location: str) -> Store:
    """Return the store that a location names: `:memory:`, a SQLite file, or `postgresql://…`; not opened yet."""
    from sidecar.store.sqlite.engine import SqliteStore

    return SqliteStore(location)
