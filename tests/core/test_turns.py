"""Tool pairing and turns."""

from __future__ import annotations

from sidecar.core.messages import Entry, ToolCall
from sidecar.core.turns import pair, turn_starts


def asks(*ids: str) -> Entry:
    return Entry.assistant(tool_calls=[ToolCall(id=call_id, name="f", arguments="{}") for call_id in ids])


def answers(call_id: str) -> Entry:
    return Entry.tool("ok", call_id)


USER = Entry.user("q")
SAYS = Entry.assistant("a")


def test_results_are_found_by_id_wherever_they_stand() -> None:
    """A result answers its call across other entries and out of order."""
    pairing = pair([asks("a", "b"), USER, answers("b"), SAYS, answers("a")])
    assert pairing.result_of == {(0, 0): 4, (0, 1): 2}
    assert pairing.call_of == {4: (0, 0), 2: (0, 1)}
    assert pairing.orphans == [] and pairing.duplicates == {}


def test_the_latest_message_with_an_id_owns_the_results_behind_it() -> None:
    """A gateway that reuses ids gets each result at the call that was made last."""
    pairing = pair([asks("call_0"), answers("call_0"), USER, asks("call_0"), answers("call_0")])
    assert pairing.result_of == {(0, 0): 1, (3, 0): 4}


def test_an_old_call_is_not_answered_by_the_result_of_a_newer_one() -> None:
    """A call that was interrupted stays unanswered when its id comes back."""
    pairing = pair([asks("c"), USER, asks("c"), answers("c"), answers("c")])
    assert pairing.result_of == {(2, 0): 3}
    assert pairing.duplicates == {4: (2, 0)}
    assert pairing.awaited("c") is None


def test_calls_of_one_message_with_one_id_are_answered_in_order() -> None:
    """W028: the first result answers the first call."""
    pairing = pair([asks("d", "d"), answers("d"), answers("d"), answers("d")])
    assert pairing.result_of == {(0, 0): 1, (0, 1): 2}
    assert pairing.duplicates == {3: (0, 1)}


def test_a_result_never_answers_a_call_behind_it() -> None:
    """A result whose call was compacted away is an orphan even where its id comes back."""
    pairing = pair([answers("c"), asks("c")])
    assert pairing.orphans == [0] and pairing.result_of == {}
    assert pairing.awaited("c") == (1, 0)
    assert pairing.awaited("x") is None


def test_turns_start_at_the_first_of_neighbouring_user_entries() -> None:
    """Two user entries in a row are one turn."""
    assert turn_starts([USER, USER, SAYS, USER, asks("c"), answers("c")]) == [0, 3]
