"""VS Code chat sessions: `workspaceStorage/<id>/chatSessions/<session>.json`, or `.jsonl` as a log of patches.

Sources: sessions of version 3 of VS Code 1.10x (2025-2026); `agentsview` reads the same shapes.

Rules:
- A log is played first: kind 0 is a snapshot, 1 sets, 2 appends (after cutting the list at `i`), 3 deletes.
- One request is one user entry and the answer to it; text after a tool invocation begins a new assistant entry.
- Pieces of Markdown are one text; references read as their name; edits and progress are the editor's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Assistant, Block, Entry, Origin, Reasoning, Text, Tool, ToolCall, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    dict_of,
    id_of,
    list_of,
    media,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_QUIET: Final = frozenset(
    (
        "codeblockUri",
        "command",
        "confirmation",
        "elicitation",
        "elicitationSerialized",
        "extensions",
        "mcpServersStarting",
        "multiDiffData",
        "notebookEditGroup",
        "prepareToolInvocation",
        "progressMessage",
        "progressTask",
        "progressTaskSerialized",
        "pullRequest",
        "textEdit",
        "textEditGroup",
        "treeData",
        "undoStop",
        "usedContext",
        "warning",
    )
)
_KNOWN: Final = frozenset(
    (
        "agent",
        "contentReferences",
        "followups",
        "isCanceled",
        "message",
        "modelId",
        "requestId",
        "response",
        "responseId",
        "result",
        "timestamp",
        "variableData",
    )
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    first = dict_of(head.records[0]) if head.is_lines else {}
    session = _play(source, report) if "kind" in first and "requests" not in first else source.document()
    if not isinstance(session, dict) or not isinstance(session.get("requests"), list):
        raise Unparsable("", "the text has no requests of a VS Code chat session")
    facts = {key: session[key] for key in ("creationDate", "initialLocation", "responderUsername") if session.get(key)}
    yield ImportedHistory(
        entries=assemble(_items(session, report), report, "vscode-chat"),
        source_id=id_of(session.get("sessionId")) or None,
        title=lambda: text_of(session.get("customTitle")) or text_of(session.get("computedTitle")),
        metadata=lambda: facts,
    )


def _play(source: Source, report: Report) -> Json:
    state: Json = None
    for number, record in source.records(report):
        raw = dict_of(record)
        kind = raw.get("kind")
        if kind == 0:
            state = raw.get("v")
        elif kind in (1, 2, 3) and isinstance(raw.get("k"), list) and raw["k"]:
            if not _patch(state, kind, raw["k"], raw):
                report.invalid(record, "patches something that is not there", f"line {number}")
        else:
            report.unknown(record, kind, f"line {number}")
    return state


def _patch(state: Json, kind: int, path: list[Json], raw: dict[str, Any]) -> bool:
    parent = state
    for key in path[:-1]:
        parent = _step(parent, key)
    key, value = path[-1], raw.get("v")
    if kind == 2:
        return _push(parent, key, value, raw.get("i"))
    if isinstance(parent, dict) and isinstance(key, str):
        if kind == 1:
            parent[key] = value
            return True
        return parent.pop(key, raw) is not raw
    if isinstance(parent, list) and isinstance(key, int) and 0 <= key <= len(parent):
        if kind == 1:
            parent[key : key + 1] = [value]
            return True
        if key < len(parent):
            del parent[key]
            return True
    return False


def _push(parent: Json, key: Json, values: Json, cut: Json) -> bool:
    target = _step(parent, key)
    if target is None and isinstance(parent, dict) and isinstance(key, str):
        target = parent[key] = []
    if not isinstance(target, list):
        return False
    if isinstance(cut, int) and 0 <= cut <= len(target):
        del target[cut:]
    target.extend(list_of(values))
    return True


def _step(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
        return value[key]
    return None


def _items(session: dict[str, Any], report: Report) -> Iterator[Item]:
    for number, request in enumerate(session["requests"]):
        where = f"request {number}"
        raw = dict_of(request)
        message = raw.get("message")
        text = message if isinstance(message, str) else text_of(dict_of(message).get("text"))
        if text is None:
            report.invalid(request, "has no message text", where)
            continue
        if raw.get("shouldBeRemovedOnSend"):
            report.add("branchLeft", "info", "a request that was undone is not in the live view", path=where)
            continue
        ts = millis(raw.get("timestamp"))
        blocks: list[Block] = [Text(text), *_attached(raw)]
        entry = Entry(message=User(tuple(blocks)), id=id_of(raw.get("requestId")), ts=ts)
        yield Draft(entry=keep(entry, fields=rest(raw, _KNOWN)))
        yield from _response(raw, ts, report, where)


def _attached(request: dict[str, Any]) -> Iterator[Block]:
    for variable in map(dict_of, list_of(dict_of(request.get("variableData")).get("variables"))):
        mime_type, value = text_of(variable.get("mimeType")), variable.get("value")
        if tag(variable, "kind") == "image" and mime_type and isinstance(value, str):
            yield media(mime_type, data=value, name=text_of(variable.get("name")))


def _response(request: dict[str, Any], ts: int | None, report: Report, where: str) -> Iterator[Item]:
    name = id_of(request.get("responseId"))
    model = text_of(request.get("modelId"))
    origin = Origin(vendor="vscode-chat", model=model) if model else None
    known = _rounds(request)
    step = 0
    texts: list[str] = []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    results: list[Tool] = []

    def flush() -> Iterator[Item]:
        nonlocal step
        text = "".join(texts)
        if text.strip() or reasoning or calls:
            step += 1
            made = Assistant(
                content=(Text(text),) if text.strip() else None,
                reasoning=tuple(reasoning),
                tool_calls=tuple(calls),
                origin=origin,
            )
            entry_id = name if step == 1 or not name else f"{name}/{step}"
            yield Draft(entry=Entry(message=made, id=entry_id, ts=ts))
        for result in results:
            yield Draft(entry=Entry(message=result, id=f"{name}/{result.call_id}" if name else "", ts=ts))
        for pile in (texts, reasoning, calls, results):
            pile.clear()

    for part in list_of(request.get("response")):
        raw = dict_of(part)
        kind = tag(raw, "kind")
        if calls and kind not in ("toolInvocationSerialized", "toolInvocation") and (kind not in _QUIET):
            yield from flush()
        if isinstance(part, str):
            texts.append(part)
        elif kind is None or kind in ("markdownContent", "markdownVuln"):
            content = raw.get("content", raw)
            value = content if isinstance(content, str) else dict_of(content).get("value")
            if isinstance(value, str):
                texts.append(value)
            else:
                report.invalid(part, "has a part without text", where)
        elif kind == "inlineReference":
            texts.append(_reference(raw))
        elif kind == "thinking":
            reasoning += _thinking(raw)
        elif kind in ("toolInvocationSerialized", "toolInvocation"):
            _tool(raw, known, calls, results)
        elif kind in _QUIET:
            report.bookkeeping(f"{kind} part")
        else:
            report.unknown(part, kind, where)
    yield from flush()


def _thinking(raw: dict[str, Any]) -> Iterator[Reasoning]:
    value = raw.get("value")
    text = "".join(part for part in value if isinstance(part, str)) if isinstance(value, list) else text_of(value)
    if text:
        yield Reasoning(text=text, id=id_of(raw.get("id")) or None)


def _reference(raw: dict[str, Any]) -> str:
    target = dict_of(raw.get("inlineReference"))
    place = dict_of(target.get("location")).get("uri") or target.get("uri") or target
    path = text_of(dict_of(place).get("path")) or ""
    return text_of(raw.get("name")) or text_of(target.get("name")) or path.rsplit("/", 1)[-1]


def _rounds(request: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Map call ids to (name, exact arguments) where the answer's metadata has them."""
    facts = dict_of(dict_of(request.get("result")).get("metadata"))
    return {
        id_of(call.get("id")): (str(call.get("name") or ""), arguments_of(call.get("arguments")))
        for round_ in map(dict_of, list_of(facts.get("toolCallRounds")))
        for call in map(dict_of, list_of(round_.get("toolCalls")))
    }


