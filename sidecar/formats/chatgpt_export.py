"""ChatGPT data exports: `conversations.json`, a list of conversations that are trees of messages.

Source: exports of chatgpt.com of 2024 to 2026; `agentsview` reads the same shape.

Rules:
- The live chain runs from `current_node` up to the root; regenerated and edited siblings are branches.
- `thoughts` and `reasoning_recap` are reasoning of the answer after them; `code` sent to a tool is a call and the
  `tool` message after it its result; pictures are asset pointers without the file: a loss.
- Messages that are hidden from the person, and empty system messages, are the tool's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    Assistant,
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
    dict_of,
    id_of,
    list_of,
    millis,
    tag,
    text_of,
)
from sidecar.formats.source import Source

_KNOWN: Final = frozenset(
    (
        "author",
        "channel",
        "content",
        "create_time",
        "end_turn",
        "id",
        "metadata",
        "recipient",
        "status",
        "update_time",
        "weight",
    )
)


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    document = source.document()
    conversations = document if isinstance(document, list) else [document]
    if not any(_is_conversation(conversation) for conversation in conversations):
        raise Unparsable("", "the document has no conversation with a mapping of messages")
    for number, conversation in enumerate(conversations):
        if not _is_conversation(conversation):
            report.add("unknownRecord", "warning", f"record {number} is no conversation and was left out")
            continue
        yield from _conversation(conversation, report, options)


def _is_conversation(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def _conversation(conversation: dict[str, Any], report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    nodes: dict[str, dict[str, Any]] = {name: dict_of(node) for name, node in conversation["mapping"].items()}
    leaf = text_of(conversation.get("current_node"))
    if leaf not in nodes:
        leaf = _last_leaf(nodes)
    live = _chain(nodes, leaf)
    dead = [name for name, node in nodes.items() if name not in live and node.get("message")]
    if dead and not options.all_branches:
        report.add("branchLeft", "info", f"{len(dead)} messages of other branches are not in the live view")
    metadata = {
        key: conversation[key]
        for key in ("create_time", "update_time", "default_model_slug", "gizmo_id")
        if conversation.get(key)
    }

    def history(chain: list[str], losses: Report, branch: str | None = None) -> ImportedHistory:
        return ImportedHistory(
            entries=assemble(_items(nodes, chain, losses), losses, "chatgpt-export"),
            source_id=id_of(conversation.get("conversation_id")) or id_of(conversation.get("id")) or None,
            title=lambda: text_of(conversation.get("title")),
            metadata=lambda: metadata,
            branch=branch,
        )

    yield history(live, report)
    if options.all_branches:
        inner = {text_of(node.get("parent")) for node in nodes.values()}
        leaves = [name for name in dead if name not in inner]
        for number, name in enumerate(leaves, 1):
            yield history(_chain(nodes, name), Report(), f"branch-{number}")


def _last_leaf(nodes: dict[str, dict[str, Any]]) -> str | None:
    inner = {text_of(node.get("parent")) for node in nodes.values()}
    leaves = [name for name in nodes if name not in inner]
    return leaves[-1] if leaves else None


def _chain(nodes: dict[str, dict[str, Any]], leaf: str | None) -> list[str]:
    chain: list[str] = []
    seen: set[str] = set()
    while isinstance(leaf, str) and leaf in nodes and leaf not in seen:
        seen.add(leaf)
        chain.append(leaf)
        leaf = text_of(nodes[leaf].get("parent"))
    return chain[::-1]


def _items(nodes: dict[str, dict[str, Any]], chain: list[str], report: Report) -> Iterator[Item]:
    reasoning: list[Reasoning] = []
    call: str | None = None
    for name in chain:
        message = nodes[name].get("message")
        if message is None:
            continue
        content, role = dict_of(dict_of(message).get("content")), tag(dict_of(dict_of(message).get("author")), "role")
        if role not in ("system", "user", "assistant", "tool"):
            report.unknown(message, role, "a node")
            continue
        kind = tag(content, "content_type")
        blocks = _blocks(content, report)
        hidden = dict_of(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
        if (
            role == "system"
            or kind in ("user_editable_context", "model_editable_context")
            or (hidden and role != "tool")
        ):
            text = "".join(block.text for block in blocks if isinstance(block, Text))
            if not text.strip():
                report.bookkeeping(f"empty {role} message")
                continue
            made: Any = System(text)
        elif role == "user":
            made = User(tuple(blocks))
        elif role == "tool":
            tool = text_of(dict_of(message.get("author")).get("name"))
            made = Tool(call_id=call or id_of(message.get("id")) or name, name=tool, content=tuple(blocks))
        elif kind in ("thoughts", "reasoning_recap"):
            reasoning += _thoughts(content)
            continue
        else:
            model = text_of(dict_of(message.get("metadata")).get("model_slug"))
            origin = Origin(vendor="chatgpt", model=model) if model else None
            recipient = text_of(message.get("recipient")) or "all"
            calls: tuple[ToolCall, ...] = ()
            if recipient != "all":
                call = id_of(message.get("id")) or name
                text = "".join(block.text for block in blocks if isinstance(block, Text))
                calls = (ToolCall(id=call, name=recipient, arguments=_arguments(text)),)
            made = Assistant(
                content=None if calls else tuple(blocks), reasoning=tuple(reasoning), tool_calls=calls, origin=origin
            )
            reasoning = []
        entry = Entry(message=made, id=id_of(message.get("id")) or name, ts=millis(message.get("create_time")))
        fields = {**rest(message, _KNOWN), **rest(dict_of(message.get("metadata")), frozenset())}
        yield Draft(entry=keep(entry, fields=fields))
    if reasoning:
        yield Draft(entry=Entry(message=Assistant(content=None, reasoning=tuple(reasoning))))


def _arguments(text: str) -> str:
    # What a built-in tool got is program text or JSON; only an object can be the arguments of a call.
    return text if text.lstrip().startswith("{") else dumps({"input": text})


def _thoughts(content: dict[str, Any]) -> Iterator[Reasoning]:
    if isinstance(content.get("content"), str):
        yield Reasoning(text=content["content"])
    for thought in map(dict_of, list_of(content.get("thoughts"))):
        parts = [text for text in (text_of(thought.get("summary")), text_of(thought.get("content"))) if text]
        if parts:
            yield Reasoning(text="\n".join(parts))


def _blocks(content: dict[str, Any], report: Report) -> list[Block]:
    blocks: list[Block] = []
    for key in ("text", "result", "user_profile", "user_instructions", "model_set_context"):
        if isinstance(content.get(key), str):
            blocks.append(Text(content[key]))
    for part in list_of(content.get("parts")):
        if isinstance(part, str):
            blocks.append(Text(part))
            continue
        raw = dict_of(part)
        if isinstance(raw.get("text"), str):
            blocks.append(Text(raw["text"]))
            continue
        if "asset_pointer" in raw:
            report.add("mediaLeft", "warning", "an asset is a pointer; its file is not in the export")
        blocks.append(VendorBlock("chatgpt", part))
    if (
        not blocks
        and content
        and "parts" not in content
        and tag(content, "content_type") not in ("thoughts", "reasoning_recap")
    ):
        blocks.append(VendorBlock("chatgpt", content))
    return blocks


def _detect(head: Head) -> int:
    conversation = head.conversation
    if not _is_conversation(conversation):
        return 0
    nodes = list(conversation["mapping"].values())
    return 95 if all({"parent", "message"} & dict_of(node).keys() for node in nodes[:3]) else 30


FORMAT: Final = Format(
    id="chatgpt-export", title="ChatGPT data export", extensions=(".json",), detect=_detect, read=_read
)
