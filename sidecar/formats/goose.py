"""Goose sessions: `~/.local/share/goose/sessions/<id>.jsonl`, a line of session facts, then one message per line.

Sources: the session files of Goose 1.x before its move to SQLite (2025-07 to 2026-07).

Rules: tool requests and responses are content parts; a response stands in a `user` message and becomes a tool entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Block, Entry, Reasoning, System, Text, Tool, ToolCall, User, VendorBlock
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    assistant_of,
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

_KNOWN: Final = frozenset(("id", "role", "created", "content"))
_FACTS: Final = frozenset(("working_dir", "description", "message_count", "extension_data", "created_at"))


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    if not any(_is_facts(record) or _is_message(record) for record in head.records):
        raise Unparsable("", "no record of a Goose session was found")
    facts: dict[str, Any] = next((dict(record) for record in head.records if _is_facts(record)), {})
    yield ImportedHistory(
        entries=assemble(_items(source, report), report, "goose"),
        source_id=id_of(facts.get("id")) or source.name,
        title=lambda: text_of(facts.get("description")) or None,
        metadata=lambda: rest(facts, frozenset(("id", "description"))),
    )


def _is_facts(record: Json) -> bool:
    return isinstance(record, dict) and "role" not in record and len(_FACTS & record.keys()) >= 2


def _is_message(record: Json) -> bool:
    return isinstance(record, dict) and tag(record, "role") in ("user", "assistant") and "content" in record


def _items(source: Source, report: Report) -> Iterator[Item]:
    for number, record in source.records(report):
        where = f"line {number}"
        if _is_facts(record):
            continue
        if not isinstance(record, dict) or tag(record, "role") not in ("user", "assistant", "system"):
            report.unknown(record, tag(dict_of(record), "type") or tag(dict_of(record), "role"), where)
        elif not isinstance(record.get("content"), str | list):
            report.invalid(record, "has no message content", where)
        else:
            yield from _message(record)


def _message(record: dict[str, Any]) -> Iterator[Item]:
    name, ts, fields = id_of(record.get("id")), millis(record.get("created")), rest(record, _KNOWN)
    content = record["content"]
    blocks: list[Block] = [Text(content)] if isinstance(content, str) else []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    results: list[Tool] = []
    for part in content if isinstance(content, list) else ():
        kind = tag(dict_of(part), "type")
        if kind == "toolRequest":
            call = dict_of(dict_of(part.get("toolCall")).get("value"))
            calls.append(
                ToolCall(
                    id=id_of(part.get("id")),
                    name=str(call.get("name") or ""),
                    arguments=arguments_of(call.get("arguments")),
                )
            )
        elif kind == "toolResponse":
            results.append(_result(part))
        elif kind in ("thinking", "redactedThinking", "reasoning"):
            reasoning.append(
                Reasoning(
                    text=text_of(part.get("thinking")) or text_of(part.get("text")),
                    signature=text_of(part.get("signature")) or None,
                    data=text_of(part.get("data")),
                )
            )
        else:
            blocks.append(_block(part))
    for count, result in enumerate(results, 1):
        result_id = f"{name}/{count}" if name and (blocks or len(results) > 1) else name
        yield Draft(entry=keep(Entry(message=result, id=result_id, ts=ts), fields=fields))
        fields = {}
    if record["role"] == "assistant":
        message = assistant_of(blocks, reasoning, calls)
        yield Draft(entry=keep(Entry(message=message, id=name, ts=ts), fields=fields))
    elif record["role"] == "system":
        text = "\n\n".join(block.text for block in blocks if isinstance(block, Text))
        yield Draft(entry=keep(Entry(message=System(text), id=name, ts=ts), fields=fields))
    elif blocks or not results:
        yield Draft(entry=keep(Entry(message=User(tuple(blocks)), id=name, ts=ts), fields=fields))


def _result(part: dict[str, Any]) -> Tool:
    outcome = dict_of(part.get("toolResult"))
    failed = tag(outcome, "status") == "error"
    value = outcome.get("value") if not failed else outcome.get("error", outcome.get("value"))
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        failed = failed or value.get("isError") is True
        value = value["content"]
    content = tuple(map(_block, value)) if isinstance(value, list) else json_or_text(value)
    return Tool(call_id=id_of(part.get("id")), content=content, is_error=failed)


def _block(part: Json) -> Block:
    if isinstance(part, str):
        return Text(part)
    raw = dict_of(part)
    if tag(raw, "type") == "text" and isinstance(raw.get("text"), str):
        return Text(raw["text"])
    data, mime_type = text_of(raw.get("data")), text_of(raw.get("mimeType"))
    if tag(raw, "type") in ("image", "audio") and data is not None and mime_type:
        return media(mime_type, data=data)
    resource = dict_of(raw.get("resource"))
    if tag(raw, "type") == "resource" and isinstance(resource.get("text"), str):
        return Text(resource["text"])
    return VendorBlock("goose", part)


def _detect(head: Head) -> int:
    score = 0
    for record in head.objects[:10]:
        if _is_facts(record):
            score = max(score, 75)
        elif _is_message(record) and "created" in record:
            parts = list_of(record["content"])
            tools = any(tag(dict_of(part), "type") in ("toolRequest", "toolResponse") for part in parts)
            score = max(score, 90 if tools else 70)
    return score


FORMAT: Final = Format(id="goose", title="Goose session", extensions=(".jsonl",), detect=_detect, read=_read)
