"""Anthropic Messages request bodies: `{"system": ..., "messages": [...]}`, or the list of messages alone.

Source: the Messages API of Anthropic as documented in 2026.

Rules: a `tool_result` block becomes a tool entry before the rest of its message; signatures and redacted data stay
byte-exact; blocks of server tools stay whole as vendor blocks. Responses (one assistant message) are read as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Block, Entry, Origin, Reasoning, System, Text, Tool, ToolCall, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    anthropic_block,
    anthropic_blocks,
    anthropic_thinking,
    assistant_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    tag,
    text_of,
)
from sidecar.formats.source import Source, compact

VENDOR: Final = "anthropic-messages"
_KNOWN: Final = frozenset(("role", "content", "id", "type", "model", "stop_reason", "stop_sequence"))
_OWN_BLOCKS: Final = frozenset(
    (
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "document",
        "web_search_tool_result",
    )
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    if head.is_lines and (len(head.records) > 1 or not head.complete):
        found = False
        for number, record in source.records(report):
            if _messages_of(record) is None:
                report.add("unknownRecord", "warning", f"line {number} has no messages and was left out")
            else:
                found = True
                yield _history(record, report)
        if not found:
            raise Unparsable("", "no line has messages of the Messages API")
        return
    document = source.document()
    if _messages_of(document) is None:
        raise Unparsable("", "the document has no messages of the Messages API")
    yield _history(document, report)


def _history(body: Json, report: Report) -> ImportedHistory:
    facts = dict_of(body)
    metadata = {key: facts[key] for key in ("model", "tools") if facts.get(key)}
    return ImportedHistory(
        entries=assemble(_items(facts, _messages_of(body) or [], report), report, "anthropic-messages"),
        metadata=lambda: metadata,
    )


def _messages_of(body: Json) -> list[Json] | None:
    if (
        isinstance(body, dict)
        and tag(body, "type") == "message"
        and "model" in body
        and isinstance(body.get("content"), list)
    ):
        return [body]
    messages = body if isinstance(body, list) else dict_of(body).get("messages")
    if isinstance(messages, list) and (not messages or any(_is_message(message) for message in messages[:5])):
        return messages if messages or isinstance(body, dict) else None
    return None


def _is_message(value: Json) -> bool:
    return isinstance(value, dict) and tag(value, "role") in ("user", "assistant", "system") and "content" in value


def _items(facts: dict[str, Any], messages: list[Json], report: Report) -> Iterator[Item]:
    if facts.get("system"):
        blocks = anthropic_blocks(facts["system"])
        yield Draft(entry=Entry.system("\n\n".join(block.text for block in blocks if isinstance(block, Text))))
    model = text_of(facts.get("model"))
    for number, message in enumerate(messages):
        where = f"message {number}"
        if not _is_message(message):
            report.unknown(message, tag(dict_of(message), "role"), where)
        elif not isinstance(message["content"], str | list):
            report.invalid(message, "has content that is no text and no list", where)
        else:
            yield from _message(message, model)


def _message(message: dict[str, Any], model: str | None) -> Iterator[Item]:
    content, name, fields = message["content"], id_of(message.get("id")), rest(message, _KNOWN)
    if message["role"] == "system":
        text = "\n\n".join(block.text for block in anthropic_blocks(content) if isinstance(block, Text))
        yield Draft(entry=keep(Entry(message=System(text), id=name), fields=fields))
        return
    blocks: list[Block] = [Text(content)] if isinstance(content, str) else []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    results = 0
    for block in content if isinstance(content, list) else ():
        kind = tag(dict_of(block), "type")
        if kind == "tool_result":
            results += 1
            value = block.get("content")
            result = Tool(
                call_id=id_of(block.get("tool_use_id")),
                content=json_or_text(value) if isinstance(value, dict) else anthropic_blocks(value),
                is_error=block.get("is_error") is True,
            )
            yield Draft(entry=keep(Entry(message=result), fields=fields))
            fields = {}
        elif kind == "tool_use":
            value = block.get("input")
            arguments = value if isinstance(value, str) else compact({} if value is None else value)
            calls.append(ToolCall(id=id_of(block.get("id")), name=str(block.get("name") or ""), arguments=arguments))
        elif kind in ("thinking", "redacted_thinking"):
            reasoning.append(anthropic_thinking(block, model))
        else:
            blocks.append(anthropic_block(block))
    if message["role"] == "assistant":
        origin = Origin(vendor=VENDOR, model=text_of(message.get("model")) or model)
        made: Any = assistant_of(blocks, reasoning, calls, origin)
    elif blocks or not results:
        made = User(tuple(blocks))
    else:
        return
    yield Draft(entry=keep(Entry(message=made, id=name), fields=fields))


def _detect(head: Head) -> int:
    for body in (*head.objects[:3], head.document):
        messages = _messages_of(body)
        if not messages:
            continue
        facts = dict_of(body)
        if isinstance(facts.get("system"), str | list) or tag(facts, "type") == "message":
            return 90
        for message in map(dict_of, messages[:20]):
            for block in list_of(message.get("content")):
                raw = dict_of(block)
                if tag(raw, "type") in _OWN_BLOCKS or (tag(raw, "type") == "image" and "source" in raw):
                    return 90
        return 52 if "max_tokens" in facts and str(facts.get("model", "")).startswith("claude") else 40
    return 0


FORMAT: Final = Format(
    id="anthropic-messages",
    title="Anthropic Messages request",
    extensions=(".json", ".jsonl"),
    detect=_detect,
    read=_read,
)
