"""Runtime-only state of one connection: auto-injected entries and senders.

Rules: nothing here reaches a store, another connection or a restart. Positions always count stored entries, so an
injected entry has an anchor instead of an index: it stands before the stored entry that followed it in its `append`,
or behind the one before it. When its anchor leaves the history, it stands at the front, where no tool call can be
torn from its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from sidecar.core.messages import Entry

MAX_SENDERS = 4096
"""How many of the newest senders are remembered per history."""


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
        self._operations: dict[tuple[str, str], tuple[str, ...]] = {}

    def take(
        self, history: str, entries: Sequence[Entry], last_id: str | None, operation_id: str | None
    ) -> tuple[str, ...] | None:
        """Take the runtime-only part of an `append` whose entries have their ids.

        `last_id` is the stored entry before them. A repeated operation adds nothing twice;
        its answer is the ids that the entries got the first time, else `None`.
        """
        if operation_id is not None and any(entry.auto_injected for entry in entries):
            if (history, operation_id) in self._operations:
                return self._operations[history, operation_id]
            self._operations[history, operation_id] = tuple(entry.id for entry in entries)
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
        return None

    def anchors(self, history: str) -> list[str]:
        """Return the ids whose positions `place` needs; empty where nothing is injected at a stored entry."""
        return [item.before or item.behind or "" for item in self._injected.get(history, ())]

    def place(self, history: str, positions: Mapping[str, int]) -> Placed:
        """Return the injected entries of a history at the positions of their anchors."""
        placed = Placed()
        for item in self._injected.get(history, ()):
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

    def sender(self, history: str, entry_id: str) -> str:
        """Return who sent an entry, `""` where this connection does not know."""
        return self._senders.get(history, {}).get(entry_id, "")

    def clear(self, history: str) -> int:
        """Drop the injected entries of a history; return how many there were."""
        self._operations.clear()
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
