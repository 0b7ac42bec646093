"""The Chat Completions family: OpenAI, Azure, Mistral, DeepSeek, Kimi, Qwen, GLM, OpenRouter, xAI, Groq, Cerebras, …

Rules: reads what any of them sends. Reasoning stands under `reasoning_content`, `reasoning`, `reasoning_details` or in
Mistral's `thinking` chunks. A custom tool's text input becomes `{"input": …}`. Function calls of the time before tools
are read as calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    ABSENT,
    Absent,
    Assistant,
    Audio,
    Block,
    File,
    Image,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from sidecar.wire.parse.reader import (
    Reader,
    a_list,
    a_string,
    an_object,
    arguments_of,
    marked,
    media,
    optional_list,
    optional_string,
    usage_of,
)

_ASSISTANT_KEYS = frozenset(
    (
        "role",
        "content",
        "tool_calls",
        "function_call",
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "refusal",
        "name",
        "cache_control",
    )
)
_CALL_KEYS = frozenset(("id", "type", "function", "custom", "index"))
_DETAIL_KEYS = frozenset(("text", "summary", "data", "signature", "id"))


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's messages, or the first choice of a response."""
    if kind == "request":
        for index, raw in enumerate(a_list(body.get("messages"), "/messages")):
            message(reader, an_object(raw, f"/messages/{index}"), f"/messages/{index}")
        reader.left_out(body, ("messages",))
        return
    reader.usage = usage_of(body.get("usage"))
    choices = a_list(body.get("choices"), "/choices")
    if not choices:
        raise Unparsable("/choices", "holds no choice")
    if len(choices) > 1:
        reader.loss("X22", "warning", f"{len(choices) - 1} further choices are left out", "/choices/1")
    choice = an_object(choices[0], "/choices/0")
    raw = an_object(choice.get("message"), "/choices/0/message")
    meta = reader.own(body, ("choices", "usage", "model", "object"), "response")
    meta.update(reader.own(choice, ("message", "index"), "choice"))
    assistant(reader, raw, "/choices/0/message", meta)


def message(reader: Reader, raw: dict[str, Json], path: str) -> None:
    """Read one message of a request."""
    role = raw.get("role")
    extra = marked(raw, ("name", "cache_control"))
    if role in ("system", "developer"):
        reader.system(joined_text(raw.get("content"), f"{path}/content"), extra)
    elif role == "user":
        reader.user(blocks(reader, raw.get("content"), f"{path}/content"), extra, _own_user(reader, raw))
    elif role == "assistant":
        assistant(reader, raw, path, {})
    elif role in ("tool", "function"):
        name = optional_string(raw, "name", path)
        extra.pop("name", None)
        reader.tool(
            optional_string(raw, "tool_call_id", path),
            name,
            blocks(reader, raw.get("content"), f"{path}/content"),
            extra=extra,
            meta=reader.own(raw, ("role", "content", "tool_call_id", "name", "cache_control")),
        )
    else:
        raise Unparsable(f"{path}/role", "must be system, developer, user, assistant, tool or function")


def assistant(reader: Reader, raw: dict[str, Json], path: str, meta: dict[str, Json]) -> None:
    """Read one assistant message."""
    content: tuple[Block, ...] | None | Absent = ABSENT
    thoughts: list[Reasoning] = []
    if "content" in raw:
        content = None
        if raw["content"] is not None:
            thoughts, content = _spoken(reader, raw["content"], f"{path}/content")
    refusal = optional_string(raw, "refusal", path)
    if refusal:
        content = (*(content if isinstance(content, tuple) else ()), Refusal(refusal))
    calls = tuple(
        call(reader, value, f"{path}/tool_calls/{number}", number)
        for number, value in enumerate(optional_list(raw, "tool_calls", path))
    )
    legacy = raw.get("function_call")
    if legacy is not None:
        calls = (*calls, _legacy(reader, an_object(legacy, f"{path}/function_call"), f"{path}/function_call", raw))
    meta = {**meta, **reader.own(raw, _ASSISTANT_KEYS)}
    reader.assistant(
        Assistant(
            content=content,
            reasoning=(*_reasoning(reader, raw, path), *thoughts),
            tool_calls=calls,
            extra=marked(raw, ("name", "cache_control")),
        ),
        meta,
    )


def call(reader: Reader, value: Json, path: str, number: int) -> ToolCall:
    """Read one tool call; a missing id is made."""
    raw = an_object(value, path)
    custom = raw.get("custom")
    if custom is not None:
        custom = an_object(custom, f"{path}/custom")
        name = a_string(custom.get("name"), f"{path}/custom/name")
        arguments = dumps({"input": custom.get("input")})
        reader.loss("X7", "info", "the text input of a custom tool is kept as the argument `input`", path)
    else:
        function = an_object(raw.get("function"), f"{path}/function")
        name = a_string(function.get("name"), f"{path}/function/name")
        arguments = arguments_of(function.get("arguments"))
    call_id = optional_string(raw, "id", path)
    return ToolCall(
        id=reader.made_id(name, number, value) if call_id is None else call_id,
        name=name,
        arguments=arguments,
        signature=_google_signature(raw),
        extra={key: raw[key] for key in raw if key not in _CALL_KEYS and key not in ("name", "arguments", "itemId")},
    )


