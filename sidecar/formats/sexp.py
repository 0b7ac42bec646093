"""The few Lisp values that Emacs packages write into files: lists, pairs, numbers, strings, symbols, plists.

Rules: reading never evaluates; depth is limited; anything else raises `ValueError`.
"""

from __future__ import annotations

import re
from typing import Any, Final

_TOKEN: Final = re.compile(r"""\s*(?:([()\[\]])|("(?:[^"\\]|\\.)*")|([^\s()\[\]"]+))""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
MAX_DEPTH: Final = 100


def read(text: str, at: int = 0) -> tuple[Any, int]:
    """Read one value; return it and the position after it. Symbols are `Symbol`, lists and vectors are lists."""
    return _read(text, at, 0)


class Symbol(str):
    """A Lisp symbol or keyword."""

    __slots__ = ()


def plist(value: Any) -> dict[str, Any]:
    """Turn `(:a 1 :b (…))` into an object, values included; other lists stay lists."""
    found: dict[str, Any] = {}
    if isinstance(value, list):
        for key, item in zip(value[::2], value[1::2], strict=False):
            if isinstance(key, Symbol) and key.startswith(":"):
                found[key[1:]] = to_json(item)
    return found


def to_json(value: Any) -> Any:
    """Turn a Lisp value into a JSON value: plists to objects, `t` and `:json-false` to booleans, `nil` to null."""
    if isinstance(value, Symbol):
        return {"t": True, "nil": None, ":json-false": False, ":null": None}.get(value, str(value))
    if isinstance(value, list):
        if value and isinstance(value[0], Symbol) and value[0].startswith(":") and len(value) % 2 == 0:
            return plist(value)
        return [to_json(item) for item in value]
    return value


def _read(text: str, at: int, depth: int) -> tuple[Any, int]:
    token = _TOKEN.match(text, at)
    if token is None or depth > MAX_DEPTH:
        raise ValueError("not a Lisp value")
    at = token.end()
    bracket, string, atom = token.groups()
    if string is not None:
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), string[1:-1]), at
    if atom is not None:
        return _atom(atom.lstrip("'")), at
    if bracket in ")]":
        raise ValueError("unexpected closing bracket")
    items: list[Any] = []
    while True:
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError("list is not closed")
        if token[1] in (")", "]"):
            return items, token.end()
        if token[3] == ".":
            at = token.end()
            continue
        item, at = _read(text, at, depth + 1)
        items.append(item)


def _atom(atom: str) -> Any:
    if re.fullmatch(r"[+-]?\d+", atom) and len(atom) < 300:
        return int(atom)
    if re.fullmatch(r"[+-]?\d*\.\d+(?:e[+-]?\d{1,3})?", atom):
        return float(atom)
    return Symbol(atom)
