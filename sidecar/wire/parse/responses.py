"""OpenAI Responses: `instructions` and `input` items, and the `output` items of a response.

Rules: the items of one reply become one assistant entry. In a request a reply ends where something of another role
follows, and where reasoning or text follows text or a call. Item ids stay: on the reasoning, as `itemId` of a call,
and in the `extra` of a text. Items without a neutral name stay `vendor` blocks at their place.
"""

from __future__ import annotations

from typing import Literal

from attrs import Factory, define

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Assistant, Block, File, Image, Reasoning, Refusal, Text, ToolCall
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


@define
class _Reply:
    """The items of one assistant entry, while they are collected."""

    content: list[Block] = Factory(list)
    reasoning: list[Reasoning] = Factory(list)
    calls: list[ToolCall] = Factory(list)
    spoke: bool = False

    def __bool__(self) -> bool:
        return bool(self.content or self.reasoning or self.calls or self.spoke)


def read(reader: Reader, kind: Literal["request", "response"], body: dict[str, Json]) -> None:
    """Read a request's input, or the output of a response."""
    reply = _Reply()
    if kind == "response":
        reader.usage = usage_of(body.get("usage"))
        meta = reader.own(body, ("output", "usage", "model", "object", "output_text"), "response")
        for index, value in enumerate(a_list(body.get("output"), "/output")):
            _own_item(reader, reply, an_object(value, f"/output/{index}"), f"/output/{index}")
        _close(reader, reply, meta)
        return
    instructions = optional_string(body, "instructions", "")
    if instructions is not None:
        reader.system(instructions)
    items = body.get("input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    for index, value in enumerate(a_list(items, "/input")):
        path = f"/input/{index}"
        raw = an_object(value, path)
        kind_of = raw.get("type", "message" if "role" in raw else None)
        role = raw.get("role")
        if kind_of == "message" and role != "assistant":
            reply = _close(reader, reply)
            _message(reader, raw, path)
        elif kind_of in ("function_call_output", "custom_tool_call_output"):
            reply = _close(reader, reply)
            output = _parts(reader, raw.get("output"), f"{path}/output")
            meta = reader.own(raw, ("type", "call_id", "output"))
            reader.tool(a_string(raw.get("call_id"), f"{path}/call_id"), None, output, meta=meta)
        else:
            if kind_of in ("reasoning", "message") and reply.spoke:
                reply = _close(reader, reply)
            _own_item(reader, reply, raw, path)
    _close(reader, reply)
    reader.left_out(body, ("input", "instructions"))


def _message(reader: Reader, raw: dict[str, Json], path: str) -> None:
    content = _parts(reader, raw.get("content"), f"{path}/content")
    meta = reader.own(raw, ("type", "role", "content"))
    if raw.get("role") in ("system", "developer"):
        texts = [block.text for block in content if isinstance(block, Text)]
        if len(texts) < len(content):
            reader.loss("X22", "warning", "system content that is not text is left out", f"{path}/content")
        reader.system("\n".join(texts))
    elif raw.get("role") == "user":
        reader.user(content, None, meta)
    else:
        raise Unparsable(f"{path}/role", "must be user, assistant, system or developer")


def _own_item(reader: Reader, reply: _Reply, raw: dict[str, Json], path: str) -> None:
    """Add one item of the model to the reply."""
    kind = raw.get("type", "message" if "role" in raw else None)
    if kind == "message":
        reply.spoke = True
        keep = {"itemId" if key == "id" else key: raw[key] for key in ("id", "phase") if raw.get(key) is not None}
        for block in _parts(reader, raw.get("content"), f"{path}/content"):
            if isinstance(block, Text) and keep:
                block = Text(block.text, {**block.extra, **keep})
            reply.content.append(block)
    elif kind == "reasoning":
        reply.reasoning.append(_thought(reader, raw, path))
    elif kind in ("function_call", "custom_tool_call"):
        reply.spoke = True
        arguments = (
            arguments_of(raw.get("arguments")) if kind == "function_call" else dumps({"input": raw.get("input")})
        )
        if kind == "custom_tool_call":
            reader.loss("X7", "info", "the text input of a custom tool is kept as the argument `input`", path)
        reply.calls.append(
            ToolCall(
                id=a_string(raw.get("call_id"), f"{path}/call_id"),
                name=a_string(raw.get("name"), f"{path}/name"),
                arguments=arguments,
                item_id=optional_string(raw, "id", path),
            )
        )
    elif isinstance(kind, str):
        reply.content.append(reader.part(raw))
    else:
        raise Unparsable(f"{path}/type", "must be a string")


def _close(reader: Reader, reply: _Reply, meta: dict[str, Json] | None = None) -> _Reply:
    """Add the collected reply as one entry and return an empty one."""
    if reply:
        content: tuple[Block, ...] | None = tuple(reply.content)
        if not reply.content and (reply.calls or not reply.spoke):
            content = None
        reader.assistant(
            Assistant(content=content, reasoning=tuple(reply.reasoning), tool_calls=tuple(reply.calls)), meta
        )
    return _Reply()


def _thought(reader: Reader, raw: dict[str, Json], path: str) -> Reasoning:
    texts = [
        a_string(an_object(part, f"{path}/{key}/{index}").get("text"), f"{path}/{key}/{index}/text")
        for key in ("summary", "content")
        for index, part in enumerate(optional_list(raw, key, path))
    ]
    extra: dict[str, Json] = {key: raw[key] for key in ("content", "status") if raw.get(key) is not None}
    if len(optional_list(raw, "summary", path)) > 1:
        extra["summary"] = raw["summary"]
    return reader.thought(
        "\n\n".join(texts) if texts else None,
        data=optional_string(raw, "encrypted_content", path),
        id=optional_string(raw, "id", path),
        extra=extra,
    )


def _parts(reader: Reader, value: Json, path: str) -> list[Block]:
    if value is None:
        return []
    if isinstance(value, str):
        return [Text(value)]
    return [
        _part(reader, an_object(raw, f"{path}/{index}"), f"{path}/{index}")
        for index, raw in enumerate(a_list(value, path))
    ]


def _part(reader: Reader, raw: dict[str, Json], path: str) -> Block:
    kind = raw.get("type")
    if kind in ("input_text", "output_text", "text"):
        # `annotations` and `logprobs` are the response's own; a request does not take most of them back.
        kept = {key: value for key, value in marked(raw, ("annotations",)).items() if value != []}
        return Text(a_string(raw.get("text"), f"{path}/text"), kept)
    if kind == "refusal":
        return Refusal(a_string(raw.get("refusal"), f"{path}/refusal"))
    if kind == "input_image" and isinstance(raw.get("image_url"), str):
        detail = raw.get("detail")
        return media(raw["image_url"], Image, extra={} if detail in (None, "auto") else {"detail": detail})
    if kind == "input_file":
        name = optional_string(raw, "filename", path)
        for key in ("file_data", "file_url"):
            if isinstance(raw.get(key), str):
                return media(raw[key], File, name=name)
    return reader.part(raw)
