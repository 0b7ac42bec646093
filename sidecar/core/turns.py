"""Tool pairing and turns: which result answers which call, and where a turn starts.

Rules:
- The latest message that made a call with an id owns the results that come later; a result never belongs to a call
  behind it, because gateways reuse ids (`call_0` in every turn) and an old result must not answer a new call.
- Calls of one message that share an id are answered in order: the first result answers the first of them.
- A further result for a call that is answered already is a duplicate; the first one stands, so that a projection
  made before the duplicate arrived stays a prefix of the one made after it.
- Nothing is changed here: pairing describes a list of entries, projection acts on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from attrs import define, field

from sidecar.core.messages import Assistant, Entry, Tool, User

Place: TypeAlias = tuple[int, int]
"""A call: the index of its entry and its position among the calls of that entry."""


@define
class Pairing:
    """Which entry answers which call; grows with `add`, entry by entry."""

    result_of: dict[Place, int] = field(factory=dict)
    """For each answered call the index of the entry that answers it."""
    call_of: dict[int, Place] = field(factory=dict)
    """For each result entry that answers a call, that call."""
    orphans: list[int] = field(factory=list)
    """Result entries whose call is not there."""
    duplicates: dict[int, Place] = field(factory=dict)
    """For each result entry whose call was answered before, that call."""
    _owners: dict[str, list[Place]] = field(factory=dict)
    """For each id the calls of its latest message that are not answered yet; the last one stays."""

    def add(self, index: int, entry: Entry) -> None:
        """Take the entry at `index` into account; indices must come in order."""
        self.extend((entry,), index)

    def extend(self, entries: Iterable[Entry], start: int = 0) -> None:
        """Take entries from index `start` on into account; they must come in order."""
        # Every projection of a long history runs through here, hence the local names and the short path.
        owners = self._owners
        for index, entry in enumerate(entries, start):
            message = entry.message
            kind = type(message)
            if kind is Assistant:
                calls = message.tool_calls  # type: ignore[union-attr]
                if len(calls) == 1:
                    owners[calls[0].id] = [(index, 0)]
                elif calls:
                    own: dict[str, list[Place]] = {}
                    for position, call in enumerate(calls):
                        own.setdefault(call.id, []).append((index, position))
                    owners.update(own)
            elif kind is Tool:
                places = owners.get(message.call_id)  # type: ignore[union-attr]
                if places is None:
                    self.orphans.append(index)
                    continue
                place = places.pop(0) if len(places) > 1 else places[0]
                if place in self.result_of:
                    self.duplicates[index] = place
                else:
                    self.result_of[place] = index
                    self.call_of[index] = place

    def awaited(self, call_id: str) -> Place | None:
        """Return the call that the next result with this id would answer, if there is one."""
        places = self._owners.get(call_id)
        return places[0] if places is not None and places[0] not in self.result_of else None


def pair(entries: Sequence[Entry], start: int = 0) -> Pairing:
    """Pair the results of a list of entries, the first of which has index `start`, with its calls."""
    pairing = Pairing()
    pairing.extend(entries, start)
    return pairing


def turn_starts(entries: Sequence[Entry]) -> list[int]:
    """Return the indices at which a turn starts: each user entry that does not follow another user entry."""
    return [
        index
        for index, entry in enumerate(entries)
        if isinstance(entry.message, User) and (index == 0 or not isinstance(entries[index - 1].message, User))
    ]
