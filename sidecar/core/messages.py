"""Entries, messages, blocks: the vendor-neutral truth that a history holds.

Rules:
- Values are frozen. Unions are tagged: a message by `role`, a block by `type` (class attribute `TAG`).
- Absent, `null` and `""` of assistant content are three facts (`ABSENT`, `None`, one empty text block).
- Unknown keys are kept in `extra`, unknown block types whole in `Opaque`: a store must not lose what a newer client
  wrote.
- Tool arguments are the JSON text that the model produced; they are parsed at projection only (seeds.md §8.4).
- `sender` and `auto_injected` are runtime-only and never stored.

`core.message_json` is the only way between these classes and JSON.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from attrs import evolve, field, frozen

from sidecar.core.jsontext import Json


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""The content key was not sent at all; `None` means it was sent as `null`."""

Absent: TypeAlias = Literal[_Absent.ABSENT]
Extra: TypeAlias = Mapping[str, Json]
NO_EXTRA: Extra = {}


# --- blocks -----------------------------------------------------------------------------------------------------------


@frozen
class Text:
    """Plain text."""

    TAG: ClassVar[str] = "text"
    text: str
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class Image:
    """A picture: exactly one of `data` (base64), `url` or `blob` (content hash) is set."""

    TAG: ClassVar[str] = "image"
    mime_type: str | None = None
    data: str | None = None
    url: str | None = None
    blob: str | None = None
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class File:
    """A document: exactly one of `data` (base64), `url` or `blob` is set."""

    TAG: ClassVar[str] = "file"
    name: str | None = None
    mime_type: str | None = None
    data: str | None = None
    url: str | None = None
    blob: str | None = None
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class Audio:
    """A sound: exactly one of `data` (base64), `url` or `blob` is set."""

    TAG: ClassVar[str] = "audio"
    mime_type: str | None = None
    data: str | None = None
    url: str | None = None
    blob: str | None = None
    extra: Extra = NO_EXTRA


@frozen
class JsonBlock:
    """Structured tool content; key order is kept as received."""

    TAG: ClassVar[str] = "json"
    value: Json
    extra: Extra = NO_EXTRA


@frozen
class Refusal:
    """The model declined, in its own words."""

    TAG: ClassVar[str] = "refusal"
    text: str
    extra: Extra = NO_EXTRA


@frozen
class VendorBlock:
    """A vendor-shaped part, passed through verbatim to that vendor only."""

    TAG: ClassVar[str] = "vendor"
    vendor: str
    value: Json
    extra: Extra = NO_EXTRA


@frozen
class Opaque:
    """A block of a type this release does not know, kept whole."""

    type: str
    raw: Extra


Media: TypeAlias = Image | File | Audio
Block: TypeAlias = Text | Image | File | Audio | JsonBlock | Refusal | VendorBlock | Opaque


# --- parts of an assistant message ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Origin:
    """Who produced an assistant message: vendor id, model id, and the account or endpoint scope."""

    vendor: str
    model: str | None = None
    scope: str | None = None
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class Reasoning:
    """One piece of reasoning: plain `text` and/or opaque bytes (`signature`, `data`), byte-exact, with its origin.

    `cleared` says that the text was emptied or masked after the vendor signed it.
    """

    text: str | None = None
    signature: str | None = None
    data: str | None = None
    vendor: str | None = None
    model: str | None = None
    scope: str | None = None
    id: str | None = None
    cleared: bool = False
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class ToolCall:
    """A request of the model to run a tool; `arguments` is JSON text as produced, perhaps unfinished."""

    id: str
    name: str
    arguments: str = ""
    signature: str | None = None
    item_id: str | None = None
    extra: Extra = NO_EXTRA


# --- messages ---------------------------------------------------------------------------------------------------------


@frozen
class System:
    """An instruction of the application."""

    ROLE: ClassVar[str] = "system"
    text: str
    extra: Extra = NO_EXTRA


@frozen
class User:
    """Input of a person or of the application on a person's behalf."""

    ROLE: ClassVar[str] = "user"
    content: tuple[Block, ...]
    extra: Extra = NO_EXTRA


