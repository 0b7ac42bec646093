"""What full-text search sees of an entry, how text is cut into words, and what a query means.

Rules:
- Tool arguments are never seen, and nothing of an entry marked `_meta["sidecar/private"]` is (`protocol.md` §6).
- Scripts that put no spaces between words are cut into single characters; a query's run of them becomes a phrase, so
  Chinese, Japanese, Korean and Thai text is found from one character up, without a dictionary.
- Every word of a query must occur; `"quoted words"` must follow each other, and `word*` finds beginnings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from attrs import frozen

from sidecar.core.jsontext import dumps
from sidecar.core.messages import (
    Assistant,
    Block,
    Entry,
    File,
    JsonBlock,
    Note,
    Refusal,
    Summary,
    System,
    Text,
)

PRIVATE = "sidecar/private"
MAX_CHARS = 200_000
"""How much of one entry is indexed: a pasted log of megabytes would drown everything else."""
MAX_PHRASES = 32
SNIPPET_BEFORE, SNIPPET_CHARS = 60, 200

_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])"
)
_WORD = re.compile(r"\w+")
_TERM = re.compile(r'"([^"]*)"?|(\S+)')
_UNFIT = re.compile("[\0\ud800-\udfff]")


@frozen
class Phrase:
    """Words that follow each other; of the last one only the beginning, where `prefix`."""

    words: tuple[str, ...]
    prefix: bool = False


def searchable(entry: Entry) -> str:
    """Return the text of an entry that may be indexed and shown in a snippet."""
    if entry.meta and entry.meta.get(PRIVATE):
        return ""
    return "\n".join(filter(None, _texts(entry)))[:MAX_CHARS]


def cut_words(text: str) -> str:
    """Return lower-case words separated by spaces."""
    plain = unicodedata.normalize("NFKC", _UNFIT.sub(" ", text)).lower()
    return " ".join(_WORD.findall(_UNSPACED.sub(r" \1 ", plain)))


def parse_query(query: str) -> tuple[Phrase, ...]:
    """Return what must occur; empty where the query holds no word."""
    phrases = []
    for match in _TERM.finditer(query):
        quoted, bare = match.groups()
        words = tuple(cut_words(quoted if bare is None else bare).split())
        if words:
            phrases.append(Phrase(words, prefix=bool(bare and bare.endswith("*"))))
    return tuple(phrases[:MAX_PHRASES])


def snippet(text: str, phrases: tuple[Phrase, ...]) -> str:
    """Return the part of a text around the first word of the query that it holds."""
    flat = " ".join(_UNFIT.sub("\ufffd", text).split())
    lower = flat.lower()
    places = [lower.find(word) for phrase in phrases for word in phrase.words]
    at = min([place for place in places if place >= 0], default=0)
    start = max(0, at - SNIPPET_BEFORE)
    part = flat[start : start + SNIPPET_CHARS]
    return ("…" if start else "") + part + ("…" if start + SNIPPET_CHARS < len(flat) else "")


def _texts(entry: Entry) -> Iterator[str]:
    message = entry.message
    if isinstance(message, System | Note | Summary):
        yield message.text
        return
    blocks = message.content
    if isinstance(blocks, tuple):
        for block in blocks:
            yield _block_text(block)
    if isinstance(message, Assistant):
        for part in message.reasoning:
            yield part.text or ""
        for call in message.tool_calls:
            yield call.name


def _block_text(block: Block) -> str:
    match block:
        case Text() | Refusal():
            return block.text
        case JsonBlock():
            return dumps(block.value)
        case File():
            return block.name or ""
    return ""