def _tool(raw: dict[str, Any], known: dict[str, tuple[str, str]], calls: list[ToolCall], results: list[Tool]) -> None:
    call_id = id_of(raw.get("toolCallId"))
    details = raw.get("resultDetails")
    name, arguments = known.get(call_id, (id_of(raw.get("toolId")), ""))
    given = dict_of(details).get("input")
    specific = dict_of(raw.get("toolSpecificData"))
    if not arguments and isinstance(given, str):
        arguments = given if given.lstrip().startswith("{") else dumps({"input": given})
    elif not arguments and isinstance(specific.get("rawInput"), dict):
        arguments = dumps(specific["rawInput"])
    elif not arguments and isinstance(dict_of(specific.get("commandLine")).get("original"), str):
        arguments = dumps({"command": specific["commandLine"]["original"]})
    calls.append(ToolCall(id=call_id, name=name, arguments=arguments or "{}"))
    output = dict_of(details).get("output")
    texts = [text for text in (text_of(dict_of(item).get("value")) for item in list_of(output)) if text is not None]
    if isinstance(output, str):
        texts = [output]
    if texts:
        failed = dict_of(details).get("isError") is True
        content = tuple(Text(text) for text in texts)
        results.append(Tool(call_id=call_id, name=name, content=content, is_error=failed))


def _detect(head: Head) -> int:
    document = dict_of(head.document)
    if isinstance(document.get("requests"), list) and (
        "responderUsername" in document or "requesterUsername" in document
    ):
        return 95
    first = dict_of(head.records[0]) if head.records else {}
    if first.get("kind") == 0 and isinstance(dict_of(first.get("v")).get("requests"), list):
        return 95
    return 60 if isinstance(document.get("requests"), list) and "sessionId" in document else 0


FORMAT: Final = Format(
    id="vscode-chat", title="VS Code chat session", extensions=(".json", ".jsonl"), detect=_detect, read=_read
)
