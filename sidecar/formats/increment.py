"""What a second import of a grown transcript adds: only what is new, by entry id.

Rules: pure. `last` is the id of the last entry that the import before took over. What people or agents added to the
history since stays where it is; entries are taken back only where the tool itself took them back and nobody has built
on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from sidecar.core.messages import Entry


@frozen(kw_only=True)
class Increment:
    """Take `drop` entries off the end of the history, then add `add`."""

    drop: int = 0
    add: tuple[Entry, ...] = ()
    diverged: bool = False
    """The tool went another way, but the history has newer entries, so both are kept."""


def increment(stored: Sequence[Entry], fresh: Sequence[Entry], last: str | None, run: int = 0) -> Increment:
    """Return how the stored history becomes the fresh one.

    `run` says how many entries up to `last` are known to be imported ones without any other between them: only they
    may be taken back.
    """
    places = {entry.id: index for index, entry in enumerate(stored)}
    here = [index for index, entry in enumerate(fresh) if entry.id in places]
    if last is None:
        return Increment(add=tuple(entry for entry in fresh if entry.id not in places))
    at = next((index for index in reversed(range(len(fresh))) if fresh[index].id == last), None)
    tail = bool(stored) and stored[-1].id == last
    if at is not None:
        grown = tail and not _same(stored[-1], fresh[at])
        add = tuple(entry for entry in fresh[at + 1 :] if entry.id not in places)
        # The last answer was still being written when it was imported.
        return Increment(drop=1, add=(fresh[at], *add)) if grown else Increment(add=add)
    common = here[-1] if here else -1
    add = tuple(entry for entry in fresh[common + 1 :] if entry.id not in places)
    drop = len(stored) - (places[fresh[common].id] + 1 if here else 0)
    if not tail:
        return Increment(add=add, diverged=bool(add))
    return Increment(drop=min(drop, run), add=add, diverged=drop > run)


def _same(stored: Entry, fresh: Entry) -> bool:
    """Compare what a transcript says; a time that the transcript does not know was stamped by the store."""
    return evolve(stored, ts=None) == evolve(fresh, ts=None)
