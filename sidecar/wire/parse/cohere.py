"""Cohere v2 chat: the chat messages with `tool_plan`, `thinking` parts and documents as results."""

from __future__ import annotations

from typing import Literal

from sidecar.core.jsontext import Json, loads
from sidecar.core.messages import Assistant, Block, JsonBlock, Reasoning, Text
from sidecar.wire.parse import chat
from sidecar.wire.parse.reader import Reader, a_list, a_string, an_object, optional_list, optional_string, usage_of

_ASSISTANT_KEYS = frozenset(("role", "content", "tool_plan", "tool_calls"))


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's messages, or the message of a response."""
    if kind == "response":
        reader.usage = usage_of(body.get("usage"))
        meta = reader.own(body, ("message", "usage"), "response")
        _assistant(reader, an_object(body.get("message"), "/message"), "/message", meta)
        return
    for index, value in enumerate(a_list(body.get("messages"), "/messages")):
        path = f"/messages/{index}"
        raw = an_object(value, path)
        if raw.get("role") == "assistant":
            _assistant(reader, raw, path, {})
        elif raw.get("role") == "tool":
            content = _results(reader, raw.get("content"), f"{path}/content")
            reader.tool(optional_string(raw, "tool_call_id", path), None, content)
        else:
            chat.message(reader, raw, path)
    reader.left_out(body, ("messages",))


def _assistant(reader: Reader, raw: dict[str, Json], path: str, meta: dict[str, Json]) -> None:
    content: list[Block] = []
    thoughts: list[Reasoning] = []
    value = raw.get("content")
    if isinstance(value, str):
        content.append(Text(value))
    else:
        for index, item in enumerate([] if value is None else a_list(value, f"{path}/content")):
            place = f"{path}/content/{index}"
            part = an_object(item, place)
            if part.get("type") == "thinking":
                thoughts.append(reader.thought(a_string(part.get("thinking"), f"{place}/thinking")))
            else:
                content.extend(chat.blocks(reader, [part], f"{path}/content"))
    plan = optional_string(raw, "tool_plan", path)
    if plan:
        content.append(Text(plan))
    calls = tuple(
        chat.call(reader, item, f"{path}/tool_calls/{number}", number)
        for number, item in enumerate(optional_list(raw, "tool_calls", path))
    )
    reader.assistant(
        Assistant(
            content=tuple(content) if content or not calls else None, reasoning=tuple(thoughts), tool_calls=calls
        ),
        {**meta, **reader.own(raw, _ASSISTANT_KEYS)},
    )


def _results(reader: Reader, value: Json, path: str) -> list[Block]:
    if not isinstance(value, list):
        return list(chat.blocks(reader, value, path))
    out: list[Block] = []
    for index, item in enumerate(value):
        part = an_object(item, f"{path}/{index}")
        document = part.get("document")
        data = document.get("data") if isinstance(document, dict) else None
        if part.get("type") == "document" and data is not None:
            out.append(JsonBlock(_value(data)))
        else:
            out.extend(chat.blocks(reader, [part], path))
    return out


def _value(data: Json) -> Json:
    """Return a document's data: an object, or the value that its text writes."""
    if not isinstance(data, str):
        return data
    try:
        return loads(data)
    except ValueError:
        return data
