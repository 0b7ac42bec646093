"""Layouts: a version of a history as a short list of ranges over append-only logs.

Rules:
- A log is the list of every entry ever written for one history, by sequence number from 1; it only grows.
- A layout is immutable. Its last range may be open at the end (`hi is None`): then it is the end of the history's own
  log, so an append changes nothing but the length. A version is (layout, length); `clip` gives its ranges.
- All functions are pure and O(ranges), never O(entries). That is why splice, truncate, fork and revert cost the same
  whatever the length. Guarded by `tests/core/test_layouts.py` against plain lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from attrs import frozen


@frozen
class Range:
    """Entries `lo` to `hi` (exclusive) of one log; `hi` is `None` for the open end of the own log."""

    log: int
    lo: int
    hi: int | None

    @property
    def size(self) -> int:
        """How many entries a closed range has."""
        assert self.hi is not None
        return self.hi - self.lo


Layout: TypeAlias = tuple[Range, ...]

_ENDLESS = 1 << 62


def clip(layout: Layout, length: int) -> Layout:
    """Return closed ranges that cover the first `length` entries."""
    return cut(layout, 0, length)


def cut(layout: Layout, start: int, stop: int) -> Layout:
    """Return closed ranges that cover entries `start` to `stop` (exclusive)."""
    out: list[Range] = []
    at = 0
    for part in layout:
        size = _size(part)
        first, last = max(start - at, 0), min(stop - at, size)
        if first < last:
            out.append(Range(part.log, part.lo + first, part.lo + last))
        at += size
        if at >= stop:
            break
    return tuple(out)


def join(*pieces: Iterable[Range]) -> Layout:
    """Put closed ranges one after the other, merging those that touch."""
    out: list[Range] = []
    for piece in pieces:
        for part in piece:
            if not part.size:
                continue
            if out and out[-1].log == part.log and out[-1].hi == part.lo:
                out[-1] = Range(part.log, out[-1].lo, part.hi)
            else:
                out.append(part)
    return tuple(out)


def open_end(layout: Layout, log: int, tail: int) -> Layout:
    """Give a closed layout the open end of the own log, whose last used sequence number is `tail`."""
    if layout and layout[-1].log == log and layout[-1].hi == tail + 1:
        return (*layout[:-1], Range(log, layout[-1].lo, None))
    return (*layout, Range(log, tail + 1, None))


def length(layout: Layout) -> int:
    """Count the entries of closed ranges."""
    return sum(part.size for part in layout)


def index_of(layout: Layout, log: int, seq: int) -> int | None:
    """Return the index at which a layout shows one entry of a log, or `None`."""
    at = 0
    for part in layout:
        if part.log == log and part.lo <= seq < (_ENDLESS if part.hi is None else part.hi):
            return at + seq - part.lo
        at += _size(part)
    return None


def at(layout: Layout, index: int) -> tuple[int, int]:
    """Return (log, sequence number) of the entry at `index`."""
    (part,) = cut(layout, index, index + 1)
    return part.log, part.lo


def common_prefix(one: Layout, other: Layout) -> int:
    """Count the leading entries that two layouts share; open ends are taken as endless."""
    total = 0
    for a, b in _pairs(one, other):
        if (a.log, a.lo) != (b.log, b.lo):
            return total
        total += min(_size(a), _size(b))
    return total


def common_suffix(one: Layout, other: Layout) -> int:
    """Count the trailing entries that two closed layouts share."""
    return common_prefix(_reversed(one), _reversed(other))


def difference(old: Layout, new: Layout) -> tuple[int, int, Layout] | None:
    """Return the one edit (start, delete count, ranges to insert) that turns closed `old` into closed `new`.

    `None` where they are equal.
    """
    old_length, new_length = length(old), length(new)
    prefix = min(common_prefix(old, new), old_length, new_length)
    if prefix == old_length == new_length:
        return None
    suffix = min(common_suffix(old, new), old_length - prefix, new_length - prefix)
    return prefix, old_length - prefix - suffix, cut(new, prefix, new_length - suffix)


def pack(layout: Layout) -> list[list[int | None]]:
    """Write a layout as JSON-able lists, for storing."""
    return [[part.log, part.lo, part.hi] for part in layout]


def unpack(rows: Sequence[Sequence[int | None]]) -> Layout:
    """Read what `pack` wrote."""
    out: list[Range] = []
    for log, lo, hi in rows:
        assert log is not None and lo is not None
        out.append(Range(log, lo, hi))
    return tuple(out)


def _size(part: Range) -> int:
    return _ENDLESS if part.hi is None else part.hi - part.lo


def _pairs(one: Layout, other: Layout) -> Iterable[tuple[Range, Range]]:
    """Walk two layouts side by side, in pieces of equal size."""
    left, right = list(reversed(one)), list(reversed(other))
    while left and right:
        a, b = left.pop(), right.pop()
        yield a, b
        step = min(_size(a), _size(b))
        for rest, part in ((left, a), (right, b)):
            if _size(part) > step:
                rest.append(Range(part.log, part.lo + step, part.hi))


def _reversed(layout: Layout) -> Layout:
    # A closed range read backwards is a range over negated sequence numbers, so one walk serves both directions.
    return tuple(Range(part.log, 1 - _closed(part), 1 - part.lo) for part in reversed(layout))


def _closed(part: Range) -> int:
    assert part.hi is not None
    return part.hi
