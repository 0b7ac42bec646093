"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, one record per line.

Sources: records written by Claude Code 1.0 and 2.1 (2025-06 to 2026-11).

Rules:
- Records form a tree by `parentUuid`; the live chain ends at the last record and is followed upwards. A parent that
  is not in the file counts as the record before it, and so do all missing parents where no record has one (old logs).
  Parallel tool calls make side arms: pieces of a live answer and results of live calls belong to the chain.
- One model answer is several records with one `message.id`. A `tool_result` block becomes a tool entry.
- `isSidechain` records belong to sub-agents and are left out; `isMeta` records are the tool's own words to the model
  and become notes; `isCompactSummary` becomes a summary, and the view restarts there.
- Memory holds ids of records, never their contents: the file is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    Assistant,
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
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    anthropic_block,
    anthropic_blocks,
    anthropic_thinking,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source, parse

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


class _Record(msgspec.Struct):
    """The few fields that decide where a record stands; everything else is skipped without being built."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815


_head = msgspec.json.Decoder(_Record).decode


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    index = _Index(source)
    if not index.recognized:
        raise Unparsable("", "no record of a Claude Code session was found")
    session: dict[str, Json] = {}
    titles: dict[str, str] = {}
    live = index.live()
    yield ImportedHistory(
        entries=assemble(_items(source, report, live, session, titles, count=True), report, "claude-code"),
        title=lambda: titles.get("custom-title") or titles.get("ai-title") or titles.get("summary"),
        metadata=lambda: session,
        source_id=index.session,
    )
    dead = index.dead(live)
    if dead and not options.all_branches:
        report.add("branchLeft", "info", f"{dead} records of abandoned branches are not in the live view")
    if index.sides and not options.all_branches:
        report.add("sidechainLeft", "info", f"{index.sides} records of sub-agents are not in the live view")
    if options.all_branches:
        for number, uuids in enumerate(index.branches(live), 1):
            yield ImportedHistory(
                entries=assemble(_items(source, Report(), uuids, {}, {}, count=False), Report(), "claude-code"),
                source_id=index.session,
                branch=f"branch-{number}",
            )


class _Index:
    """Ids and parents of all records, and the chains they form."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.parents: dict[str, str | None] = {}
        self.side_parents: dict[str, str | None] = {}
        self.session: str | None = None
        self.recognized = False
        self.sides = 0
        self._linear = True
        self._resolved = False
        self._roots: list[str] = []
        last: str | None = None
        for _, line in source.lines():
            try:
                record = _head(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                # A summary, a torn line or a field of an odd type: the second pass reports it.
                record = _odd(line)
            kind, uuid = record.type, record.uuid
            self.session = self.session or record.sessionId
            if kind in ("user", "assistant", "summary", "system"):
                self.recognized = True
            if record.isSidechain:
                self.sides += 1
                if uuid:
                    self.side_parents.setdefault(uuid, record.parentUuid)
                continue
            if not uuid or uuid in self.parents:
                continue
            parent = record.parentUuid
            if parent is not None and parent in self.parents:
                self._resolved = True
                if parent != last:
                    self._linear = False
            elif parent is None and last is not None and not _restarts(record):
                self._roots.append(uuid)
                parent = last
            else:
                parent = last
            self.parents[uuid] = parent
            last = uuid
        self._last = last
        if self._resolved:
            # Some records name their parents, so those that name none are roots of their own.
            for uuid in self._roots:
                self.parents[uuid] = None
            self._linear = self._linear and not self._roots

    def live(self) -> frozenset[str] | None:
        """Return the uuids of the live chain; `None` = all records."""
        if self._linear or self._last is None:
            return None
        return self._with_side_arms(self._chain(self._last))

    def dead(self, live: frozenset[str] | None) -> int:
        """Count records off the live chain."""
        return 0 if live is None else sum(uuid not in live for uuid in self.parents)

    def branches(self, live: frozenset[str] | None) -> Iterator[frozenset[str]]:
        """Yield the whole chain of every other leaf, and of every sub-agent's leaf."""
        if live is not None:
            inner = {parent for parent in self.parents.values() if parent is not None}
            for uuid in self.parents:
                if uuid not in live and uuid not in inner:
                    yield self._with_side_arms(self._chain(uuid))
        inner = {parent for parent in self.side_parents.values() if parent is not None}
        for uuid in self.side_parents:
            if uuid not in inner:
                yield frozenset(_up(uuid, self.side_parents))

    def _chain(self, leaf: str) -> set[str]:
        return set(_up(leaf, self.parents))

    def _with_side_arms(self, chain: set[str]) -> frozenset[str]:
        """Add the pieces of live answers and the results of live calls, which stand on side arms of the tree."""
        answers: dict[str, str] = {}
        makes: dict[str, list[str]] = {}
        takes: dict[str, list[str]] = {}
        for _, line in self._source.lines():
            try:
                record = parse(line)
            except ValueError:
                continue
            record = dict_of(record)
            uuid, message = record.get("uuid"), dict_of(record.get("message"))
            if not isinstance(uuid, str) or record.get("isSidechain"):
                continue
            if tag(record, "type") == "assistant" and isinstance(message.get("id"), str):
                answers[uuid] = message["id"]
            for block in list_of(message.get("content")):
                block = dict_of(block)
                if tag(block, "type") == "tool_use":
                    makes.setdefault(uuid, []).append(id_of(block.get("id")))
                elif tag(block, "type") == "tool_result":
                    takes.setdefault(uuid, []).append(id_of(block.get("tool_use_id")))
        live_answers = {answers[uuid] for uuid in chain if uuid in answers}
        chain |= {uuid for uuid, answer in answers.items() if answer in live_answers}
        calls = {call for uuid in chain for call in makes.get(uuid, ())}
        chain |= {uuid for uuid, results in takes.items() if any(call in calls for call in results)}
        return frozenset(chain)


def _up(leaf: str, parents: dict[str, str | None]) -> Iterator[str]:
    seen: set[str] = set()
    at: str | None = leaf
    while at is not None and at not in seen and at in parents:
        seen.add(at)
        yield at
        at = parents[at]


def _restarts(record: _Record) -> bool:
    return record.subtype == "compact_boundary" or bool(record.isCompactSummary)


def _odd(line: bytes) -> _Record:
    try:
        value = dict_of(parse(line))
    except ValueError:
        return _Record()
    kind, subtype, uuid, parent = (text_of(value.get(key)) for key in ("type", "subtype", "uuid", "parentUuid"))
    side = value.get("isSidechain") is True
    return _Record(type=kind, subtype=subtype, uuid=uuid, parentUuid=parent, isSidechain=side)


def _items(
    source: Source,
    report: Report,
    live: frozenset[str] | None,
    session: dict[str, Json],
    titles: dict[str, str],
    *,
    count: bool,
) -> Iterator[Item]:
    side = not count
    answer: _Answer | None = None
    for number, record in source.records(report):
        where = f"line {number}"
        if not isinstance(record, dict):
            if answer is not None:
                yield answer.draft()
                answer = None
            report.unknown(record, None, where)
            continue
        kind = tag(record, "type")
        if kind == "assistant" or kind == "user":
            uuid = record.get("uuid")
            if live is not None and not (isinstance(uuid, str) and uuid in live):
                continue
            if record.get("isSidechain") and not (side and live is not None):
                continue
            if not session:
                session.update((key, record[key]) for key in _SESSION_FIELDS if record.get(key) not in (None, ""))
            message = record.get("message")
            content = message.get("content") if isinstance(message, dict) else None
            if kind == "assistant" and isinstance(message, dict) and isinstance(content, list | str):
                # What comes next is most often the next piece of the same answer.
                if answer is None or answer.key is None or answer.key != message.get("id"):
                    if answer is not None:
                        yield answer.draft()
                    answer = _Answer(record, message)
                answer.add(record, message, content)
                continue
            if answer is not None:
                yield answer.draft()
                answer = None
            if isinstance(content, list | str):
                yield from _user(record, content)
            else:
                report.invalid(record, "has no message content", where)
        elif kind == "system":
            boundary = record.get("subtype") == "compact_boundary" and not record.get("isSidechain")
            if boundary and (live is None or text_of(record.get("uuid")) in live):
                if answer is not None:
                    yield answer.draft()
                    answer = None
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
            if answer is not None:
                yield answer.draft()
                answer = None
            report.unknown(record, kind, where)
    if answer is not None:
        yield answer.draft()


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
        blocks = self._blocks
        message = Assistant(
            content=tuple(blocks) if blocks or not (self._calls or self._reasoning) else None,
            reasoning=tuple(self._reasoning),
            tool_calls=tuple(self._calls),
            origin=Origin(vendor=VENDOR, model=self._model),
        )
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
    return value if isinstance(value, str) else dumps({} if value is None else value)


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
