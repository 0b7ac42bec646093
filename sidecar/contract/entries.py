"""Entries, messages and blocks as they stand in JSON: what `protocol/` documents.

Rules: these classes are never instantiated by the server; they are the reference for every other language. Where input
is wider than output there are two classes, `XxxInput` and `Xxx`: a plain string may stand for blocks, an object for
argument text, and ids and times may be left out. Unknown keys of entries, messages, blocks, calls and reasoning are
kept. `core.message_json` does the reading and writing, and accepts the same JSON (`tests/contract/test_entries.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from attrs import frozen

from sidecar.contract.constraints import Either, OtherThan
from sidecar.core.messages import ABSENT, Absent

# --- blocks -----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class TextBlock:
    """Plain text."""

    type: Literal["text"]
    text: str
    """The text; may be empty."""


@frozen(kw_only=True)
class ImageBlock:
    """A picture: exactly one of `data`, `url` and `blob`."""

    ONE_OF = ("data", "url", "blob")
    ANY_OF = ("mime_type", "url")
    type: Literal["image"]
    mime_type: str | None = None
    """Media type, such as `image/png`; may be left out beside a `url`."""
    data: str | None = None
    """The bytes, base64."""
    url: str | None = None
    """Where the vendor fetches it."""
    blob: str | None = None
    """The content hash under which the store keeps it."""


@frozen(kw_only=True)
class FileBlock:
    """A document: exactly one of `data`, `url` and `blob`."""

    ONE_OF = ("data", "url", "blob")
    ANY_OF = ("mime_type", "url")
    type: Literal["file"]
    name: str | None = None
    """The file name."""
    mime_type: str | None = None
    """Media type, such as `application/pdf`; may be left out beside a `url`."""
    data: str | None = None
    """The bytes, base64."""
    url: str | None = None
    """Where the vendor fetches it."""
    blob: str | None = None
    """The content hash under which the store keeps it."""


@frozen(kw_only=True)
class AudioBlock:
    """A sound: exactly one of `data`, `url` and `blob`."""

    ONE_OF = ("data", "url", "blob")
    ANY_OF = ("mime_type", "url")
    type: Literal["audio"]
    mime_type: str | None = None
    """Media type, such as `audio/wav`; may be left out beside a `url`."""
    data: str | None = None
    """The bytes, base64."""
    url: str | None = None
    """Where the vendor fetches it."""
    blob: str | None = None
    """The content hash under which the store keeps it."""


@frozen(kw_only=True)
class JsonBlock:
    """Structured tool content; the order of keys is kept."""

    type: Literal["json"]
    value: Any
    """Any JSON value, `null` included."""


@frozen(kw_only=True)
class RefusalBlock:
    """The model declined, in its own words."""

    type: Literal["refusal"]
    text: str
    """The words."""


@frozen(kw_only=True)
class VendorBlock:
    """A part in the shape of one vendor, passed through verbatim to that vendor only."""

    type: Literal["vendor"]
    vendor: str
    """The vendor id."""
    value: Any
    """The part as the vendor writes it."""


@frozen(kw_only=True)
class OpaqueBlock:
    """A block of a type that this release does not know: kept whole, verbatim."""

    type: Annotated[str, OtherThan(("text", "image", "file", "audio", "json", "refusal", "vendor"))]
    """Any other type."""


Block: TypeAlias = (
    TextBlock | ImageBlock | FileBlock | AudioBlock | JsonBlock | RefusalBlock | VendorBlock | OpaqueBlock
)
"""One piece of content, tagged by `type`."""

Content = Either("Content", (str, Sequence[Block]), "Blocks, or a plain string, which means one text block.")
Arguments = Either(
    "Arguments",
    (str, Mapping[str, Any]),
    "The JSON text exactly as the model produced it, perhaps unfinished; an object is stored as compact JSON text.",
)

# --- parts of an assistant message ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Origin:
    """Who produced an assistant message."""

    vendor: str
    """The vendor id."""
    model: str | None = None
    """The vendor's model id."""
    scope: str | None = None
    """The account or endpoint."""


@frozen(kw_only=True)
class Reasoning:
    """One piece of reasoning, kept byte for byte, with the origin it may be replayed to."""

    text: str | None = None
    """Plain text."""
    signature: str | None = None
    """The vendor's signature over the text."""
    data: str | None = None
    """Opaque bytes, such as redacted or encrypted reasoning."""
    vendor: str | None = None
    """The vendor that made it; that of the message's `origin` where left out."""
    model: str | None = None
    """The model that made it."""
    scope: str | None = None
    """The account or endpoint that can read it."""
    id: str | None = None
    """The vendor's item id."""
    cleared: bool | None = None
    """The text was emptied after the vendor signed it: it may not be replayed where the vendor checks."""


@frozen(kw_only=True)
class ToolCallInput:
    """A request of the model to run a tool."""

    id: str
    """The call id that the result names."""
    name: str
    """The tool."""
    arguments: Annotated[Any, Arguments] | None = None
    """The arguments; left out where there are none."""
    signature: str | None = None
    """The vendor's signature over the call."""
    item_id: str | None = None
    """The vendor's item id."""


