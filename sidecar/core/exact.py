"""Exact counting with the vocabulary of the model, where the extra `tokens` (splintr-rs) is installed.

Rules, each from a trap that was seen (tokens.md §1.3):
- The library holds the interpreter lock while it counts, so a text is cut into pieces of 32 768 characters, which
  other threads can run between; a cut costs at most one token.
- Only `encode_ordinary` is called: everything else takes `<|endoftext|>` in a text for the control token.
- Lone surrogates have no UTF-8 form and are counted as the replacement character.

This is the one module of `core` that uses more than the standard library and attrs, and only when it is called.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any, Final

PIECE: Final = 32_768


def is_installed() -> bool:
    """Say whether exact counting is possible at all."""
    return find_spec("splintr") is not None


def count_exactly(vocabulary: str, text: str) -> int:
    """Count the tokens of a text in a vocabulary of the package. Raises `ImportError` where it is not installed."""
    encode = _tokenizer(vocabulary).encode_ordinary
    text = text.encode("utf-8", "replace").decode("utf-8")
    return sum(len(encode(text[at : at + PIECE])) for at in range(0, len(text), PIECE))


@cache
def _tokenizer(vocabulary: str) -> Any:
    from splintr import Tokenizer

    return Tokenizer.from_pretrained(vocabulary)
