"""Gemini CLI chats: `~/.gemini/tmp/<project>/chats/session-*.json` (one document) or `.jsonl` (a log of changes).

Sources: documents of Gemini CLI up to 0.2x, logs of 0.61 (2026-11), `chatRecordingTypes.ts` of its repository.

Rules:
- A log is played to its end first: a message written again under its id replaces the earlier one, `$set` replaces
  fields (also the whole list of messages, on resume), `$rewindTo` drops the message it names and all after it.
- Function responses stand in the call's record and again in a `user` message, sometimes in two: each call keeps one.
- `info`, `warning` and `error` lines become notes. Memory holds the live messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry, Note, Origin, Reasoning, Text, Tool, ToolCall, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.gemini_parts import VENDOR, Pairing, read_content, read_response
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    assistant_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_TYPES: Final = frozenset(("user", "gemini", "info", "warning", "error"))
_KNOWN: Final = frozenset(("content", "displayContent", "id", "model", "thoughts", "timestamp", "toolCalls", "type"))
_FACTS: Final = frozenset(("projectHash", "kind", "startTime", "directories", "cwd"))


class _Chat:
    """The state that a log builds up."""

    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.messages: dict[str, Json] = {}
        self.left: list[list[Json]] = []
        self._unnamed = 0

    def put(self, message: Json) -> None:
        name = id_of(dict_of(message).get("id"))
        if not name:
            self._unnamed += 1
            name = f" {self._unnamed}"
        self.messages[name] = message

    def replace(self, messages: list[Json]) -> None:
        self.messages = {}
        for message in messages:
            self.put(message)

    def rewind(self, target: str) -> bool:
        names = list(self.messages)
        if target not in self.messages:
            return False
        self.left.append(list(self.messages.values()))
        for name in names[names.index(target) :]:
            del self.messages[name]
        return True


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    chat = _log(source, report) if _is_log(head) else _document(source)

    def metadata() -> dict[str, Json]:
        return {key: chat.facts[key] for key in sorted(_FACTS & chat.facts.keys()) if chat.facts[key]}

    def history(messages: list[Json], losses: Report, branch: str | None = None) -> ImportedHistory:
        return ImportedHistory(
            entries=assemble(_items(messages, losses), losses, "gemini-cli"),
            source_id=id_of(chat.facts.get("sessionId")) or None,
            title=lambda: text_of(chat.facts.get("summary")),
            metadata=metadata,
            branch=branch,
        )

    if chat.left and not options.all_branches:
        report.add("branchLeft", "info", f"what {len(chat.left)} rewinds took back is not in the live view")
    yield history(list(chat.messages.values()), report)
    if options.all_branches:
        for number, messages in enumerate(chat.left, 1):
            yield history(messages, Report(), f"branch-{number}")


def _is_log(head: Head) -> bool:
    return head.is_lines and (len(head.records) > 1 or "messages" not in dict_of(head.document))


def _document(source: Source) -> _Chat:
    document = source.document()
    messages = document.get("messages", document.get("history")) if isinstance(document, dict) else None
    if not isinstance(messages, list):
        raise Unparsable("", "the document has no messages of a Gemini CLI chat")
    chat = _Chat()
    chat.facts = {key: value for key, value in document.items() if key != "messages"}
    chat.replace(messages)
    return chat


def _log(source: Source, report: Report) -> _Chat:
    if not any(_is_record(record) for record in Head.of(source).records):
        raise Unparsable("", "no record of a Gemini CLI chat was found")
    chat = _Chat()
    for number, record in source.records(report):
        where = f"line {number}"
        if not isinstance(record, dict):
            report.unknown(record, None, where)
        elif isinstance(record.get("$set"), dict):
            changes = dict(record["$set"])
            messages = changes.pop("messages", None)
            chat.facts.update(changes)
            if isinstance(messages, list):
                chat.replace(messages)
        elif "$rewindTo" in record:
            if not chat.rewind(id_of(record["$rewindTo"])):
                report.invalid(record, "rewinds to a message that is not there", where)
        elif tag(record, "type") in _TYPES:
            chat.put(record)
        elif "sessionId" in record and "type" not in record:
            chat.facts.update((key, value) for key, value in record.items() if key != "messages")
            if isinstance(record.get("messages"), list):
                chat.replace(record["messages"])
        else:
            report.unknown(record, tag(record, "type"), where)
    return chat


def _items(messages: list[Json], report: Report) -> Iterator[Item]:
    pairing = Pairing()
    answered: set[str] = set()
    for number, message in enumerate(messages):
        where = f"message {number}"
        raw = dict_of(message)
        kind, content = tag(raw, "type"), raw.get("content")
        if kind not in _TYPES:
            report.unknown(message, kind, where)
        elif not isinstance(content, str | list | dict):
            report.invalid(message, "has no content", where)
        else:
            parts = content if isinstance(content, list) else [content]
            yield from _message(raw, parts, pairing, answered)


def _message(raw: dict[str, Any], parts: list[Json], pairing: Pairing, answered: set[str]) -> Iterator[Item]:
    name, ts, model = id_of(raw.get("id")), millis(raw.get("timestamp")), text_of(raw.get("model"))
    fields = rest(raw, _KNOWN)
    content = read_content(parts, pairing, model)

    def results(found: list[Tool]) -> Iterator[Item]:
        for result in found:
            if result.call_id not in answered:
                answered.add(result.call_id)
                yield Draft(entry=Entry(message=result, id=f"{name}/{result.call_id}" if name else "", ts=ts))

    if raw["type"] == "gemini":
        known = {call.id for call in content.calls}
        found: list[Tool] = []
        for call in map(dict_of, list_of(raw.get("toolCalls"))):
            made = _call(call, pairing)
            if made.id not in known:
                content.calls.append(made)
            found += _call_results(call, made, pairing)
        thoughts = [_thought(thought, model) for thought in map(dict_of, list_of(raw.get("thoughts")))]
        blocks = tuple(block for block in content.blocks if block != Text(""))
        entry = Entry(
            message=assistant_of(
                blocks, (*thoughts, *content.reasoning), content.calls, Origin(vendor=VENDOR, model=model)
            ),
            id=name,
            ts=ts,
        )
        yield Draft(entry=keep(entry, fields=fields))
        yield from results(found)
    elif raw["type"] == "user":
        yield from results(content.results)
        if content.blocks or not content.results:
            yield Draft(entry=keep(Entry(message=User(tuple(content.blocks)), id=name, ts=ts), fields=fields))
    else:
        text = "\n".join(block.text for block in content.blocks if isinstance(block, Text))
        yield Draft(entry=keep(Entry(message=Note(text), id=name, ts=ts), fields={**fields, "type": raw["type"]}))


def _call(call: dict[str, Any], pairing: Pairing) -> ToolCall:
    name = str(call.get("name") or "")
    return ToolCall(
        id=pairing.call(id_of(call.get("id")), name),
        name=name,
        arguments=arguments_of(call.get("args", {})),
        signature=text_of(call.get("thoughtSignature")),
    )


def _call_results(call: dict[str, Any], made: ToolCall, pairing: Pairing) -> list[Tool]:
    failed = tag(call, "status") in ("error", "cancelled")
    result = call.get("result")
    parts = result if isinstance(result, list) else [] if result is None else [result]
    for part in map(dict_of, parts):
        response = part.get("functionResponse")
        if isinstance(response, dict):
            tool = read_response({**response, "id": response.get("id") or made.id}, pairing)
            return [Tool(call_id=made.id, name=tool.name, content=tool.content, is_error=tool.is_error or failed)]
    shown = call.get("resultDisplay") if not parts else parts[0] if len(parts) == 1 else parts
    content = json_or_text(shown)
    return [Tool(call_id=made.id, name=made.name, content=content, is_error=failed)] if content else []


def _thought(thought: dict[str, Any], model: str | None) -> Reasoning:
    subject, description = text_of(thought.get("subject")), text_of(thought.get("description"))
    text = f"**{subject}**\n{description or ''}" if subject else description
    return Reasoning(text=text, signature=text_of(thought.get("thoughtSignature")), vendor=VENDOR, model=model)


def _is_record(record: Json) -> bool:
    if not isinstance(record, dict):
        return False
    if isinstance(record.get("$set"), dict) or "$rewindTo" in record:
        return True
    return ("projectHash" in record and "sessionId" in record) or (
        tag(record, "type") in _TYPES and "content" in record and "message" not in record
    )


def _detect(head: Head) -> int:
    document = dict_of(head.document)
    if isinstance(document.get("messages"), list) and "projectHash" in document:
        return 95
    messages = list_of(document.get("messages"))
    if messages and all(tag(dict_of(m)) in _TYPES and "content" in dict_of(m) for m in messages[:5]):
        return 85
    score = 0
    for record in head.objects:
        if isinstance(record.get("$set"), dict) or "$rewindTo" in record or ("projectHash" in record):
            return 95
        if tag(record, "type") == "gemini":
            score = 80
    return score


FORMAT: Final = Format(
    id="gemini-cli", title="Gemini CLI chat", extensions=(".jsonl", ".json"), detect=_detect, read=_read
)