@frozen(kw_only=True)
class ToolCall:
    """A request of the model to run a tool."""

    id: str
    """The call id that the result names."""
    name: str
    """The tool."""
    arguments: str
    """The JSON text exactly as the model produced it, perhaps unfinished."""
    signature: str | None = None
    """The vendor's signature over the call."""
    item_id: str | None = None
    """The vendor's item id."""


# --- messages ---------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SystemMessage:
    """An instruction of the application."""

    role: Literal["system"]
    text: str
    """The instruction."""


@frozen(kw_only=True)
class UserMessageInput:
    """Input of a person, or of the application on a person's behalf."""

    role: Literal["user"]
    content: Annotated[Any, Content]
    """What was said."""


@frozen(kw_only=True)
class UserMessage:
    """Input of a person, or of the application on a person's behalf."""

    role: Literal["user"]
    content: Sequence[Block]
    """What was said."""


@frozen(kw_only=True)
class AssistantMessageInput:
    """A model's reply; all tool calls of one turn stay in one message."""

    role: Literal["assistant"]
    content: Annotated[Any, Content] | None | Absent = ABSENT
    """What it said; left out, `null` and `""` are three facts and are stored as sent."""
    reasoning: Sequence[Reasoning] | None = None
    """What it thought."""
    tool_calls: Sequence[ToolCallInput] | None = None
    """The tools it wants to run."""
    origin: Origin | None = None
    """Who produced it."""


@frozen(kw_only=True)
class AssistantMessage:
    """A model's reply; all tool calls of one turn stay in one message."""

    role: Literal["assistant"]
    content: Sequence[Block] | None | Absent = ABSENT
    """What it said; left out, `null` and one empty text are three facts."""
    reasoning: Sequence[Reasoning] | Absent = ABSENT
    """What it thought."""
    tool_calls: Sequence[ToolCall] | Absent = ABSENT
    """The tools it wants to run."""
    origin: Origin | Absent = ABSENT
    """Who produced it."""


@frozen(kw_only=True)
class ToolMessageInput:
    """The result of one tool call."""

    role: Literal["tool"]
    call_id: str
    """The id of the call that it answers."""
    content: Annotated[Any, Content]
    """What came out."""
    name: str | None = None
    """The tool."""
    is_error: bool | None = None
    """The tool failed."""


@frozen(kw_only=True)
class ToolMessage:
    """The result of one tool call."""

    role: Literal["tool"]
    call_id: str
    """The id of the call that it answers."""
    content: Sequence[Block]
    """What came out."""
    name: str | Absent = ABSENT
    """The tool."""
    is_error: bool | Absent = ABSENT
    """The tool failed; left out where it did not."""


@frozen(kw_only=True)
class NoteMessage:
    """A note of the runtime: a run finished, an instruction changed. The model sees it as a system message."""

    role: Literal["note"]
    text: str
    """The note."""


@frozen(kw_only=True)
class SummaryMessage:
    """What a compaction put in place of older entries; each vendor shows it in its own legal way."""

    role: Literal["summary"]
    text: str
    """The summary."""
    covers: int | None = None
    """How many entries it stands for."""


MessageInput: TypeAlias = (
    SystemMessage | UserMessageInput | AssistantMessageInput | ToolMessageInput | NoteMessage | SummaryMessage
)
"""A message as a client sends it, tagged by `role`."""

Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage | NoteMessage | SummaryMessage
"""A message as the server answers it, tagged by `role`."""

# --- entries ----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class EntryInput:
    """What a history holds, as a client sends it."""

    message: MessageInput
    """The message."""
    id: str | None = None
    """Unique in the history; made by the server where left out."""
    agent: str | None = None
    """Which agent produced an assistant message; `""` is the primary agent, anything else a guest."""
    sender: str | None = None
    """Who sent it. Runtime-only: never stored and never answered."""
    auto_injected: bool | None = None
    """Injected by the runtime: kept in the connection, never stored."""
    principal: str | None = None
    """On whose authority a user message was sent; stored, never shown to a model."""
    ts: int | None = None
    """When, Unix milliseconds; stamped by the server where left out."""
    pinned: bool | None = None
    """Compaction planning must keep it."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class Entry:
    """What a history holds, as the server answers it: defaults are left out."""

    message: Message
    """The message."""
    id: str | Absent = ABSENT
    """Unique in the history; left out only by `wire/parse`, whose entries are not stored yet."""
    agent: str | Absent = ABSENT
    """Which agent produced an assistant message; left out for the primary agent."""
    principal: str | Absent = ABSENT
    """On whose authority a user message was sent."""
    ts: int | Absent = ABSENT
    """When, Unix milliseconds; left out where `id` is."""
    pinned: bool | Absent = ABSENT
    """Compaction planning must keep it."""
    meta: Mapping[str, Any] | Absent = ABSENT
    auto_injected: bool | Absent = ABSENT
    """True on an entry of this connection's overlay, which is shown but not stored."""


SummaryInput = Either(
    "SummaryInput",
    (str, EntryInput, MessageInput),
    "An entry, a message of any role, or a plain string, which means a `summary` message.",
)
