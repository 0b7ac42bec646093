"""Gemini generateContent: `systemInstruction`, `contents` of parts, and the first candidate of a response.

Rules: keys are taken in camelCase and in snake_case. Calls without an id get one; a response without an id answers the
first open call of its name. A thought signature stays with the reasoning or the call that carried it; one on spoken
text becomes reasoning without text in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, File, JsonBlock, Reasoning, Text, ToolCall
from sidecar.wire.parse.reader import (
    Reader,
    a_list,
    a_string,
    an_object,
    arguments_of,
    behind,
    by_type,
    guessed_type,
    usage_of,
)

_CAMEL = re.compile(r"_([a-z])")
_CALL_KEYS = frozenset(("id", "name", "args", "arguments", "signature", "itemId"))


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's contents, or the first candidate of a response."""
    body = _camel(body)
    if kind == "response":
        _response(reader, body)
        return
    instruction = body.get("systemInstruction")
    if isinstance(instruction, str):
        reader.system(instruction)
    elif instruction is not None:
        whole = an_object(instruction, "/systemInstruction")
        for raw, path in _parts(whole, "/systemInstruction"):
            reader.system(a_string(raw.get("text"), f"{path}/text"))
    contents = body.get("contents")
    if isinstance(contents, str):
        contents = [{"role": "user", "parts": [{"text": contents}]}]
    for index, value in enumerate(a_list(contents, "/contents")):
        path = f"/contents/{index}"
        raw = an_object(value, path)
        role = raw.get("role")
        if role == "model":
            _model(reader, raw, path, {})
        elif role in (None, "user", "function"):
            _user(reader, raw, path)
        elif role == "system":
            for part, place in _parts(raw, path):
                reader.system(a_string(part.get("text"), f"{place}/text"))
        else:
            raise Unparsable(f"{path}/role", "must be user, model or function")
    reader.left_out(body, ("contents", "systemInstruction"))


def _response(reader: Reader, body: dict[str, Json]) -> None:
    reader.usage = usage_of(body.get("usageMetadata"))
    candidates = body.get("candidates")
    if candidates is None and "promptFeedback" in body:
        reader.loss("X22", "warning", "the prompt was blocked, so there is no reply", "/promptFeedback")
        return
    found = a_list(candidates, "/candidates")
    if not found:
        raise Unparsable("/candidates", "holds no candidate")
    if len(found) > 1:
        reader.loss("X22", "warning", f"{len(found) - 1} further candidates are left out", "/candidates/1")
    candidate = _camel(an_object(found[0], "/candidates/0"))
    meta = reader.own(body, ("candidates", "usageMetadata", "modelVersion"), "response")
    meta.update(reader.own(candidate, ("content", "index"), "candidate"))
    content = candidate.get("content")
    _model(
        reader, {} if content is None else an_object(content, "/candidates/0/content"), "/candidates/0/content", meta
    )


def _parts(raw: Mapping[str, Json], path: str) -> list[tuple[dict[str, Json], str]]:
    value = raw.get("parts")
    if value is None:
        return []
    if isinstance(value, dict):
        value = [value]
    parts = [
        (an_object(part, f"{path}/parts/{index}"), f"{path}/parts/{index}")
        for index, part in enumerate(a_list(value, f"{path}/parts"))
    ]
    return [(_camel(part), place) for part, place in parts]


def _user(reader: Reader, raw: Mapping[str, Json], path: str) -> None:
    rest: list[Block] = []
    results = 0
    for part, place in _parts(raw, path):
        response = part.get("functionResponse")
        if response is None:
            rest.append(_block(reader, part, place))
            continue
        results += 1
        _result(reader, _camel(an_object(response, f"{place}/functionResponse")), f"{place}/functionResponse")
    if rest or not results:
        reader.user(rest)


