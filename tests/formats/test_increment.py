"""A second import adds what is new and nothing twice."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.messages import Entry
from sidecar.formats.increment import Increment, increment


def _entry(name: str, text: str = "") -> Entry:
    return evolve(Entry.user(text or name), id=name)


def _talk(names: str) -> list[Entry]:
    return [_entry(name) for name in names]


def _apply(stored: list[Entry], change: Increment) -> list[Entry]:
    return [*stored[: len(stored) - change.drop], *change.add]


@given(st.integers(0, 8), st.integers(0, 8))
def test_growing(first: int, second: int) -> None:
    """Whatever was there at the first import, the second makes the history equal to the transcript."""
    fresh = _talk("abcdefgh"[: max(first, second)])
    stored = fresh[:first]
    change = increment(stored, fresh, stored[-1].id if stored else None)
    assert _apply(stored, change) == fresh and change.drop == 0
    assert increment(fresh, fresh, fresh[-1].id if fresh else None) == Increment()


def test_what_others_added_stays() -> None:
    """Entries that people added between two imports are kept, and entries they removed do not come back."""
    stored = [*_talk("ab"), _entry("mine")]
    assert increment(stored, _talk("abcd"), "b") == Increment(add=tuple(_talk("cd")))
    compacted = [_entry("summary"), *_talk("d")]
    assert increment(compacted, _talk("abcde"), "d") == Increment(add=tuple(_talk("e")))


def test_the_last_answer_grew() -> None:
    """An answer that was imported half-written is replaced by the whole one."""
    whole = [_entry("a"), _entry("b", "whole"), _entry("c")]
    assert increment([_entry("a"), _entry("b", "who")], whole, "b") == Increment(drop=1, add=tuple(whole[1:]))
    stamped = evolve(_entry("b", "whole"), ts=5)
    assert increment([_entry("a"), stamped], whole, "b") == Increment(add=(whole[2],))


def test_a_rewind_is_followed() -> None:
    """Where the tool took entries back, they go, unless somebody built on them."""
    assert increment(_talk("abcd"), _talk("abxy"), "d", 4) == Increment(drop=2, add=tuple(_talk("xy")))
    assert increment(_talk("abcd"), _talk("sx"), "d", 4) == Increment(drop=4, add=tuple(_talk("sx")))
    kept_both = Increment(add=tuple(_talk("xy")), diverged=True)
    assert increment([*_talk("abcd"), _entry("mine")], _talk("abxy"), "d", 4) == kept_both
    between = [*_talk("ab"), _entry("mine"), *_talk("cd")]
    assert increment(between, _talk("axy"), "d", 2) == Increment(drop=2, add=tuple(_talk("xy")), diverged=True)


def test_into_a_history_of_ones_own() -> None:
    """A first import into a history that has entries only adds."""
    assert increment(_talk("ab"), _talk("bc"), None) == Increment(add=tuple(_talk("c")))
