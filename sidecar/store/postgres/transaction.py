"""The SQL primitives through psycopg."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from psycopg import Connection, Cursor

from sidecar.store.sql import CHANGE_OF_HISTORY, SqlTransaction, version_record
from sidecar.store.transaction import VersionRecord


class PostgresTransaction(SqlTransaction):
    """Reads and writes through one connection; a look-up for writing locks the history's row."""

    def __init__(self, connection: Connection[Any], writer: int, *, locks: bool) -> None:
        super().__init__(writer)
        self.lock = " FOR UPDATE" if locks else ""
        self._cursor: Cursor[Any] = connection.cursor(binary=True)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        self._cursor.execute(_translated(statement), values, prepare=True)
        return self._cursor.fetchall() if self._cursor.description is not None else []

    def many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        if len(values) == 1:
            self._cursor.execute(_translated(statement), values[0], prepare=True)
        else:
            self._cursor.executemany(_translated(statement), values)

    def last_change(self) -> tuple[int, int]:
        # Everything below the oldest running transaction is settled; what is above is told later.
        return int(self.value("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")) - 1, (1 << 62)

    def changes_since(self, last: tuple[int, int]) -> list[tuple[tuple[int, int], str, VersionRecord, bool]]:
        found = self.rows(
            "SELECT change.xid::text, change.id, change.writer, history.name, "
            f"{CHANGE_OF_HISTORY} FROM change JOIN history USING(hid)"
            " WHERE (change.xid, change.id) > (?::text::xid8, ?)"
            " AND change.xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY change.xid, change.id",
            (str(last[0]), last[1]),
        )
        return [((int(row[0]), row[1]), row[3], version_record(row[4:]), row[2] == self.writer) for row in found]


@lru_cache(maxsize=256)
def _translated(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
