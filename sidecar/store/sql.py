"""The primitives of `store.transaction` in the SQL that SQLite and PostgreSQL share.

Rules: only statements that mean the same in both; what differs is a method of the engine's subclass. Placeholders are
`?`, the PostgreSQL subclass rewrites them. Free text (titles, client names) is kept as ASCII JSON, since a lone
surrogate or a NUL fits no database text.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from sidecar.core.errors import StorageCorrupt
from sidecar.core.layouts import Layout, pack, unpack
from sidecar.store import blobs
from sidecar.store.base import Baseline
from sidecar.store.bodies import json_of
from sidecar.store.skim import is_sound, sound
from sidecar.store.transaction import ORDERS, EntryRow, HistoryRow, Match, StoredEntry, VersionRecord
from sidecar.store.words import Phrase

HISTORY_COLUMNS = (
    "hid, name, version, layout, len, tail, cumulative, estimate, marks, base_tokens, base_version, base_len,"
    " base_estimate, calibration, title, tags, metadata, created_at, updated_at"
)
_CHANGE = "hid, version, previous, kind, layout, len, marks, at, actor, operation_id, renamed_from"
CHANGE_OF_HISTORY = ", ".join(f"change.{name}" for name in _CHANGE.split(", "))


SHIFT = 32
"""Bits of the sequence number inside an entry key: `hid << 32 | seq`, so that one history is one range scan."""

WRITER_BITS = 31
"""Size of the number by which a process knows its own changes: every change carries it, and 62 bits took 8 bytes."""

KEPT_LAYOUTS = 256
"""How many layouts a writer keeps in memory."""

LOOKED_UP = 500
"""How many entry ids one statement looks for."""

FIND_HISTORY = f"SELECT {HISTORY_COLUMNS} FROM history WHERE name = ? AND live = 1"
_LOOKUP = "SELECT id, body FROM entry WHERE key = ? ORDER BY id"
_RECALL = "SELECT digest, result FROM operation WHERE name = ? AND operation_id = ?"
ADD_ENTRY = "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SAVE_HISTORY = (
    "UPDATE history SET version=?, layout=?, len=?, tail=?, cumulative=?, estimate=?, marks=?,"
    " base_tokens=?, base_version=?, base_len=?, base_estimate=?, calibration=?, title=?, tags=?, metadata=?,"
    " updated_at=? WHERE hid=?"
)
ADD_CHANGE = f"INSERT INTO change({_CHANGE}, writer) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
ADD_OPERATION = "INSERT INTO operation(name, operation_id, digest, result, at) VALUES(?, ?, ?, ?, ?)"
FORGET_OPERATIONS = (
    "DELETE FROM operation WHERE name = ? AND id <= (SELECT id FROM operation WHERE name = ?"
    " ORDER BY id DESC LIMIT 1 OFFSET ?)"
)


class SqlTransaction(ABC):
    """Reads and writes through one connection; the caller begins and commits. `writer` marks our own changes."""

    finding = FIND_HISTORY
    """The look-up of a history; an engine that locks rows adds to it."""

    overriding = ""
    """Put before `VALUES` where a copy brings numbers that an engine gives out itself."""

    def __init__(self, writer: int) -> None:
        self.writer = writer
        # A layout never changes once it is committed, and nearly every append looks at the same one.
        self._layouts: dict[tuple[int, int], Layout] = {}

    @abstractmethod
    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return its rows."""

    @abstractmethod
    def _run_many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""

    @abstractmethod
    def last_change(self) -> tuple[int, int]:
        """Return the cursor behind the newest change."""

    @abstractmethod
    def changes_since(self, last: tuple[int, int]) -> list[tuple[tuple[int, int], str, VersionRecord, bool]]:
        """Return the changes behind a cursor in commit order."""

    @abstractmethod
    def renumber(self) -> None:
        """Let the engine go on counting behind the numbers that a copy brought."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one statement, which sees all that was done before, and return its rows."""
        return self._run(statement, values)

    def many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._run_many(statement, values)

    def row(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the first row, or `None`."""
        found = self.rows(statement, values)
        return found[0] if found else None

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or `None`."""
        found = self.rows(statement, values)
        return found[0][0] if found else None

    # --- reading ------------------------------------------------------------------------------------------------------

    def find(self, name: str) -> HistoryRow | None:
        return self._find(name)

    def _find(self, name: str) -> HistoryRow | None:
        found = self._run(self.finding, (name,))
        return history_row(found[0]) if found else None

    def tombstone(self, name: str) -> int:
        return int(self.value("SELECT version FROM tombstone WHERE name = ?", (name,)) or 0)

    def version(self, hid: int, version: int) -> VersionRecord | None:
        row = self.row(f"SELECT {_CHANGE} FROM change WHERE hid = ? AND version = ?", (hid, version))
        return None if row is None else version_record(row)

    def oldest_version(self, hid: int) -> int:
        return int(self.value("SELECT min(version) FROM change WHERE hid = ?", (hid,)) or 0)

    def layout(self, hid: int, layout: int) -> Layout:
        kept = self._layouts.get((hid, layout))
        if kept is not None:
            return kept
        found = self.value("SELECT ranges FROM layout WHERE hid = ? AND layout = ?", (hid, layout))
        if found is None:
            raise StorageCorrupt("a version of a history has lost its layout", detail="layout")
        if len(self._layouts) >= KEPT_LAYOUTS:
            self._layouts.clear()
        try:
            ranges = unpack(json_of(found, "layout"))
        except (TypeError, ValueError):
            raise StorageCorrupt("a version of a history has lost its layout", detail="layout") from None
        self._layouts[hid, layout] = ranges
        return ranges

    def forget(self) -> None:
        """Drop what is kept of uncommitted rows; to be called whenever something is rolled back."""
        self._layouts.clear()

    def marks(self, hid: int, marks: int) -> Mapping[str, str]:
        if not marks:
            return {}
        found = self.value("SELECT entries FROM marks WHERE hid = ? AND marks = ?", (hid, marks))
        if found is None:
            raise StorageCorrupt("a version of a history has lost its elision marks", detail="marks")
        loaded: dict[str, str] = json_of(found, "marks")
        return loaded

    def entries(
        self, log: int, lo: int, hi: int, *, references: bool = False, most: int | None = None
    ) -> list[StoredEntry]:
        rows = self._stored(log, lo, hi)
        _complete(rows, lo, hi)
        return self._entries(log, rows, references, most)

    def present(self, log: int, lo: int, hi: int) -> list[StoredEntry]:
        rows = [row for row in self._stored(log, lo, hi) if is_sound(row[4])]
        return self._entries(log, rows, True, None)

    def _stored(self, log: int, lo: int, hi: int) -> list[Any]:
        return self.rows(
            "SELECT id, measure, layout, marks, body, places FROM entry WHERE id >= ? AND id < ? ORDER BY id",
            _keys(log, lo, hi),
        )

    def _entries(self, log: int, rows: list[Any], references: bool, most: int | None) -> list[StoredEntry]:
        bodies = self._shown([row[4:] for row in rows], references, most)
        mask = (1 << SHIFT) - 1
        return [
            StoredEntry(log=log, seq=row[0] & mask, measure=row[1], layout=row[2], marks=row[3], body=body)
            for row, body in zip(rows, bodies, strict=False)
        ]

    def bodies(self, log: int, lo: int, hi: int, *, references: bool = False, most: int | None = None) -> list[bytes]:
        rows = self.rows("SELECT body, places FROM entry WHERE id >= ? AND id < ? ORDER BY id", _keys(log, lo, hi))
        _complete(rows, lo, hi)
        return self._shown(rows, references, most)

    def _shown(self, rows: Sequence[Any], references: bool, most: int | None) -> list[bytes]:
        """Return bodies with their large strings, up to the one that passes `most`."""
        if references or all(places is None for _, places in rows):
            return [sound(body) for body, _ in rows]
        shown: list[bytes] = []
        total = 0
        for body, places in rows:
            sound(body)
            whole = body if places is None else blobs.restore(body, blobs.unpack(places), self.find_blob)
            shown.append(whole)
            total += len(whole)
            if most is not None and total > most:
                break
        return shown

    def find_blob(self, digest: str) -> blobs.Blob | None:
        row = self.row("SELECT data, coded FROM blob WHERE hash = ?", (digest,))
        return None if row is None else blobs.Blob(digest, row[0], bool(row[1]))

    def roles(self, log: int, lo: int, hi: int) -> list[int]:
        rows = self.rows("SELECT role FROM entry WHERE id >= ? AND id < ? ORDER BY id", _keys(log, lo, hi))
        return [row[0] for row in rows]

    def estimate(self, log: int, lo: int, hi: int) -> int:
        if hi <= lo:
            return 0
        first, last = _keys(log, lo, hi - 1)
        before = self.value("SELECT cumulative - estimate FROM entry WHERE id = ?", (first,))
        upto = self.value("SELECT cumulative FROM entry WHERE id = ?", (last,))
        if before is None or upto is None:
            raise StorageCorrupt("a history has lost entries", detail="entry")
        return int(upto) - int(before)

    def lookup(self, log: int, entry_id: str) -> list[int]:
        return self._lookup(log, entry_id)

    def _lookup(self, log: int, entry_id: str) -> list[int]:
        mask = (1 << SHIFT) - 1
        found = []
        for row_id, body in self._run(_LOOKUP, (id_key(log, entry_id),)):
            # 64-bit keys can collide; the body decides.
            if row_id >> SHIFT == log and json_of(sound(body), "entry")["id"] == entry_id:
                found.append(row_id & mask)
        return found

    def lookup_all(self, log: int, entry_ids: Sequence[str]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for start in range(0, len(entry_ids), LOOKED_UP):
            keys: dict[int, list[str]] = {}
            for entry_id in entry_ids[start : start + LOOKED_UP]:
                keys.setdefault(id_key(log, entry_id), []).append(entry_id)
            marks = ",".join("?" * len(keys))
            for (key,) in self.rows(f"SELECT DISTINCT key FROM entry WHERE key IN ({marks})", list(keys)):
                for entry_id in keys[key]:
                    if seqs := self.lookup(log, entry_id):
                        found[entry_id] = seqs
        return found

    def records_below(self, hid: int, version: int, limit: int) -> list[tuple[VersionRecord, bool]]:
        found = self.rows(
            f"SELECT {_CHANGE}, writer FROM change WHERE hid = ? AND version < ? ORDER BY version DESC LIMIT ?",
            (hid, version, limit),
        )
        return [(version_record(row[:-1]), row[-1] == self.writer) for row in found]

    def histories(self, prefix: str, order_by: str, after: tuple[Any, ...] | None, limit: int) -> list[HistoryRow]:
        column = ORDERS[order_by]
        where, values = "name >= ? AND name < ?", [prefix, prefix + "\U0010ffff"]
        if after is not None:
            where += " AND name > ?" if column == "name" else f" AND ({column}, name) < (?, ?)"
            values += after
        order = "name" if column == "name" else f"{column} DESC, name DESC"
        found = self.rows(
            f"SELECT {HISTORY_COLUMNS} FROM history WHERE live = 1 AND {where} ORDER BY {order} LIMIT ?",
            (*values, limit),
        )
        return [history_row(row) for row in found]

    def next_rename(self, hid: int, version: int) -> str | None:
        name: str | None = self.value(
            "SELECT renamed_from FROM change WHERE hid = ? AND version > ? AND renamed_from IS NOT NULL"
            " ORDER BY version LIMIT 1",
            (hid, version),
        )
        return name

    # --- search -------------------------------------------------------------------------------------------------------

    def unindexed(self) -> tuple[int, int, int] | None:
        row = self.row(
            "SELECT hid, coalesce(seq, 0) + 1, tail FROM history LEFT JOIN indexed ON log = hid"
            " WHERE tail > coalesce(seq, 0) ORDER BY hid LIMIT 1"
        )
        return None if row is None else tuple(row)

    @abstractmethod
    def matches(self, phrases: Sequence[Phrase], start: tuple[float, int, int] | None, limit: int) -> list[Match]:
        """Return matches in order of (score, log, sequence number), from the key `start` on, that one included."""

    @abstractmethod
    def add_words(self, log: int, rows: Sequence[tuple[int, str]]) -> None:
        """Index the words of entries."""

    def set_indexed(self, log: int, seq: int) -> None:
        self.rows("INSERT INTO indexed VALUES(?, ?) ON CONFLICT(log) DO UPDATE SET seq = excluded.seq", (log, seq))

    def shown_by(self, log: int) -> list[HistoryRow]:
        found = self.rows(
            f"SELECT {HISTORY_COLUMNS} FROM history WHERE live = 1"
            " AND (hid = ? OR hid IN (SELECT hid FROM borrow WHERE log = ?)) ORDER BY name",
            (log, log),
        )
        return [history_row(row) for row in found]

    # --- pruning ------------------------------------------------------------------------------------------------------

    def lives(self, name: str | None) -> list[tuple[HistoryRow, bool]]:
        where, values = ("", ()) if name is None else (" WHERE name = ?", (name,))
        found = self.rows(f"SELECT {HISTORY_COLUMNS}, live FROM history{where} ORDER BY hid", values)
        return [(history_row(row[:-1]), row[-1] == 1) for row in found]

    def count_versions(self, hid: int, below: int) -> int:
        return int(self.value("SELECT count(*) FROM change WHERE hid = ? AND version < ?", (hid, below)))

    def version_back(self, hid: int, count: int) -> int:
        found = self.value(
            "SELECT version FROM change WHERE hid = ? ORDER BY version DESC LIMIT 1 OFFSET ?", (hid, count - 1)
        )
        return int(found or 0)

    def version_from(self, hid: int, at: int) -> int:
        return int(self.value("SELECT min(version) FROM change WHERE hid = ? AND at >= ?", (hid, at)) or 0)

    def spans(self, hid: int, first: int) -> list[tuple[int, int]]:
        found = self.rows(
            "SELECT layout, max(len) FROM change WHERE hid = ? AND version >= ? GROUP BY layout", (hid, first)
        )
        return [(row[0], row[1]) for row in found]

    def borrowers(self, log: int) -> list[int]:
        return [log, *(row[0] for row in self.rows("SELECT hid FROM borrow WHERE log = ?", (log,)))]

    def tail(self, log: int) -> int:
        return int(self.value("SELECT tail FROM history WHERE hid = ?", (log,)) or 0)

    def weigh(self, log: int, lo: int, hi: int) -> int:
        found = self.value(
            "SELECT sum(length(body) + length(measure)) FROM entry WHERE id >= ? AND id < ?", _keys(log, lo, hi)
        )
        return int(found or 0)

    def weigh_blobs(self, gaps: Sequence[tuple[int, int, int]]) -> int:
        keys = [_keys(*gap) for gap in gaps]
        kept: set[str] = set()
        sizes: dict[str, int] = {}
        for digest, entry, size in self.rows("SELECT hash, entry, size FROM entry_blob JOIN blob USING(hash)"):
            sizes[digest] = size
            if not any(first <= entry < last for first, last in keys):
                kept.add(digest)
        return sum(size for digest, size in sizes.items() if digest not in kept)

    def drop_versions(self, hid: int, below: int) -> None:
        self.rows("DELETE FROM change WHERE hid = ? AND version < ?", (hid, below))
        self.rows(
            "UPDATE history SET title = NULL, tags = NULL, metadata = NULL, calibration = NULL"
            " WHERE hid = ? AND live = 0",
            (hid,),
        )

    def drop_entries(self, log: int, lo: int, hi: int, limit: int) -> int:
        found = self.rows(
            "SELECT id FROM entry WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", (*_keys(log, lo, hi), limit)
        )
        if not found:
            return 0
        keys = (found[0][0], found[-1][0])
        self.drop_words(*keys)
        self.rows("DELETE FROM entry WHERE id >= ? AND id <= ?", keys)
        if self.rows("DELETE FROM entry_blob WHERE entry >= ? AND entry <= ? RETURNING hash", keys):
            self.rows("DELETE FROM blob WHERE hash NOT IN (SELECT hash FROM entry_blob)")
        return len(found)

    @abstractmethod
    def drop_words(self, first: int, last: int) -> None:
        """Take the entries with these keys, both included, out of the index."""

    def drop_layouts(self, log: int) -> None:
        keys = (log << SHIFT, (log + 1) << SHIFT)
        for table, column in (("layout", "layout"), ("marks", "marks")):
            self.rows(
                f"DELETE FROM {table} WHERE hid = ? AND {column} NOT IN (SELECT {column} FROM change WHERE hid = ?)"
                f" AND {column} NOT IN (SELECT {column} FROM entry WHERE id >= ? AND id < ?)",
                (log, log, *keys),
            )
        self.rows("DELETE FROM borrow WHERE hid = ? AND hid NOT IN (SELECT hid FROM change)", (log,))

    def forget_operations(self, name: str) -> None:
        self.rows("DELETE FROM operation WHERE name = ?", (name,))

    # --- writing ------------------------------------------------------------------------------------------------------

    def create(self, name: str, at: int) -> HistoryRow:
        hid = self.value(
            "INSERT INTO history(name, live, version, layout, len, tail, cumulative, estimate, marks, created_at,"
            " updated_at) VALUES(?, 1, 0, 0, 0, 0, 0, 0, 0, ?, ?) RETURNING hid",
            (name, at, at),
        )
        return HistoryRow(
            hid=hid, name=name, version=0, layout=0, len=0, tail=0, cumulative=0, estimate=0, marks=0,
            created_at=at, updated_at=at,
        )  # fmt: skip

    def save(self, row: HistoryRow) -> None:
        self.rows(SAVE_HISTORY, history_values(row))

    def rename(self, row: HistoryRow) -> None:
        self.rows("UPDATE history SET name = ? WHERE hid = ?", (row.name, row.hid))

    def remove(self, row: HistoryRow) -> None:
        self.rows("UPDATE history SET live = 0 WHERE hid = ?", (row.hid,))

    def bury(self, name: str, version: int) -> None:
        self.rows(
            "INSERT INTO tombstone VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET version = excluded.version",
            (name, version),
        )

    def recall(self, name: str, operation_id: str) -> tuple[bytes, bytes] | None:
        return self._recall(name, operation_id)

    def _recall(self, name: str, operation_id: str) -> tuple[bytes, bytes] | None:
        found: list[tuple[bytes, bytes]] = self._run(_RECALL, (name, word(operation_id)))
        return found[0] if found else None

    def remember(self, name: str, operation_id: str, digest: bytes, result: bytes, at: int) -> None:
        self.rows(ADD_OPERATION, operation_values(name, operation_id, digest, result, at))

    def journal(self, record: VersionRecord) -> None:
        self.rows(ADD_CHANGE, change_values(record, self.writer))

    def add_layout(self, hid: int, layout: int, ranges: Layout) -> None:
        text = json.dumps(pack(ranges), separators=(",", ":"))
        self.rows("INSERT INTO layout VALUES(?, ?, ?)", (hid, layout, text))
        borrowed = {part.log for part in ranges if part.log != hid}
        if borrowed:
            self.many(
                "INSERT INTO borrow VALUES(?, ?) ON CONFLICT DO NOTHING", [(log, hid) for log in sorted(borrowed)]
            )

    def add_marks(self, hid: int, marks: Mapping[str, str]) -> int:
        if not marks:
            return 0
        number = int(self.value("SELECT max(marks) FROM marks WHERE hid = ?", (hid,)) or 0) + 1
        self.rows("INSERT INTO marks VALUES(?, ?, ?)", (hid, number, _text(dict(marks))))
        return number

    def add_entries(self, hid: int, rows: Sequence[EntryRow]) -> None:
        self.many(ADD_ENTRY, [entry_values(hid, row) for row in rows])
        for row in rows:
            for blob in row.blobs:
                self.rows(
                    "INSERT INTO blob VALUES(?, ?, ?, ?) ON CONFLICT(hash) DO NOTHING",
                    (blob.hash, len(blob.data), int(blob.coded), blob.data),
                )
            for digest in {digest for _, digest in row.places}:
                self.rows("INSERT INTO entry_blob VALUES(?, ?)", (digest, hid << SHIFT | row.seq))


def entry_values(hid: int, row: EntryRow) -> tuple[Any, ...]:
    """Return the values of `ADD_ENTRY`."""
    return (
        hid << SHIFT | row.seq, id_key(hid, row.entry_id), row.layout, row.marks, row.role,
        row.estimate, row.cumulative, row.measure, row.body, blobs.pack(row.places),
    )  # fmt: skip


def history_values(row: HistoryRow) -> tuple[Any, ...]:
    """Return the values of `SAVE_HISTORY`."""
    base = row.baseline
    return (
        row.version, row.layout, row.len, row.tail, row.cumulative, row.estimate, row.marks,
        base and base.tokens, base and base.version, base and base.len, base and base.estimate,
        _text(row.calibration), word(row.title), _text(list(row.tags)), _text(dict(row.metadata)),
        row.updated_at, row.hid,
    )  # fmt: skip


def change_values(record: VersionRecord, writer: int) -> tuple[Any, ...]:
    """Return the values of `ADD_CHANGE`."""
    return (
        record.hid, record.version, record.previous, record.kind, record.layout, record.len, record.marks,
        record.at, word(record.actor), word(record.operation_id), record.renamed_from, writer,
    )  # fmt: skip


def operation_values(name: str, operation_id: str, digest: bytes, result: bytes, at: int) -> tuple[Any, ...]:
    """Return the values of `ADD_OPERATION`."""
    return name, word(operation_id), digest, result, at


def history_row(row: Sequence[Any]) -> HistoryRow:
    """Read the columns of `HISTORY_COLUMNS`."""
    (hid, name, version, layout, length, tail, cumulative, estimate, marks, tokens, base_version, base_len,
     base_estimate, calibration, title, tags, metadata, created_at, updated_at) = row  # fmt: skip
    found = HistoryRow(
        hid=hid, name=name, version=version, layout=layout, len=length, tail=tail, cumulative=cumulative,
        estimate=estimate, marks=marks, created_at=created_at, updated_at=updated_at, title=_unword(title),
        tags=tuple(json_of(tags, "tags")) if tags else (), metadata=json_of(metadata, "metadata") if metadata else {},
        calibration=json_of(calibration, "calibration") if calibration else None,
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
        actor=_unword(actor), operation_id=_unword(operation_id), renamed_from=renamed_from,
    )  # fmt: skip


def _keys(log: int, lo: int, hi: int) -> tuple[int, int]:
    return log << SHIFT | lo, log << SHIFT | hi


def _complete(rows: Sequence[object], lo: int, hi: int) -> None:
    if len(rows) != hi - lo:
        raise StorageCorrupt("a history has lost entries", detail="entry")


def _text(value: Any) -> str | None:
    return json.dumps(value, separators=(",", ":")) if value else None


def word(value: str | None) -> str | None:
    """Write free text as it is stored."""
    return None if value is None else json.dumps(value)


def _unword(value: str | None) -> Any:
    return None if value is None else json_of(value, "change")


def id_key(hid: int, entry_id: str) -> int:
    """Return the key under which the index of entries has an entry id of a log."""
    digest = hashlib.blake2b(b"%d:%s" % (hid, entry_id.encode("utf-8", "surrogatepass")), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
