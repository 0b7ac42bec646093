"""JSON text in and out: one policy for the whole product.

Rules:
- Reading is strict RFC 8259: `NaN`, `Infinity` and numbers that overflow a double are refused, since writing them
  back would not be JSON. Integers of any size stay exact (orjson would round 2^64 and above).
- Lone surrogates are legal on input (JavaScript clients emit them) and survive a save and a load: they are
  written as `\\udXXX` escapes, because UTF-8 has no form for them (wire rule X14).
- Writing is compact, UTF-8, key order as given.
- Depth is limited before the parser recurses (`protocol.md` §9).
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""Any value that `json.loads` can return."""

MAX_DEPTH = 128
"""Deepest nesting of arrays and objects in one message."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_TO_BRACES = bytes.maketrans(b"[]", b"{}")
_NOT_BRACES = bytes(set(range(256)) - set(b"{}"))


def loads(text: str | bytes) -> Json:
    """Parse one JSON text; raise `ValueError` where it is not JSON, not UTF-8 or nested too deeply for the parser."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        try:
            value, end = _DECODER.raw_decode(text)
            if end == len(text) or not text[end:].strip(_BLANKS):
                return value
        except ValueError:
            pass
        # Blanks in front, or no JSON: the decoder reads the one and has words for the other.
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def dumps(value: Json) -> str:
    """Write compact JSON text. It may hold lone surrogates; use `dumpb` for bytes."""
    return _ENCODER.encode(value)


def dumpb(value: Json) -> bytes:
    """Write compact JSON as UTF-8 bytes, lone surrogates as escapes."""
    # For a lone surrogate `backslashreplace` writes exactly the JSON escape; it can only stand inside a string.
    return dumps(value).encode("utf-8", "backslashreplace")


def too_deep(body: bytes, limit: int = MAX_DEPTH) -> bool:
    """Say whether arrays and objects nest deeper than `limit`, without parsing (linear, no recursion)."""
    if body.count(b"{") + body.count(b"[") <= limit:
        return False
    braces = rest = _STRING.sub(b"", body).translate(_TO_BRACES).translate(None, _NOT_BRACES)
    for _ in range(limit):
        if not rest:
            return False
        rest = rest.replace(b"{}", b"")
    # What is left is too deep or is not balanced; counting tells the two apart.
    return bool(rest) and max(accumulate(1 if brace == 0x7B else -1 for brace in braces)) > limit


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("number is out of range")
    return value


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


# `json.loads` and `json.dumps` build these anew on every call with options, which costs as much as a small message.
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
_BLANKS = " \t\n\r"
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
