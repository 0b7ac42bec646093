"""Full-text search over every engine: bring the index up to date, match, show.

Rules:
- The index is brought up to date when somebody searches, in small pieces between other writes. An append therefore
  stays one insert, and a store that nobody searches keeps no index. What is committed before a search is found by it.
- The index knows log entries; which live histories show one now is computed from their layouts, so a fork, a revert
  or a splice needs no change of the index.
"""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.core.errors import StorageCorrupt
from sidecar.core.layouts import Layout, clip, index_of
from sidecar.store.base import Hit, Page
from sidecar.store.bodies import entry_of
from sidecar.store.cursors import make_cursor, open_cursor
from sidecar.store.transaction import HistoryRow, Match, Reader, Transaction
from sidecar.store.words import Phrase, cut_words, parse_query, searchable, snippet

PIECE = 200
"""Entries that one piece of indexing takes."""
STEP = 100
"""Matches read at a time."""


def index_piece(tx: Transaction) -> bool:
    """Index some entries; say whether there may be more."""
    behind = tx.unindexed()
    if behind is None:
        return False
    log, lo, tail = behind
    hi = min(lo + PIECE, tail + 1)
    rows = []
    for stored in tx.present(log, lo, hi):
        try:
            entry = entry_of(stored.body)
        except StorageCorrupt:
            continue  # it is found by nobody; reading its history says so
        text = cut_words(searchable(entry))
        if text:
            rows.append((stored.seq, text))
    tx.add_words(log, rows)
    tx.set_indexed(log, hi - 1)
    return True


def find(tx: Reader, query: str, prefix: str, cursor: str | None, limit: int) -> Page:
    """Return a page of `Hit`, best first."""
    listing = f"search:{prefix}:{query}"
    after: tuple[float, int, int, str] | None = None
    if cursor is not None:
        after = open_cursor(listing, cursor, (float, int, int, str))
    phrases = parse_query(query)
    if not phrases:
        return Page(rows=(), cursor=None)
    hits: list[Hit] = []
    last: tuple[float, int, int, str] | None = None
    for match, row, index in _shown(tx, phrases, prefix, after):
        if len(hits) == limit:
            assert last is not None
            return Page(rows=tuple(hits), cursor=make_cursor(listing, *last))
        try:
            (entry,) = [entry_of(stored.body) for stored in tx.present(match.log, match.seq, match.seq + 1)]
        except (StorageCorrupt, ValueError):
            continue  # damaged since it was indexed: the other histories' hits still come
        text = snippet(searchable(entry), phrases)
        hits.append(Hit(history=row.name, entry_id=entry.id, index=index, snippet=text, rank=-match.score))
        last = (match.score, match.log, match.seq, row.name)
    return Page(rows=tuple(hits), cursor=None)


def _shown(
    tx: Reader, phrases: tuple[Phrase, ...], prefix: str, after: tuple[float, int, int, str] | None
) -> Iterator[tuple[Match, HistoryRow, int]]:
    """Yield (match, live history that shows it now, index) behind the key `after`."""
    views: dict[int, list[tuple[HistoryRow, Layout]]] = {}
    behind = None if after is None else after[:3]
    names_behind = "" if after is None else after[3]
    while matches := tx.matches(phrases, behind, STEP):
        for match in matches:
            if match.log not in views:
                views[match.log] = [
                    (row, ranges)
                    for row in tx.shown_by(match.log)
                    if row.name.startswith(prefix) and (ranges := _ranges(tx, row)) is not None
                ]
            first = after is not None and (match.score, match.log, match.seq) == after[:3]
            for row, ranges in views[match.log]:
                index = index_of(ranges, match.log, match.seq)
                if index is not None and not (first and row.name <= names_behind):
                    yield match, row, index
        # Inclusive, so that the other histories which show the last match of a page come on the next one.
        last = matches[-1]
        if len(matches) < STEP:
            return
        behind = (last.score, last.log, last.seq + 1)


def _ranges(tx: Reader, row: HistoryRow) -> Layout | None:
    """Return what a history shows, `None` where it is damaged: the other histories' hits still come."""
    try:
        return clip(tx.layout(row.hid, row.layout), row.len)
    except StorageCorrupt:
        return None
