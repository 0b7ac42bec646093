"""Edits and changes: how one version of a list of entries becomes the next.

Rules: edits apply in order, each seeing the result of those before. A change names the versions it leads between, so
that a receiver knows whether it missed one. Guard: `tests/core/test_history.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from sidecar.core.messages import Entry


@frozen(kw_only=True)
class Edit:
    """Remove `delete_count` entries at `start`, insert `entries` there."""

    start: int
    delete_count: int
    entries: tuple[Entry, ...] = ()


@frozen(kw_only=True)
class Change:
    """The way from one version to the next; without edits the content stayed."""

    previous_version: int
    version: int
    edits: tuple[Edit, ...] = ()


def apply_edits(entries: Sequence[Entry], edits: Iterable[Edit]) -> tuple[Entry, ...]:
    """Return the list after the edits. Raises `ValueError` for an edit that reaches beyond the list."""
    out = list(entries)
    for edit in edits:
        stop = edit.start + edit.delete_count
        if edit.start < 0 or edit.delete_count < 0 or stop > len(out):
            raise ValueError("an edit reaches beyond the list")
        out[edit.start : stop] = edit.entries
    return tuple(out)


def difference(old: Sequence[Entry], new: Sequence[Entry]) -> tuple[Edit, ...]:
    """Return the one edit that turns `old` into `new`; none where they are equal."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    if start == len(old) == len(new):
        return ()
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    return (Edit(start=start, delete_count=len(old) - start - end, entries=tuple(new[start : len(new) - end])),)
