"""opencode sessions as `opencode export` writes them: one JSON document of `info` and `messages` with parts.

Sources: exports of opencode 1.17 and 1.18 (2026-08 to 2026-11).

Rules:
- One message is one model step; where text follows a tool in the same message (older exports), a new assistant entry
  begins, since no vendor takes text after a call whose result came before it.
- A tool part is both the call and its result. What `info.revert` took back is left out. The answer of a compaction
  (`summary: true`) restarts the view as a summary.
- Pictures that a tool returned are files of the tool entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Assistant,
    Block,
    Entry,
    File,
    Image,
    Origin,
    Reasoning,
    Summary,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.formats.base import (
    Draft,
    Format,
    ImportedHistory,
    Item,
    ReadOptions,
    Report,
    Restart,
    assemble,
    keep,
    rest,
)
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    media_from_url,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_VENDORS: Final = {
    "anthropic": "anthropic-messages",
    "openai": "openai-responses",
    "google": "gemini",
    "google-vertex": "gemini",
    "amazon-bedrock": "bedrock-converse",
    "openrouter": "openrouter",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "xai": "xai",
    "groq": "groq",
}
_QUIET: Final = frozenset(("step-start", "step-finish", "snapshot", "patch", "retry", "agent", "subtask", "compaction"))
_KNOWN: Final = frozenset(
    ("agent", "finish", "id", "mode", "model", "modelID", "parentID", "path", "providerID", "role", "sessionID", "time")
)
_FACTS: Final = frozenset(("directory", "version", "slug", "projectID", "parentID", "agent", "model"))


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    document = source.document()
    if not _is_export(document):
        raise Unparsable("", "the document has no info and messages of an opencode session")
    info = dict_of(document.get("info"))
    yield ImportedHistory(
        entries=assemble(_items(document, report), report, "opencode"),
        source_id=id_of(info.get("id")) or None,
        title=lambda: text_of(info.get("title")),
        metadata=lambda: {key: info[key] for key in sorted(_FACTS & info.keys()) if info[key]},
    )


def _is_export(document: Json) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("messages"), list)
        and (
            isinstance(document.get("info"), dict)
            or any("info" in dict_of(message) for message in document["messages"][:3])
        )
    )


def _items(document: dict[str, Any], report: Report) -> Iterator[Item]:
    revert = dict_of(dict_of(document.get("info")).get("revert"))
    messages = document["messages"]
    for number, message in enumerate(messages):
        where = f"message {number}"
        info, parts = dict_of(message).get("info"), dict_of(message).get("parts")
        if not isinstance(info, dict) or not isinstance(parts, list):
            report.invalid(message, "has no info and parts", where)
            continue
        if revert and info.get("id") == revert.get("messageID"):
            if not revert.get("partID"):
                report.add("branchLeft", "info", f"{len(messages) - number} reverted messages are not in the live view")
                return
            at = next((i for i, part in enumerate(parts) if dict_of(part).get("id") == revert["partID"]), len(parts))
            report.add("branchLeft", "info", "reverted parts and all messages after them are not in the live view")
            yield from _message(info, parts[:at], report, where)
            return
        yield from _message(info, parts, report, where)


def _message(info: dict[str, Any], parts: list[Json], report: Report, where: str) -> Iterator[Item]:
    role = tag(info, "role")
    ts = millis(dict_of(info.get("time")).get("created"))
    if role == "user":
        yield from _user(info, parts, ts, report, where)
    elif role == "assistant" and info.get("summary") is True:
        texts = [
            part["text"] for part in map(dict_of, parts) if tag(part, "type") == "text" and text_of(part.get("text"))
        ]
        if texts:
            yield Restart()
            yield Draft(entry=Entry(message=Summary("\n\n".join(texts)), id=id_of(info.get("id")), ts=ts))
    elif role == "assistant":
        yield from _assistant(info, parts, ts, report, where)
    else:
        report.unknown({"info": info, "parts": parts}, role, where)


def _user(info: dict[str, Any], parts: list[Json], ts: int | None, report: Report, where: str) -> Iterator[Item]:
    blocks: list[Block] = []
    for part in parts:
        kind = tag(dict_of(part), "type")
        if kind in ("text", "file"):
            if not dict_of(part).get("ignored"):
                blocks.append(_block(part))
        elif kind in _QUIET:
            report.bookkeeping(f"{kind} part")
        else:
            report.unknown(part, kind, where)
    if blocks:
        fields = rest(info, _KNOWN | {"summary", "tools", "system"})
        yield Draft(entry=keep(Entry(message=User(tuple(blocks)), id=id_of(info.get("id")), ts=ts), fields=fields))


def _assistant(info: dict[str, Any], parts: list[Json], ts: int | None, report: Report, where: str) -> Iterator[Item]:
    name = id_of(info.get("id"))
    provider = text_of(info.get("providerID"))
    model = text_of(info.get("modelID"))
    vendor = _VENDORS.get(provider or "", provider or "")
    origin = Origin(vendor=vendor, model=model) if vendor else None
    fields = rest(info, _KNOWN)
    step = 0
    blocks: list[Block] = []
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    results: list[Entry] = []

    def flush() -> Iterator[Item]:
        nonlocal step, fields
        if blocks or reasoning or calls:
            step += 1
            message = Assistant(
                content=tuple(blocks) if blocks else None,
                reasoning=tuple(reasoning),
                tool_calls=tuple(calls),
                origin=origin,
            )
            entry_id = name if step == 1 or not name else f"{name}/{step}"
            yield Draft(entry=keep(Entry(message=message, id=entry_id, ts=ts), fields=fields))
            fields = {}
        for result in results:
            yield Draft(entry=result)
        for pile in (blocks, reasoning, calls, results):
            pile.clear()

    for part in parts:
        raw = dict_of(part)
        kind = tag(raw, "type")
        if kind in ("text", "reasoning", "file", "step-start") and calls:
            yield from flush()
        if kind in ("text", "file"):
            blocks.append(_block(part))
        elif kind == "reasoning":
            reasoning.append(_reasoning(raw, vendor, model))
        elif kind == "tool":
            _tool(raw, calls, results)
        elif kind in _QUIET:
            report.bookkeeping(f"{kind} part")
        else:
            report.unknown(part, kind, where)
    yield from flush()


def _tool(part: dict[str, Any], calls: list[ToolCall], results: list[Entry]) -> None:
    state = dict_of(part.get("state"))
    call_id = id_of(part.get("callID")) or id_of(part.get("id"))
    calls.append(ToolCall(id=call_id, name=str(part.get("tool") or ""), arguments=arguments_of(state.get("input"))))
    status = tag(state, "status")
    if status not in ("completed", "error"):
        return
    value = state.get("error") if status == "error" else state.get("output")
    content: list[Block] = list(json_or_text(value)) or [Text("")]
    for attached in map(dict_of, list_of(state.get("attachments"))):
        block = _block(attached)
        if isinstance(block, Image):
            block = File(
                name=text_of(attached.get("filename")), mime_type=block.mime_type, data=block.data, url=block.url
            )
        content.append(block)
    message = Tool(call_id=call_id, name=text_of(part.get("tool")), content=tuple(content), is_error=status == "error")
    fields = rest(state, frozenset(("status", "input", "output", "error", "time", "attachments", "title")))
    ts = millis(dict_of(state.get("time")).get("end"))
    results.append(keep(Entry(message=message, id=id_of(part.get("id")), ts=ts), fields=fields))


def _block(part: Json) -> Block:
    raw = dict_of(part)
    text, url = raw.get("text"), raw.get("url")
    if tag(raw, "type") == "text" and isinstance(text, str):
        return Text(text, {"synthetic": True}) if raw.get("synthetic") is True else Text(text)
    if tag(raw, "type") == "file" and isinstance(url, str):
        return media_from_url(url, text_of(raw.get("mime")), text_of(raw.get("filename")))
    return VendorBlock("opencode", part)


def _reasoning(part: dict[str, Any], vendor: str, model: str | None) -> Reasoning:
    signature = data = item = None
    for facts in map(dict_of, dict_of(part.get("metadata")).values()):
        signature = text_of(facts.get("signature")) or text_of(facts.get("thoughtSignature")) or signature
        data = text_of(facts.get("redactedData")) or text_of(facts.get("reasoningEncryptedContent")) or data
        item = text_of(facts.get("itemId")) or item
    return Reasoning(
        text=text_of(part.get("text")),
        signature=signature,
        data=data,
        vendor=vendor or None,
        model=model,
        id=item,
    )


def _detect(head: Head) -> int:
    document = head.document
    if not _is_export(document):
        return 0
    first = dict_of(document["messages"][0]) if document["messages"] else {}
    return 95 if "parts" in first or not document["messages"] else 30


FORMAT: Final = Format(
    id="opencode", title="opencode session export", extensions=(".json",), detect=_detect, read=_read
)
