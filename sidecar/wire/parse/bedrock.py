"""AWS Bedrock Converse: `system`, `messages` of blocks, and the output message of a response.

Rules: bytes are base64 text, as JSON carries them. Cache points stay `vendor` blocks at their place.
"""

from __future__ import annotations

from typing import Final, Literal

from attrs import evolve

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, File, Image, JsonBlock, Reasoning, Text, ToolCall
from sidecar.wire.parse.reader import (
    Reader,
    a_list,
    a_string,
    an_object,
    arguments_of,
    behind,
    optional_string,
    usage_of,
)

_DOCUMENT_TYPES: Final = {
    "pdf": "application/pdf",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
}


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's system text and messages, or the output of a response."""
    if kind == "response":
        reader.usage = usage_of(body.get("usage"))
        output = an_object(body.get("output"), "/output")
        raw = an_object(output.get("message"), "/output/message")
        meta = reader.own(body, ("output", "usage", "ResponseMetadata"), "response")
        _assistant(reader, raw.get("content"), "/output/message/content", meta)
        return
    system = body.get("system")
    for index, value in enumerate([] if system is None else a_list(system, "/system")):
        raw = an_object(value, f"/system/{index}")
        if "text" in raw:
            reader.system(a_string(raw["text"], f"/system/{index}/text"))
        else:
            reader.loss("X22", "info", "a system block without text is left out", f"/system/{index}")
    for index, value in enumerate(a_list(body.get("messages"), "/messages")):
        path = f"/messages/{index}"
        raw = an_object(value, path)
        role = raw.get("role")
        if role == "user":
            _user(reader, raw.get("content"), f"{path}/content")
        elif role == "assistant":
            _assistant(reader, raw.get("content"), f"{path}/content", {})
        elif role == "system":
            for part, place in _parts(raw.get("content"), f"{path}/content"):
                reader.system(a_string(part.get("text"), f"{place}/text"))
        else:
            raise Unparsable(f"{path}/role", "must be user or assistant")
    reader.left_out(body, ("messages", "system", "modelId"))


def _parts(value: Json, path: str) -> list[tuple[dict[str, Json], str]]:
    return [(an_object(raw, f"{path}/{index}"), f"{path}/{index}") for index, raw in enumerate(a_list(value, path))]


def _user(reader: Reader, value: Json, path: str) -> None:
    rest: list[Block] = []
    results = 0
    for raw, place in _parts(value, path):
        if "toolResult" not in raw:
            rest.append(_block(reader, raw, place))
            continue
        results += 1
        result = an_object(raw["toolResult"], f"{place}/toolResult")
        content = result.get("content")
        parts = [] if content is None else _parts(content, f"{place}/toolResult/content")
        reader.tool(
            a_string(result.get("toolUseId"), f"{place}/toolResult/toolUseId"),
            None,
            [_block(reader, part, where) for part, where in parts],
            is_error=result.get("status") == "error",
        )
    if rest or not results:
        reader.user(rest)


def _assistant(reader: Reader, value: Json, path: str, meta: dict[str, Json]) -> None:
    content: list[Block] = []
    thoughts: list[Reasoning] = []
    calls: list[ToolCall] = []
    for raw, place in _parts(value, path):
        if "reasoningContent" in raw:
            inner = an_object(raw["reasoningContent"], f"{place}/reasoningContent")
            thoughts.append(evolve(_thought(reader, inner, place), extra=behind(content, calls)))
        elif "toolUse" in raw:
            use = an_object(raw["toolUse"], f"{place}/toolUse")
            calls.append(
                ToolCall(
                    id=a_string(use.get("toolUseId"), f"{place}/toolUse/toolUseId"),
                    name=a_string(use.get("name"), f"{place}/toolUse/name"),
                    arguments=arguments_of(use.get("input")),
                )
            )
        else:
            content.append(_block(reader, raw, place))
    reader.assistant(
        Assistant(
            content=tuple(content) if content or not calls else None,
            reasoning=tuple(thoughts),
            tool_calls=tuple(calls),
        ),
        meta,
    )


def _thought(reader: Reader, raw: dict[str, Json], path: str) -> Reasoning:
    if "redactedContent" in raw:
        data = a_string(raw["redactedContent"], f"{path}/reasoningContent/redactedContent")
        return reader.thought(None, data=data)
    text = an_object(raw.get("reasoningText"), f"{path}/reasoningContent/reasoningText")
    place = f"{path}/reasoningContent/reasoningText"
    return reader.thought(
        a_string(text.get("text"), f"{place}/text"), signature=optional_string(text, "signature", place)
    )


def _block(reader: Reader, raw: dict[str, Json], path: str) -> Block:
    if isinstance(raw.get("text"), str):
        return Text(raw["text"])
    if "json" in raw:
        return JsonBlock(raw["json"])
    for key in ("image", "document"):
        inner = raw.get(key)
        if not isinstance(inner, dict):
            continue
        source, form = inner.get("source"), inner.get("format")
        data = source.get("bytes") if isinstance(source, dict) else None
        if not isinstance(data, str) or not isinstance(form, str):
            continue
        if key == "image":
            return Image(mime_type=f"image/{form}", data=data)
        name = optional_string(inner, "name", f"{path}/document")
        return File(name=name, mime_type=_DOCUMENT_TYPES.get(form, f"application/{form}"), data=data)
    return reader.part(raw)
