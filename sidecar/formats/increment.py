"""What the import of a transcript adds to a history, entry by entry as it is read.

Rules: pure. `last` is the id of the last entry that the import before took over; what comes behind it is new. What
people or agents added to the history since stays where it is, what they removed does not come back; entries are taken
back only where the tool itself took them back and nobody has built on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar


class Named(Protocol):
    """Whatever is read: an entry, or one that is ready to be stored."""

    @property
    def id(self) -> str:
        """Its id, by which it is recognized."""


E = TypeVar("E", bound=Named)


class Increment(Generic[E]):
    """The import of one conversation into one history: feed it what is read, and do what it says.

    `length` is that of the history. `run` says how many entries up to `last` are known to be imported ones without any
    other between them: only they may be taken back. `at_end` says that `last` is the history's last entry.
    """

    def __init__(self, *, last: str | None = None, run: int = 0, length: int = 0, at_end: bool = True) -> None:
        self._last = last
        self._length = length
        self._at_end = at_end
        self._common = -1
        self._held: list[E] = []
        self.run = run if at_end else 0
        """How many entries at the end of the history are imported ones."""
        self.drop = 0
        """So many entries are to be taken off the end before what is to be added next."""
        self.diverged = False
        """The tool went another way, but the history has newer entries, so both are kept."""

    def take(self, read: Sequence[E], places: Mapping[str, int]) -> tuple[Sequence[E], E | None]:
        """Return what of the next entries is to be added, and the entry `last` where it is met among them.

        `places` tells where the history has those of them that it has; it is looked at until `last` was met.
        """
        if self._last is None:
            return read, None
        for at, entry in enumerate(read):
            if entry.id == self._last:
                self._last = None
                self._held.clear()
                return read[at + 1 :], entry
            if entry.id in places:
                self._common = places[entry.id]
                self._held.clear()
            else:
                self._held.append(entry)
        return (), None

    def replace_last(self) -> bool:
        """The entry `last` has grown since: take the old one back if it is still the last; say whether it is."""
        if self._at_end and self.run:
            self.drop, self.run = 1, self.run - 1
            return True
        return False

    def restart(self) -> None:
        """The tool compacted: what was imported leaves the view, unless others have built on it."""
        if self._last is None:
            self.drop, self.run = self.drop + self.run, 0
        else:
            self._common = -1
            self._held.clear()

    def added(self, count: int) -> None:
        """Take note that what was said is done, and brought so many entries."""
        self.drop = 0
        self.run += count

    def end(self) -> Sequence[E]:
        """Return what else is to be added: where `last` was not met, the tool took it back."""
        if self._last is None:
            return ()
        self._last = None
        if not self._at_end:
            self.diverged = bool(self._held)
            return self._held
        drop = self._length - (self._common + 1)
        self.diverged = drop > self.run
        self.drop = min(drop, self.run)
        self.run -= self.drop
        return self._held
