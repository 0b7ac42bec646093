"""GitHub Copilot CLI sessions: `~/.copilot/session-state/<id>/events.jsonl`, one event per line.

Sources: events of the Copilot runtime 1.0.14 and of Copilot CLI 1.0.71 (2026-07 to 2026-11).

Rules:
- `user.message`, `assistant.message`, `system.message` and `tool.execution_complete` are the conversation; the other
  known events are the runtime's own. The plain `content` of a user message is taken, not what the runtime made of it.
- Events of sub-agents (`parentToolCallId`) are left out; a rewind takes back everything after the event it names; a
  finished compaction restarts the view with its summary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Assistant,
    Block,
    Entry,
    Origin,
    Reasoning,
    Summary,
    System,
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
    keep,
    rest,
)
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    media,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_CONVERSATION: Final = frozenset(
    ("user.message", "assistant.message", "system.message", "tool.execution_complete", "assistant.reasoning")
)
_FAMILIES: Final[dict[str, str]] = {
    "session": "start resume error idle info warning model_change mode_changed plan_changed workspace_file_changed"
    " handoff truncation snapshot_rewind shutdown context_changed usage_info compaction_start compaction_complete"
    " task_complete title_changed remote_steerable_changed import_legacy tools_updated background_tasks_changed"
    " skills_loaded custom_agents_updated mcp_servers_loaded mcp_server_status_changed extensions_loaded",
    "assistant": "turn_start turn_end intent reasoning_delta streaming_delta message_delta message_start usage",
    "tool": "user_requested execution_start execution_partial_result execution_progress",
    "permission": "requested completed",
    "user_input": "requested completed",
    "elicitation": "requested completed",
    "external_tool": "requested completed",
    "exit_plan_mode": "requested completed",
    "mcp": "oauth_required oauth_completed",
    "hook": "start end progress",
    "skill": "invoked",
    "subagent": "started completed failed selected deselected",
    "system": "notification",
    "command": "queued execute completed",
    "commands": "changed",
    "capabilities": "changed",
    "pending_messages": "modified",
}
_BOOKKEEPING: Final = frozenset(
    ["abort", *(f"{family}.{name}" for family, names in _FAMILIES.items() for name in names.split())]
)
_KNOWN: Final = frozenset(
    (
        "apiCallId",
        "content",
        "delivery",
        "encryptedContent",
        "error",
        "interactionId",
        "messageId",
        "model",
        "originatingMessageId",
        "parentAgentTaskId",
        "reasoningOpaque",
        "reasoningText",
        "result",
        "role",
        "rte",
        "success",
        "supportedNativeDocumentMimeTypes",
        "toolCallId",
        "toolRequests",
        "toolTelemetry",
        "transformedContent",
        "turnId",
    )
)


class _Session:
    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.title: str | None = None
        self.model: str | None = None
        self.reasoning: list[Reasoning] = []


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    if not any(_is_event(record) for record in head.records):
        raise Unparsable("", "no event of a Copilot session was found")
    start: dict[str, Any] = next(
        (record for record in head.records if tag(dict_of(record), "type") == "session.start"), {}
    )
    session = _Session()
    yield ImportedHistory(
        entries=assemble(_items(source, report, session), report, "copilot"),
        source_id=id_of(dict_of(start.get("data")).get("sessionId")) or None,
        title=lambda: session.title,
        metadata=lambda: session.facts,
    )


def _is_event(record: Json) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("data"), dict):
        return False
    return tag(record, "type") in _CONVERSATION or tag(record, "type") in _BOOKKEEPING


def _items(source: Source, report: Report, session: _Session) -> Iterator[Item]:
    made: list[tuple[str, Item]] = []
    left = sides = 0
    for number, record in source.records(report):
        where = f"line {number}"
        kind = tag(dict_of(record), "type")
        data = dict_of(record).get("data")
        if not isinstance(record, dict) or not (kind in _CONVERSATION or kind in _BOOKKEEPING):
            report.unknown(record, kind, where)
            continue
        if not isinstance(data, dict):
            report.invalid(record, "has no data", where)
            continue
        event, ts = id_of(record.get("id")), millis(record.get("timestamp"))
        if data.get("parentToolCallId") and kind in _CONVERSATION:
            sides += 1
            continue
        if kind == "session.snapshot_rewind":
            target = data.get("upToEventId")
            at = next((index for index, (name, _) in enumerate(made) if name == target), None)
            if at is not None:
                left += len(made) - at
                del made[at:]
            continue
        if kind == "session.compaction_complete" and isinstance(data.get("summaryContent"), str):
            made.append((event, Restart()))
            made.append((event, Draft(entry=Entry(message=Summary(data["summaryContent"]), id=event, ts=ts))))
            continue
        if kind in _BOOKKEEPING:
            _note_facts(kind, data, session)
            report.bookkeeping(kind)
            continue
        made += ((event, item) for item in _event(kind, data, event, ts, session, report, where))
    if left:
        report.add("branchLeft", "info", f"{left} entries that were rewound are not in the live view")
    if sides:
        report.add("sidechainLeft", "info", f"{sides} events of sub-agents are not in the live view")
    for _, item in made:
        yield item


def _note_facts(kind: str, data: dict[str, Any], session: _Session) -> None:
    if kind in ("session.start", "session.resume"):
        facts = rest(data, frozenset(("sessionId", "version", "startTime", "alreadyInUse", "remoteSteerable")))
        session.facts.update({**dict_of(facts.pop("context", None)), **facts})
        session.model = text_of(data.get("selectedModel")) or session.model
    elif kind == "session.model_change":
        session.model = text_of(data.get("newModel")) or session.model
    elif kind == "session.title_changed":
        session.title = text_of(data.get("title"))


def _event(
    kind: str, data: dict[str, Any], event: str, ts: int | None, session: _Session, report: Report, where: str
) -> Iterator[Item]:
    fields = rest(data, _KNOWN)
    if kind == "tool.execution_complete":
        yield Draft(entry=keep(Entry(message=_result(data), id=event, ts=ts), fields=fields))
        return
    content = data.get("content")
    if kind == "assistant.reasoning":
        session.reasoning.append(Reasoning(text=text_of(content), id=id_of(data.get("reasoningId")) or None))
        return
    if not isinstance(content, str):
        report.invalid({"type": kind, "data": data}, "has no content", where)
        return
    if kind == "user.message":
        yield Draft(entry=keep(Entry(message=User((Text(content), *_attached(data))), id=event, ts=ts), fields=fields))
    elif kind == "system.message":
        yield Draft(entry=keep(Entry(message=System(content), id=event, ts=ts), fields=fields))
    else:
        message = _assistant(content, data, session)
        yield Draft(
            entry=keep(Entry(message=message, id=event, ts=ts), fields=fields), answer=text_of(data.get("messageId"))
        )


def _assistant(content: str, data: dict[str, Any], session: _Session) -> Assistant:
    model = text_of(data.get("model")) or session.model
    text, opaque = text_of(data.get("reasoningText")), text_of(data.get("reasoningOpaque"))
    sealed = text_of(data.get("encryptedContent"))
    reasoning = tuple(session.reasoning)
    session.reasoning = []
    if text or opaque or sealed:
        reasoning = (Reasoning(text=text, signature=opaque or None, data=sealed or None, model=model),)
    calls = tuple(
        ToolCall(
            id=id_of(request.get("toolCallId")),
            name=str(request.get("name") or ""),
            arguments=arguments_of(request.get("arguments")),
        )
        for request in map(dict_of, list_of(data.get("toolRequests")))
    )
    origin = Origin(vendor="copilot", model=model) if model else None
    blocks = (Text(content),) if content or not (calls or reasoning) else None
    return Assistant(content=blocks, reasoning=reasoning, tool_calls=calls, origin=origin)


def _result(data: dict[str, Any]) -> Tool:
    failed = data.get("success") is False
    result, error = data.get("result"), data.get("error")
    value = result
    if isinstance(result, dict):
        value = result.get("content", result.get("detailedContent", result))
    if value in (None, "") and error:
        value = error.get("message", error) if isinstance(error, dict) else error
    return Tool(call_id=id_of(data.get("toolCallId")), content=json_or_text(value) or (Text(""),), is_error=failed)


def _attached(data: dict[str, Any]) -> Iterator[Block]:
    for attachment in map(dict_of, list_of(data.get("attachments"))):
        content, mime_type = text_of(attachment.get("data")), text_of(attachment.get("mimeType"))
        if content is not None and mime_type:
            yield media(mime_type, data=content, name=text_of(attachment.get("displayName")))


def _detect(head: Head) -> int:
    return 95 if any(_is_event(record) for record in head.objects) else 0


FORMAT: Final = Format(
    id="copilot", title="GitHub Copilot CLI session", extensions=(".events.jsonl", ".jsonl"), detect=_detect, read=_read
)
