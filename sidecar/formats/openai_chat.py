"""OpenAI chat completions: request bodies, lists of messages, and JSON lines with one conversation each.

Sources: the chat completions API; fine-tuning files (`{"messages": [...], "tools": [...]}` per line) and batch files
(`{"custom_id": ..., "body": {...}}` per line) as OpenAI documents them.

Rules: `developer` counts as system; absent, `null` and empty content stay three facts; arguments stay the exact text;
`reasoning_content` (DeepSeek, Kimi, Qwen), `reasoning` and `reasoning_details` (OpenRouter) are reasoning.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    ABSENT,
    Absent,
    Assistant,
    Block,
    Entry,
    Reasoning,
    Refusal,
    System,
    Text,
    Tool,
    ToolCall,
    User,
)
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    dict_of,
    id_of,
    list_of,
    millis,
    openai_blocks,
    openai_call,
    tag,
    text_of,
)
from sidecar.formats.source import Source

ROLES: Final = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
_KNOWN: Final = frozenset(
    (
        "content",
        "function_call",
        "id",
        "is_error",
        "name",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "refusal",
        "role",
        "timestamp",
        "tool_call_id",
        "tool_calls",
    )
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    if head.is_lines and (len(head.records) > 1 or not head.complete):
        yield from _lines(source, report, head)
        return
    document = source.document()
    found = False
    for number, body in enumerate(
        document if isinstance(document, list) and not _is_messages(document) else [document]
    ):
        messages = _messages_of(body)
        if messages is None:
            report.add("unknownRecord", "warning", f"record {number} has no messages and was left out")
        else:
            found = True
            yield _history(body, messages, report)
    if not found:
        raise Unparsable("", "the document has no messages of a chat completion")


def _lines(source: Source, report: Report, head: Head) -> Iterator[ImportedHistory]:
    if any(_is_message(record) for record in head.records[:3]):
        records = (record for _, record in source.records(report))
        yield _history({}, records, report)
        return
    if not any(_messages_of(record) is not None for record in head.records):
        raise Unparsable("", "no line has messages of a chat completion")
    for number, record in source.records(report):
        messages = _messages_of(record)
        if messages is None:
            report.add(
                "unknownRecord", "warning", f"line {number} has no messages and was left out", path=f"line {number}"
            )
        else:
            yield _history(record, messages, report)


def _history(body: Json, messages: Iterable[Json], report: Report) -> ImportedHistory:
    facts = dict_of(body)
    metadata = {key: facts[key] for key in ("model", "tools", "custom_id") if facts.get(key)}
    return ImportedHistory(
        entries=assemble(_items(messages, report), report, "openai-chat"),
        source_id=id_of(facts.get("custom_id")) or id_of(facts.get("id")) or None,
        title=lambda: text_of(facts.get("title")),
        metadata=lambda: metadata,
    )


def _messages_of(body: Json) -> list[Json] | None:
    if isinstance(body, list):
        return body if _is_messages(body) else None
    raw = dict_of(body)
    for messages in (raw.get("messages"), dict_of(raw.get("body")).get("messages")):
        if isinstance(messages, list) and (_is_messages(messages) or not messages):
            return messages
    choices = raw.get("choices")
    if isinstance(choices, list) and choices and isinstance(dict_of(choices[0]).get("message"), dict):
        return [choices[0]["message"]]
    return None


def _is_messages(value: list[Json]) -> bool:
    return any(_is_message(message) for message in value[:10])


def _is_message(value: Json) -> bool:
    return isinstance(value, dict) and tag(value, "role") in ROLES


def _items(messages: Iterable[Json], report: Report) -> Iterator[Item]:
    numbers = itertools.count(1)
    legacy = ""
    for number, message in enumerate(messages):
        where = f"message {number}"
        if not _is_message(message):
            report.unknown(message, tag(dict_of(message), "role"), where)
            continue
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            report.invalid(message, "has content that is no text and no list", where)
            continue
        fields = rest(message, _KNOWN)
        role, blocks = message["role"], openai_blocks(content)
        if role in ("system", "developer"):
            made: Any = System("\n\n".join(block.text for block in blocks if isinstance(block, Text)))
        elif role == "user":
            made = User(blocks)
            if text_of(message.get("name")):
                fields["name"] = message["name"]
        elif role == "assistant":
            made = _assistant(message, blocks)
            call = message.get("function_call")
            if isinstance(call, dict) and not made.tool_calls:
                legacy = f"call_{next(numbers)}"
                old = ToolCall(
                    id=legacy, name=str(call.get("name") or ""), arguments=arguments_of(call.get("arguments"))
                )
                made = Assistant(content=made.content, reasoning=made.reasoning, tool_calls=(old,))
        else:
            call_id = id_of(message.get("tool_call_id")) or legacy
            made = Tool(
                call_id=call_id,
                name=text_of(message.get("name")),
                content=blocks or (Text(""),),
                is_error=message.get("is_error") is True,
            )
        entry = Entry(message=made, id=id_of(message.get("id")), ts=millis(message.get("timestamp")))
        yield Draft(entry=keep(entry, fields=fields))


def _assistant(message: dict[str, Any], blocks: tuple[Block, ...]) -> Assistant:
    content: tuple[Block, ...] | None | Absent = blocks
    if message.get("content") is None:
        content = None if "content" in message else ABSENT
    if isinstance(message.get("refusal"), str):
        content = (*blocks, Refusal(message["refusal"]))
    calls = tuple(call for call in map(openai_call, list_of(message.get("tool_calls"))) if call is not None)
    return Assistant(content=content, reasoning=_reasoning(message), tool_calls=calls)


def _reasoning(message: dict[str, Any]) -> tuple[Reasoning, ...]:
    details = list_of(message.get("reasoning_details"))
    if details:
        return tuple(
            Reasoning(
                text=text_of(detail.get("text")) or text_of(detail.get("summary")),
                signature=text_of(detail.get("signature")),
                data=text_of(detail.get("data")),
                id=id_of(detail.get("id")) or None,
                extra={"format": detail["format"]} if isinstance(detail.get("format"), str) else {},
            )
            for detail in map(dict_of, details)
        )
    text = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    return (Reasoning(text=text),) if text else ()


def _detect(head: Head) -> int:
    for body in (*head.objects[:3], head.conversation, head.document):
        messages = _messages_of(body)
        if messages:
            return _score(messages)
    if any(_is_message(record) for record in head.objects[:3]):
        return 50 if "created" not in head.objects[0] else 20
    return 0


def _score(messages: list[Json]) -> int:
    for message in map(dict_of, messages[:20]):
        if tag(message, "role") in ("tool", "developer", "function") or "tool_calls" in message:
            return 85
        if "reasoning_content" in message:
            return 85
        for part in list_of(message.get("content")):
            if tag(dict_of(part), "type") in ("image_url", "input_audio", "file"):
                return 85
    return 55


FORMAT: Final = Format(
    id="openai-chat", title="OpenAI chat messages", extensions=(".json", ".jsonl"), detect=_detect, read=_read
)