def joined_text(value: Json, path: str) -> str:
    """Return the text of a system message: a string, or its text parts joined by line ends."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    parts = [an_object(part, f"{path}/{index}") for index, part in enumerate(a_list(value, path))]
    return "\n".join(a_string(part.get("text"), f"{path}/{index}/text") for index, part in enumerate(parts))


def blocks(reader: Reader, value: Json, path: str) -> tuple[Block, ...]:
    """Read content: a string, or a list of parts."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, dict):
        raise Unparsable(path, "must be a string or an array of parts")
    return tuple(
        [_part(reader, an_object(raw, f"{path}/{n}"), f"{path}/{n}") for n, raw in enumerate(a_list(value, path))]
    )


def _part(reader: Reader, raw: dict[str, Json], path: str) -> Block:
    kind = raw.get("type")
    if kind in ("text", "input_text", "output_text"):
        return Text(a_string(raw.get("text"), f"{path}/text"), marked(raw))
    if kind == "refusal":
        return Refusal(a_string(raw.get("refusal"), f"{path}/refusal"))
    if kind == "image_url":
        source = raw.get("image_url")
        if isinstance(source, str):
            return media(source, Image, extra=marked(raw))
        source = an_object(source, f"{path}/image_url")
        return media(
            a_string(source.get("url"), f"{path}/image_url/url"),
            Image,
            extra={**marked(raw), **marked(source, ("detail",))},
        )
    if kind == "input_audio":
        audio = raw.get("input_audio")
        if isinstance(audio, dict) and isinstance(audio.get("data"), str) and isinstance(audio.get("format"), str):
            return Audio(mime_type=f"audio/{audio['format']}", data=audio["data"], extra=marked(raw))
    if kind == "file":
        file = raw.get("file")
        if isinstance(file, dict) and isinstance(file.get("file_data"), str):
            name = optional_string(file, "filename", f"{path}/file")
            return media(file["file_data"], File, name=name, extra=marked(raw))
    if kind == "document_url" and isinstance(raw.get("document_url"), str):
        name = optional_string(raw, "document_name", path)
        return media(raw["document_url"], File, name=name, extra=marked(raw))
    return reader.part(raw)


def _spoken(reader: Reader, value: Json, path: str) -> tuple[list[Reasoning], tuple[Block, ...]]:
    """Read assistant content; thinking chunks go to the reasoning."""
    if not isinstance(value, list):
        return [], blocks(reader, value, path)
    thoughts: list[Reasoning] = []
    rest: list[Block] = []
    for index, item in enumerate(value):
        raw = an_object(item, f"{path}/{index}")
        if raw.get("type") == "thinking" and isinstance(raw.get("thinking"), list | str):
            text = joined_text(raw["thinking"], f"{path}/{index}/thinking")
            signature = optional_string(raw, "signature", f"{path}/{index}")
            thoughts.append(reader.thought(text, signature=signature, extra=marked(raw, ("closed",))))
        else:
            rest.append(_part(reader, raw, f"{path}/{index}"))
    return thoughts, tuple(rest)


def _reasoning(reader: Reader, raw: Mapping[str, Json], path: str) -> list[Reasoning]:
    details = raw.get("reasoning_details")
    recorded = [
        _detail(reader, an_object(value, f"{path}/reasoning_details/{number}"))
        for number, value in enumerate(details if isinstance(details, list) else ())
    ]
    for key in ("reasoning_content", "reasoning"):
        text = optional_string(raw, key, path)
        if not text:
            continue
        if not recorded:
            # In a request a plain `reasoning` is text of any origin; OpenRouter's own comes as details.
            foreign = key == "reasoning" and not reader.response
            return [Reasoning(text=text) if foreign else reader.thought(text)]
        if not reader.response and text != "".join(part.text or "" for part in recorded):
            return [Reasoning(text=text), *recorded]
    return recorded


def _detail(reader: Reader, raw: dict[str, Json]) -> Reasoning:
    """Read one of OpenRouter's reasoning details; the whole is kept, since it must go back unaltered."""
    text = raw.get("text", raw.get("summary"))
    strings = {key: raw[key] for key in ("data", "signature", "id") if isinstance(raw.get(key), str)}
    extra = {key: value for key, value in raw.items() if key not in _DETAIL_KEYS}
    return reader.thought(text if isinstance(text, str) else None, **strings, extra=extra)


def _google_signature(raw: Mapping[str, Json]) -> str | None:
    """Return the thought signature that Gemini's OpenAI endpoint puts on a call."""
    content = raw.get("extra_content")
    google = content.get("google") if isinstance(content, dict) else None
    signature = google.get("thought_signature") if isinstance(google, dict) else None
    return signature if isinstance(signature, str) else None


def _legacy(reader: Reader, raw: dict[str, Json], path: str, whole: Json) -> ToolCall:
    name = a_string(raw.get("name"), f"{path}/name")
    return ToolCall(id=reader.made_id(name, 0, whole), name=name, arguments=arguments_of(raw.get("arguments")))


def _own_user(reader: Reader, raw: Mapping[str, Json]) -> dict[str, Json]:
    return reader.own(raw, ("role", "content", "name", "cache_control"))