@frozen(kw_only=True)
class Assistant:
    """A model's reply; all tool calls of one turn stay in one message."""

    ROLE: ClassVar[str] = "assistant"
    content: tuple[Block, ...] | None | Absent = ABSENT
    reasoning: tuple[Reasoning, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    origin: Origin | None = None
    extra: Extra = NO_EXTRA

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The content blocks; empty where content is absent or null."""
        return self.content if isinstance(self.content, tuple) else ()


@frozen(kw_only=True)
class Tool:
    """The result of one tool call."""

    ROLE: ClassVar[str] = "tool"
    call_id: str
    content: tuple[Block, ...]
    name: str | None = None
    is_error: bool = False
    extra: Extra = NO_EXTRA


@frozen
class Note:
    """A runtime note (a run finished, an instruction changed); rendered to the model as a system message."""

    ROLE: ClassVar[str] = "note"
    text: str
    extra: Extra = NO_EXTRA


@frozen
class Summary:
    """What a compaction put in place of `covers` older entries."""

    ROLE: ClassVar[str] = "summary"
    text: str
    covers: int | None = None
    extra: Extra = NO_EXTRA


Message: TypeAlias = System | User | Assistant | Tool | Note | Summary
ROLES: Final = ("system", "user", "assistant", "tool", "note", "summary")


# --- entry ------------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Entry:
    """What a history holds: a message with its identity and runtime facts.

    `id` is `""` and `ts` is `None` until the service stamps them; a stored entry has both.
    """

    message: Message
    id: str = ""
    agent: str = ""
    principal: str | None = None
    ts: int | None = None
    pinned: bool = False
    meta: Extra | None = None
    extra: Extra = NO_EXTRA
    sender: str = field(default="", eq=False)
    auto_injected: bool = field(default=False, eq=False)

    # Constructors of the four source documents (seeds.md §1).

    @classmethod
    def system(cls, text: str) -> Entry:
        """Build a system entry."""
        return cls(message=System(text))

    @classmethod
    def user(cls, content: str | Sequence[Block], *, sender: str = "", principal: str | None = None) -> Entry:
        """Build a user entry from text or blocks."""
        return cls(message=User(as_blocks(content)), sender=sender, principal=principal)

    @classmethod
    def assistant(
        cls, text: str | None = None, *, reasoning: str = "", tool_calls: Sequence[ToolCall] = (), agent: str = ""
    ) -> Entry:
        """Build an assistant entry with the null rule of seed 000.

        Content is `null` where the text is empty and there are calls, `""` where there is neither.
        """
        content = None if not text and tool_calls else as_blocks(text or "")
        thought = (Reasoning(text=reasoning),) if reasoning else ()
        return cls(message=Assistant(content=content, reasoning=thought, tool_calls=tuple(tool_calls)), agent=agent)

    @classmethod
    def tool(
        cls, content: str | Sequence[Block], call_id: str, name: str | None = None, *, is_error: bool = False
    ) -> Entry:
        """Build the result of the call `call_id`."""
        return cls(message=Tool(call_id=call_id, name=name, content=as_blocks(content), is_error=is_error))

    @classmethod
    def note(cls, text: str) -> Entry:
        """Build a runtime note."""
        return cls(message=Note(text))

    @classmethod
    def summary(cls, text: str, covers: int | None = None) -> Entry:
        """Build a compaction summary."""
        return cls(message=Summary(text, covers))

    @classmethod
    def from_message(cls, message: Message) -> Entry:
        """Wrap a message as it is."""
        return cls(message=message)

    def injected(self) -> Entry:
        """Return the entry marked as auto-injected by the runtime."""
        return evolve(self, auto_injected=True)

    # Accessors of the source documents.

    @property
    def role(self) -> str:
        """The role of the message."""
        return self.message.ROLE

    @property
    def text(self) -> str:
        """The text of the message; `""` where content is absent, null, empty or holds anything but text."""
        message = self.message
        if isinstance(message, System | Note | Summary):
            return message.text
        blocks = message.blocks if isinstance(message, Assistant) else message.content
        if all(isinstance(block, Text) for block in blocks):
            return "".join(block.text for block in blocks if isinstance(block, Text))
        return ""

    @property
    def reasoning(self) -> str:
        """The plain reasoning text, or `""`."""
        if isinstance(self.message, Assistant):
            return "".join(part.text or "" for part in self.message.reasoning)
        return ""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, or `()`."""
        return self.message.tool_calls if isinstance(self.message, Assistant) else ()

    @property
    def tool_call_id(self) -> str:
        """The id of the call that a tool entry answers, or `""`."""
        return self.message.call_id if isinstance(self.message, Tool) else ""

    @property
    def is_user(self) -> bool:
        """True only for user messages."""
        return isinstance(self.message, User)


def as_blocks(content: str | Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks; a plain string is one text block, so `""` stays different from no content."""
    return (Text(content),) if isinstance(content, str) else tuple(content)
