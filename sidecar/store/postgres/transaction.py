"""The SQL primitives through psycopg."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from psycopg import Connection, Cursor

from sidecar.store.buffered import BufferedTransaction
from sidecar.store.sql import CHANGE_OF_HISTORY, FIND_HISTORY, SHIFT, SqlTransaction, version_record
from sidecar.store.transaction import Match, VersionRecord
from sidecar.store.words import Phrase


class PostgresTransaction(SqlTransaction):
    """Reads and writes through one connection, each statement at once."""

    overriding = " OVERRIDING SYSTEM VALUE"

    def __init__(self, connection: Connection[Any], writer: int) -> None:
        super().__init__(writer)
        self._cursor: Cursor[Any] = connection.cursor(binary=True)

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        self._cursor.execute(_translated(statement), values, prepare=True)
        return self._cursor.fetchall() if self._cursor.description is not None else []

    def _run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        if len(values) == 1:
            self._cursor.execute(_translated(statement), values[0], prepare=True)
        else:
            self._cursor.executemany(_translated(statement), values)

    def renumber(self) -> None:
        for table, column in (("history", "hid"), ("change", "id"), ("operation", "id")):
            sequence = f"pg_get_serial_sequence('{table}', '{column}')"
            self.rows(f"SELECT setval({sequence}, (SELECT coalesce(max({column}), 0) + 1 FROM {table}), false)")

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

    def matches(self, phrases: Sequence[Phrase], start: tuple[float, int, int] | None, limit: int) -> list[Match]:
        # Words are letters and digits only, so quoting them leaves nothing of the query language.
        wanted = " & ".join(
            "(" + " <-> ".join(f"'{word}'" for word in phrase.words) + (":*" if phrase.prefix else "") + ")"
            for phrase in phrases
        )
        where, values = "", tuple[Any, ...]()
        if start is not None:
            where = " WHERE (score, id) >= (?::float8, ?::bigint)"
            values = (start[0], start[1] << SHIFT | start[2])
        found = self.rows(
            "SELECT score, id FROM (SELECT -ts_rank(words, query)::float8 AS score, id"
            " FROM words, to_tsquery('simple', ?) AS query WHERE words @@ query) AS found"
            f"{where} ORDER BY score, id LIMIT ?",
            (wanted, *values, limit),
        )
        return [Match(score, key >> SHIFT, key & ((1 << SHIFT) - 1)) for score, key in found]

    def add_words(self, log: int, rows: Sequence[tuple[int, str]]) -> None:
        if rows:
            self.many(
                "INSERT INTO words VALUES(?, to_tsvector('simple', ?)) ON CONFLICT(id) DO NOTHING",
                [(log << SHIFT | seq, text) for seq, text in rows],
            )

    def drop_words(self, first: int, last: int) -> None:
        self.rows("DELETE FROM words WHERE id >= ? AND id <= ?", (first, last))


class PostgresWriting(BufferedTransaction, PostgresTransaction):
    """The writer's; a look-up of a history locks its row."""

    finding = f"{FIND_HISTORY} FOR UPDATE"


@lru_cache(maxsize=256)
def _translated(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
