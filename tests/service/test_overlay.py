"""Runtime-only entries."""

from __future__ import annotations

from attrs import evolve

from sidecar.core.messages import Entry
from sidecar.service.overlay import MAX_SENDERS, Overlay, Placed


def user(name: str, sender: str = "") -> Entry:
    return evolve(Entry.user(name, sender=sender), id=name)


def injected(name: str) -> Entry:
    return user(name).injected()


def test_entries_keep_their_place_by_the_id_beside_them() -> None:
    """Before the stored entry that follows, else behind the one before, else at the front."""
    overlay = Overlay()
    overlay.take(
        "h", [injected("i1"), injected("i2"), user("a"), injected("i3"), user("b"), injected("i4")], None, None
    )
    overlay.take("h", [injected("i5")], "b", None)
    assert overlay.place("h", {"a": 5, "b": 6}) == Placed(
        before={5: [injected("i1"), injected("i2")], 6: [injected("i3")]}, behind={6: [injected("i4"), injected("i5")]}
    )


def test_an_entry_whose_anchor_is_gone_stands_at_the_front() -> None:
    """Where no tool call can be torn from its result."""
    overlay = Overlay()
    overlay.take("h", [injected("i1"), user("a")], None, None)
    overlay.take("h", [injected("i2")], None, None)
    assert overlay.place("h", {"b": 0}) == Placed(front=[injected("i1"), injected("i2")])


def test_a_repeated_operation_injects_once() -> None:
    """Until they are cleared."""
    overlay = Overlay()
    answers = [overlay.take("h", [injected(name), user("a")], None, "op") for name in ("i", "made anew")]
    assert answers == [None, ("i", "a")]
    assert (overlay.clear("h"), overlay.clear("h"), overlay.has_injected("h")) == (1, 0, False)
    overlay.take("h", [injected("i"), user("a")], None, "op")
    assert overlay.clear("h") == 1


def test_it_follows_a_rename_and_forgets_what_is_deleted() -> None:
    """The new name has what the old one had."""
    overlay = Overlay()
    overlay.take("h", [injected("i"), user("a", sender="tg:1")], None, None)
    overlay.rename("h", "k")
    assert (overlay.has_injected("h"), overlay.sender("k", "a")) == (False, "tg:1")
    overlay.forget("k")
    assert (overlay.has_injected("k"), overlay.sender("k", "a")) == (False, "")


def test_senders_are_bounded() -> None:
    """The newest are kept."""
    overlay = Overlay()
    for number in range(MAX_SENDERS + 10):
        overlay.take("h", [user(str(number), sender="s")], None, None)
    assert (overlay.sender("h", "9"), overlay.sender("h", "10")) == ("", "s")
