"""Entries as values, for whoever has to look into them: projection, checks, plans, outlines, rendering.

Rules: a stored entry is parsed once per process while its history stays in use. `content` of a read names what was
read (`store.base.Head.content`): the entries of two versions with equal content are equal as far as both reach, so
after an append only the new rows are parsed. The cache is bounded by the bytes it stands for, oldest history first.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from sidecar.core.jsontext import loads
from sidecar.core.messages import Entry, entry_from_json
from sidecar.service.heavy import compute
from sidecar.store.base import Row, Store

MAX_BYTES = 24 * 1024 * 1024
"""Stored bytes whose parsed form is kept at most."""


@frozen(kw_only=True)
class Parsed:
    """One version of a history as values; `rows` and `entries` run in parallel."""

    history: str
    version: int
    rows: Sequence[Row]
    entries: Sequence[Entry]
    content: tuple[int, int]


@frozen
class _Kept:
    bodies: list[bytes]
    entries: list[Entry]
    size: int


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
        kept = self._kept.pop(history, None)
        entries: list[Entry] = []
        if kept is not None:
            shared = _shared(kept.bodies, bodies)
            entries = kept.entries[:shared]
        new = bodies[len(entries) :]
        entries += await compute(len(new), _parse, new)
        self._keep(history, _Kept(bodies, entries, sum(map(len, bodies))))
        return Parsed(history=history, version=found.version, rows=found.rows, entries=entries, content=found.content)

    def _keep(self, history: str, kept: _Kept) -> None:
        if kept.size > self._max_bytes:
            return
        self._kept[history] = kept
        total = sum(item.size for item in self._kept.values())
        while total > self._max_bytes:
            total -= self._kept.pop(next(iter(self._kept))).size


def _parse(bodies: Sequence[bytes]) -> list[Entry]:
    return [entry_from_json(loads(body)) for body in bodies]


def _shared(old: list[bytes], new: list[bytes]) -> int:
    """How many leading bodies are equal; comparing bytes is far cheaper than parsing them."""
    count = 0
    for first, second in zip(old, new, strict=False):
        if first != second:
            break
        count += 1
    return count
