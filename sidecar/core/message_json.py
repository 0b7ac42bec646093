"""The JSON form of entries: what a client sends and what the store keeps.

Rules:
- What is written is the stored body: fixed key order, defaults left out, runtime-only fields never.
- `entry_from_json(entry_to_json(e)) == e` for every storable entry (`tests/core/test_message_json.py`).
- A malformed payload of a known tag is refused, never demoted to `Opaque`; the error names the place by a JSON Pointer
  in wire names.
- What a newer client wrote comes back as it was: unknown keys behind the known ones, unknown block types whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    ABSENT,
    NO_EXTRA,
    ROLES,
    Absent,
    Assistant,
    Audio,
    Block,
    Entry,
    Extra,
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

# --- from JSON --------------------------------------------------------------------------------------------------------


def entry_from_json(value: Json, path: str = "") -> Entry:
    """Read an entry as a client sends it or as the store keeps it.

    `path` is the JSON Pointer of `value`, for errors. Raises `InvalidParams`.
    """
    raw = _object(value, path)
    if "message" not in raw:
        raise InvalidParams.at(f"{path}/message", "is required")
    return Entry(
        message=message_from_json(raw["message"], f"{path}/message"),
        id=_optional(raw, "id", str, path) or "",
        agent=_optional(raw, "agent", str, path) or "",
        sender=_optional(raw, "sender", str, path) or "",
        auto_injected=_optional(raw, "autoInjected", bool, path) or False,
        principal=_optional(raw, "principal", str, path),
        ts=_optional(raw, "ts", int, path),
        pinned=_optional(raw, "pinned", bool, path) or False,
        meta=_optional(raw, "_meta", dict, path) or None,
        extra=_rest(raw, _ENTRY_KEYS),
    )


def message_from_json(value: Json, path: str = "") -> Message:
    """Read one message; an unknown role is refused."""
    raw = _object(value, path)
    role = raw.get("role")
    read = _MESSAGE_READERS.get(role) if isinstance(role, str) else None
    if read is None:
        raise InvalidParams.at(f"{path}/role", f"must be one of {', '.join(ROLES)}")
    return read(raw, path)


def blocks_from_json(value: Json, path: str) -> tuple[Block, ...]:
    """Read content: a string is one text block, a list is blocks."""
    if isinstance(value, str):
        return (Text(value),)
    if not isinstance(value, list):
        raise InvalidParams.at(path, "must be a string or an array of blocks")
    return tuple([_block(item, f"{path}/{index}") for index, item in enumerate(value)])


def _system(raw: dict[str, Json], path: str) -> System:
    return System(_required(raw, "text", str, path), _rest(raw, _TEXT_KEYS))


def _note(raw: dict[str, Json], path: str) -> Note:
    return Note(_required(raw, "text", str, path), _rest(raw, _TEXT_KEYS))


def _summary(raw: dict[str, Json], path: str) -> Summary:
    covers = _optional(raw, "covers", int, path)
    return Summary(_required(raw, "text", str, path), covers, _rest(raw, _SUMMARY_KEYS))


def _user(raw: dict[str, Json], path: str) -> User:
    if "content" not in raw:
        raise InvalidParams.at(f"{path}/content", "is required")
    return User(blocks_from_json(raw["content"], f"{path}/content"), _rest(raw, _USER_KEYS))


def _tool(raw: dict[str, Json], path: str) -> Tool:
    if "content" not in raw:
        raise InvalidParams.at(f"{path}/content", "is required")
    return Tool(
        call_id=_required(raw, "callId", str, path),
        name=_optional(raw, "name", str, path),
        content=blocks_from_json(raw["content"], f"{path}/content"),
        is_error=_optional(raw, "isError", bool, path) or False,
        extra=_rest(raw, _TOOL_KEYS),
    )


def _assistant(raw: dict[str, Json], path: str) -> Assistant:
    content: tuple[Block, ...] | None | Absent = ABSENT
    if "content" in raw:
        content = None if raw["content"] is None else blocks_from_json(raw["content"], f"{path}/content")
    origin = raw.get("origin")
    return Assistant(
        content=content,
        reasoning=_list(raw, "reasoning", _reasoning, path),
        tool_calls=_list(raw, "toolCalls", _tool_call, path),
        origin=None if origin is None else _origin(origin, f"{path}/origin"),
        extra=_rest(raw, _ASSISTANT_KEYS),
    )


def _origin(value: Json, path: str) -> Origin:
    raw = _object(value, path)
    return Origin(
        vendor=_required(raw, "vendor", str, path),
        model=_optional(raw, "model", str, path),
        scope=_optional(raw, "scope", str, path),
        extra=_rest(raw, _ORIGIN_KEYS),
    )


def _reasoning(value: Json, path: str) -> Reasoning:
    raw = _object(value, path)
    return Reasoning(
        text=_optional(raw, "text", str, path),
        signature=_optional(raw, "signature", str, path),
        data=_optional(raw, "data", str, path),
        vendor=_optional(raw, "vendor", str, path),
        model=_optional(raw, "model", str, path),
        scope=_optional(raw, "scope", str, path),
        id=_optional(raw, "id", str, path),
        cleared=_optional(raw, "cleared", bool, path) or False,
        extra=_rest(raw, _REASONING_KEYS),
    )


def _tool_call(value: Json, path: str) -> ToolCall:
    raw = _object(value, path)
    arguments = raw.get("arguments")
    if isinstance(arguments, dict):
        arguments = dumps(arguments)
    elif arguments is None:
        # Some clients leave the key out where a tool takes no arguments (agno#8971); projection repairs it.
        arguments = ""
    elif not isinstance(arguments, str):
        raise InvalidParams.at(f"{path}/arguments", "must be JSON text or an object")
    return ToolCall(
        id=_required(raw, "id", str, path),
        name=_required(raw, "name", str, path),
        arguments=arguments,
        signature=_optional(raw, "signature", str, path),
        item_id=_optional(raw, "itemId", str, path),
        extra=_rest(raw, _CALL_KEYS),
    )


def _block(value: Json, path: str) -> Block:
    raw = _object(value, path)
    tag = raw.get("type")
    if not isinstance(tag, str):
        raise InvalidParams.at(f"{path}/type", "must be a string")
    if tag == "text":
        return Text(_required(raw, "text", str, path), _rest(raw, _TEXT_BLOCK_KEYS) if len(raw) > 2 else NO_EXTRA)
    read = _BLOCK_READERS.get(tag)
    return Opaque(tag, raw) if read is None else read(raw, path)


def _image(raw: dict[str, Json], path: str) -> Image:
    return Image(**_media(raw, path), extra=_rest(raw, _MEDIA_KEYS))


def _audio(raw: dict[str, Json], path: str) -> Audio:
    return Audio(**_media(raw, path), extra=_rest(raw, _MEDIA_KEYS))


def _file(raw: dict[str, Json], path: str) -> File:
    return File(**_media(raw, path), name=_optional(raw, "name", str, path), extra=_rest(raw, _FILE_KEYS))


def _media(raw: dict[str, Json], path: str) -> dict[str, str | None]:
    sources = {key: _optional(raw, key, str, path) for key in ("data", "url", "blob")}
    if sum(value is not None for value in sources.values()) != 1:
        raise InvalidParams.at(path, "must have exactly one of data, url, blob")
    mime_type = _optional(raw, "mimeType", str, path)
    if mime_type is None and sources["url"] is None:
        raise InvalidParams.at(f"{path}/mimeType", "is required")
    return {"mime_type": mime_type, **sources}


def _json_block(raw: dict[str, Json], path: str) -> JsonBlock:
    if "value" not in raw:
        raise InvalidParams.at(f"{path}/value", "is required")
    return JsonBlock(raw["value"], _rest(raw, _JSON_KEYS))


def _refusal(raw: dict[str, Json], path: str) -> Refusal:
    return Refusal(_required(raw, "text", str, path), _rest(raw, _TEXT_BLOCK_KEYS))


def _vendor_block(raw: dict[str, Json], path: str) -> VendorBlock:
    if "value" not in raw:
        raise InvalidParams.at(f"{path}/value", "is required")
    return VendorBlock(_required(raw, "vendor", str, path), raw["value"], _rest(raw, _VENDOR_KEYS))


_ENTRY_KEYS = frozenset(("id", "message", "agent", "sender", "autoInjected", "principal", "ts", "pinned", "_meta"))
_TEXT_KEYS = frozenset(("role", "text"))
_SUMMARY_KEYS = frozenset(("role", "text", "covers"))
_USER_KEYS = frozenset(("role", "content"))
_TOOL_KEYS = frozenset(("role", "callId", "name", "content", "isError"))
_ASSISTANT_KEYS = frozenset(("role", "content", "reasoning", "toolCalls", "origin"))
_ORIGIN_KEYS = frozenset(("vendor", "model", "scope"))
_REASONING_KEYS = frozenset(("text", "signature", "data", "vendor", "model", "scope", "id", "cleared"))
_CALL_KEYS = frozenset(("id", "name", "arguments", "signature", "itemId"))
_TEXT_BLOCK_KEYS = frozenset(("type", "text"))
_MEDIA_KEYS = frozenset(("type", "mimeType", "data", "url", "blob"))
_FILE_KEYS = _MEDIA_KEYS | {"name"}
_JSON_KEYS = frozenset(("type", "value"))
_VENDOR_KEYS = frozenset(("type", "vendor", "value"))

_MESSAGE_READERS: dict[str, Callable[[dict[str, Json], str], Message]] = {
    "system": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
    "note": _note,
    "summary": _summary,
}
_BLOCK_READERS: dict[str, Callable[[dict[str, Json], str], Block]] = {
    "image": _image,
    "file": _file,
    "audio": _audio,
    "json": _json_block,
    "refusal": _refusal,
    "vendor": _vendor_block,
}


# --- to JSON ----------------------------------------------------------------------------------------------------------


def entry_to_json(entry: Entry) -> dict[str, Json]:
    """Write the stored form of an entry: fixed key order, defaults left out, runtime-only fields never."""
    out: dict[str, Json] = {}
    if entry.id:
        out["id"] = entry.id
    out["message"] = message_to_json(entry.message)
    if entry.agent:
        out["agent"] = entry.agent
    if entry.principal is not None:
        out["principal"] = entry.principal
    if entry.ts is not None:
        out["ts"] = entry.ts
    if entry.pinned:
        out["pinned"] = True
    if entry.meta:
        out["_meta"] = dict(entry.meta)
    out.update(entry.extra)
    return out


def message_to_json(message: Message) -> dict[str, Json]:
    """Write one message."""
    out: dict[str, Json] = {"role": message.ROLE}
    match message:
        case System() | Note():
            out["text"] = message.text
        case Summary():
            out["text"] = message.text
            _put(out, "covers", message.covers)
        case User():
            out["content"] = [block_to_json(block) for block in message.content]
        case Tool():
            out["callId"] = message.call_id
            _put(out, "name", message.name)
            out["content"] = [block_to_json(block) for block in message.content]
            if message.is_error:
                out["isError"] = True
        case Assistant():
            if message.content is not ABSENT:
                content = message.content
                out["content"] = None if content is None else [block_to_json(block) for block in content]
            if message.reasoning:
                out["reasoning"] = [_reasoning_to_json(part) for part in message.reasoning]
            if message.tool_calls:
                out["toolCalls"] = [_tool_call_to_json(call) for call in message.tool_calls]
            if message.origin is not None:
                out["origin"] = _origin_to_json(message.origin)
    out.update(message.extra)
    return out


def block_to_json(block: Block) -> dict[str, Json]:
    """Write one block; an opaque one verbatim."""
    if isinstance(block, Opaque):
        return dict(block.raw)
    out: dict[str, Json] = {"type": block.TAG}
    match block:
        case Text() | Refusal():
            out["text"] = block.text
        case JsonBlock():
            out["value"] = block.value
        case VendorBlock():
            out["vendor"] = block.vendor
            out["value"] = block.value
        case Image() | File() | Audio():
            if isinstance(block, File):
                _put(out, "name", block.name)
            _put(out, "mimeType", block.mime_type)
            _put(out, "data", block.data)
            _put(out, "url", block.url)
            _put(out, "blob", block.blob)
    out.update(block.extra)
    return out


def _reasoning_to_json(part: Reasoning) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for key in ("text", "signature", "data", "vendor", "model", "scope", "id"):
        _put(out, key, getattr(part, key))
    if part.cleared:
        out["cleared"] = True
    out.update(part.extra)
    return out


def _tool_call_to_json(call: ToolCall) -> dict[str, Json]:
    out: dict[str, Json] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    _put(out, "signature", call.signature)
    _put(out, "itemId", call.item_id)
    out.update(call.extra)
    return out


def _origin_to_json(origin: Origin) -> dict[str, Json]:
    out: dict[str, Json] = {"vendor": origin.vendor}
    _put(out, "model", origin.model)
    _put(out, "scope", origin.scope)
    out.update(origin.extra)
    return out


# --- helpers ----------------------------------------------------------------------------------------------------------

_TYPE_NAMES: dict[type, str] = {str: "a string", int: "an integer", bool: "a boolean", dict: "an object"}
_MAX_SAFE = 2**53 - 1


def _put(out: dict[str, Json], key: str, value: Json) -> None:
    if value is not None:
        out[key] = value


def _object(value: Json, path: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise InvalidParams.at(path, "must be an object")
    return value


def _required(raw: dict[str, Json], key: str, kind: type, path: str) -> Any:
    if key not in raw:
        raise InvalidParams.at(f"{path}/{key}", "is required")
    value = raw[key]
    if type(value) is not kind:
        raise InvalidParams.at(f"{path}/{key}", f"must be {_TYPE_NAMES[kind]}")
    return value


def _optional(raw: dict[str, Json], key: str, kind: type, path: str) -> Any:
    value = raw.get(key)
    if value is None:
        return None
    if type(value) is not kind:
        raise InvalidParams.at(f"{path}/{key}", f"must be {_TYPE_NAMES[kind]}")
    if isinstance(value, int) and not -_MAX_SAFE <= value <= _MAX_SAFE:
        raise InvalidParams.at(f"{path}/{key}", "must fit in 53 bits")
    return value


def _list(raw: dict[str, Json], key: str, read: Callable[[Json, str], Any], path: str) -> tuple[Any, ...]:
    value = raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidParams.at(f"{path}/{key}", "must be an array")
    return tuple([read(item, f"{path}/{key}/{index}") for index, item in enumerate(value)])


def _rest(raw: dict[str, Json], known: frozenset[str]) -> Extra:
    if raw.keys() <= known:
        return NO_EXTRA
    return {key: value for key, value in raw.items() if key not in known}
