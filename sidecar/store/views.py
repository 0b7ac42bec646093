"""Versions as closed ranges, and what a read shows of them; over any engine's `Reader`."""

from __future__ import annotations

from attrs import frozen

from sidecar.core.errors import HistoryNotFound
from sidecar.core.layouts import Layout, clip, common_prefix, cut, difference, length
from sidecar.store import logic
from sidecar.store.base import Row, StoredEdit
from sidecar.store.transaction import HistoryRow, Reader

STEP = 1000
"""Entries per range scan."""


@frozen
class View:
    """One version, closed."""

    version: int
    layout: int
    marks: int
    ranges: Layout

    @property
    def len(self) -> int:
        """How many entries it has."""
        return length(self.ranges)


def existing(tx: Reader, history: str) -> HistoryRow:
    """Return the live history, or raise `HistoryNotFound`."""
    row = tx.find(history)
    if row is None:
        raise HistoryNotFound(history)
    return row


def view_of(tx: Reader, row: HistoryRow, version: int | None) -> View:
    """Return one version, the newest by default; raises `VersionUnavailable`."""
    if version is None or version == row.version:
        return View(row.version, row.layout, row.marks, clip(tx.layout(row.hid, row.layout), row.len))
    record = logic.find_version(tx, row, version)
    return View(version, record.layout, record.marks, clip(tx.layout(row.hid, record.layout), record.len))


def rows_of(
    tx: Reader, row: HistoryRow, view: View, first: int, last: int, max_bytes: int | None, *, references: bool = False
) -> tuple[Row, ...]:
    """Read entries `first` to `last`; stop past `max_bytes`, but return at least one."""
    marked = tx.marks(row.hid, view.marks)
    at_marks = {index: policy for name, policy in marked.items() for index in logic.positions(tx, view.ranges, name)}
    stale = _Staleness(tx, row, view, at_marks)
    rows: list[Row] = []
    total = 0
    index = first
    for part in cut(view.ranges, first, last):
        lo, hi = part.lo, part.lo + part.size
        for step in range(lo, hi, STEP):
            most = None if max_bytes is None else max_bytes - total
            found = tx.entries(part.log, step, min(step + STEP, hi), references=references, most=most)
            for entry in found:
                total += len(entry.body)
                if max_bytes is not None and total > max_bytes and rows:
                    return tuple(rows)
                rows.append(
                    Row(
                        index=index,
                        body=entry.body,
                        measure=entry.measure,
                        elided=at_marks.get(index),
                        prefix_changed=index >= stale.from_index(entry.log, entry.layout, entry.marks),
                    )
                )
                index += 1
            if len(found) < min(step + STEP, hi) - step:
                return tuple(rows)
    return tuple(rows)


def bodies_of(
    tx: Reader, view: View, first: int, last: int, max_bytes: int | None, *, references: bool = False
) -> list[bytes]:
    """Read the bodies of entries `first` to `last`; stop past `max_bytes`, but return at least one."""
    bodies: list[bytes] = []
    total = 0
    for part in cut(view.ranges, first, last):
        lo, hi = part.lo, part.lo + part.size
        for step in range(lo, hi, STEP):
            most = None if max_bytes is None else max_bytes - total
            found = tx.bodies(part.log, step, min(step + STEP, hi), references=references, most=most)
            size = sum(map(len, found))
            if max_bytes is None or total + size <= max_bytes:
                bodies += found
                total += size
                continue
            for body in found:
                total += len(body)
                if total > max_bytes and bodies:
                    return bodies
                bodies.append(body)
            if len(found) < min(step + STEP, hi) - step:
                return bodies
    return bodies


class _Staleness:
    """From which index on the entries of one production layout and mark set have a changed prefix."""

    def __init__(self, tx: Reader, row: HistoryRow, view: View, at_marks: dict[int, str]) -> None:
        self._tx, self._row, self._view, self._now = tx, row, view, at_marks
        self._known: dict[tuple[int, int, int], int] = {}

    def from_index(self, log: int, layout: int, marks: int) -> int:
        key = (log, layout, marks)
        if key not in self._known:
            self._known[key] = self._first(log, layout, marks)
        return self._known[key]

    def _first(self, log: int, layout: int, marks: int) -> int:
        same = common_prefix(self._tx.layout(log, layout), self._view.ranges)
        if log == self._row.hid and marks == self._view.marks:
            return same
        then = self._tx.marks(log, marks)
        places = {i: p for name, p in then.items() for i in logic.positions(self._tx, self._view.ranges, name)}
        differ = [i for i in places.keys() | self._now.keys() if places.get(i) != self._now.get(i)]
        return min([same, *(i + 1 for i in differ)])


def edits_between(tx: Reader, old: Layout, new: Layout, *, references: bool = False) -> tuple[StoredEdit, ...]:
    """Return the edits that turn one closed layout into another: none or one."""
    edit = difference(old, new)
    if edit is None:
        return ()
    start, delete_count, ranges = edit
    bodies: list[bytes] = []
    for part in ranges:
        bodies += tx.bodies(part.log, part.lo, part.lo + part.size, references=references)
    return (StoredEdit(start=start, delete_count=delete_count, bodies=tuple(bodies)),)
