"""Counting byte classes and their sequences: the quick way beside the plain one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.features import FEATURES, class_of, count_features

SCRIPTS = {
    **dict.fromkeys("abz", "l"), **dict.fromkeys("AZ", "U"), **dict.fromkeys("09", "d"), " ": "s", "\n": "n",
    "\r": "n", "\t": "t", **dict.fromkeys(".,;:'\"()", "p"), **dict.fromkeys("{}[]<>/\\", "q"), "_": "u", "-": "u",
    **dict.fromkeys("!#$%&*+=?@^`|~", "r"), "\x00": "z", "\x7f": "z", "é": "Ac", "ł": "Bc", "λ": "Gc", "ж": "Rc",
    "ש": "Hc", "ع": "Yc", "ก": "Icc", "က": "Jcc", "…": "Scc", "の": "Kcc", "漢": "Ccc", "한": "Occ", "Ａ": "Xcc",
    "🙂": "Eccc",
}  # fmt: skip
"""A character -> the classes of its UTF-8 bytes, written down by hand."""


def plain(classes: str) -> dict[str, int]:
    """Count each feature as Python counts a part of a string: from the left, not overlapping."""
    return {name: classes.count(name) for name in FEATURES}


def counted(encoded: bytes) -> dict[str, int]:
    return dict(zip(FEATURES, count_features(encoded), strict=True))


WORDS = st.text(st.sampled_from(sorted(SCRIPTS)), max_size=60)
RUNS = st.lists(
    st.tuples(st.text(st.sampled_from(sorted(SCRIPTS)), min_size=1, max_size=3), st.integers(1, 60)), max_size=12
).map(lambda runs: "".join(part * times for part, times in runs))
"""Long runs of one class or of one pair of classes, so that every shortcut for long texts is taken."""


@given(st.one_of(WORDS, RUNS))
def test_classes_are_counted_by_script(text: str) -> None:
    """Each feature counts the non-overlapping places of its class sequence in the text."""
    assert counted(text.encode()) == plain("".join(SCRIPTS[character] for character in text))


@given(st.lists(st.one_of(st.text(), RUNS, st.text(st.characters())), min_size=1, max_size=4))
def test_any_text_is_counted_by_its_bytes(texts: list[str]) -> None:
    """Whatever the characters, lone surrogates included: no feature is found across the border of two strings."""
    encoded = b"\xff".join(text.encode("utf-8", "surrogatepass") for text in texts)
    assert counted(encoded) == plain("".join(map(class_of, encoded)))


@given(st.one_of(RUNS, st.text(min_size=4)), st.data())
def test_a_window_may_cut_characters(text: str, data: st.DataObject) -> None:
    """Windows of a long text are counted by their bytes, also where they begin or end within a character."""
    encoded = text.encode("utf-8", "surrogatepass")
    cuts = data.draw(st.tuples(*[st.integers(0, len(encoded))] * 4))
    first, second = encoded[min(cuts[:2]) : max(cuts[:2])], encoded[min(cuts[2:]) : max(cuts[2:])]
    windows = first + b"\xff" + second
    assert counted(windows) == plain("".join(map(class_of, windows)))


@pytest.mark.parametrize("repeat", [1, 40])
def test_real_texts_are_counted_by_their_bytes(repeat: int) -> None:
    """Prose of many scripts, code, logs and data give the plain counts, short and long."""
    for line in Path(__file__).with_name("token_sample.jsonl").read_text(encoding="utf-8").splitlines():
        encoded = (json.loads(line)["text"] * repeat).encode()
        assert counted(encoded) == plain("".join(map(class_of, encoded)))
