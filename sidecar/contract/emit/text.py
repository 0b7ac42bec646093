"""How artefacts are written: the same bytes on every run and every machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def json_text(value: Any) -> str:
    """Return indented JSON that ends in a newline."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def first_sentence(doc: str) -> str:
    """Return the first sentence of a text, without its line breaks."""
    flat = one_line(doc.partition("\n\n")[0])
    head, dot, _ = flat.partition(". ")
    return head + "." if dot else flat


def one_line(doc: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(doc.split())


def lines(parts: Iterable[str]) -> str:
    """Join lines; the text ends in one newline."""
    return "\n".join(parts).rstrip("\n") + "\n"
