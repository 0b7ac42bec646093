"""The history as a value: an operation takes one and returns the next with the change between them.

Rules: nothing is changed in place; bad input raises a domain error and there is no next value. The stores do the same
over ranges of logs (`store.logic`); this is what they mean, on plain lists. Guard: `tests/core/test_history.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from sidecar.core.changes import Change, Edit, apply_edits, difference
from sidecar.core.errors import EntryExists, EntryNotFound, VersionMismatch
from sidecar.core.messages import Entry


@frozen
class History:
    """A named list of entries at a version; version 0 does not exist yet."""

    name: str
    entries: tuple[Entry, ...] = ()
    version: int = 0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def is_empty(self) -> bool:
        """Whether it has no entries."""
        return not self.entries

    def require(self, version: int | None) -> History:
        """Return the history where it is at this version, or no version is asked for; else raise VersionMismatch."""
        if version is not None and version != self.version:
            raise VersionMismatch(self.name, version, self.version)
        return self

    def append(self, entries: Iterable[Entry]) -> tuple[History, Change]:
        """Add entries at the end, as one change."""
        return self._edited(Edit(start=len(self.entries), delete_count=0, entries=tuple(entries)))

    def splice_prefix(self, drop_count: int, summary: Entry, carry: Iterable[str] = ()) -> tuple[History, Change, int]:
        """Put carried entries and a summary in place of the first `drop_count` (clamped); return the number dropped."""
        dropped = min(drop_count, len(self.entries))
        wanted = set(carry)
        kept = tuple(entry for entry in self.entries[:dropped] if entry.id in wanted)
        if len(kept) < len(wanted):
            missing = next(iter(wanted - {entry.id for entry in kept}))
            raise EntryNotFound(self.name, missing)
        edit = Edit(start=0, delete_count=dropped, entries=(*kept, summary))
        return *self._edited(edit), dropped

    def replace(self, entries: Iterable[Entry]) -> tuple[History, Change]:
        """Put a new list in place of the whole one."""
        return self._edited(Edit(start=0, delete_count=len(self.entries), entries=tuple(entries)))

    def truncate(self, length: int) -> tuple[History, Change | None]:
        """Keep the first `length` entries; no change where there are no more."""
        if length >= len(self.entries):
            return self, None
        return self._edited(Edit(start=length, delete_count=len(self.entries) - length))

    def apply_edits(self, edits: Iterable[Edit]) -> tuple[History, Change]:
        """Apply edits in order, as one change."""
        return self._edited(*edits)

    def become(self, entries: tuple[Entry, ...]) -> tuple[History, Change]:
        """Make a new version with the content of another one: a revert."""
        return self._edited(*difference(self.entries, entries))

    def fork(self, to: str, length: int | None = None) -> History:
        """Return a new history at version 1 with the same content, or its first `length` entries."""
        return History(to, self.entries[:length], 1)

    def index(self, entry_id: str) -> int:
        """Return the index of an entry. Raises EntryNotFound."""
        for at, entry in enumerate(self.entries):
            if entry.id == entry_id:
                return at
        raise EntryNotFound(self.name, entry_id)

    def _edited(self, *edits: Edit) -> tuple[History, Change]:
        entries = apply_edits(self.entries, edits)
        seen: set[str] = set()
        for entry in entries:
            if entry.id in seen:
                raise EntryExists(self.name, entry.id)
            seen.add(entry.id)
        change = Change(previous_version=self.version, version=self.version + 1, edits=edits)
        return History(self.name, entries, self.version + 1), change
