"""Call ids and tool names that the vendor accepts (X3, X4, X5).

Rules:
- A valid id that is not taken stays as it is, byte for byte.
- Any other id is mapped by a pure function of the id and of how often it was taken before, so the same list always
  gives the same ids, and appending to the list changes none of those given before.
- The map is applied to call and result alike: `assign` runs once per call, and its result carries what it returned.
- Names: a valid name stays. Any other is cleaned; where the clean form is the name of another tool, a hash is added.
  The names of the whole list are known beforehand, so a valid name is never the one that has to give way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Final

from attrs import define, field, frozen

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PAIRS = tuple(first + second for second in _BASE62 for first in _BASE62)
"""Two digits at once, the low one first: every call of a history for Mistral gets such an id."""
_FOUR = 62**4
_HASH = 8


@frozen(kw_only=True)
class Format:
    """An alphabet and a length; `strict` ids are all hash, since they are too short to keep anything readable."""

    pattern: str
    length: int
    unwanted: str = r"[^a-zA-Z0-9_-]"
    strict: bool = False

    def describe(self) -> str:
        """Return the pattern as a person reads it."""
        return f"`{self.pattern}`"


FORMATS: Final[dict[str, Format]] = {
    # Whole well-formed text: the wire has no rule, so nothing is rewritten but what UTF-8 cannot carry.
    "any": Format(pattern=r"[^\ud800-\udfff]+", length=1 << 30, unwanted="[\ud800-\udfff]"),
    # The wire has no call ids at all; results follow the calls in order.
    "none": Format(pattern=r"(?s:.*)", length=1 << 30),
    "openai": Format(pattern=r"[^\ud800-\udfff]{1,40}", length=40, unwanted=r"[^a-zA-Z0-9_.:-]"),
    "responses": Format(pattern=r"[a-zA-Z0-9_-]{1,64}", length=64),
    "anthropic": Format(pattern=r"[a-zA-Z0-9_-]+", length=64),
    "bedrock": Format(pattern=r"[a-zA-Z0-9_.:-]{1,64}", length=64, unwanted=r"[^a-zA-Z0-9_.:-]"),
    "alnum9": Format(pattern=r"[a-zA-Z0-9]{9}", length=9, strict=True),
}
"""Formats of call ids; `capabilities.callIdFormat` takes these names."""

NAMES: Final[dict[str, Format]] = {
    "common": Format(pattern=r"[a-zA-Z0-9_-]{1,64}", length=64),
    "gemini": Format(pattern=r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}", length=64, unwanted=r"[^a-zA-Z0-9_.:-]"),
}
_COMPILED: Final = {key: re.compile(value.pattern) for key, value in FORMATS.items()}
_COMPILED_NAMES: Final = {key: re.compile(value.pattern) for key, value in NAMES.items()}


def _letters(digest: bytes) -> str:
    """Return nine digits of base 62, the low one first; eight bytes cover the 62**9 ids almost evenly."""
    high, low = divmod(int.from_bytes(digest[:8], "big"), _FOUR)
    top, middle = divmod(high, _FOUR)
    second, first = divmod(low, 62 * 62)
    fourth, third = divmod(middle, 62 * 62)
    return _PAIRS[first] + _PAIRS[second] + _PAIRS[third] + _PAIRS[fourth] + _BASE62[top % 62]


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


@define
class CallIds:
    """The call ids of one payload."""

    format: str
    _used: set[str] = field(factory=set)
    _unnamed: int = 0
    _match: Callable[[str], object] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._match = _COMPILED[self.format].fullmatch

    def assign(self, original: str) -> str:
        """Return the id under which this call is sent; each call of the payload asks once, in order."""
        if self.format == "none":
            return original
        if original not in self._used and self._match(original):
            self._used.add(original)
            return original
        key = original
        if not original:
            # An id that is missing is minted from the position among those that are missing.
            key = f"missing {self._unnamed}"
            self._unnamed += 1
        attempt = 0
        while (candidate := self._mapped(original, key, attempt)) in self._used:
            attempt += 1
        self._used.add(candidate)
        return candidate

    def valid(self, original: str) -> bool:
        """Say whether the vendor takes the id as it is."""
        return self._match(original) is not None

    def _mapped(self, original: str, key: str, attempt: int) -> str:
        form = FORMATS[self.format]
        digest = _digest(key, str(attempt)) if attempt or original in self._used else _digest(key)
        if form.strict:
            return _letters(digest)[: form.length]
        clean = re.sub(form.unwanted, "_", original)[: form.length - _HASH - 1] or "call"
        return f"{clean}_{digest.hex()[:_HASH]}"

    def copy(self) -> CallIds:
        """Return an independent copy."""
        return CallIds(self.format, set(self._used), self._unnamed)


@define
class ToolNames:
    """The tool names of one payload; `known` are all names of the list, valid or not."""

    format: str
    known: frozenset[str] = frozenset()
    _sent: dict[str, str] = field(factory=dict)

    @classmethod
    def of(cls, form: str, names: Iterable[str]) -> ToolNames:
        """Build the map for a list in which `names` occur."""
        return cls(form, frozenset(names))

    def valid(self, name: str) -> bool:
        """Say whether the vendor takes the name as it is."""
        return _COMPILED_NAMES[self.format].fullmatch(name) is not None

    def map(self, name: str) -> str:
        """Return the name under which the tool is sent."""
        sent = self._sent.get(name)
        if sent is None:
            sent = self._sent[name] = name if self.valid(name) else self._clean(name)
        return sent

    def _clean(self, name: str) -> str:
        form = NAMES[self.format]
        clean = re.sub(form.unwanted, "_", name)[: form.length] or "unnamed_tool"
        if not self.valid(clean):
            clean = f"_{clean}"[: form.length]
        # A cut name is ambiguous by nature; a clean one only where it meets another tool.
        if len(name) > form.length or clean in self.known or clean in self._sent.values():
            clean = f"{clean[: form.length - _HASH - 1]}_{_digest(name).hex()[:_HASH]}"
        return clean

    def copy(self) -> ToolNames:
        """Return an independent copy."""
        return ToolNames(self.format, self.known, dict(self._sent))
