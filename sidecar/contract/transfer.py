"""Ways in and out for people and other tools: `history/import`, `export`, `render`, `outline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from attrs import frozen

from sidecar.contract.constraints import Count, Either, EntryId, HistoryName, Open, OperationId
from sidecar.contract.projection import Loss

FormatId = Annotated[
    str,
    Open(
        (
            "own-jsonl",
            "markdown",
            "claude-code",
            "codex",
            "opencode",
            "copilot",
            "gemini-cli",
            "openai-chat",
            "sharegpt",
            "chatgpt-export",
            "langchain",
            "pydantic-ai",
            "anthropic-messages",
            "gemini",
            "aider",
            "gptel",
            "codecompanion",
            "vscode-chat",
            "goose",
        )
    ),
]

ProgressToken = Either("ProgressToken", (int, str), "What the client calls the progress of a request.")


@frozen(kw_only=True)
class ImportParams:
    """Append the entries of a transcript that another tool wrote, as one change.

    A transcript longer than one call may be comes in several changes, each whole; a cancelled import leaves those that
    were made, and the next import goes on behind them. What the tool compacted away is a version of its own.
    """

    ONE_OF = ("text", "uri")
    history: HistoryName
    format: FormatId
    """The format, or `auto` to detect it."""
    text: str | None = None
    """The transcript itself."""
    uri: str | None = None
    """A `file:` URI inside an allowed folder."""
    work_done_token: Annotated[Any, ProgressToken] | None = None
    """Where given, `$/progress` notifications with this token tell how far the import is."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ImportResult:
    """What an import did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    format: str
    """The format that was read."""
    entry_ids: Sequence[EntryId]
    """Ids of the imported entries, in order."""
    losses: Sequence[Loss]
    """What could not be taken over."""


@frozen(kw_only=True)
class ExportParams:
    """Write a history in a format of another tool, or in our own, which loses nothing."""

    history: HistoryName
    format: FormatId
    """The format."""
    uri: str | None = None
    """A `file:` URI inside an allowed folder to write to; the text is answered where omitted."""
    at_version: Count | None = None
    redact: bool = False
    """Mask well-known secrets."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ExportResult:
    """The transcript, or where it was written."""

    text: str | None
    """The transcript, where no `uri` was given."""
    uri: str | None
    """Where it was written."""
    bytes: Count
    """Its length in UTF-8."""
    losses: Sequence[Loss]
    """What the format cannot say, and what was masked."""


@frozen(kw_only=True)
class RenderParams:
    """Render entries for people; transcript text is escaped."""

    history: HistoryName
    format: Literal["markdown", "html"] = "markdown"
    """The format."""
    start: int | None = None
    """0-based index of the first entry wanted; negative counts from the end."""
    count: Count | None = None
    """How many entries at most."""
    at_version: Count | None = None
    redact: bool = False
    """Mask well-known secrets."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class RenderedEntry:
    """Which lines show an entry."""

    entry_id: EntryId
    """The entry."""
    start_line: Count
    """0-based first line."""
    end_line: Count
    """0-based line behind the last one."""


@frozen(kw_only=True)
class RenderResult:
    """The text and where each entry is in it."""

    version: Count
    text: str
    """The rendered text."""
    map: Sequence[RenderedEntry]
    """Where each entry is, in order."""


@frozen(kw_only=True)
class OutlineParams:
    """List entries one line each, for trees and pickers."""

    history: HistoryName
    start: int | None = None
    """0-based index of the first entry wanted; negative counts from the end."""
    count: Count | None = None
    """How many entries at most."""
    at_version: Count | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class OutlineItem:
    """One entry in one line."""

    id: EntryId
    """The entry."""
    index: Count
    """Its 0-based index."""
    role: str
    """The role of its message."""
    kind: Annotated[str, Open(("text", "toolCall", "toolResult", "reasoning", "summary", "note"))]
    """What it mainly is; a message with tool calls is a `toolCall` whatever else it holds."""
    line: str
    """A short plain text for one line."""
    tokens: Count | None
    """Estimated tokens."""
    ts: int | None
    """When, Unix milliseconds."""
    call_ids: Sequence[str]
    """Ids of the tool calls it makes or answers."""
    elided: bool
    """Whether the model sees a placeholder."""
    pinned: bool
    """Whether compaction must keep it."""


@frozen(kw_only=True)
class OutlineResult:
    """The outline."""

    version: Count
    len: Count
    data: Sequence[OutlineItem]
    """The entries asked for, in order."""
