"""LangChain messages: `messages_to_dict`, `dumpd` and `model_dump` of a list of messages.

Sources: output of langchain-core 1.8.3 (2026-11).

Rules: the raw tool calls of OpenAI in `additional_kwargs` give the exact argument text where their ids agree; invalid
tool calls are calls whose arguments are no JSON; `remove` messages take earlier ones out.
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
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    anthropic_block,
    anthropic_thinking,
    arguments_of,
    dict_of,
    id_of,
    list_of,
    media,
    openai_block,
    openai_call,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "remove": "remove",
}
_KNOWN: Final = frozenset(
    (
        "additional_kwargs",
        "content",
        "example",
        "id",
        "invalid_tool_calls",
        "name",
        "status",
        "tool_call_id",
        "tool_calls",
        "type",
    )
)
_PROVIDERS: Final = {"anthropic": "anthropic-messages", "openai": "openai-chat", "google_genai": "gemini"}


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    if head.is_lines and len(head.records) > 1:
        messages = [record for _, record in source.records(report)]
        if not any(_unwrap(message) for message in messages):
            raise Unparsable("", "no line is a LangChain message")
    else:
        found = _messages_of(source.document())
        if found is None:
            raise Unparsable("", "the document has no list of LangChain messages")
        messages = found
    yield ImportedHistory(entries=assemble(_items(messages, report), report, "langchain"))


def _messages_of(document: Json) -> list[Json] | None:
    if isinstance(document, dict):
        for key in ("messages", "chat_history", "history"):
            if isinstance(document.get(key), list):
                document = document[key]
                break
    if isinstance(document, list) and any(_unwrap(message) for message in document[:5]):
        return document
    return None


def _unwrap(message: Json) -> tuple[str, dict[str, Any]] | None:
    """Return (role, fields) of a message in any of the three forms."""
    raw = dict_of(message)
    kind, data = tag(raw, "type"), raw
    if kind == "constructor" and isinstance(raw.get("kwargs"), dict):
        names = list_of(raw.get("id"))
        data = raw["kwargs"]
        kind = (
            tag(data, "type") or str(names[-1] if names else "").removesuffix("Chunk").removesuffix("Message").lower()
        )
    elif isinstance(raw.get("data"), dict):
        data = raw["data"]
    elif "content" not in raw:
        return None
    kind = str(kind or "")
    if kind == "chat":
        kind = str(tag(data, "role"))
    role = _ROLES.get(kind.removesuffix("MessageChunk").lower())
    return (role, data) if role else None


def _items(messages: list[Json], report: Report) -> Iterator[Item]:
    drafts: list[Draft] = []
    for number, message in enumerate(messages):
        where = f"message {number}"
        found = _unwrap(message)
        if found is None:
            report.unknown(message, tag(dict_of(message), "type"), where)
            continue
        role, data = found
        if role == "remove":
            target = data.get("id")
            if target == "__remove_all__":
                report.add("branchLeft", "info", f"{len(drafts)} removed messages are not in the live view")
                drafts.clear()
            else:
                drafts = [draft for draft in drafts if draft.entry.id != target]
            continue
        content = data.get("content")
        if not isinstance(content, str | list):
            report.invalid(message, "has no content", where)
            continue
        drafts.append(Draft(entry=_entry(role, data, content)))
    yield from drafts


def _entry(role: str, data: dict[str, Any], content: str | list[Json]) -> Entry:
    blocks: list[Block] = []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    facts = dict_of(data.get("response_metadata"))
    model = text_of(facts.get("model_name")) or text_of(facts.get("model"))
    if isinstance(content, str):
        if content or role != "assistant":
            blocks.append(Text(content))
    else:
        for part in content:
            _part(part, blocks, reasoning, calls, model)
    fields = {
        **rest(data, _KNOWN),
        **rest(dict_of(data.get("additional_kwargs")), frozenset(("tool_calls", "reasoning_content", "function_call"))),
    }
    if role == "assistant":
        made: Any = _assistant(data, blocks, reasoning, calls, facts, model)
    elif role == "tool":
        made = Tool(
            call_id=id_of(data.get("tool_call_id")),
            name=text_of(data.get("name")),
            content=tuple(blocks) or (Text(""),),
            is_error=tag(data, "status") == "error",
        )
    elif role == "system":
        made = System("\n\n".join(block.text for block in blocks if isinstance(block, Text)))
    else:
        made = User(tuple(blocks))
    return keep(Entry(message=made, id=id_of(data.get("id"))), fields=fields)


def _part(
    part: Json, blocks: list[Block], reasoning: list[Reasoning], calls: list[ToolCall], model: str | None
) -> None:
    raw = dict_of(part)
    kind = tag(raw, "type")
    if isinstance(part, str):
        blocks.append(Text(part))
    elif kind in ("thinking", "redacted_thinking"):
        reasoning.append(anthropic_thinking(raw, model))
    elif kind == "reasoning":
        summary = [
            text for text in (text_of(dict_of(item).get("text")) for item in list_of(raw.get("summary"))) if text
        ]
        extras = dict_of(raw.get("extras"))
        reasoning.append(
            Reasoning(
                text=text_of(raw.get("reasoning")) or "\n\n".join(summary) or None,
                signature=text_of(extras.get("signature")) or text_of(raw.get("signature")),
                data=text_of(raw.get("encrypted_content")) or text_of(extras.get("encrypted_content")),
                id=id_of(raw.get("id")) or None,
                model=model,
            )
        )
    elif kind in ("tool_use", "tool_call", "function_call"):
        arguments = raw.get("input", raw.get("args", raw.get("arguments")))
        call_id = id_of(raw.get("call_id")) or id_of(raw.get("id"))
        calls.append(ToolCall(id=call_id, name=str(raw.get("name") or ""), arguments=arguments_of(arguments)))
    elif kind in ("image", "audio", "file", "video") and "source" not in raw:
        data, url, mime_type = (text_of(raw.get(key)) for key in ("base64", "url", "mime_type"))
        data = data or text_of(raw.get("data"))
        if data is not None:
            blocks.append(media(mime_type or ("image/png" if kind == "image" else None), data=data))
        elif url is not None:
            blocks.append(media(mime_type or ("image/png" if kind == "image" else None), url=url))
        else:
            blocks.append(VendorBlock("langchain", part))
    elif kind in ("image_url", "input_audio", "input_text", "output_text"):
        blocks.append(openai_block(part))
    else:
        blocks.append(anthropic_block(part))


def _assistant(
    data: dict[str, Any],
    blocks: list[Block],
    reasoning: list[Reasoning],
    calls: list[ToolCall],
    facts: dict[str, Any],
    model: str | None,
) -> Assistant:
    extra = dict_of(data.get("additional_kwargs"))
    exact = {call.id: call for call in map(openai_call, list_of(extra.get("tool_calls"))) if call is not None}
    given = {call.id: call for call in calls}
    for call in map(dict_of, (*list_of(data.get("tool_calls")), *list_of(data.get("invalid_tool_calls")))):
        call_id = id_of(call.get("id"))
        name = str(call.get("name") or "")
        made = ToolCall(id=call_id, name=name, arguments=arguments_of(call.get("args")))
        given[call_id or f" {len(given)}"] = exact.get(call_id, made)
    if not given:
        given = exact
    if isinstance(extra.get("reasoning_content"), str) and not reasoning:
        reasoning = [Reasoning(text=extra["reasoning_content"], model=model)]
    vendor = _PROVIDERS.get(str(facts.get("model_provider")), text_of(facts.get("model_provider")) or "langchain")
    return Assistant(
        content=tuple(blocks) if blocks else None if given or reasoning else (Text(""),),
        reasoning=tuple(reasoning),
        tool_calls=tuple(given.values()),
        origin=Origin(vendor=vendor, model=model) if model else None,
    )


def _detect(head: Head) -> int:
    for candidate in (head.document, list(head.objects[:3])):
        messages = _messages_of(candidate)
        for message in map(dict_of, messages or ()):
            if message.get("lc") == 1 and tag(message, "type") == "constructor":
                return 95
            if isinstance(message.get("data"), dict) and tag(message, "type") in ("human", "ai", "system", "tool"):
                return 95
            if tag(message, "type") in ("human", "ai") and "content" in message and "message" not in message:
                return 80
    return 0


FORMAT: Final = Format(id="langchain", title="LangChain messages", extensions=(".json",), detect=_detect, read=_read)
