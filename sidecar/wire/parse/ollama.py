"""Ollama chat: string content, bare base64 images, arguments as objects, no call ids."""

from __future__ import annotations

from typing import Final, Literal

from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, Image, Text, ToolCall
from sidecar.wire.parse import chat
from sidecar.wire.parse.reader import (
    Reader,
    a_list,
    a_string,
    an_object,
    arguments_of,
    optional_list,
    optional_string,
)

_KEYS = frozenset(("role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id"))
_USAGE: Final = (
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)
_HEADS: Final = (("iVBOR", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp"))


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's messages, or the message of a response."""
    if kind == "response":
        usage = {key: body[key] for key in _USAGE if body.get(key) is not None}
        reader.usage = usage or None
        meta = reader.own(body, ("message", "model", *_USAGE), "response")
        _assistant(reader, an_object(body.get("message"), "/message"), "/message", meta)
        return
    for index, value in enumerate(a_list(body.get("messages"), "/messages")):
        path = f"/messages/{index}"
        raw = an_object(value, path)
        role = raw.get("role")
        if role == "assistant":
            _assistant(reader, raw, path, {})
        elif role == "tool":
            name = optional_string(raw, "tool_name", path)
            call_id = optional_string(raw, "tool_call_id", path)
            reader.tool(call_id, name, _content(raw, path), meta=reader.own(raw, _KEYS))
        elif role == "user":
            reader.user(_content(raw, path), None, reader.own(raw, _KEYS))
        else:
            chat.message(reader, raw, path)
    reader.left_out(body, ("messages",))


def _content(raw: dict[str, Json], path: str) -> list[Block]:
    text = optional_string(raw, "content", path)
    out: list[Block] = [] if text is None else [Text(text)]
    for index, value in enumerate(optional_list(raw, "images", path)):
        data = a_string(value, f"{path}/images/{index}")
        mime_type = next((kind for head, kind in _HEADS if data.startswith(head)), "image/png")
        out.append(Image(mime_type=mime_type, data=data))
    return out


def _assistant(reader: Reader, raw: dict[str, Json], path: str, meta: dict[str, Json]) -> None:
    thinking = optional_string(raw, "thinking", path)
    calls = []
    for number, value in enumerate(optional_list(raw, "tool_calls", path)):
        place = f"{path}/tool_calls/{number}"
        item = an_object(value, place)
        function = an_object(item.get("function"), f"{place}/function")
        name = a_string(function.get("name"), f"{place}/function/name")
        call_id = optional_string(item, "id", place)
        arguments = function.get("arguments")
        calls.append(
            ToolCall(
                id=reader.made_id(name, number, [raw, meta]) if call_id is None else call_id,
                name=name,
                arguments="{}" if arguments is None else arguments_of(arguments),
            )
        )
    content = _content(raw, path)
    reader.assistant(
        Assistant(
            content=tuple(content) if raw.get("content") is not None or not calls else None,
            reasoning=(reader.thought(thinking),) if thinking else (),
            tool_calls=tuple(calls),
        ),
        {**meta, **reader.own(raw, _KEYS)},
    )
