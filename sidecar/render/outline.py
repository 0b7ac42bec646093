"""One short row per entry, for trees and pickers.

Rules: a row holds no more than one line of the transcript, with what cannot be seen spelled out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen

from sidecar.core.messages import (
    Assistant,
    Audio,
    Entry,
    File,
    Image,
    Note,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    User,
)
from sidecar.render.document import first_text
from sidecar.render.escape import one_line


@frozen(kw_only=True)
class Row:
    """What a list shows of an entry.

    `kind` says what it mainly is: `toolCall`, `toolResult`, `reasoning`, `summary`, `note`, `media` or `text`.
    `line` is the first line of its text, or what it calls.
    """

    id: str
    index: int
    role: str
    kind: str
    line: str
    tokens: int | None = None
    ts: int | None = None
    call_ids: tuple[str, ...] = ()
    elided: bool = False
    pinned: bool = False


def outline(
    entries: Sequence[Entry],
    *,
    start: int = 0,
    tokens: Sequence[int | None] | None = None,
    elided: Collection[str] = (),
) -> list[Row]:
    """Return one row per entry; `start` is the index of the first in its history."""
    return [
        Row(
            id=entry.id,
            index=start + offset,
            role=entry.role,
            kind=_kind(entry),
            line=_line(entry),
            tokens=tokens[offset] if tokens is not None else None,
            ts=entry.ts,
            call_ids=_call_ids(entry),
            elided=entry.id in elided,
            pinned=entry.pinned,
        )
        for offset, entry in enumerate(entries)
    ]


def _kind(entry: Entry) -> str:
    message = entry.message
    match message:
        case Tool():
            return "toolResult"
        case Summary() | Note():
            return message.ROLE
        case System():
            return "text"
        case Assistant():
            if message.tool_calls:
                return "toolCall"
            if message.reasoning and not message.blocks:
                return "reasoning"
            blocks = message.blocks
        case User():
            blocks = message.content
    shows_text = any(isinstance(block, Text | Refusal) and block.text.strip() for block in blocks)
    return "media" if not shows_text and any(isinstance(block, Image | File | Audio) for block in blocks) else "text"


def _line(entry: Entry) -> str:
    if line := one_line(first_text(entry)):
        return line
    if entry.tool_calls:
        return one_line("→ " + ", ".join(call.name for call in entry.tool_calls))
    return one_line(entry.reasoning)


def _call_ids(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry.message, Tool):
        return (entry.message.call_id,)
    return tuple([call.id for call in entry.tool_calls])
