"""The primitives of `store.transaction` in SQL; used by one connection in one thread."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
from attrs import evolve

from sidecar.core.errors import StorageCorrupt
from sidecar.core.layouts import Layout, pack, unpack
from sidecar.store.base import Baseline
from sidecar.store.sqlite.schema import SHIFT
from sidecar.store.transaction import ORDERS, REMEMBERED, EntryRow, HistoryRow, StoredEntry, VersionRecord

_HISTORY = (
    "hid, name, version, layout, len, tail, cumulative, estimate, marks, base_tokens, base_version, base_len,"
    " base_estimate, calibration, title, tags, metadata, created_at, updated_at"
)
_CHANGE = "hid, version, previous, kind, layout, len, marks, at, actor, operation_id, renamed_from"
_CHANGE_OF = ", ".join(f"change.{name}" for name in _CHANGE.split(", "))


class SqliteTransaction:
    """Reads and writes through one connection; the caller begins and commits. `writer` marks our own changes."""

    def __init__(self, connection: apsw.Connection, writer: int) -> None:
        self.connection = connection
        self.execute: Any = connection.execute
        self.writer = writer

    # --- reading ------------------------------------------------------------------------------------------------------

    def find(self, name: str) -> HistoryRow | None:
        row = self.execute(f"SELECT {_HISTORY} FROM history WHERE name = ? AND live = 1", (name,)).fetchone()
        return None if row is None else history_row(row)

    def tombstone(self, name: str) -> int:
        return int(self.execute("SELECT version FROM tombstone WHERE name = ?", (name,)).get or 0)

    def version(self, hid: int, version: int) -> VersionRecord | None:
        row = self.execute(f"SELECT {_CHANGE} FROM change WHERE hid = ? AND version = ?", (hid, version)).fetchone()
        return None if row is None else version_record(row)

    def oldest_version(self, hid: int) -> int:
        return int(self.execute("SELECT min(version) FROM change WHERE hid = ?", (hid,)).get or 0)

    def layout(self, hid: int, layout: int) -> Layout:
        found = self.execute("SELECT ranges FROM layout WHERE hid = ? AND layout = ?", (hid, layout)).get
        if found is None:
            raise StorageCorrupt("a version of a history has lost its layout", detail="layout")
        return unpack(json.loads(found))

    def marks(self, hid: int, marks: int) -> Mapping[str, str]:
        if not marks:
            return {}
        found = self.execute("SELECT entries FROM marks WHERE hid = ? AND marks = ?", (hid, marks)).get
        if found is None:
            raise StorageCorrupt("a version of a history has lost its elision marks", detail="marks")
        loaded: dict[str, str] = json.loads(found)
        return loaded

    def entries(self, log: int, lo: int, hi: int) -> list[StoredEntry]:
        rows = self.execute(
            "SELECT id, body, measure, layout, marks FROM entry WHERE id >= ? AND id < ? ORDER BY id",
            _keys(log, lo, hi),
        ).fetchall()
        _complete(rows, lo, hi)
        mask = (1 << SHIFT) - 1
        return [
            StoredEntry(log=log, seq=key & mask, body=body, measure=measure, layout=layout, marks=marks)
            for key, body, measure, layout, marks in rows
        ]

    def bodies(self, log: int, lo: int, hi: int) -> list[bytes]:
        rows = self.execute(
            "SELECT body FROM entry WHERE id >= ? AND id < ? ORDER BY id", _keys(log, lo, hi)
        ).fetchall()
        _complete(rows, lo, hi)
        return [row[0] for row in rows]

    def roles(self, log: int, lo: int, hi: int) -> list[int]:
        rows = self.execute(
            "SELECT role FROM entry WHERE id >= ? AND id < ? ORDER BY id", _keys(log, lo, hi)
        ).fetchall()
        return [row[0] for row in rows]

    def estimate(self, log: int, lo: int, hi: int) -> int:
        if hi <= lo:
            return 0
        first, last = _keys(log, lo, hi - 1)
        before = self.execute("SELECT cumulative - estimate FROM entry WHERE id = ?", (first,)).get
        upto = self.execute("SELECT cumulative FROM entry WHERE id = ?", (last,)).get
        if before is None or upto is None:
            raise StorageCorrupt("a history has lost entries", detail="entry")
        return int(upto) - int(before)

    def lookup(self, log: int, entry_id: str) -> list[int]:
        mask = (1 << SHIFT) - 1
        found = []
        key = _id_key(log, entry_id)
        for row_id, body in self.execute("SELECT id, body FROM entry WHERE key = ? ORDER BY id", (key,)).fetchall():
            # 64-bit keys can collide; the body decides.
            if row_id >> SHIFT == log and json.loads(body)["id"] == entry_id:
                found.append(row_id & mask)
        return found

    def records_below(self, hid: int, version: int, limit: int) -> list[tuple[VersionRecord, bool]]:
        found = self.execute(
            f"SELECT {_CHANGE}, writer FROM change WHERE hid = ? AND version < ? ORDER BY version DESC LIMIT ?",
            (hid, version, limit),
        ).fetchall()
        return [(version_record(row[:-1]), row[-1] == self.writer) for row in found]

    def histories(self, prefix: str, order_by: str, after: tuple[Any, ...] | None, limit: int) -> list[HistoryRow]:
        column = ORDERS[order_by]
        where, values = "name >= ? AND name < ?", [prefix, prefix + "\U0010ffff"]
        if after is not None:
            where += " AND name > ?" if column == "name" else f" AND ({column}, name) < (?, ?)"
            values += after
        order = "name" if column == "name" else f"{column} DESC, name DESC"
        found = self.execute(
            f"SELECT {_HISTORY} FROM history WHERE live = 1 AND {where} ORDER BY {order} LIMIT ?", (*values, limit)
        ).fetchall()
        return [history_row(row) for row in found]

    def last_change(self) -> tuple[int, int]:
        return 0, int(self.execute("SELECT max(id) FROM change").get or 0)

    def changes_since(self, last: tuple[int, int]) -> list[tuple[tuple[int, int], str, VersionRecord, bool]]:
        # One writer at a time, so the row number is the commit order.
        found = self.execute(
            f"SELECT change.id, change.writer, history.name, {_CHANGE_OF} FROM change JOIN history USING(hid)"
            " WHERE change.id > ? ORDER BY change.id",
            (last[1],),
        ).fetchall()
        return [((0, row[0]), row[2], version_record(row[3:]), row[1] == self.writer) for row in found]

    def next_rename(self, hid: int, version: int) -> str | None:
        name: str | None = self.execute(
            "SELECT renamed_from FROM change WHERE hid = ? AND version > ? AND renamed_from IS NOT NULL"
            " ORDER BY version LIMIT 1",
            (hid, version),
        ).get
        return name

    # --- writing ------------------------------------------------------------------------------------------------------

    def create(self, name: str, at: int) -> HistoryRow:
        self.execute(
            "INSERT INTO history(name, version, layout, len, tail, cumulative, estimate, marks, created_at, updated_at)"
            " VALUES(?, 0, 0, 0, 0, 0, 0, 0, ?, ?)",
            (name, at, at),
        )
        hid = self.connection.last_insert_rowid()
        return HistoryRow(
            hid=hid, name=name, version=0, layout=0, len=0, tail=0, cumulative=0, estimate=0, marks=0,
            created_at=at, updated_at=at,
        )  # fmt: skip

    def save(self, row: HistoryRow) -> None:
        base = row.baseline
        self.execute(
            "UPDATE history SET name=?, version=?, layout=?, len=?, tail=?, cumulative=?, estimate=?, marks=?,"
            " base_tokens=?, base_version=?, base_len=?, base_estimate=?, calibration=?, title=?, tags=?, metadata=?,"
            " updated_at=? WHERE hid=?",
            (
                row.name, row.version, row.layout, row.len, row.tail, row.cumulative, row.estimate, row.marks,
                base and base.tokens, base and base.version, base and base.len, base and base.estimate,
                _text(row.calibration), row.title, _text(list(row.tags)), _text(dict(row.metadata)),
                row.updated_at, row.hid,
            ),
        )  # fmt: skip

    def remove(self, row: HistoryRow) -> None:
        self.execute("UPDATE history SET live = 0 WHERE hid = ?", (row.hid,))

    def bury(self, name: str, version: int) -> None:
        self.execute("INSERT OR REPLACE INTO tombstone VALUES(?, ?)", (name, version))

    def recall(self, name: str, operation_id: str) -> tuple[bytes, bytes] | None:
        row: tuple[bytes, bytes] | None = self.execute(
            "SELECT digest, result FROM operation WHERE name = ? AND operation_id = ?", (name, operation_id)
        ).fetchone()
        return row

    def remember(self, name: str, operation_id: str, digest: bytes, result: bytes, at: int) -> None:
        self.execute(
            "INSERT INTO operation(name, operation_id, digest, result, at) VALUES(?, ?, ?, ?, ?)",
            (name, operation_id, digest, result, at),
        )
        number = self.connection.last_insert_rowid()
        if number % 256 == 0:
            self.execute(
                "DELETE FROM operation WHERE name = ?1 AND id <= (SELECT id FROM operation WHERE name = ?1"
                " ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                (name, REMEMBERED),
            )

    def journal(self, record: VersionRecord) -> None:
        self.execute(
            f"INSERT INTO change({_CHANGE}, writer) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.hid, record.version, record.previous, record.kind, record.layout, record.len, record.marks,
                record.at, record.actor, record.operation_id, record.renamed_from, self.writer,
            ),
        )  # fmt: skip

    def add_layout(self, hid: int, layout: int, ranges: Layout) -> None:
        text = json.dumps(pack(ranges), separators=(",", ":"))
        self.execute("INSERT INTO layout VALUES(?, ?, ?)", (hid, layout, text))

    def add_marks(self, hid: int, marks: Mapping[str, str]) -> int:
        if not marks:
            return 0
        number = int(self.execute("SELECT max(marks) FROM marks WHERE hid = ?", (hid,)).get or 0) + 1
        self.execute("INSERT INTO marks VALUES(?, ?, ?)", (hid, number, _text(dict(marks))))
        return number

    def add_entries(self, hid: int, rows: Sequence[EntryRow]) -> None:
        self.connection.executemany(
            "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    hid << SHIFT | row.seq, _id_key(hid, row.entry_id), row.layout, row.marks, row.role,
                    row.estimate, row.cumulative, row.measure, row.body,
                )
                for row in rows
            ],
        )  # fmt: skip


def history_row(row: Sequence[Any]) -> HistoryRow:
    """Read the columns of `_HISTORY`."""
    (hid, name, version, layout, length, tail, cumulative, estimate, marks, tokens, base_version, base_len,
     base_estimate, calibration, title, tags, metadata, created_at, updated_at) = row  # fmt: skip
    found = HistoryRow(
        hid=hid, name=name, version=version, layout=layout, len=length, tail=tail, cumulative=cumulative,
        estimate=estimate, marks=marks, created_at=created_at, updated_at=updated_at, title=title,
        tags=tuple(json.loads(tags)) if tags else (), metadata=json.loads(metadata) if metadata else {},
        calibration=json.loads(calibration) if calibration else None,
    )  # fmt: skip
    if tokens is None:
        return found
    baseline = Baseline(tokens=tokens, version=base_version, len=base_len, estimate=base_estimate)
    return evolve(found, baseline=baseline)


def version_record(row: Sequence[Any]) -> VersionRecord:
    """Read the columns of `_CHANGE`."""
    hid, version, previous, kind, layout, length, marks, at, actor, operation_id, renamed_from = row
    return VersionRecord(
        hid=hid, version=version, previous=previous, kind=kind, layout=layout, len=length, marks=marks, at=at,
        actor=actor, operation_id=operation_id, renamed_from=renamed_from,
    )  # fmt: skip


def _keys(log: int, lo: int, hi: int) -> tuple[int, int]:
    return log << SHIFT | lo, log << SHIFT | hi


def _complete(rows: Sequence[object], lo: int, hi: int) -> None:
    if len(rows) != hi - lo:
        raise StorageCorrupt("a history has lost entries", detail="entry")


def _text(value: Any) -> str | None:
    return json.dumps(value, separators=(",", ":")) if value else None


def _id_key(hid: int, entry_id: str) -> int:
    digest = hashlib.blake2b(b"%d:%s" % (hid, entry_id.encode("utf-8", "surrogatepass")), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
