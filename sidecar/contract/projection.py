"""`wire/*`: entries to a vendor's message list and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from attrs import frozen

from sidecar.contract.constraints import Count, EntryId, EntryInput, EntryOutput, HistoryName, Open, Shape

VendorId = Annotated[
    str,
    Open(
        (
            "openai-chat",
            "openai-responses",
            "anthropic-messages",
            "gemini",
            "bedrock-converse",
            "mistral",
            "deepseek",
            "kimi",
            "qwen",
            "glm",
            "openrouter",
            "ollama",
            "cohere",
            "xai",
            "groq",
            "cerebras",
            "azure-openai",
            "openai-compatible",
        )
    ),
]
Severity = Annotated[str, Open(("info", "warning", "error"))]


@frozen(kw_only=True)
class Capabilities:
    """What the model or endpoint can do, where the caller knows better than the vendor's table."""

    thinking: bool | None = None
    """Reasoning is on in this request."""
    prefill: bool | None = None
    """The list may end in an assistant message."""
    system_in_turns: bool | None = None
    """System messages may stand behind the first turn."""
    tool_result_images: bool | None = None
    """Tool results may hold images."""
    strict_template: bool | None = None
    """One leading system message, strict alternation of user and assistant."""
    call_id_format: str | None = None
    """The form tool call ids must have."""
    stored: bool | None = None
    """The vendor keeps items (Responses with `store: true`)."""
    preserved_thinking: bool | None = None
    """The vendor checks that nothing before a reasoning block has changed."""
    developer_role: bool | None = None
    """System messages are sent in the role `developer`."""
    images: bool | None = None
    """The model takes images."""
    signed_calls: bool | None = None
    """The first call of each step must carry a signature (Gemini 3)."""


@frozen(kw_only=True)
class ProjectOptions:
    """What the caller wants."""

    reasoning: Literal["auto", "drop"] = "auto"
    """`auto` sends reasoning back where it belongs, `drop` never."""
    guests: Literal["wrap", "plain"] = "wrap"
    """Whether text of guest agents is wrapped in `<from agent="…">`."""
    images: Literal["keep", "elide"] = "keep"
    """Whether images are sent or replaced by a placeholder."""
    on_loss: Literal["report", "error"] = "report"
    """`error` refuses to project where something would be lost."""
    cache_markers: Count = 0
    """How many cache breakpoints to set, where the vendor has them."""
    placeholder: Mapping[str, str] | None = None
    """Texts to use in place of the built-in placeholders."""


@frozen(kw_only=True)
class ProjectParams:
    """Make the message list that a vendor accepts. Free of side effects; same input gives the same bytes."""

    ONE_OF = ("history", "entries")
    vendor: VendorId
    """The vendor."""
    history: HistoryName | None = None
    """The history to project."""
    at_version: Count | None = None
    entries: Sequence[EntryInput] | None = None
    """Entries to project, in place of a history."""
    model: str | None = None
    """The vendor's model id; picks the default capabilities."""
    scope: str | None = None
    """The account or endpoint: encrypted or signed reasoning goes back only to the scope it came from."""
    capabilities: Capabilities | None = None
    """What the caller knows better than the vendor's table."""
    options: ProjectOptions | None = None
    """What the caller wants."""
    since_prefix_of: Count | None = None
    """Also say how many leading wire messages equal those of the projection at this version."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class Loss:
    """Something that does not come through."""

    rule: str
    """The rule, such as `X3`."""
    severity: Severity
    """How bad it is."""
    entry_id: EntryId | None
    """The entry it is about."""
    path: str | None
    """JSON Pointer into the entry."""
    message: str
    """One sentence for a person."""


@frozen(kw_only=True)
class Repair:
    """A change that made the list legal and lost nothing the model needs."""

    rule: str
    """The rule, such as `X1`."""
    entry_id: EntryId | None
    """The entry it is about."""
    action: Annotated[str, Open(("dropped", "merged", "synthesized", "moved", "rewritten"))]
    """What was done."""
    message: str
    """One sentence for a person."""


@frozen(kw_only=True)
class ProjectResult:
    """The payload, and every difference between it and the stored entries."""

    vendor: str
    """The vendor, in its canonical id."""
    version: Count | None
    """The version that was projected; null for `entries`."""
    body: Mapping[str, Any]
    """Merged by the caller into its request."""
    losses: Sequence[Loss]
    """What the model will not see."""
    repairs: Sequence[Repair]
    """What was made legal."""
    stable_messages: Count | None
    """How many leading wire messages equal those at `sincePrefixOf`; null where it was not given."""


@frozen(kw_only=True)
class CheckParams:
    """Say what vendors would refuse in the entries as they are."""

    ONE_OF = ("history", "entries")
    history: HistoryName | None = None
    """The history to check."""
    at_version: Count | None = None
    entries: Sequence[EntryInput] | None = None
    """Entries to check, in place of a history."""
    vendors: Sequence[VendorId] | None = None
    """The vendors; all where omitted."""
    model: str | None = None
    """The vendor's model id; picks the default capabilities."""
    capabilities: Capabilities | None = None
    """What the caller knows better than the vendor's table."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class Fix:
    """A way to mend a violation: the payload of a `history/applyEdits` at the version that was checked."""

    title: str
    """What it does, for a menu."""
    edits: Annotated[Any, Shape("HistoryEdits")]
    """The edits."""


@frozen(kw_only=True)
class Violation:
    """Something a vendor would refuse."""

    vendor: str
    """The vendor."""
    rule: str
    """The rule, such as `X1`."""
    severity: Severity
    """How bad it is."""
    entry_id: EntryId | None
    """The entry."""
    index: int
    """Its 0-based index; -1 where it is about no one entry."""
    message: str
    """One sentence for a person."""
    fixes: Sequence[Fix]
    """Ways to mend it."""


@frozen(kw_only=True)
class CheckResult:
    """What was found."""

    version: Count | None
    """The version that was checked; null for `entries`."""
    violations: Sequence[Violation]
    """The violations, by vendor and then by index."""


@frozen(kw_only=True)
class ParseParams:
    """Read entries out of a vendor's request or response body: the inverse of a projection."""

    vendor: VendorId
    """The vendor."""
    kind: Literal["request", "response"]
    """What `body` is."""
    body: Any
    """The body as JSON; a stream must be joined first."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ParseResult:
    """The entries, ready to be appended."""

    entries: Sequence[EntryOutput]
    """The entries, without ids and times."""
    losses: Sequence[Loss]
    """What could not be taken over."""
    usage: Mapping[str, Any] | None
    """The vendor's usage object, for `history/recordInputTokens`."""


@frozen(kw_only=True)
class VendorsParams:
    """List the vendors."""

    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class VendorInfo:
    """One vendor."""

    id: VendorId
    """Its id."""
    title: str
    """Its name for people."""
    api: str
    """The interface it speaks."""
    rules: Mapping[str, Any]
    """Its rules as data."""
    aliases: Sequence[str]
    """Other ids that mean it."""


@frozen(kw_only=True)
class VendorsResult:
    """The vendors."""

    data: Sequence[VendorInfo]
    """The vendors, by id."""
