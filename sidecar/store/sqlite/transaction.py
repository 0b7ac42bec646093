"""The SQL primitives through apsw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import apsw

from sidecar.store.buffered import BufferedTransaction
from sidecar.store.sql import CHANGE_OF_HISTORY, SHIFT, SqlTransaction, version_record
from sidecar.store.transaction import Match, VersionRecord
from sidecar.store.words import Phrase

ROWS = (100, 8)
"""Rows of one statement, where there are so many: ten columns of each are well below SQLite's 32 766 parameters."""

_INSERT = re.compile(r"INSERT INTO [^;]* VALUES\(([?, ]+)\)").fullmatch


class SqliteTransaction(SqlTransaction):
    """Reads and writes through one apsw connection, each statement at once."""

    def __init__(self, connection: apsw.Connection, writer: int) -> None:
        super().__init__(writer)
        self._execute: Any = connection.execute
        self._executemany: Any = connection.executemany

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        found: list[Any] = self._execute(statement, values).fetchall()
        return found

    def _run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        at = 0
        for size in ROWS if _INSERT(statement) else ():
            # Every step lets go of the interpreter lock and waits for it again behind whoever computes meanwhile, so
            # rows go in together (measured: an import beside which its reader runs took twice the time).
            while len(values) - at >= size:
                self._execute(_of_rows(statement, size), [value for row in values[at : at + size] for value in row])
                at += size
        if at < len(values):
            self._executemany(statement, values[at:])

    def renumber(self) -> None:
        return  # SQLite counts on from the highest number there is

    def last_change(self) -> tuple[int, int]:
        return 0, int(self.value("SELECT max(id) FROM change") or 0)

    def changes_since(self, last: tuple[int, int]) -> list[tuple[tuple[int, int], str, VersionRecord, bool]]:
        # One writer at a time, so the row number is the commit order.
        found = self.rows(
            f"SELECT change.id, change.writer, history.name, {CHANGE_OF_HISTORY} FROM change JOIN history USING(hid)"
            " WHERE change.id > ? ORDER BY change.id",
            (last[1],),
        )
        return [((0, row[0]), row[2], version_record(row[3:]), row[1] == self.writer) for row in found]

    def drop_versions(self, hid: int, below: int) -> None:
        newest = self.last_change()[1]
        super().drop_versions(hid, below)
        if self.last_change()[1] < newest:
            # The feed's cursor is a row number, so the highest one must not be given out again. AUTOINCREMENT would
            # see to that too, for one more page in every commit.
            self.rows(
                "INSERT INTO change(id, hid, version, previous, kind, layout, len, marks, at, writer)"
                " VALUES(?, 0, ?, 0, 'pruned', 0, 0, 0, 0, 0)",
                (newest, newest),
            )

    def matches(self, phrases: Sequence[Phrase], start: tuple[float, int, int] | None, limit: int) -> list[Match]:
        # Words are letters and digits only, so quoting them leaves nothing of the query language.
        wanted = " ".join(f'"{" ".join(phrase.words)}"{"*" if phrase.prefix else ""}' for phrase in phrases)
        where, values = ("", ()) if start is None else (" WHERE (score, id) >= (?, ?)", _key(start))
        found = self.rows(
            "SELECT score, id FROM (SELECT bm25(words) AS score, rowid AS id FROM words WHERE words MATCH ?)"
            f"{where} ORDER BY score, id LIMIT ?",
            (wanted, *values, limit),
        )
        return [Match(score, key >> SHIFT, key & ((1 << SHIFT) - 1)) for score, key in found]

    def add_words(self, log: int, rows: Sequence[tuple[int, str]]) -> None:
        self.many("INSERT INTO words(rowid, text) VALUES(?, ?)", [(log << SHIFT | seq, text) for seq, text in rows])

    def drop_words(self, first: int, last: int) -> None:
        self.rows("DELETE FROM words WHERE rowid >= ? AND rowid <= ?", (first, last))


class SqliteWriting(BufferedTransaction, SqliteTransaction):
    """The writer's."""


@lru_cache(maxsize=64)
def _of_rows(statement: str, size: int) -> str:
    """Return an INSERT of one row as one of `size` rows."""
    match = _INSERT(statement)
    assert match is not None
    return statement + f", ({match[1]})" * (size - 1)


def _key(start: tuple[float, int, int]) -> tuple[float, int]:
    return start[0], start[1] << SHIFT | start[2]
