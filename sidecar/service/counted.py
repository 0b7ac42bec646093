"""Token counts of whole histories, kept as running sums, so that an entry is counted once while its history is in use.

Rules: sums belong to one counter and to one content and one set of elision marks, and are extended by what was appended
since; anything else begins anew. Elided entries count as their placeholder. What is kept is bounded; the sums that were
asked for longest ago go first.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Final

from attrs import evolve, frozen

from sidecar.core.errors import SidecarError
from sidecar.core.estimators import DEFAULT, Counter
from sidecar.service.heavy import compute
from sidecar.service.tokens import count_rows
from sidecar.store.base import Head, Store

MAX_NUMBERS: Final = 1_000_000
"""Numbers of eight bytes that are kept at most."""


@frozen
class _Kept:
    content: tuple[int, int, int, int]
    sums: Sequence[int]


class Counted:
    """Counts through one store."""

    def __init__(self, store: Store, max_numbers: int = MAX_NUMBERS) -> None:
        self._store = store
        self._max_numbers = max_numbers
        self._kept: dict[tuple[str, Counter], _Kept] = {}

    async def sums(self, head: Head, counter: Counter) -> Sequence[int]:
        """Return the tokens of the first 0, 1, 2 … `head.len` entries of that version.

        Raises HistoryNotFound, VersionUnavailable.
        """
        content = (*head.content, head.marks, self._store.generation)
        kept = self._kept.get((head.history, counter))
        sums: Sequence[int] = kept.sums if kept is not None and kept.content == content else array("q", (0,))
        counted = len(sums) - 1
        if counted < head.len:
            found = await self._store.read(head.history, version=head.version, start=counted)
            counts = await compute(len(found.rows), count_rows, counter, found.rows)
            # A new array, since another reader may hold the old one.
            sums = array("q", (*sums, *islice(accumulate(counts, initial=sums[-1]), 1, None)))
        self._keep((head.history, counter), _Kept(content, sums))
        return sums[: head.len + 1]

    async def shown(self, head: Head) -> Head:
        """Return a head whose running sums count elided entries as models see them.

        Never raises: a change that was committed is answered, if need be with its entries counted whole.
        """
        if not head.marks:
            return head
        try:
            sums = await self.sums(head, DEFAULT)
        except SidecarError:
            return head  # deleted by another process, or pruned since the operation id was first answered
        baseline = head.baseline
        if baseline is not None:
            baseline = evolve(baseline, estimate=sums[min(baseline.len, head.len)])
        return evolve(head, estimate=sums[head.len], baseline=baseline)

    def _keep(self, key: tuple[str, Counter], kept: _Kept) -> None:
        self._kept.pop(key, None)
        self._kept[key] = kept
        total = sum(len(each.sums) for each in self._kept.values())
        while total > self._max_numbers:
            total -= len(self._kept.pop(next(iter(self._kept))).sums)
