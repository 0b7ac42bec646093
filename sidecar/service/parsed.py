"""Entries as values, for whoever has to look into them: projection, checks, plans, outlines, rendering.

Rules: a stored entry is parsed once per process while its history stays in use, and is the same object each time, so
that a projection can go on from the last one (`wire.Cache`). What is kept is judged by the stored bytes, is bounded by
them, and the history that was read longest ago goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attrs import define, field, frozen

from sidecar.core.messages import Entry
from sidecar.service.heavy import compute
from sidecar.store.base import Row, Store
from sidecar.store.bodies import entry_of, naming
from sidecar.wire import Cache

MAX_BYTES = 24 * 1024 * 1024
"""Stored bytes whose parsed form is kept at most."""


@frozen(kw_only=True)
class Parsed:
    """One version of a history as values; `rows` and `entries` run in parallel."""

    history: str
    version: int
    rows: Sequence[Row]
    entries: Sequence[Entry]


@frozen(kw_only=True)
class Part:
    """Entries `start` to `start + len(entries)` of one version as values; `len` is the length of that version."""

    version: int
    len: int
    start: int
    rows: Sequence[Row]
    entries: Sequence[Entry]


@define
class Projections:
    """What the projections of one history go on from: those of its newest version, and those of older ones."""

    newest: Cache = field(factory=Cache)
    older: Cache = field(factory=Cache)


@define
class _Kept:
    bodies: list[bytes] = field(factory=list)
    entries: list[Entry] = field(factory=list)
    size: int = 0
    projections: Projections = field(factory=Projections)
    lent: bool = False


class ParsedEntries:
    """Reads whole versions and parses what it has not parsed before."""

    def __init__(self, store: Store, max_bytes: int = MAX_BYTES) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._kept: dict[str, _Kept] = {}

    async def read(self, history: str, version: int | None = None) -> Parsed:
        """Return a version (the newest by default). Raises HistoryNotFound, VersionUnavailable."""
        found = await self._store.read(history, version=version)
        bodies = [row.body for row in found.rows]
        kept = self._kept.get(history)
        entries: list[Entry] = []
        if kept is not None:
            entries = kept.entries[: _shared(kept.bodies, bodies)]
        new = bodies[len(entries) :]
        entries += await compute(len(new), _parse, history, new)
        if version is None:
            self._keep(history, bodies, entries)
        return Parsed(history=history, version=found.version, rows=found.rows, entries=entries)

    async def read_part(self, history: str, start: int, count: int | None, version: int | None = None) -> Part:
        """Return a window of a version, reading and parsing nothing else; negative `start` counts from the end.

        Raises HistoryNotFound, VersionUnavailable.
        """
        if start < 0:
            whole = await self._store.read(history, version=version, start=0, stop=0)
            version, start = whole.version, max(0, whole.len + start)
        found = await self._store.read(
            history, version=version, start=start, stop=None if count is None else start + count
        )
        entries = await compute(len(found.rows), _parse, history, [row.body for row in found.rows])
        return Part(version=found.version, len=found.len, start=min(start, found.len), rows=found.rows, entries=entries)

    @contextmanager
    def projections(self, history: str) -> Iterator[Projections | None]:
        """Lend the caches of a history's projections, to one at a time; `None` where there are none to lend."""
        kept = self._kept.get(history)
        if kept is None or kept.lent:
            yield None
            return
        kept.lent = True
        try:
            yield kept.projections
        finally:
            kept.lent = False

    def _keep(self, history: str, bodies: list[bytes], entries: list[Entry]) -> None:
        kept = self._kept.pop(history, None) or _Kept()
        kept.bodies, kept.entries, kept.size = bodies, entries, sum(map(len, bodies))
        if kept.size > self._max_bytes:
            return
        self._kept[history] = kept
        total = sum(item.size for item in self._kept.values())
        while total > self._max_bytes:
            total -= self._kept.pop(next(iter(self._kept))).size


def _parse(history: str, bodies: Sequence[bytes]) -> list[Entry]:
    with naming(history):
        return [entry_of(body) for body in bodies]


def _shared(old: list[bytes], new: list[bytes]) -> int:
    """How many leading bodies are equal; comparing bytes is far cheaper than parsing them."""
    count = 0
    for first, second in zip(old, new, strict=False):
        if first != second:
            break
        count += 1
    return count
