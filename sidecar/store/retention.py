"""What pruning destroys: old versions, and the entries that no remaining version of any history shows.

Rules:
- The newest version of a live history always stays. Of the others those stay that `keep_versions` counts or that are
  not older than `before`; without either rule all stay. Versions that go are always the oldest ones, without a gap.
- A deleted history goes whole, where its deletion is older than `before` or there is no `before`.
- A fork pins what it shows: an entry goes only when no version that stays, of any history, shows it.
- Small pieces, each its own transaction, so that other writers get their turn. A prune that was killed half way has
  dropped versions whose entries the next prune finds: they are what nobody shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from sidecar.core.errors import HistoryNotFound
from sidecar.core.layouts import clip
from sidecar.store.base import Pruned
from sidecar.store.bodies import naming
from sidecar.store.transaction import HistoryRow, Reader, Transaction

PIECE = 500
"""Entries that one piece of pruning destroys."""
_ALL = 1 << 62

SIZE_STEPS = (10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10, 5, 2, 1)
"""Counts of versions that pruning to a size tries, the gentlest first."""


@frozen(kw_only=True)
class Rule:
    """What to keep of each history; `None` is no rule."""

    keep_versions: int | None = None
    before: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing about live histories."""
        return self.keep_versions is None and self.before is None


@frozen(kw_only=True)
class Plan:
    """The first version that stays, per history; the logs to look at; what it would free."""

    firsts: Mapping[int, int]
    logs: tuple[int, ...]
    pruned: Pruned


def plan(tx: Reader, history: str | None, rule: Rule) -> Plan:
    """Say what pruning one history, or all, would destroy. Raises HistoryNotFound."""
    lives = tx.lives(history)
    if history is not None and not lives:
        raise HistoryNotFound(history)
    firsts: dict[int, int] = {}
    dropped = 0
    logs: set[int] = set()
    for row, live in lives:
        first = _first_kept(tx, row, live, rule)
        logs.add(row.hid)
        if count := tx.count_versions(row.hid, first):
            firsts[row.hid] = first
            dropped += count
            with naming(row.name):
                logs.update(
                    part.log for layout, size in tx.spans(row.hid, 0) for part in clip(tx.layout(row.hid, layout), size)
                )
    gaps = {log: unshown(tx, log, firsts) for log in logs}
    freed = sum(tx.weigh(log, lo, hi) for log, parts in gaps.items() for lo, hi in parts)
    freed += tx.weigh_blobs([(log, lo, hi) for log, parts in gaps.items() for lo, hi in parts])
    return Plan(firsts=firsts, logs=tuple(sorted(logs)), pruned=Pruned(freed_bytes=freed, versions_dropped=dropped))


def drop_versions(tx: Transaction, hid: int, first: int) -> None:
    """Forget the versions of one history below `first`; its entries go by `drop_piece`."""
    tx.drop_versions(hid, first)


def drop_piece(tx: Transaction, log: int) -> bool:
    """Destroy some entries of a log that nothing shows; say whether there may be more."""
    for lo, hi in unshown(tx, log, {}):
        if tx.drop_entries(log, lo, hi, PIECE):
            return True
    tx.drop_layouts(log)
    return False


def unshown(tx: Reader, log: int, firsts: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return the sequence numbers, as ranges, that no version from `firsts` on shows."""
    kept: list[tuple[int, int]] = []
    for hid in tx.borrowers(log):
        for layout, size in tx.spans(hid, firsts.get(hid, 0)):
            ranges = clip(tx.layout(hid, layout), size)
            kept += [(part.lo, part.lo + part.size) for part in ranges if part.log == log]
    return _gaps(kept, 1, tx.tail(log) + 1)


def _first_kept(tx: Reader, row: HistoryRow, live: bool, rule: Rule) -> int:
    if not live:
        return _ALL if rule.before is None or row.updated_at < rule.before else 0
    if rule.is_empty:
        return 0
    kept = [row.version]
    if rule.keep_versions is not None:
        kept.append(tx.version_back(row.hid, max(1, rule.keep_versions)))
    if rule.before is not None:
        kept.append(tx.version_from(row.hid, rule.before) or row.version)
    return min(kept)


def _gaps(kept: Iterable[tuple[int, int]], lo: int, hi: int) -> list[tuple[int, int]]:
    out = []
    at = lo
    for first, last in sorted(kept):
        if first > at:
            out.append((at, min(first, hi)))
        at = max(at, last)
    if at < hi:
        out.append((at, hi))
    return out
