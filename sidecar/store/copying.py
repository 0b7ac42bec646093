"""Copy a whole store to another engine: every version, every operation id, every byte; resumable and verified.

Rules:
- Rows are copied as they are, in key order, so an interrupted copy goes on behind the last key that arrived. The
  target is marked with the source's id before its first row: only the same copy may go on in a store that holds
  something.
- What only grows comes first; the histories themselves come last, and only where no change was committed meanwhile.
  Otherwise another round copies what is new. So the source may be in use; it is quickest where it is not.
- At the end both sides are read again and every row compared. The full-text index is not copied; the target makes its
  own at the first search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from attrs import frozen

from sidecar.core.errors import InvalidParams, StorageCorrupt
from sidecar.store.front import StoreFront
from sidecar.store.sql import SqlTransaction

BATCH = 200
"""Rows per transaction."""

MARK = "copied_from"


@frozen
class Table:
    """One table: its name, how many leading columns are the key, and its columns."""

    name: str
    keys: int
    columns: tuple[str, ...]
    numbered: bool = False
    """The engine gives out the first column itself."""


_GROWING = (
    Table("blob", 1, ("hash", "size", "coded", "data")),
    Table(
        "entry",
        1,
        ("id", "key", "layout", "marks", "role", "estimate", "cumulative", "measure", "body", "places"),
    ),
    Table("entry_blob", 2, ("hash", "entry")),
    Table("layout", 2, ("hid", "layout", "ranges")),
    Table("marks", 2, ("hid", "marks", "entries")),
    Table("borrow", 2, ("log", "hid")),
    Table("operation", 1, ("id", "name", "operation_id", "digest", "result", "at"), numbered=True),
    Table(
        "change",
        1,
        (
            "id", "hid", "version", "previous", "kind", "layout", "len", "marks", "at", "writer", "actor",
            "operation_id", "renamed_from",
        ),
        numbered=True,
    ),
)  # fmt: skip
_CHANGING = (
    Table("tombstone", 1, ("name", "version")),
    Table(
        "history",
        1,
        (
            "hid", "name", "live", "version", "layout", "len", "tail", "cumulative", "estimate", "marks",
            "base_tokens", "base_version", "base_len", "base_estimate", "calibration", "title", "tags", "metadata",
            "created_at", "updated_at",
        ),
        numbered=True,
    ),
)  # fmt: skip

Row: TypeAlias = tuple[Any, ...]
Progress: TypeAlias = Callable[[str, int], None]
"""Called with a table's name and how many of its rows were just copied or compared."""


@frozen
class Copied:
    """What a copy did."""

    histories: int
    entries: int
    changes: int


async def copy_store(source: StoreFront, target: StoreFront, progress: Progress = lambda _table, _rows: None) -> Copied:
    """Copy `source` to `target`, both open.

    Raises `InvalidParams` where the target holds something else, `StorageCorrupt` where the copy is not equal.
    """
    origin = await source._reading(lambda tx: _meta(_sql(tx), "store_id"))
    await target._writing(lambda tx: _claim(_sql(tx), str(origin)))
    while True:
        for table in _GROWING:
            await _copy_growing(source, target, table, progress)
        if await _copy_changing(source, target):
            break
    await target._writing(lambda tx: _sql(tx).renumber())
    for table in (*_GROWING, *_CHANGING):
        if await _digest(source, table, progress) != await _digest(target, table, progress):
            raise StorageCorrupt("the copy is not equal to its source", detail=table.name)
    await target._writing(lambda tx: _sql(tx).rows("DELETE FROM meta WHERE k = ?", (MARK,)))
    counts = [await target._reading(partial(_count, table=name)) for name in ("history", "entry", "change")]
    return Copied(*counts)


def _claim(tx: SqlTransaction, origin: str) -> None:
    marked = _meta(tx, MARK)
    if marked is None and (tx.value("SELECT 1 FROM history LIMIT 1") or tx.value("SELECT 1 FROM entry LIMIT 1")):
        raise InvalidParams.at("", "the target store is not empty")
    if marked not in (None, origin):
        raise InvalidParams.at("", "the target store holds part of a copy of another store")
    if marked is None:
        tx.rows("INSERT INTO meta VALUES(?, ?)", (MARK, origin))


async def _copy_growing(source: StoreFront, target: StoreFront, table: Table, progress: Progress) -> None:
    last: Row | None = await target._reading(lambda tx: _last(_sql(tx), table))
    while rows := await source._reading(partial(_page, table=table, after=last)):
        await target._writing(partial(_insert, table=table, rows=rows))
        last = rows[-1][: table.keys]
        progress(table.name, len(rows))


async def _copy_changing(source: StoreFront, target: StoreFront) -> bool:
    """Copy what changes in place; False where something was committed since the growing tables were copied."""
    newest = await target._reading(lambda tx: _sql(tx).value("SELECT max(id) FROM change"))

    def read(tx: Any) -> list[list[Row]] | None:
        if _sql(tx).value("SELECT max(id) FROM change") != newest:
            return None
        return [list(_all(_sql(tx), table)) for table in _CHANGING]

    found = await source._reading(read)
    if found is None:
        return False

    def write(tx: Any) -> None:
        for table, rows in zip(_CHANGING, found, strict=True):
            _sql(tx).rows(f"DELETE FROM {table.name}")
            for start in range(0, len(rows), BATCH):
                _insert(tx, table, rows[start : start + BATCH])

    await target._writing(write)
    return True


async def _digest(store: StoreFront, table: Table, progress: Progress) -> bytes:
    digest, last = hashlib.blake2b(digest_size=16), None
    while rows := await store._reading(partial(_page, table=table, after=last)):
        for row in rows:
            digest.update(repr(row).encode())
        last = rows[-1][: table.keys]
        progress(table.name, len(rows))
    return digest.digest()


def _page(tx: Any, table: Table, after: Row | None) -> list[Row]:
    key = ", ".join(table.columns[: table.keys])
    where = "" if after is None else f" WHERE ({key}) > ({', '.join('?' * table.keys)})"
    statement = f"SELECT {', '.join(table.columns)} FROM {table.name}{where} ORDER BY {key} LIMIT ?"
    return [tuple(row) for row in _sql(tx).rows(statement, (*(after or ()), BATCH))]


def _all(tx: SqlTransaction, table: Table) -> Iterator[Row]:
    last: Row | None = None
    while rows := _page(tx, table, last):
        yield from rows
        last = rows[-1][: table.keys]


def _last(tx: SqlTransaction, table: Table) -> Row | None:
    key = table.columns[: table.keys]
    order = ", ".join(f"{column} DESC" for column in key)
    found = tx.row(f"SELECT {', '.join(key)} FROM {table.name} ORDER BY {order} LIMIT 1")
    return None if found is None else tuple(found)


def _insert(tx: Any, table: Table, rows: list[Row]) -> None:
    own_number = _sql(tx).overriding if table.numbered else ""
    marks = ", ".join("?" * len(table.columns))
    statement = f"INSERT INTO {table.name}({', '.join(table.columns)}){own_number} VALUES({marks})"
    _sql(tx).many(statement, rows)


def _count(tx: Any, table: str) -> int:
    return int(_sql(tx).value(f"SELECT count(*) FROM {table}"))


def _meta(tx: SqlTransaction, key: str) -> Any:
    return tx.value("SELECT v FROM meta WHERE k = ?", (key,))


def _sql(tx: Any) -> SqlTransaction:
    assert isinstance(tx, SqlTransaction)
    return tx
