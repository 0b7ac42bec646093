"""What a rendered transcript is, and the small facts that every form of it shows.

Rules: lines are 0-based and ranges half-open. `map` covers every entry once, in order. A `Part` is a piece of an entry
that an editor folds or jumps to.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from attrs import frozen

from sidecar.core.jsontext import Json, dumps, loads
from sidecar.core.messages import (
    Assistant,
    Audio,
    Entry,
    File,
    Image,
    JsonBlock,
    Note,
    Opaque,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    User,
    VendorBlock,
)
from sidecar.core.turns import Place, pair

PartKind: TypeAlias = Literal["reasoning", "call", "result"]


@frozen(kw_only=True)
class Span:
    """Where an entry stands in the text."""

    entry_id: str
    start_line: int
    end_line: int


@frozen(kw_only=True)
class Part:
    """Where a piece of an entry stands: reasoning, a tool call, or the result of one."""

    kind: PartKind
    entry_id: str
    start_line: int
    end_line: int
    name: str = ""
    call_id: str = ""


@frozen(kw_only=True)
class Rendered:
    """A transcript as text, with the place of every entry and of its foldable parts."""

    text: str
    map: tuple[Span, ...]
    parts: tuple[Part, ...] = ()


@frozen(kw_only=True)
class Pairs:
    """Which entry answers which call, by index in the history."""

    results: Mapping[Place, int]
    """The result of each answered call."""
    calls: Mapping[int, tuple[int, str]]
    """For each result that has a call the index of the caller and the name of the tool."""
    duplicates: Collection[int]
    """Results of calls that were answered before."""


def pairs_of(entries: Sequence[Entry], start: int = 0) -> Pairs:
    """Pair results with calls by the rules of `core.turns`; the first entry has index `start`."""
    pairing = pair(entries, start)
    calls = {
        index: (caller, entries[caller - start].tool_calls[position].name)
        for index, (caller, position) in (pairing.call_of | pairing.duplicates).items()
    }
    return Pairs(results=pairing.result_of, calls=calls, duplicates=pairing.duplicates)


def time_of(ts: int) -> str:
    """Return Unix milliseconds as UTC to the second; far times as the bare number."""
    try:
        return datetime.fromtimestamp(ts // 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(ts)


def media_label(block: Image | File | Audio) -> str:
    """Describe media without its bytes: `image image/png, 12.3 kB`."""
    words = [block.TAG]
    if isinstance(block, File) and block.name:
        words.append(block.name)
    if block.mime_type:
        words.append(block.mime_type)
    label = " ".join(words)
    if block.data is not None:
        return f"{label}, {size_of(len(block.data) * 3 // 4)}"
    return f"{label} at {block.url}" if block.url is not None else f"{label}, stored apart"


def size_of(count: int) -> str:
    """Return a byte count for people."""
    for unit, base in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= base:
            return f"{count / base:.1f} {unit}"
    return f"{count} bytes"


def reasoning_label(part: Reasoning) -> str:
    """Describe what a person cannot read of a piece of reasoning."""
    words = ["reasoning"]
    if part.cleared:
        words.append("cleared")
    if part.signature is not None:
        words.append("signed")
    if part.data is not None:
        words.append(f"{size_of(len(part.data))} opaque")
    if part.vendor:
        words.append(f"for {part.vendor}")
    return ", ".join(words)


def structured(block: JsonBlock | VendorBlock | Opaque) -> Json:
    """Return the JSON that a block without text carries."""
    return dict(block.raw) if isinstance(block, Opaque) else block.value


def argument_text(arguments: str) -> str:
    """Return tool arguments for reading: indented where that can be undone exactly, else as the model wrote them."""
    if len(arguments) <= 80 or "\n" in arguments:
        return arguments
    try:
        value = loads(arguments)
    except ValueError:
        return arguments
    return pretty(value) if dumps(value) == arguments else arguments


def pretty(value: Json) -> str:
    """Return indented JSON, key order kept."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)


def first_text(entry: Entry) -> str:
    """Return the text that names an entry in a list: its first text, else what it carries."""
    match entry.message:
        case System(text=text) | Note(text=text) | Summary(text=text):
            return text
        case Assistant() as message:
            blocks = message.blocks
        case User(content=content) | Tool(content=content):
            blocks = content
    for block in blocks:
        if isinstance(block, Text | Refusal) and block.text.strip():
            return block.text
    for block in blocks:
        if isinstance(block, Image | File | Audio):
            return f"[{media_label(block)}]"
        if isinstance(block, JsonBlock | VendorBlock | Opaque):
            return dumps(structured(block))
    return ""
