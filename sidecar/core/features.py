"""Byte classes and their sequences: what a weighted estimate multiplies with its weights (tokens.md §2.4).

Rules:
- Each UTF-8 byte belongs to one of 25 classes; the lead byte of a character *is* its script. A feature is a class or a
  sequence of classes, and its count is how many of them, not overlapping, the classes of the text hold.
- The names and their order are fixed: stored measures and the profiles' weights are written in them.
- Counting costs passes over the bytes and, for short texts, calls. So two neighbouring classes become one byte (two
  nibbles of one large integer), what is in no feature is deleted, and only the rest is counted: a fifth to a half of
  the text. Nothing is kept but which pairs a set of classes can form (`tests/bench/tokens_speed.py`).

Guard: `tests/core/test_features.py` counts the plain way and compares.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

Counts: TypeAlias = tuple[int, ...]
"""One count for each of `FEATURES`; empty where there is nothing to count."""

_ASCII: Final = (
    "l U d s n t p q u r z "
    "sl sU nl pl ql ul rl dl lU UU Ul Ud dU ld sd pd dp ss ns nn pp pq qp qq rr lp sp sr sq lr Us tt"
)
_OTHER: Final = "A B G R H Y I J S K C O X E sA sB sG sR sH sY sI sO lA SccS KccK KccC CccK"
FEATURES: Final = (*_ASCII.split(), *_OTHER.split())
"""Names of the counted classes and sequences of classes: one letter per byte class, as `class_of` has them."""


def class_of(byte: int) -> str:
    """Return the letter of a byte's class."""
    character = chr(byte)
    if byte < 0x80:
        for letter, members in (
            ("l", "abcdefghijklmnopqrstuvwxyz"),
            ("U", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            ("d", "0123456789"),
            ("s", " "),
            ("n", "\n\r"),
            ("t", "\t"),
            ("p", ".,;:'\"()"),
            ("q", "{}[]<>/\\"),
            ("u", "_-"),
        ):
            if character in members:
                return letter
        return "r" if 33 <= byte < 127 else "z"
    for letter, last in (
        ("c", 0xBF),  # continuation
        ("A", 0xC3),  # Latin-1
        ("B", 0xCD),  # Latin extended, phonetic, combining
        ("G", 0xCF),  # Greek
        ("R", 0xD3),  # Cyrillic
        ("H", 0xD7),  # Armenian, Hebrew
        ("Y", 0xDF),  # Arabic, Syriac
        ("I", 0xE0),  # Indic, Thai, Lao, Tibetan
        ("J", 0xE1),  # Georgian, Khmer, Burmese, Latin additional
        ("S", 0xE2),  # punctuation, symbols, arrows, boxes
        ("K", 0xE3),  # kana and CJK punctuation
        ("C", 0xE9),  # Han
        ("O", 0xED),  # Hangul
        ("X", 0xEF),  # full width, private use
        ("E", 0xFE),  # four bytes: emoji, rare Han
    ):
        if byte <= last:
            return letter
    return "|"


def count_features(encoded: bytes) -> Counts:
    """Count the features of UTF-8 bytes; a byte 0xFF separates strings, since it occurs in no UTF-8 text.

    A character that is cut at the start or the end of a string is allowed; other bytes that are not UTF-8 are counted
    as if their continuation bytes were not there.
    """
    counts = [0] * len(FEATURES)
    if encoded.isascii():
        nibbles = encoded.translate(_BYTE_NIBBLES)
    else:
        # Continuation bytes are in no feature by themselves, and all that a sequence like `SccS` asks of them is true
        # of every character of its class: half to two thirds of the bytes need not be looked at.
        letters = encoded.translate(_CLASSES, _CONTINUATION)
        _count_scripts(letters, counts)
        nibbles = letters.translate(_LETTER_NIBBLES)
    _count_singles(nibbles, counts)
    _count_pairs(nibbles, counts)
    return tuple(counts)


# --- ASCII classes ----------------------------------------------------------------------------------------------------

_ASCII_LETTERS: Final = "".join(_ASCII.split()[:11])
_NIBBLE: Final = {letter: place + 1 for place, letter in enumerate(_ASCII_LETTERS)}
_CLASSES: Final = "".join(map(class_of, range(256))).encode("ascii")
_LETTER_NIBBLES: Final = bytes(_NIBBLE.get(chr(byte), 0) for byte in range(256))
_BYTE_NIBBLES: Final = _CLASSES.translate(_LETTER_NIBBLES)
_CONTINUATION: Final = bytes(range(0x80, 0xC0))

_LOWER, _SPACE, _DIGIT = (FEATURES.index(letter) for letter in "lsd")
_PLACES: Final = bytes(FEATURES.index(_ASCII_LETTERS[nibble - 1]) if nibble else 0 for nibble in range(12)) + bytes(244)
_REST: Final = tuple(place for place in range(len(_ASCII_LETTERS)) if place not in (_LOWER, _SPACE, _DIGIT))
_NO_LOWER: Final = bytes((_NIBBLE["l"],))
_SPACE_NIBBLE: Final = bytes((_NIBBLE["s"],))
_NO_SPACE: Final = bytes((_NIBBLE["s"], 0))
_NO_DIGIT: Final = bytes((_DIGIT,))
_FEW: Final = 40
"""Up to here a loop over what is left costs less than one call for each class that may be in it (measured)."""


def _count_singles(nibbles: bytes, counts: list[int]) -> None:
    # Lower-case letters and spaces are nine of ten bytes in prose.
    others = nibbles.translate(None, _NO_LOWER)
    counts[_LOWER] = len(nibbles) - len(others)
    counts[_SPACE] = others.count(_SPACE_NIBBLE)
    rest = others.translate(_PLACES, _NO_SPACE)
    if len(rest) > _FEW:
        counts[_DIGIT] = rest.count(_NO_DIGIT)
        rest = rest.translate(None, _NO_DIGIT)
    if len(rest) > _FEW:
        count = rest.count
        for place in _REST:
            counts[place] = count(place)
    else:
        for place in rest:
            counts[place] += 1


# --- pairs of ASCII classes -------------------------------------------------------------------------------------------


def _code(left: str, right: str) -> int:
    return _NIBBLE[left] | _NIBBLE[right] << 4


_PAIRS: Final = {name: place for place, name in enumerate(FEATURES) if len(name) == 2 and set(name) <= set(_NIBBLE)}
_TWINS: Final = tuple((place, bytes((place, place))) for name, place in _PAIRS.items() if name[0] == name[1])
_BREAK: Final = 255
_BREAKS: Final = frozenset(
    _NIBBLE[name[0]] | right << 4 for name in _PAIRS if name[0] == name[1] for right in range(16)
) - {_code(*name) for name in _PAIRS}  # fmt: skip
"""What ends a run of one class and is no feature: it has to stay, or two runs would look like one."""

_CODE_PLACES: Final = bytes(
    {_code(*name): place for name, place in _PAIRS.items()}.get(code, _BREAK) for code in range(256)
)
_NO_PAIR: Final = bytes(code for code in range(256) if _CODE_PLACES[code] == _BREAK and code not in _BREAKS)
_ONLY_BREAKS: Final = bytes((_BREAK,))
_FREQUENT: Final = tuple(_PAIRS[name] for name in ("sl", "ss", "lp", "pl", "Ul", "lU", "ld", "dl", "pd", "dp"))
_NO_FREQUENT: Final = bytes((*_FREQUENT, _BREAK))
_MANY: Final = 80
"""The same for pairs, of which more may be in it."""


def _count_pairs(nibbles: bytes, counts: list[int]) -> None:
    number = int.from_bytes(nibbles, "little")
    # Every byte is now a class and, in the upper nibble, the class behind it.
    codes = (number | number >> 4).to_bytes(len(nibbles), "little")
    pairs = codes.translate(_CODE_PLACES, _NO_PAIR)
    if len(pairs) > _FEW:
        frequent, seldom = _possible(tuple(map(bool, counts[: len(_ASCII_LETTERS)])))
        count = pairs.count
        for place in frequent:
            counts[place] = count(place)
        rest = pairs.translate(None, _NO_FREQUENT)
    else:
        seldom = ()
        rest = pairs.translate(None, _ONLY_BREAKS)
    if len(rest) > _MANY:
        count = rest.count
        for place in seldom:
            counts[place] = count(place)
    else:
        for place in rest:
            counts[place] += 1
    for place, twice in _TWINS:
        # A run of n has n - 1 pairs, of which every second overlaps the one before.
        if counts[place] > 1:
            counts[place] -= pairs.count(twice)


@lru_cache(maxsize=2048)
def _possible(present: tuple[bool, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    # A pair can only occur where both of its classes do; most texts have few of them.
    letters = {letter for letter, there in zip(_ASCII_LETTERS, present, strict=True) if there}
    possible = {place for name, place in _PAIRS.items() if letters.issuperset(name)}
    return tuple(filter(possible.__contains__, _FREQUENT)), tuple(sorted(possible.difference(_FREQUENT)))


# --- other scripts ----------------------------------------------------------------------------------------------------

_SCRIPTS: Final = {ord(name): place for place, name in enumerate(FEATURES) if len(name) == 1 and name not in _NIBBLE}
_SCRIPT_SEQUENCES: Final = tuple(
    (place, name.replace("c", "").encode("ascii"), frozenset(name.encode("ascii")) & frozenset(_SCRIPTS))
    for place, name in enumerate(FEATURES)
    if len(name) > 1 and name not in _PAIRS
)
_NO_SCRIPT: Final = _ASCII_LETTERS.encode("ascii") + b"|"


def _count_scripts(letters: bytes, counts: list[int]) -> None:
    rest = letters.translate(None, _NO_SCRIPT)
    found = set()
    while rest:  # one or two scripts and some punctuation in most texts
        letter = rest[:1]
        size = len(rest)
        rest = rest.translate(None, letter)
        counts[_SCRIPTS[letter[0]]] = size - len(rest)
        found.add(letter[0])
    for place, sequence, scripts in _SCRIPT_SEQUENCES:
        if scripts <= found:
            counts[place] = letters.count(sequence)
