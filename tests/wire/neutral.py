"""The neutral transcript form of the case files, read into entries.

A case is a list of chat-shaped messages with a few extensions: `reasoning` (plain text), `reasoning_blocks`,
`reasoning_cleared`, `is_error`, `name`, `refusal`, `cache_control`, `item_id`. What an entry has no field for stays in
`extra`, as the store keeps unknown keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sidecar.core.messages import (
    ABSENT,
    Absent,
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Message,
    Note,
    Opaque,
    Origin,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.wire.base import Item, Options

VENDORS = {
    "anthropic": "anthropic-messages",
    "anthropic-vertex": "anthropic-messages",
    "anthropic-via-proxy": "openai-chat",
    "deepseek-anthropic": "anthropic-messages",
    "bedrock": "bedrock-converse",
    "gemini-via-litellm": "openai-chat",
    "vllm": "openai-compatible",
    "vllm-qwen": "openai-compatible",
    "vllm-gemma": "openai-compatible",
    "ollama-qwen": "ollama",
    "openai": "openai-responses",
}
"""Names that reports use for a vendor or for the endpoint in front of it."""

_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)


def items_of(messages: Sequence[Mapping[str, Any]]) -> list[Item]:
    """Read a neutral transcript into the list that a projection takes."""
    return [
        Item(entry=entry, index=index)
        for index, entry in enumerate(entry_of(message, f"e{index}") for index, message in enumerate(messages))
    ]


def options_of(context: Mapping[str, Any], **more: Any) -> Options:
    """Read the facts that a case states besides its messages."""
    capabilities = dict(more.pop("capabilities", {}))
    if "thinking" in context:
        capabilities["thinking"] = context["thinking"]
    if "store" in context:
        capabilities["stored"] = context["store"]
    return Options(model=context.get("model"), scope=context.get("scope"), capabilities=capabilities, **more)


def entry_of(message: Mapping[str, Any], entry_id: str) -> Entry:
    """Read one neutral message."""
    role = message["role"]
    known = {"role", "content", "tool_calls", "tool_call_id", "reasoning", "reasoning_blocks", "reasoning_cleared"}
    known |= {"is_error", "refusal", "agent", "tool_name"}
    extra = {key: value for key, value in message.items() if key not in known}
    content = message.get("content")
    read: Message
    if role in ("system", "developer"):
        read = System(_text(content), extra)
    elif role == "note":
        read = Note(_text(content))
    elif role == "summary":
        read = Summary(_text(content))
    elif role == "user":
        read = User(_blocks(content), extra)
    elif role == "tool":
        extra.pop("name", None)
        read = Tool(
            call_id=message["tool_call_id"],
            name=message.get("name"),
            content=_blocks(content),
            is_error=bool(message.get("is_error")),
            extra=extra,
        )
    else:
        read = _assistant(message, extra)
    return Entry(id=entry_id, message=read, agent=message.get("agent", ""), ts=0)


def _assistant(message: Mapping[str, Any], extra: dict[str, Any]) -> Assistant:
    content: tuple[Block, ...] | None | Absent = ABSENT
    if "content" in message:
        content = None if message["content"] is None else _blocks(message["content"])
    if message.get("refusal"):
        content = (*(content if isinstance(content, tuple) else ()), Refusal(message["refusal"]))
    reasoning: list[Reasoning] = []
    if message.get("reasoning"):
        reasoning.append(Reasoning(text=message["reasoning"]))
    signatures: dict[str, str] = {}
    origin: Origin | None = None
    for block in message.get("reasoning_blocks", ()):
        vendor = VENDORS.get(block.get("provider"), block.get("provider"))
        if block["kind"] == "thought_signature":
            signatures[block.get("call", "")] = block.get("signature") or block.get("data") or block["data_bytes_b64"]
            origin = Origin(vendor=vendor, scope=block.get("scope")) if vendor else None
            continue
        more = {key: block[key] for key in ("format", "before") if key in block}
        reasoning.append(
            Reasoning(
                text=block.get("text", block.get("summary")),
                signature=block.get("signature"),
                data=block.get("data"),
                vendor=vendor,
                scope=block.get("scope"),
                id=block.get("id"),
                cleared=bool(message.get("reasoning_cleared")),
                extra=more,
            )
        )
    calls = tuple(
        ToolCall(
            id=call["id"],
            name=call["function"]["name"],
            arguments=call["function"].get("arguments", ""),
            signature=signatures.get(call["id"]),
            item_id=call.get("item_id"),
        )
        for call in message.get("tool_calls", ())
    )
    return Assistant(content=content, reasoning=tuple(reasoning), tool_calls=calls, origin=origin, extra=extra)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def _blocks(content: Any) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_block(part) for part in content or ())


def _block(part: Mapping[str, Any]) -> Block:
    kind = part["type"]
    if kind == "text":
        return Text(part["text"])
    if kind == "image_url":
        return Image(**_source(part["image_url"]["url"]))
    if kind == "file":
        file = part["file"]
        return File(name=file.get("filename"), **_source(file.get("file_data") or file["file_url"]))
    if kind == "input_audio":
        audio = part["input_audio"]
        return Audio(mime_type=f"audio/{audio['format']}", data=audio["data"])
    if kind == "json":
        return JsonBlock(part["value"])
    if kind == "refusal":
        return Refusal(part["refusal"])
    if kind == "vendor":
        return VendorBlock(part["vendor"], part["value"])
    return Opaque(kind, dict(part))


def _source(url: str) -> dict[str, Any]:
    match = _DATA_URL.fullmatch(url)
    return {"mime_type": match[1], "data": match[2]} if match else {"url": url}
