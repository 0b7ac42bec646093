"""Gemini content parts, as the Gemini API and the Gemini CLI write them.

Rules: a call without an id gets one, a response without an id answers the oldest open call of its name; signatures
stay byte-exact on the part they came with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from attrs import define, field

from sidecar.core.jsontext import Json
from sidecar.core.messages import Block, Reasoning, Text, Tool, ToolCall, VendorBlock
from sidecar.formats.parts import arguments_of, dict_of, id_of, json_or_text, media, text_of

VENDOR: Final = "gemini"


@define
class Content:
    """What the parts of one content hold, in order within each kind."""

    blocks: list[Block] = field(factory=list)
    reasoning: list[Reasoning] = field(factory=list)
    calls: list[ToolCall] = field(factory=list)
    results: list[Tool] = field(factory=list)


class Pairing:
    """Gives ids to calls that have none and finds the call that a response without an id answers."""

    def __init__(self) -> None:
        self._count = 0
        self._open: dict[str, list[str]] = {}

    def call(self, given: str, name: str) -> str:
        """Return the id of a call."""
        self._count += 1
        call_id = given or f"call_{self._count}"
        self._open.setdefault(name, []).append(call_id)
        return call_id

    def result(self, given: str, name: str) -> str:
        """Return the id of the call that a response answers."""
        waiting = self._open.get(name, [])
        if given:
            if given in waiting:
                waiting.remove(given)
            return given
        return waiting.pop(0) if waiting else f"call_of_{name}"


def read_content(parts: Iterable[Json], pairing: Pairing, model: str | None = None) -> Content:
    """Read the parts of one content."""
    content = Content()
    for part in parts:
        raw: dict[str, Any] = {"text": part} if isinstance(part, str) else dict_of(part)
        signature = text_of(raw.get("thoughtSignature")) or text_of(raw.get("thought_signature"))
        call = raw.get("functionCall", raw.get("function_call"))
        response = raw.get("functionResponse", raw.get("function_response"))
        text = raw.get("text")
        if isinstance(call, dict):
            name = str(call.get("name") or "")
            content.calls.append(
                ToolCall(
                    id=pairing.call(id_of(call.get("id")), name),
                    name=name,
                    arguments=arguments_of(call.get("args", {})),
                    signature=signature,
                )
            )
        elif isinstance(response, dict):
            content.results.append(read_response(response, pairing))
        elif isinstance(text, str) and raw.get("thought"):
            content.reasoning.append(Reasoning(text=text, signature=signature, vendor=VENDOR, model=model))
        elif isinstance(text, str):
            if signature:
                content.reasoning.append(Reasoning(signature=signature, vendor=VENDOR, model=model))
            if text or not signature:
                content.blocks.append(Text(text))
        else:
            content.blocks.append(read_block(part))
    return content


def read_block(part: Json) -> Block:
    """Read a part that is no text, call or response."""
    raw = dict_of(part)
    for key, source in (
        ("inlineData", "data"),
        ("inline_data", "data"),
        ("fileData", "fileUri"),
        ("file_data", "file_uri"),
    ):
        value = dict_of(raw.get(key))
        content = text_of(value.get(source))
        if content is not None:
            mime_type = text_of(value.get("mimeType")) or text_of(value.get("mime_type")) or "application/octet-stream"
            return media(mime_type, data=content) if source == "data" else media(mime_type, url=content)
    return VendorBlock(VENDOR, part)


def read_response(response: dict[str, Any], pairing: Pairing) -> Tool:
    """Read a `functionResponse`: `output` or `error` alone is the content, other objects stay whole."""
    name = str(response.get("name") or "")
    value = response.get("response")
    failed = False
    if isinstance(value, dict) and len(value) == 1:
        failed = "error" in value
        for key in ("output", "result", "error"):
            if key in value:
                value = value[key]
                break
    blocks: list[Block] = list(json_or_text(value)) or [Text("")]
    parts = response.get("parts")
    if isinstance(parts, list):
        blocks += map(read_block, parts)
    return Tool(
        call_id=pairing.result(id_of(response.get("id")), name),
        name=name or None,
        content=tuple(blocks),
        is_error=failed,
    )
