"""Pieces that many transcript formats share: times, data URLs, arguments, and vendor-shaped content.

Rules: a reader here never raises on odd shapes; what it cannot place stays as a vendor block, whole.

Why vendors' shapes are read here and in `wire/parse` as well: that one reads what an agent is about to append, so it
refuses a malformed body with the place of the fault and turns the marks of our own projection back into notes and
summaries. A transcript was written by anybody: its reader may neither stop at a fault nor take a text for a mark, keeps
what it does not know in `_meta`, and meets shapes that no request may have (results as text, ids that are missing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    File,
    Image,
    JsonBlock,
    Origin,
    Reasoning,
    Text,
    ToolCall,
    VendorBlock,
)
from sidecar.formats.source import compact


def text_of(value: Json) -> str | None:
    """Return a string, or `None` for anything else."""
    return value if isinstance(value, str) else None


def tag(value: Mapping[str, Json], key: str = "type") -> str | None:
    """Return the text under `key` of a record, `None` for anything else: a tag of another type is no tag."""
    found = value.get(key)
    return found if isinstance(found, str) else None


def dict_of(value: Json) -> dict[str, Any]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Any]:
    """Return an array, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def id_of(value: Json) -> str:
    """Return an id as text; numbers count, anything else is `""`."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def millis(value: Json) -> int | None:
    """Read a time: an ISO 8601 text, or seconds, milliseconds, microseconds or nanoseconds since 1970."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return round(moment.timestamp() * 1000)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e20:
        return None
    size = abs(value)
    # The year 5138 in seconds is the year 1973 in milliseconds: no tool here is older.
    if size < 1e11:
        return round(value * 1000)
    if size < 1e14:
        return round(value)
    return round(value / 1000) if size < 1e17 else round(value / 1_000_000)


def arguments_of(value: Json) -> str:
    """Return tool arguments as JSON text: a text stays byte-exact, a value becomes compact JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact(value)


def assistant_of(
    blocks: Sequence[Block], reasoning: Sequence[Reasoning], calls: Sequence[ToolCall], origin: Origin | None = None
) -> Assistant:
    """Build an answer; its content is null where it says nothing beside calls or reasoning."""
    silent = not blocks and (calls or reasoning)
    return Assistant(
        content=None if silent else tuple(blocks), reasoning=tuple(reasoning), tool_calls=tuple(calls), origin=origin
    )


def media_from_url(url: str, mime_type: str | None = None, name: str | None = None) -> Image | File | Audio:
    """Build a picture, sound or file from a URL or a `data:` URL."""
    data: str | None = None
    link: str | None = url
    if url.startswith("data:"):
        header, comma, payload = url[5:].partition(",")
        if comma and header.endswith(";base64"):
            mime_type = header.removesuffix(";base64").split(";")[0] or mime_type or "application/octet-stream"
            data, link = payload, None
    return media(mime_type, data=data, url=link, name=name)


def media(
    mime_type: str | None, *, data: str | None = None, url: str | None = None, name: str | None = None
) -> Image | File | Audio:
    """Build the media block that fits the MIME type; without one, a URL counts as a picture."""
    kind = (mime_type or "image/" if url else mime_type or "").partition("/")[0]
    if kind == "image":
        return Image(mime_type=mime_type or (None if url else "image/png"), data=data, url=url)
    if kind == "audio":
        return Audio(mime_type=mime_type, data=data, url=url)
    return File(mime_type=mime_type or "application/octet-stream", data=data, url=url, name=name)


def json_or_text(value: Json) -> tuple[Block, ...]:
    """Return tool content: text as text, scalars as their JSON text, structures as a JSON block."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, dict | list):
        return (JsonBlock(value),)
    return (Text(compact(value)),)


# --- Anthropic blocks (Claude Code, anthropic-messages, LangChain, Goose of late) -------------------------------------


def anthropic_block(value: Json) -> Block:
    """Read one content block that is no tool call, result or thinking."""
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        return VendorBlock("anthropic-messages", value)
    kind, text = tag(value, "type"), value.get("text")
    if kind == "text" and isinstance(text, str):
        if len(value) == 2:
            return Text(text)
        extra = {key: item for key, item in value.items() if key not in ("type", "text", "cache_control")}
        return Text(text, extra) if any(item for item in extra.values()) else Text(text)
    source = value.get("source")
    if kind in ("image", "document") and isinstance(source, dict):
        mime_type, data, url = (text_of(source.get(key)) for key in ("media_type", "data", "url"))
        if tag(source, "type") == "base64" and data is not None and mime_type:
            return media(mime_type, data=data, name=text_of(value.get("title")))
        if tag(source, "type") == "url" and url is not None:
            return media(mime_type or ("image/png" if kind == "image" else "application/pdf"), url=url)
    return VendorBlock("anthropic-messages", value)


def anthropic_blocks(value: Json) -> tuple[Block, ...]:
    """Read content that is a text or a list of blocks."""
    if isinstance(value, str):
        return (Text(value),)
    return tuple(anthropic_block(block) for block in list_of(value))


def anthropic_thinking(block: Mapping[str, Json], model: str | None) -> Reasoning:
    """Read a `thinking` or `redacted_thinking` block; signature and data stay byte-exact."""
    return Reasoning(
        text=text_of(block.get("thinking")),
        signature=text_of(block.get("signature")) or None,
        data=text_of(block.get("data")),
        vendor="anthropic-messages",
        model=model,
    )


# --- OpenAI content (chat completions, Responses, Codex) --------------------------------------------------------------


def openai_block(value: Json, vendor: str = "openai-chat") -> Block:
    """Read one content part of a chat or Responses message."""
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        return VendorBlock(vendor, value)
    kind, text = tag(value, "type"), value.get("text")
    if isinstance(text, str) and kind in ("text", "input_text", "output_text", "summary_text", "reasoning_text", None):
        return Text(text)
    url = value.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    if kind in ("image_url", "input_image") and isinstance(url, str):
        return media_from_url(url, "image/png" if url.startswith("data:") else None)
    sound = value.get("input_audio")
    if kind == "input_audio" and isinstance(sound, dict) and isinstance(sound.get("data"), str):
        return Audio(mime_type=f"audio/{sound.get('format') or 'wav'}", data=sound["data"])
    file = value.get("file") if kind == "file" else value if kind == "input_file" else None
    if isinstance(file, dict):
        link = text_of(file.get("file_data")) or text_of(file.get("file_url"))
        if link:
            return media_from_url(link, "application/pdf", text_of(file.get("filename")))
    return VendorBlock(vendor, value)


def openai_blocks(value: Json, vendor: str = "openai-chat") -> tuple[Block, ...]:
    """Read content that is a text or a list of parts."""
    if isinstance(value, str):
        return (Text(value),)
    return tuple(openai_block(part, vendor) for part in list_of(value))


def openai_call(value: Json) -> ToolCall | None:
    """Read one element of `tool_calls`; the arguments stay the exact text."""
    if not isinstance(value, dict):
        return None
    function = dict_of(value.get("function")) or dict_of(value.get("custom"))
    name = text_of(function.get("name")) or text_of(value.get("name"))
    if name is None:
        return None
    arguments = function.get("arguments", function.get("input", value.get("arguments")))
    return ToolCall(id=id_of(value.get("id")), name=name, arguments=arguments_of(arguments))
