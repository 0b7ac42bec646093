"""What a vendor module declares, and what a projection carries while it runs.

`Rules` is the vendor's rule book as data: the shared passes read it, and `sidecar.wire.document` writes
`protocol/vendors.md` from it. `Projection` is what each module of `sidecar.wire.vendors` exports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Protocol, TypeAlias

from attrs import define, field, frozen

from sidecar.core.jsontext import Json
from sidecar.wire.base import Action, Item, Loss, Options, Repair, Severity

Place: TypeAlias = Literal["user", "assistant", "result", "error"]
"""Where a block stands; `error` is a failed result."""
MediaKind: TypeAlias = Literal["image", "file", "audio"]

IMAGE_TYPES: Final = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "result": "No result was recorded for this tool call.",
    "output": "(no output)",
    "start": "(The conversation starts here.)",
    "continue": "(Continue.)",
    "bridge": "(Results received.)",
}
"""Texts that a projection may have to put where the wire wants one; `options.placeholder` replaces them by key."""


@frozen(kw_only=True)
class MediaRule:
    """Where one kind of media may stand; `types` are MIME types, `None` any."""

    places: frozenset[Place]
    types: frozenset[str] | None = None
    data: bool = True
    urls: bool = True


@frozen(kw_only=True)
class Rules:
    """One vendor's rules. Each field says what the wire wants; `sources` names the evidence by rule id."""

    system: Literal["anywhere", "leading", "front", "top"] = "anywhere"
    """Where system text may stand: anywhere as a message; one message at the front; messages at the front;
    a field of the request."""
    alternate: bool = False
    """Neighbours of one role are merged."""
    first: Literal["any", "user"] = "any"
    """Role of the first message that is not system text."""
    last: Literal["any", "user", "prefix"] = "any"
    """Role of the last message; `prefix`: an assistant message may be last when it is marked as one."""
    bridge: bool = False
    """An assistant message must stand between tool results and user text."""
    call_ids: str = "any"
    """A format of `passes.identifiers.FORMATS`."""
    names: str = "common"
    """A format of `passes.identifiers.NAMES`."""
    text: Literal["any", "nonempty", "nonblank"] = "any"
    """Which text blocks are legal."""
    empty_messages: bool = False
    """User and assistant messages with the content `""` are legal."""
    calls_only: Literal["null", "empty", "absent"] = "null"
    """Content of an assistant message that has calls and no text (chat family)."""
    content: Literal["parts", "mixed", "string"] = "parts"
    """Form of user content: parts wherever it is not one text; parts only where it holds more than text; a string."""
    participant_names: bool = False
    """User messages may carry the name of who speaks."""
    arguments: Literal["text", "object"] = "text"
    """Form of tool arguments."""
    errors: Literal["flag", "prefix"] = "prefix"
    """How a failed result is marked: a field of the wire, or the text prefix `ERROR: `."""
    reasoning: Literal["none", "signed", "encrypted", "thought", "text", "details"] = "none"
    """Which reasoning goes back: none; signed or redacted blocks; encrypted items; thought parts; plain text;
    OpenRouter's details."""
    reasoning_key: str | None = None
    """Key of plain reasoning in a chat message."""
    reasoning_on_calls: str | None = None
    """What stands in for reasoning that is missing on a message with calls, while thinking is on."""
    reasoning_always: bool = False
    """The key is sent, empty, on messages without calls too, while thinking is on."""
    refusals: bool = False
    """Refusals have a form of their own; elsewhere they are sent as text."""
    own_forms: frozenset[str] = frozenset()
    """Types of this vendor's blocks (keys, where its blocks have no type) for which entries have a form of their own:
    calls, results, reasoning. In a vendor block they would stand without their partner, so they are not sent."""
    media: Mapping[MediaKind, MediaRule] = field(factory=dict)
    cache_markers: bool = False
    """The wire has cache markers inside messages."""
    repeats: int | None = None
    """After how many equal rounds the vendor may refuse the history."""
    sources: Mapping[str, tuple[str, ...]] = field(factory=dict)


@frozen(kw_only=True)
class Capabilities:
    """What the model at the other end can do; `wire/models.py` fills it, the caller overrides it."""

    thinking: bool | None = None
    prefill: bool = False
    system_in_turns: bool = False
    tool_result_images: bool = True
    strict_template: bool = False
    call_id_format: str | None = None
    stored: bool = False
    preserved_thinking: bool = False
    developer_role: bool = False
    images: bool = True
    signed_calls: bool = False
    """The first call of each step must carry a signature (Gemini 3)."""


@define
class Report:
    """Losses and repairs, in the order in which they were found."""

    losses: list[Loss] = field(factory=list)
    repairs: list[Repair] = field(factory=list)

    def loss(self, rule: str, severity: Severity, item: Item | None, message: str, path: str | None = None) -> None:
        """Report something that the model will not see."""
        entry_id = item.entry.id or None if item is not None else None
        self.losses.append(Loss(rule=rule, severity=severity, entry_id=entry_id, message=message, path=path))

    def repair(self, rule: str, item: Item | None, action: Action, message: str) -> None:
        """Report a change that made the list legal."""
        entry_id = item.entry.id or None if item is not None else None
        self.repairs.append(Repair(rule=rule, entry_id=entry_id, action=action, message=message))


@frozen(kw_only=True)
class Context:
    """What every pass of one projection may read, and the report it writes to."""

    projection: Projection
    rules: Rules
    capabilities: Capabilities
    options: Options
    report: Report

    @property
    def vendor(self) -> str:
        """The id of the vendor."""
        return self.projection.id

    def placeholder(self, key: str) -> str:
        """Return the placeholder text for `key`; a blank one of the caller is ignored, since vendors refuse it."""
        text = self.options.placeholder.get(key, "")
        return text if text.strip() else PLACEHOLDERS[key]


class Shaper(Protocol):
    """Builds one vendor's payload, unit by unit; see `passes.shaper`."""

    def add(self, unit: Any) -> None:
        """Take the next unit of the layout."""

    def body(self) -> dict[str, Json]:
        """Return the payload; nothing may be added afterwards."""

    def fork(self, context: Context) -> Shaper:
        """Return an independent copy that writes to the report of `context`."""


@frozen(kw_only=True)
class Projection:
    """One vendor: who it is, its rules, and the function that starts shaping a payload for it."""

    id: str
    title: str
    api: str
    rules: Rules
    shape: Callable[[Context, frozenset[str]], Shaper]
    """Starts a payload, given the context and every tool name of the list."""
    read: str
    """The date on which the vendor's documentation was read."""
    documentation: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    origins: frozenset[str] = frozenset()
    """Further names that `origin.vendor` and `reasoning.vendor` may use for this vendor."""
    capabilities: Capabilities = Capabilities()
    """The defaults where neither the model table nor the caller says anything."""

    def is_origin(self, vendor: str) -> bool:
        """Say whether something made by `vendor` comes from here."""
        return vendor == self.id or vendor in self.aliases or vendor in self.origins
