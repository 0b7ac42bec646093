"""Pydantic AI message histories: what `ModelMessagesTypeAdapter` dumps, a list of requests and responses with parts.

Sources: output of pydantic-ai-slim 2.68.0 (2026-11).

Rules: parts of a request become one entry each; parts of a response are one assistant entry; a `retry-prompt` for a
tool is a failed result, without one it is a user entry; instructions are a system entry where they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    Block,
    Entry,
    Origin,
    Reasoning,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    assistant_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    media,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_VENDORS: Final = {
    "anthropic": "anthropic-messages",
    "openai": "openai-chat",
    "google": "gemini",
    "google-gla": "gemini",
    "google-vertex": "gemini",
    "bedrock": "bedrock-converse",
    "groq": "groq",
    "mistral": "mistral",
    "cohere": "cohere",
}
_KNOWN: Final = frozenset(
    ("finish_reason", "instructions", "kind", "model_name", "parts", "provider_name", "state", "timestamp")
)
_KNOWN_PART: Final = frozenset(
    (
        "args",
        "content",
        "part_kind",
        "timestamp",
        "tool_call_id",
        "tool_name",
        "outcome",
        "id",
        "provider_name",
        "signature",
    )
)
_MIME: Final = {
    "image-url": "image/png",
    "audio-url": "audio/mpeg",
    "document-url": "application/pdf",
    "video-url": "video/mp4",
}


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    messages = _messages_of(source.document())
    if messages is None:
        raise Unparsable("", "the document has no Pydantic AI messages")
    yield ImportedHistory(entries=assemble(_items(messages, report), report, "pydantic-ai"))


def _messages_of(document: Json) -> list[Json] | None:
    if isinstance(document, dict):
        document = document.get("messages", document.get("message_history", document.get("all_messages")))
    if isinstance(document, list) and any(_is_message(message) for message in document[:5]):
        return document
    return None


def _is_message(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and tag(value, "kind") in ("request", "response")
        and isinstance(value.get("parts"), list)
    )


def _items(messages: list[Json], report: Report) -> Iterator[Item]:
    instructions = ""
    for number, message in enumerate(messages):
        where = f"message {number}"
        if not _is_message(message):
            report.unknown(message, tag(dict_of(message), "kind"), where)
            continue
        ts = millis(message.get("timestamp"))
        if message["kind"] == "response":
            yield _response(message, ts, report, where)
            continue
        given = text_of(message.get("instructions"))
        if given and given != instructions:
            instructions = given
            yield Draft(entry=Entry(message=System(given), ts=ts))
        fields = rest(message, _KNOWN)
        for part in message["parts"]:
            for entry in _request_part(part, report, where):
                part_ts = millis(dict_of(part).get("timestamp"))
                yield Draft(entry=keep(Entry(message=entry, ts=part_ts or ts), fields={**fields, **_part_fields(part)}))
                fields = {}


def _part_fields(part: Json) -> dict[str, Json]:
    return rest(dict_of(part), _KNOWN_PART)


def _request_part(part: Json, report: Report, where: str) -> Iterator[Any]:
    raw = dict_of(part)
    kind, content = tag(raw, "part_kind"), raw.get("content")
    call_id, name = id_of(raw.get("tool_call_id")), text_of(raw.get("tool_name"))
    if kind == "system-prompt" and isinstance(content, str):
        yield System(content)
    elif kind == "user-prompt":
        pieces = content if isinstance(content, list) else [content]
        yield User(tuple(_piece(piece) for piece in pieces if piece is not None))
    elif kind in ("tool-return", "tool-search-return", "load-capability-return"):
        yield Tool(
            call_id=call_id,
            name=name,
            content=_content(content),
            is_error=tag(raw, "outcome") in ("failed", "denied", "error", "interrupted"),
        )
    elif kind == "retry-prompt":
        text = content if isinstance(content, str) else dumps(content)
        yield Tool(call_id=call_id, name=name, content=(Text(text),), is_error=True) if name else User((Text(text),))
    elif kind == "system-prompt":
        report.invalid(part, "has a part without text", where)
    else:
        report.unknown(part, kind, where)


def _response(message: dict[str, Any], ts: int | None, report: Report, where: str) -> Draft:
    provider, model = text_of(message.get("provider_name")), text_of(message.get("model_name"))
    vendor = _VENDORS.get(provider or "", provider or "")
    blocks: list[Block] = []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    fields = rest(message, _KNOWN)
    for part in message["parts"]:
        raw = dict_of(part)
        kind, content = tag(raw, "part_kind"), raw.get("content")
        fields.update(_part_fields(part))
        if kind == "text" and isinstance(content, str):
            blocks.append(Text(content))
        elif kind == "thinking":
            made_by = text_of(raw.get("provider_name"))
            reasoning.append(
                Reasoning(
                    text=text_of(content),
                    signature=text_of(raw.get("signature")),
                    id=id_of(raw.get("id")) or None,
                    vendor=_VENDORS.get(made_by, made_by) if made_by else vendor or None,
                    model=model,
                )
            )
        elif kind in ("tool-call", "tool-search-call", "load-capability-call"):
            calls.append(
                ToolCall(
                    id=id_of(raw.get("tool_call_id")),
                    name=str(raw.get("tool_name") or ""),
                    arguments=arguments_of(raw.get("args")),
                    item_id=id_of(raw.get("id")) or None,
                )
            )
        elif kind == "file":
            blocks.append(_piece(content))
        elif isinstance(kind, str) and kind.startswith(("builtin-tool", "native-tool", "compaction")):
            blocks.append(VendorBlock(vendor or "pydantic-ai", part))
        else:
            report.unknown(part, kind, where)
    origin = Origin(vendor=vendor or "pydantic-ai", model=model) if vendor or model else None
    made = assistant_of(blocks, reasoning, calls, origin)
    return Draft(entry=keep(Entry(message=made, ts=ts), fields=fields))


def _content(content: Json) -> tuple[Block, ...]:
    if isinstance(content, dict) and tag(content, "kind") in ("binary", *_MIME):
        return (_piece(content),)
    if isinstance(content, list) and any(tag(dict_of(piece), "kind") in ("binary", *_MIME) for piece in content):
        return tuple(block for piece in content for block in _content(piece))
    return json_or_text(content) or (Text(""),)


def _piece(piece: Json) -> Block:
    if isinstance(piece, str):
        return Text(piece)
    raw = dict_of(piece)
    kind = tag(raw, "kind")
    mime_type = text_of(raw.get("media_type")) or text_of(raw.get("_media_type"))
    data, url = text_of(raw.get("data")), text_of(raw.get("url"))
    if kind == "binary" and data is not None:
        # `bytes` are dumped in the URL-safe alphabet; vendors want the plain one.
        return media(mime_type, data=data.replace("-", "+").replace("_", "/"), name=text_of(raw.get("identifier")))
    if isinstance(kind, str) and kind in _MIME and url is not None:
        return media(mime_type or _MIME[kind], url=url)
    if kind == "text" and isinstance(raw.get("content"), str):
        return Text(raw["content"])
    return VendorBlock("pydantic-ai", piece)


def _detect(head: Head) -> int:
    messages = _messages_of(head.document)
    if not messages:
        return 0
    return 95 if any("part_kind" in dict_of(part) for part in list_of(dict_of(messages[0]).get("parts"))) else 40


FORMAT: Final = Format(
    id="pydantic-ai", title="Pydantic AI messages", extensions=(".json",), detect=_detect, read=_read
)
