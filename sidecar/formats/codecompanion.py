"""CodeCompanion chats (Neovim), as `codecompanion-history.nvim` saves them: one JSON document per chat.

Sources: files of codecompanion-history.nvim (2025) and the message shape of codecompanion.nvim 17 (2026).

Rules: `llm` is the assistant; calls stand in `tools.calls`, a result names its call in `tools.call_id` (older files:
`tool_calls`, `tool_call_id`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Entry, Origin, Reasoning, System, Text, Tool, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    dict_of,
    id_of,
    list_of,
    openai_blocks,
    openai_call,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_ROLES: Final = {"system": "system", "user": "user", "llm": "assistant", "assistant": "assistant", "tool": "tool"}
_KNOWN: Final = frozenset(
    ("_meta", "content", "cycle", "id", "opts", "reasoning", "role", "tool_call_id", "tool_calls", "tools")
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    document = source.document()
    if not _is_chat(document):
        raise Unparsable("", "the document has no messages of a CodeCompanion chat")
    facts = {
        key: document[key]
        for key in ("adapter", "settings", "updated_at", "cwd", "project_root", "schemas", "refs", "context_items")
        if document.get(key)
    }
    yield ImportedHistory(
        entries=assemble(_items(document, report), report, "codecompanion"),
        source_id=id_of(document.get("save_id")) or None,
        title=lambda: text_of(document.get("title")),
        metadata=lambda: facts,
    )


def _is_chat(document: Json) -> bool:
    return isinstance(document, dict) and isinstance(document.get("messages"), list)


def _items(document: dict[str, Any], report: Report) -> Iterator[Item]:
    adapter = document.get("adapter")
    vendor = text_of(adapter) or text_of(dict_of(adapter).get("name"))
    model = text_of(dict_of(document.get("settings")).get("model"))
    origin = Origin(vendor=vendor, model=model) if vendor else None
    for number, message in enumerate(document["messages"]):
        where = f"message {number}"
        raw = dict_of(message)
        role, content = _ROLES.get(str(tag(raw, "role"))), raw.get("content")
        if role is None:
            report.unknown(message, tag(raw, "role"), where)
            continue
        if content is not None and not isinstance(content, str | list):
            report.invalid(message, "has content that is no text", where)
            continue
        blocks = openai_blocks(content)
        tools = dict_of(raw.get("tools"))
        fields = rest(raw, _KNOWN)
        if role == "system":
            made: Any = System("".join(block.text for block in blocks if isinstance(block, Text)))
        elif role == "user":
            made = User(blocks or (Text(""),))
        elif role == "tool":
            call_id = id_of(tools.get("call_id")) or id_of(raw.get("tool_call_id"))
            made = Tool(call_id=call_id, content=blocks or (Text(""),), is_error=tools.get("is_error") is True)
        else:
            given = list_of(tools.get("calls")) or list_of(raw.get("tool_calls"))
            calls = tuple(call for call in map(openai_call, given) if call is not None)
            thought = raw.get("reasoning")
            thought = thought if isinstance(thought, str) else dict_of(thought).get("content")
            reasoning = (Reasoning(text=thought),) if isinstance(thought, str) and thought else ()
            empty = not blocks and (calls or reasoning)
            made = Assistant(content=None if empty else blocks, reasoning=reasoning, tool_calls=calls, origin=origin)
        yield Draft(entry=keep(Entry(message=made, id=id_of(raw.get("id"))), fields=fields))


def _detect(head: Head) -> int:
    document = head.document
    if not _is_chat(document):
        return 0
    if "save_id" in document:
        return 95
    messages = [dict_of(message) for message in document["messages"][:10]]
    return 85 if any(tag(message, "role") == "llm" for message in messages) else 0


FORMAT: Final = Format(
    id="codecompanion", title="CodeCompanion chat", extensions=(".json",), detect=_detect, read=_read
)
