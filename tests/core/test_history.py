"""The history value: the cases of the source documents, and its changes as edits of plain lists."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.changes import Edit, apply_edits, difference
from sidecar.core.errors import EntryExists, EntryNotFound, VersionMismatch
from sidecar.core.history import History
from sidecar.core.messages import Entry


def entry(name: str) -> Entry:
    return evolve(Entry.user(name), id=name)


def history(*names: str) -> History:
    made, _ = History("h").append([entry(name) for name in names])
    return made


def names(value: History) -> list[str]:
    return [each.id for each in value.entries]


@pytest.mark.parametrize(
    ("start", "drop", "dropped", "left"),
    [
        (["u1", "a1", "u2", "a2"], 2, 2, ["S", "u2", "a2"]),  # seed case 6
        (["u1", "a1", "new1", "new2"], 2, 2, ["S", "new1", "new2"]),  # 7: the tail appended meanwhile survives
        (["one"], 99, 1, ["S"]),  # 8
        (["x"], 0, 0, ["S", "x"]),  # 13
        ([], 5, 0, ["S"]),  # 13
    ],
)
def test_splice_prefix(start: list[str], drop: int, dropped: int, left: list[str]) -> None:
    """A splice is clamped, returns what it really dropped, and keeps the rest."""
    old = history(*start)
    new, change, count = old.splice_prefix(drop, entry("S"))
    assert (count, names(new), new.version) == (dropped, left, old.version + 1)
    assert apply_edits(old.entries, change.edits) == new.entries
    assert names(old) == start, "nothing is changed in place"


def test_carry() -> None:
    """Carried entries come back before the summary, in their order; an entry outside the prefix cannot be carried."""
    new, _, count = history("a", "b", "c", "d").splice_prefix(3, entry("S"), carry=["c", "a"])
    assert (names(new), count) == (["a", "c", "S", "d"], 3)
    with pytest.raises(EntryNotFound):
        history("a", "b").splice_prefix(1, entry("S"), carry=["b"])


def test_truncate() -> None:
    """Cases 10 and 12: at or above the length nothing happens; below it is a roll-back."""
    old = history("a", "b")
    assert old.truncate(2) == (old, None) and old.truncate(99) == (old, None)
    more, _ = old.append([entry("c")])
    back, change = more.truncate(2)
    assert (names(back), back.version) == (["a", "b"], 3) and change is not None


def test_refusals() -> None:
    """A duplicate id, an unknown id, a wrong version, an edit beyond the end: an error and no new value."""
    old = history("a", "b")
    with pytest.raises(EntryExists):
        old.append([entry("a")])
    with pytest.raises(EntryExists):
        old.append([entry("c"), entry("c")])
    with pytest.raises(EntryNotFound):
        old.index("z")
    with pytest.raises(VersionMismatch):
        old.require(7)
    with pytest.raises(ValueError, match="beyond"):
        old.apply_edits([Edit(start=1, delete_count=2)])
    assert old.require(1) is old and old.index("b") == 1 and not old.is_empty and len(old) == 2


def test_fork_and_revert() -> None:
    """A fork starts at version 1; a revert is a new version with old content."""
    old = history("a", "b", "c")
    assert old.fork("f", 2) == History("f", old.entries[:2], 1)
    cut, _ = old.truncate(1)
    back, change = cut.become(old.entries)
    assert (back.entries, back.version) == (old.entries, 3)
    assert change.edits == (Edit(start=1, delete_count=0, entries=old.entries[1:]),)


lists = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=7).map(lambda found: tuple(map(entry, found)))


@given(lists, lists)
def test_the_difference_leads_from_old_to_new(old: tuple[Entry, ...], new: tuple[Entry, ...]) -> None:
    """Applying the difference of two lists to the first gives the second; equal lists need no edit."""
    edits = difference(old, new)
    assert apply_edits(old, edits) == new
    assert (edits == ()) == (old == new)
