"""Runtime-only state of one connection: auto-injected entries and senders.

Rules: nothing here reaches a store, another connection or a restart. Positions always count stored entries, so an
injected entry has an anchor instead of an index: it stands before the stored entry that followed it in its `append`,
or behind the one before it. When its anchor leaves the history, it stands at the front, where no tool call can be
torn from its result. No id is shown twice: a stored entry hides an injected one that has its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, evolve, field, frozen

from sidecar.core.errors import EntryExists, OperationReused
from sidecar.core.messages import Entry
from sidecar.store.base import Applied

MAX_SENDERS = 4096
"""How many of the newest senders are remembered per history."""

MAX_OPERATIONS = 4096
"""How many of the newest operations that injected something are remembered."""


@frozen
class Injected:
    """One auto-injected entry; `before` or `behind` is the id of its anchor, neither means the front."""

    entry: Entry
    before: str | None = None
    behind: str | None = None


@define
class Placed:
    """Injected entries by the index of the stored entry they stand at."""

    front: list[Entry] = field(factory=list)
    before: dict[int, list[Entry]] = field(factory=dict)
    behind: dict[int, list[Entry]] = field(factory=dict)


class Overlay:
    """What one connection knows beside the store."""

    def __init__(self) -> None:
        self._injected: dict[str, list[Injected]] = {}
        self._senders: dict[str, dict[str, str]] = {}
        self._operations: dict[tuple[str, str], tuple[bytes, Applied]] = {}

    def recall(self, history: str, operation_id: str | None, digest: bytes) -> Applied | None:
        """Return the first result of an `append` that injected something, for its repeat.

        Raises OperationReused where the id was used for something else.
        """
        if operation_id is None or (kept := self._operations.get((history, operation_id))) is None:
            return None
        first, applied = kept
        if first != digest:
            raise OperationReused(operation_id)
        return evolve(applied, replayed=True)

    def remember(self, history: str, operation_id: str | None, digest: bytes, applied: Applied) -> None:
        """Keep the result of an `append` that injected something."""
        if operation_id is not None:
            self._operations[history, operation_id] = digest, applied
            if len(self._operations) > MAX_OPERATIONS:
                del self._operations[next(iter(self._operations))]

    def take(self, history: str, entries: Sequence[Entry], last_id: str | None) -> None:
        """Take the runtime-only part of an `append` whose entries have their ids; `last_id` is stored before them.

        Raises EntryExists where two entries would be injected with one id.
        """
        taken = set(self.injected_ids(history))
        for entry in entries:
            if entry.auto_injected and entry.id in taken:
                raise EntryExists(history, entry.id)
            taken.add(entry.id)
        following: list[str | None] = [None] * len(entries)
        for index in range(len(entries) - 1, 0, -1):
            following[index - 1] = following[index] if entries[index].auto_injected else entries[index].id
        behind = last_id
        for entry, before in zip(entries, following, strict=True):
            if entry.auto_injected:
                anchored = Injected(entry, before=before) if before else Injected(entry, behind=behind)
                self._injected.setdefault(history, []).append(anchored)
            else:
                behind = entry.id
                if entry.sender:
                    self._remember_sender(history, entry)

    def anchors(self, history: str) -> list[str]:
        """Return the ids whose positions `place` needs: those of the anchors and of the injected entries."""
        items = self._injected.get(history, ())
        return [name for item in items for name in (item.before, item.behind, item.entry.id) if name is not None]

    def place(self, history: str, positions: Mapping[str, int]) -> Placed:
        """Return the injected entries of a history at the positions of their anchors."""
        placed = Placed()
        for item in self._injected.get(history, ()):
            if item.entry.id in positions:
                continue
            if item.before is not None and item.before in positions:
                placed.before.setdefault(positions[item.before], []).append(item.entry)
            elif item.behind is not None and item.behind in positions:
                placed.behind.setdefault(positions[item.behind], []).append(item.entry)
            else:
                placed.front.append(item.entry)
        return placed

    def has_injected(self, history: str) -> bool:
        """Say whether a history has injected entries."""
        return history in self._injected

    def injected_ids(self, history: str) -> frozenset[str]:
        """Return the ids of the injected entries of a history."""
        return frozenset(item.entry.id for item in self._injected.get(history, ()))

    def stands_alone(self, history: str) -> bool:
        """Say whether entries were injected before the history had any, so that they are shown without it."""
        items = self._injected.get(history, ())
        return bool(items) and all(item.before is None and item.behind is None for item in items)

    def sender(self, history: str, entry_id: str) -> str:
        """Return who sent an entry, `""` where this connection does not know."""
        return self._senders.get(history, {}).get(entry_id, "")

    def clear(self, history: str) -> int:
        """Drop the injected entries of a history; return how many there were."""
        # The next run may inject what this one did.
        self._operations = {key: kept for key, kept in self._operations.items() if key[0] != history}
        return len(self._injected.pop(history, ()))

    def forget(self, history: str) -> None:
        """Drop everything about a history that is gone."""
        self._injected.pop(history, None)
        self._senders.pop(history, None)

    def rename(self, history: str, to: str) -> None:
        """Follow a rename."""
        if history in self._injected:
            self._injected[to] = self._injected.pop(history)
        if history in self._senders:
            self._senders[to] = self._senders.pop(history)

    def _remember_sender(self, history: str, entry: Entry) -> None:
        senders = self._senders.setdefault(history, {})
        senders[entry.id] = entry.sender
        if len(senders) > MAX_SENDERS:
            del senders[next(iter(senders))]
