"""Entries on their way into a store: pieces of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from attrs import evolve

from sidecar.core.messages import Entry
from sidecar.formats.base import Restart

PIECE_BYTES: Final = 1024 * 1024
"""About how many bytes of entries make a piece: little enough to hold a few."""


def cut(entries: Iterable[Entry | Restart], limit: int) -> Iterator[list[Entry] | Restart]:
    """Yield entries in pieces of at most `limit` and of about `PIECE_BYTES`."""
    piece: list[Entry] = []
    size = 0
    for entry in entries:
        if isinstance(entry, Restart):
            if piece:
                yield piece
            piece, size = [], 0
            yield entry
            continue
        piece.append(entry)
        size += _size(entry)
        if len(piece) >= limit or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def stamped(entry: Entry, now: int) -> Entry:
    """Return the entry with a time."""
    return entry if entry.ts is not None else evolve(entry, ts=now)


def _size(entry: Entry) -> int:
    """Return roughly how many bytes an entry takes; texts are what is large."""
    message = entry.message
    content = getattr(message, "content", None)
    size = 200 + len(getattr(message, "text", ""))
    for block in content if isinstance(content, tuple) else ():
        size += 50 + len(getattr(block, "text", None) or getattr(block, "data", None) or "")
    return size * (2 if entry.meta else 1)
