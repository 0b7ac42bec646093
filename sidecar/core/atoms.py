"""Atoms: the finest partition of a list of entries into intervals that a compaction keeps or drops whole.

Rules (tokens.md §4.3):
- An assistant entry and all results of its calls share an atom, with whatever stands between them.
- An entry that holds reasoning only shares an atom with its successor, which it was thought for.
- A result whose call is not there, or that was answered before, belongs to the atom before it.
- Which result answers which call is decided by `core.turns`, so that planning and projection agree.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from sidecar.core.messages import Assistant, Entry
from sidecar.core.turns import pair


@frozen(kw_only=True)
class Atoms:
    """The partition of a list."""

    starts: tuple[int, ...]
    """Index of the first entry of each atom."""
    first_open: int
    """Start of the first atom with a call that nothing answers; the length of the list where there is none."""
    open_calls: tuple[int, ...]
    """Indices of entries with a call that nothing answers."""


def atoms_of(entries: Sequence[Entry]) -> Atoms:
    """Partition a list, in O(n)."""
    pairing = pair(entries)
    size = len(entries)
    # Where a link covers the border before an entry, no atom starts at that entry.
    covered = [0] * (size + 1)

    def link(first: int, last: int) -> None:
        covered[first + 1] += 1
        covered[last + 1] -= 1

    for (call, _), result in pairing.result_of.items():
        link(call, result)
    for index in (*pairing.orphans, *pairing.duplicates):
        if index:
            link(index - 1, index)
    for index, entry in enumerate(entries[:-1]):
        if is_only_reasoning(entry):
            link(index, index + 1)
    starts = []
    depth = 0
    for index in range(size):
        depth += covered[index]
        if depth == 0:
            starts.append(index)
    open_calls = tuple(
        index
        for index, entry in enumerate(entries)
        if any((index, position) not in pairing.result_of for position in range(len(entry.tool_calls)))
    )
    first_open = size
    if open_calls:
        first_open = max(start for start in starts if start <= open_calls[0])
    return Atoms(starts=tuple(starts), first_open=first_open, open_calls=open_calls)


def is_only_reasoning(entry: Entry) -> bool:
    """Say whether an entry holds reasoning and neither content nor calls."""
    message = entry.message
    return isinstance(message, Assistant) and bool(message.reasoning) and not message.blocks and not message.tool_calls
