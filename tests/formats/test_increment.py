"""A second import adds what is new and nothing twice."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.messages import Entry
from sidecar.formats.increment import Increment


def _entry(name: str, text: str = "") -> Entry:
    return evolve(Entry.user(text or name), id=name)


def _follow(stored: str, read: str, last: str | None, run: int = 0) -> tuple[str, bool]:
    """Import into a history of one-letter entries; in what is read, `|` is a compaction. Return what it became."""
    increment: Increment[Entry] = Increment(last=last, run=run, length=len(stored), at_end=stored[-1:] == (last or ""))
    if last is None:
        increment = Increment(length=len(stored))
    held = list(stored)

    def add(entries: Any) -> None:
        new = [entry.id for entry in entries if entry.id not in held]
        if new or increment.drop:
            del held[len(held) - increment.drop :]
            held.extend(new)
            increment.added(len(new))

    for name in read:
        if name == "|":
            increment.restart()
        else:
            add(increment.take([_entry(name)], {entry: at for at, entry in enumerate(held)})[0])
    add(increment.end())
    return "".join(held), increment.diverged


@given(st.integers(0, 8), st.integers(0, 8))
def test_growing(first: int, second: int) -> None:
    """Whatever was there at the first import, the second makes the history equal to the transcript."""
    fresh = "abcdefgh"[: max(first, second)]
    stored = fresh[:first]
    assert _follow(stored, fresh, stored[-1:] or None, first) == (fresh, False)


def test_what_others_added_stays() -> None:
    """Entries that people added between two imports are kept, and entries they removed do not come back."""
    assert _follow("abM", "abcd", "b", 2) == ("abMcd", False)
    assert _follow("Sd", "abcde", "d", 1) == ("Sde", False)


def test_the_last_answer_grew() -> None:
    """An answer that was imported half-written can be taken back while it is the last."""
    increment: Increment[Entry] = Increment(last="b", run=2, length=2)
    read = [_entry("a"), _entry("b", "whole"), _entry("c")]
    assert increment.take(read, {"a": 0, "b": 1}) == ([read[2]], read[1])
    assert (increment.replace_last(), increment.drop, increment.run) == (True, 1, 1)
    behind: Increment[Entry] = Increment(last="b", run=2, length=3, at_end=False)
    assert (behind.take(read, {})[1], behind.replace_last(), behind.drop) == (read[1], False, 0)


def test_a_rewind_is_followed() -> None:
    """Where the tool took entries back, they go, unless somebody built on them."""
    assert _follow("abcd", "abxy", "d", 4) == ("abxy", False)
    assert _follow("abcd", "sx", "d", 4) == ("sx", False)
    assert _follow("abcdM", "abxy", "d", 4) == ("abcdMxy", True)
    assert _follow("abMcd", "axy", "d", 2) == ("abMxy", True)


def test_the_first_import_into_a_history_that_has_something() -> None:
    """Without a record of an import, only what the history lacks is added."""
    assert _follow("ab", "bc", None) == ("abc", False)


def test_a_compaction_is_followed() -> None:
    """What was imported leaves the view with the tool's compaction; what others wrote stays."""
    assert _follow("", "abc|sd", None) == ("sd", False)
    assert _follow("M", "abc|sd", None) == ("Msd", False)
    assert _follow("abc", "abcd|se|tf", "c", 3) == ("tf", False)
    assert _follow("sd", "abc|sde", "d", 2) == ("sde", False)
    assert _follow("abcM", "abcd|se", "c", 3) == ("abcMse", False)
    assert _follow("abc", "axy|se", "c", 3) == ("se", False)
