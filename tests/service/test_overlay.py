"""Runtime-only entries."""

from __future__ import annotations

import pytest
from attrs import evolve

from sidecar.core.errors import EntryExists, OperationReused
from sidecar.core.messages import Entry
from sidecar.service.overlay import MAX_OPERATIONS, MAX_SENDERS, Overlay, Placed
from sidecar.store.base import Applied, Head


def user(name: str, sender: str = "") -> Entry:
    return evolve(Entry.user(name, sender=sender), id=name)


def injected(name: str) -> Entry:
    return user(name).injected()


def test_entries_keep_their_place_by_the_id_beside_them() -> None:
    """Before the stored entry that follows, else behind the one before, else at the front."""
    overlay = Overlay()
    overlay.take("h", [injected("i1"), injected("i2"), user("a"), injected("i3"), user("b"), injected("i4")], None)
    overlay.take("h", [injected("i5")], "b")
    assert overlay.place("h", {"a": 5, "b": 6}) == Placed(
        before={5: [injected("i1"), injected("i2")], 6: [injected("i3")]}, behind={6: [injected("i4"), injected("i5")]}
    )


def test_an_entry_whose_anchor_is_gone_stands_at_the_front() -> None:
    """Where no tool call can be torn from its result."""
    overlay = Overlay()
    overlay.take("h", [injected("i1"), user("a")], None)
    overlay.take("h", [injected("i2")], None)
    assert overlay.place("h", {"b": 0}) == Placed(front=[injected("i1"), injected("i2")])


def test_only_what_was_injected_before_anything_was_stored_stands_alone() -> None:
    """An entry beside a stored one says that the history is, or was, there."""
    overlay = Overlay()
    told = [overlay.stands_alone("h")]
    overlay.take("h", [injected("i1"), injected("i2")], None)
    told.append(overlay.stands_alone("h"))
    overlay.take("h", [injected("i3")], "a")
    overlay.take("k", [injected("i4"), user("a")], None)
    assert [*told, overlay.stands_alone("h"), overlay.stands_alone("k")] == [False, True, False, False]


def test_a_stored_entry_hides_an_injected_one_with_its_id() -> None:
    """Another process may store any id at any time; nobody is shown two entries with one."""
    overlay = Overlay()
    overlay.take("h", [injected("i1"), injected("i2")], "a")
    assert overlay.place("h", {"a": 0, "i1": 1}) == Placed(behind={0: [injected("i2")]})
    assert sorted(overlay.anchors("h")) == ["a", "a", "i1", "i2"]


def test_an_injected_id_is_taken_once() -> None:
    """A refusal adds nothing."""
    overlay = Overlay()
    overlay.take("h", [injected("i")], None)
    with pytest.raises(EntryExists):
        overlay.take("h", [injected("j"), injected("i")], None)
    with pytest.raises(EntryExists):
        overlay.take("h", [injected("k"), injected("k")], None)
    assert overlay.injected_ids("h") == {"i"}


def test_a_repeat_is_answered_until_the_entries_are_cleared() -> None:
    """Those of other histories stay, and another call under the same id is refused."""
    overlay = Overlay()
    head = Head(history="h", version=0, len=0, estimate=0, created_at=0, updated_at=0)
    applied = Applied(head=head, previous_version=0, changed=False, entry_ids=("i",))
    overlay.remember("h", "op", b"one", applied)
    overlay.remember("k", "op", b"one", applied)
    assert overlay.recall("h", "op", b"one") == evolve(applied, replayed=True)
    assert overlay.recall("h", None, b"one") is None
    with pytest.raises(OperationReused):
        overlay.recall("h", "op", b"two")
    overlay.clear("h")
    assert (overlay.recall("h", "op", b"two"), overlay.recall("k", "op", b"one")) == (
        None,
        evolve(applied, replayed=True),
    )
    for number in range(MAX_OPERATIONS):
        overlay.remember("h", str(number), b"", applied)
    assert overlay.recall("k", "op", b"one") is None


def test_it_follows_a_rename_and_forgets_what_is_deleted() -> None:
    """The new name has what the old one had."""
    overlay = Overlay()
    overlay.take("h", [injected("i"), user("a", sender="tg:1")], None)
    overlay.rename("h", "k")
    assert (overlay.has_injected("h"), overlay.sender("k", "a")) == (False, "tg:1")
    overlay.forget("k")
    assert (overlay.has_injected("k"), overlay.sender("k", "a")) == (False, "")


def test_senders_are_bounded() -> None:
    """The newest are kept."""
    overlay = Overlay()
    for number in range(MAX_SENDERS + 10):
        overlay.take("h", [user(str(number), sender="s")], None)
    assert (overlay.sender("h", "9"), overlay.sender("h", "10")) == ("", "s")