def _result(reader: Reader, raw: dict[str, Json], path: str) -> None:
    name = a_string(raw.get("name"), f"{path}/name")
    response = raw.get("response")
    is_error = False
    content: list[Block]
    if isinstance(response, dict) and len(response) == 1 and next(iter(response)) in ("output", "error"):
        ((key, value),) = response.items()
        is_error = key == "error"
        content = [Text(value) if isinstance(value, str) else JsonBlock(value)]
    else:
        content = [] if response is None else [JsonBlock(response)]
    content.extend(_block(reader, part, place) for part, place in _parts(raw, path))
    call_id = raw.get("id")
    meta = reader.own(raw, ("id", "name", "response", "parts"))
    reader.tool(call_id if isinstance(call_id, str) and call_id else None, name, content, is_error, meta=meta)


def _model(reader: Reader, raw: Mapping[str, Json], path: str, meta: dict[str, Json]) -> None:
    content: list[Block] = []
    thoughts: list[Reasoning] = []
    calls: list[ToolCall] = []
    for part, place in _parts(raw, path):
        signature = part.get("thoughtSignature")
        if signature is not None:
            a_string(signature, f"{place}/thoughtSignature")
        call = part.get("functionCall")
        if call is not None:
            calls.append(_call(reader, _camel(an_object(call, f"{place}/functionCall")), place, len(calls), signature))
        elif part.get("thought") is True:
            text = part.get("text")
            text = None if text is None else a_string(text, f"{place}/text")
            thoughts.append(reader.thought(text, signature=signature, extra=behind(content, calls)))
        else:
            if signature is not None:
                # The signature of a spoken part: reasoning without text, in front of the part that carries it.
                thoughts.append(reader.thought(None, signature=signature, extra=behind(content, calls)))
            content.append(_block(reader, part, place))
    reader.assistant(
        Assistant(
            content=tuple(content) if content or not calls else None,
            reasoning=tuple(thoughts),
            tool_calls=tuple(calls),
        ),
        meta,
    )


def _call(reader: Reader, raw: dict[str, Json], path: str, number: int, signature: Any) -> ToolCall:
    name = a_string(raw.get("name"), f"{path}/functionCall/name")
    call_id = raw.get("id")
    args = raw.get("args")
    return ToolCall(
        id=call_id if isinstance(call_id, str) and call_id else reader.made_id(name, number, [raw, signature]),
        name=name,
        arguments="{}" if args is None else arguments_of(args),
        signature=signature,
        extra={key: value for key, value in raw.items() if key not in _CALL_KEYS},
    )


def _block(reader: Reader, part: dict[str, Json], path: str) -> Block:
    if isinstance(part.get("text"), str) and part.get("thought") is not True:
        return Text(part["text"])
    inline = part.get("inlineData")
    if isinstance(inline, dict):
        inline = _camel(inline)
        mime_type, data = inline.get("mimeType"), inline.get("data")
        if isinstance(mime_type, str) and isinstance(data, str):
            return _media(mime_type, inline, {"data": data})
    file = part.get("fileData")
    if isinstance(file, dict):
        file = _camel(file)
        uri = file.get("fileUri")
        mime_type = file.get("mimeType")
        if isinstance(uri, str) and (mime_type is None or isinstance(mime_type, str)):
            more = {"url": uri}
            return _media(mime_type or guessed_type(uri), file, more, mime_type is not None)
    return reader.part(part)


def _media(mime_type: str, raw: Mapping[str, Json], more: dict[str, Any], stated: bool = True) -> Block:
    kind = by_type(mime_type)
    name = raw.get("displayName")
    if kind is File and isinstance(name, str):
        more["name"] = name
    return kind(mime_type=mime_type if stated else None, **more)


def _camel(raw: dict[str, Json]) -> dict[str, Json]:
    """Return the object with its own keys in camelCase."""
    if not any("_" in key for key in raw):
        return raw
    return {_CAMEL.sub(lambda match: match[1].upper(), key): value for key, value in raw.items()}
