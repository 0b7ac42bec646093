"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, one record per line.

Sources: records written by Claude Code 1.0 and 2.1 (2025-06 to 2026-11).

Rules:
- Records form a tree, of which the live chain is read (`claude_tree`).
- One model answer is several records with one `message.id`. A `tool_result` block becomes a tool entry.
- `isSidechain` records belong to sub-agents and are left out; `isMeta` records are the tool's own words to the model
  and become notes; `isCompactSummary` becomes a summary, and the view restarts there.
- Memory holds ids of records, never their contents: the file is read for its tree, and again for its entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Block,
    Entry,
    Note,
    Origin,
    Reasoning,
    Summary,
    Text,
    Tool,
    ToolCall,
    User,
)
from sidecar.formats.base import (
    Draft,
    Format,
    ImportedHistory,
    Item,
    ReadOptions,
    Report,
    Restart,
    assemble,
    kept,
    rest,
)
from sidecar.formats.claude_tree import Tree
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    anthropic_block,
    anthropic_blocks,
    anthropic_thinking,
    assistant_of,
    dict_of,
    id_of,
    json_or_text,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source, compact

VENDOR: Final = "anthropic-messages"

_BOOKKEEPING: Final = frozenset(
    (
        "agent-color",
        "agent-name",
        "agent-setting",
        "attachment",
        "attribution-snapshot",
        "bash_progress",
        "content-replacement",
        "context-collapse-commit",
        "context-collapse-snapshot",
        "file-history-snapshot",
        "last-prompt",
        "marble-origami-commit",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "speculation-accept",
        "started",
        "tag",
        "task-summary",
        "turn_duration",
        "worktree-state",
    )
)
_TITLES: Final = frozenset(("summary", "custom-title", "ai-title"))
# Facts of the session, kept once in the history's metadata.
_SESSION_FIELDS: Final = ("sessionId", "cwd", "version", "gitBranch", "entrypoint", "userType", "slug")
_KNOWN: Final = frozenset(
    (
        *_SESSION_FIELDS,
        "isApiErrorMessage",
        "isCompactSummary",
        "isMeta",
        "isSidechain",
        "isVisibleInTranscriptOnly",
        "logicalParentUuid",
        "message",
        "parentUuid",
        "permissionMode",
        "promptId",
        "promptSource",
        "requestId",
        "sourceToolAssistantUUID",
        "timestamp",
        "type",
        "uuid",
    )
)
_KNOWN_MESSAGE: Final = frozenset(
    ("container", "content", "id", "model", "role", "stop_details", "stop_sequence", "type")
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    tree = Tree(source)
    if not tree.recognized:
        raise Unparsable("", "no record of a Claude Code session was found")
    session: dict[str, Json] = {}
    titles: dict[str, str] = {}
    live = tree.live()
    yield ImportedHistory(
        entries=assemble(_items(source, report, live, session, titles), report, "claude-code"),
        title=lambda: titles.get("custom-title") or titles.get("ai-title") or titles.get("summary"),
        metadata=lambda: session,
        source_id=tree.session,
    )
    dead = tree.dead(live)
    if dead and not options.all_branches:
        report.add("branchLeft", "info", f"{dead} records of abandoned branches are not in the live view")
    if tree.sides and not options.all_branches:
        report.add("sidechainLeft", "info", f"{tree.sides} records of sub-agents are not in the live view")
    if options.all_branches:
        for number, uuids in enumerate(tree.branches(live), 1):
            yield ImportedHistory(
                entries=assemble(_items(source, Report(), uuids, {}, {}, sub_agents=True), Report(), "claude-code"),
                source_id=tree.session,
                branch=f"branch-{number}",
            )


def _items(
    source: Source,
    report: Report,
    live: frozenset[str] | None,
    session: dict[str, Json],
    titles: dict[str, str],
    *,
    sub_agents: bool = False,
) -> Iterator[Item]:
    answer: _Answer | None = None

    def close() -> Iterator[Item]:
        nonlocal answer
        if answer is not None:
            yield answer.draft()
            answer = None

    for number, record in source.records(report):
        if not isinstance(record, dict):
            yield from close()
            report.unknown(record, None, f"line {number}")
            continue
        kind = tag(record, "type")
        if kind == "assistant" or kind == "user":
            uuid = record.get("uuid")
            if live is not None and not (isinstance(uuid, str) and uuid in live):
                continue
            if record.get("isSidechain") and not (sub_agents and live is not None):
                continue
            if not session:
                session.update((key, record[key]) for key in _SESSION_FIELDS if record.get(key) not in (None, ""))
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            if kind == "assistant" and isinstance(message, dict) and isinstance(content, list | str):
                # What comes next is most often the next piece of the same answer.
                if answer is None or answer.key is None or answer.key != message.get("id"):
                    yield from close()
                    answer = _Answer(record, message)
                answer.add(record, message, content)
                continue
            yield from close()
            if isinstance(content, list | str):
                yield from _user(record, content)
            else:
                report.invalid(record, "has no message content", f"line {number}")
        elif kind == "system":
            boundary = record.get("subtype") == "compact_boundary" and not record.get("isSidechain")
            if boundary and (live is None or text_of(record.get("uuid")) in live):
                yield from close()
                yield Restart()
            else:
                report.bookkeeping(f"system {text_of(record.get('subtype')) or ''}".strip())
        elif kind in _TITLES:
            title = record.get("summary") or record.get("customTitle") or record.get("aiTitle") or record.get("title")
            if isinstance(title, str):
                titles[kind] = title
        elif kind in _BOOKKEEPING:
            report.bookkeeping(kind)
        else:
            yield from close()
            report.unknown(record, kind, f"line {number}")
    yield from close()


class _Answer:
    """The records of one model answer that stand together, collected into one entry."""

    def __init__(self, record: dict[str, Any], message: dict[str, Any]) -> None:
        self.key = text_of(message.get("id"))
        self._id = id_of(record.get("uuid"))
        self._ts = millis(record.get("timestamp"))
        self._model = text_of(message.get("model"))
        self._message = message
        self._fields: dict[str, Json] = {}
        self._blocks: list[Block] = []
        self._reasoning: list[Reasoning] = []
        self._calls: list[ToolCall] = []

    def add(self, record: dict[str, Any], message: dict[str, Any], content: str | list[Json]) -> None:
        """Take the next piece."""
        # Usage and stop reason are told again with every piece, and are final in the last.
        self._message = message
        if not record.keys() <= _KNOWN:
            self._fields.update(rest(record, _KNOWN))
        if isinstance(content, str):
            self._blocks.append(Text(content))
            return
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use":
                self._calls.append(
                    ToolCall(
                        id=id_of(block.get("id")),
                        name=str(block.get("name") or ""),
                        arguments=_input(block.get("input")),
                    )
                )
            elif kind == "thinking" or kind == "redacted_thinking":
                self._reasoning.append(anthropic_thinking(block, self._model))
            else:
                self._blocks.append(anthropic_block(block))

    def draft(self) -> Draft:
        """Return the entry."""
        origin = Origin(vendor=VENDOR, model=self._model)
        message = assistant_of(self._blocks, self._reasoning, self._calls, origin)
        fields = {**self._fields, **rest(self._message, _KNOWN_MESSAGE)}
        return Draft(entry=Entry(message=message, id=self._id, ts=self._ts, meta=kept(fields)), answer=self.key)


def _user(record: dict[str, Any], content: str | list[Json]) -> Iterator[Item]:
    uuid, ts = id_of(record.get("uuid")), millis(record.get("timestamp"))
    fields = rest(record, _KNOWN)
    if "toolUseResult" in fields:
        _without_repeats(fields, content)
    if isinstance(content, str):
        yield Draft(entry=Entry(message=_said(record, (Text(content),)), id=uuid, ts=ts, meta=kept(fields)))
        return
    said: list[Block] = []
    results = 0
    for block in content:
        if isinstance(block, dict) and tag(block, "type") == "tool_result":
            result = Tool(
                call_id=id_of(block.get("tool_use_id")),
                content=_result(block.get("content")),
                is_error=block.get("is_error") is True,
            )
            results += 1
            name = uuid if results == 1 or not uuid else f"{uuid}/{results}"
            yield Draft(entry=Entry(message=result, id=name, ts=ts, meta=kept(fields)))
            fields = {}
        else:
            said.append(anthropic_block(block))
    if said or not content:
        name = f"{uuid}/text" if uuid and results else uuid
        yield Draft(entry=Entry(message=_said(record, tuple(said)), id=name, ts=ts, meta=kept(fields)))


def _without_repeats(fields: dict[str, Json], content: str | list[Json]) -> None:
    """Take out of the structured copy of a result what says the same as the result itself."""
    said = [dict_of(block).get("content") for block in content] if isinstance(content, list) else []
    texts = {text for text in said if isinstance(text, str)}
    structured = fields["toolUseResult"]
    if isinstance(structured, str) and structured in texts:
        del fields["toolUseResult"]
    elif isinstance(structured, dict) and texts:
        fields["toolUseResult"] = {
            key: value for key, value in structured.items() if not (isinstance(value, str) and value in texts)
        }


def _said(record: dict[str, Any], blocks: tuple[Block, ...]) -> User | Note | Summary:
    own = record.get("isCompactSummary") or record.get("isMeta") or record.get("isVisibleInTranscriptOnly")
    if own and all(isinstance(block, Text) for block in blocks):
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
        return Summary(text) if record.get("isCompactSummary") else Note(text)
    return User(blocks)


def _result(content: Json) -> tuple[Block, ...]:
    return json_or_text(content) if isinstance(content, dict) else anthropic_blocks(content)


def _input(value: Json) -> str:
    return value if isinstance(value, str) else compact({} if value is None else value)


def _detect(head: Head) -> int:
    score = 0
    for record in head.objects:
        kind = tag(record, "type")
        if kind in ("user", "assistant") and isinstance(record.get("message"), dict):
            if "uuid" in record or "sessionId" in record or "parentUuid" in record:
                return 95
            score = max(score, 60 if "role" in record["message"] and "id" not in record else score)
        elif kind == "summary" and "leafUuid" in record:
            score = max(score, 85)
        elif kind in ("queue-operation", "file-history-snapshot", "last-prompt", "permission-mode"):
            score = max(score, 70)
    return score


FORMAT: Final = Format(
    id="claude-code",
    title="Claude Code session",
    extensions=(".jsonl",),
    detect=_detect,
    read=_read,
    streams=True,
    passes=2,
)
