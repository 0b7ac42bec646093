"""Anthropic Messages: `system`, `messages` of blocks, and the message of a response.

Rules: results open a user message and become entries of their own; the rest of that message is one user entry.
Thinking is kept with its signature, redacted thinking with its data. Server tools and their results stay `vendor`
blocks, in order, since they pair inside one message.
"""

from __future__ import annotations

from typing import Literal

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, File, Image, Reasoning, Text, ToolCall
from sidecar.wire.parse.reader import (
    Reader,
    a_list,
    a_string,
    an_object,
    arguments_of,
    behind,
    encoded,
    marked,
    optional_string,
    usage_of,
)

_CALL_KEYS = frozenset(("type", "id", "name", "input", "arguments", "signature", "itemId"))


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's system text and messages, or the message of a response."""
    if kind == "response":
        reader.usage = usage_of(body.get("usage"))
        meta = reader.own(body, ("role", "content", "usage", "model", "type"), "response")
        _assistant(reader, body.get("content"), "/content", meta)
        return
    _system(reader, body.get("system"))
    for index, value in enumerate(a_list(body.get("messages"), "/messages")):
        path = f"/messages/{index}"
        raw = an_object(value, path)
        role = raw.get("role")
        if role == "user":
            _user(reader, raw.get("content"), f"{path}/content")
        elif role == "assistant":
            _assistant(reader, raw.get("content"), f"{path}/content", {})
        elif role == "system":
            _system(reader, raw.get("content"), f"{path}/content")
        else:
            raise Unparsable(f"{path}/role", "must be user, assistant or system")
    reader.left_out(body, ("messages", "system"))


def _system(reader: Reader, value: Json, path: str = "/system") -> None:
    if value is None:
        return
    if isinstance(value, str):
        reader.system(value)
        return
    for index, item in enumerate(a_list(value, path)):
        raw = an_object(item, f"{path}/{index}")
        reader.system(a_string(raw.get("text"), f"{path}/{index}/text"), marked(raw))


def _parts(value: Json, path: str) -> list[tuple[dict[str, Json], str]]:
    if isinstance(value, str):
        return [({"type": "text", "text": value}, path)]
    return [(an_object(raw, f"{path}/{index}"), f"{path}/{index}") for index, raw in enumerate(a_list(value, path))]


def _user(reader: Reader, value: Json, path: str) -> None:
    rest: list[Block] = []
    results = 0
    parts = _parts(value, path)
    for raw, place in parts:
        if raw.get("type") != "tool_result":
            rest.append(_block(reader, raw, place))
            continue
        if rest and not results:
            reader.loss("X1", "info", "text in front of a tool result is moved behind it", place)
        results += 1
        content = raw.get("content")
        reader.tool(
            a_string(raw.get("tool_use_id"), f"{place}/tool_use_id"),
            None,
            () if content is None else [_block(reader, *part) for part in _parts(content, f"{place}/content")],
            is_error=raw.get("is_error") is True,
            extra=marked(raw),
        )
    if rest or not results:
        reader.user(rest)


def _assistant(reader: Reader, value: Json, path: str, meta: dict[str, Json]) -> None:
    content: list[Block] = []
    thoughts: list[Reasoning] = []
    calls: list[ToolCall] = []
    parts = _parts(value, path)
    for raw, place in parts:
        kind = raw.get("type")
        if kind in ("thinking", "redacted_thinking"):
            extra = behind(content, calls)
            if kind == "thinking":
                text = a_string(raw.get("thinking"), f"{place}/thinking")
                thoughts.append(reader.thought(text, signature=optional_string(raw, "signature", place), extra=extra))
            else:
                thoughts.append(reader.thought(None, data=a_string(raw.get("data"), f"{place}/data"), extra=extra))
        elif kind == "tool_use":
            calls.append(
                ToolCall(
                    id=a_string(raw.get("id"), f"{place}/id"),
                    name=a_string(raw.get("name"), f"{place}/name"),
                    arguments=arguments_of(raw.get("input")),
                    extra={key: value for key, value in raw.items() if key not in _CALL_KEYS},
                )
            )
        else:
            if calls:
                reader.loss("X20", "info", "content behind a call is moved in front of it", place)
            content.append(_block(reader, raw, place))
    reader.assistant(
        Assistant(
            content=tuple(content) if content or not calls else None,
            reasoning=tuple(thoughts),
            tool_calls=tuple(calls),
        ),
        meta,
    )


def _block(reader: Reader, raw: dict[str, Json], path: str) -> Block:
    kind = raw.get("type")
    if kind == "text":
        return Text(a_string(raw.get("text"), f"{path}/text"), marked(raw, ("cache_control", "citations")))
    source = raw.get("source")
    if kind in ("image", "document") and isinstance(source, dict):
        made = _media(raw, source, path)
        if made is not None:
            return made
    return reader.part(raw)


def _media(raw: dict[str, Json], source: dict[str, Json], path: str) -> Block | None:
    """Read an image or a document whose source a neutral block can hold."""
    form, data, url = source.get("type"), source.get("data"), source.get("url")
    mime_type = source.get("media_type")
    if raw["type"] == "image":
        extra = marked(raw)
        if form == "base64" and isinstance(data, str) and isinstance(mime_type, str):
            return Image(mime_type=mime_type, data=data, extra=extra)
        return Image(url=url, extra=extra) if form == "url" and isinstance(url, str) else None
    name = optional_string(raw, "title", path)
    extra = marked(raw, ("cache_control", "context", "citations"))
    if form == "base64" and isinstance(data, str) and isinstance(mime_type, str):
        return File(name=name, mime_type=mime_type, data=data, extra=extra)
    if form == "text" and isinstance(data, str):
        return File(name=name, mime_type="text/plain", data=encoded(data), extra=extra)
    return File(name=name, url=url, extra=extra) if form == "url" and isinstance(url, str) else None
