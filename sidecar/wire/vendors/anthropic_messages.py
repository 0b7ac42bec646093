"""Anthropic Messages.

Documentation, read 2026-11-30:
- https://platform.claude.com/docs/en/api/messages
- https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
- https://platform.claude.com/docs/en/build-with-claude/extended-thinking
- https://platform.claude.com/docs/build-with-claude/preserved-thinking
- https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
- anthropic SDK 2.14.0, `anthropic.types.ContentBlockParam`
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Block, File, Image, JsonBlock, Reasoning, Refusal, Text, VendorBlock
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_object
from sidecar.wire.passes.blocks import BlockShaper
from sidecar.wire.passes.content import CACHE_MARKER
from sidecar.wire.passes.shaper import Call, marker_places
from sidecar.wire.projection import IMAGE_TYPES, Capabilities, Context, MediaRule, Projection, Rules

RULES = Rules(
    system="top",
    alternate=True,
    first="user",
    last="user",
    call_ids="anthropic",
    text="nonblank",
    calls_only="absent",
    arguments="object",
    errors="flag",
    reasoning="signed",
    own_forms=frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking")),
    media={
        "image": MediaRule(places=frozenset(("user", "result")), types=IMAGE_TYPES),
        "file": MediaRule(places=frozenset(("user", "result")), types=frozenset(("application/pdf", "text/plain"))),
    },
    cache_markers=True,
    sources={
        "X1": (
            "https://github.com/OpenHands/OpenHands/issues/7512",
            "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        ),
        "X2": ("https://github.com/datakurre/graph-agent/issues/85",),
        "X3": ("https://github.com/HKUDS/nanobot/pull/4444", "https://github.com/vectorize-io/hindsight/pull/4250"),
        "X4": ("https://github.com/maximhq/bifrost/issues/5097", "https://github.com/Wei-Shaw/sub2api/issues/1308"),
        "X6": (
            "https://github.com/anthropics/anthropic-sdk-python/issues/461",
            "https://github.com/anthropics/claude-code/issues/23440",
            "https://github.com/anthropics/claude-code/issues/6774",
        ),
        "X8": ("https://github.com/vellum-ai/vellum-assistant/pull/18387",),
        "X9": ("https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",),
        "X10": (
            "https://github.com/langchain-ai/deepagents/issues/1585",
            "https://github.com/Pasta-Devs/Marinara-Engine/issues/2673",
        ),
        "X13": (
            "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
            "https://github.com/deepset-ai/haystack-core-integrations/issues/2146",
            "https://platform.claude.com/docs/build-with-claude/preserved-thinking",
        ),
        "X14": ("https://github.com/anomalyco/opencode/pull/13985",),
        "X15": ("https://github.com/SEMOSS/Semoss/issues/2323",),
        "X16": ("https://github.com/continuedev/continue/pull/6937",),
        "X18": ("https://github.com/langchain-ai/langchain/pull/31696",),
        "X20": ("https://github.com/anomalyco/opencode/issues/5750",),
    },
)


class AnthropicShaper(BlockShaper):
    """Shapes `{"system": ..., "messages": [...]}`."""

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        self._waiting: list[tuple[Item, str]] = []
        """System text behind a user message; whether it may stay a system message shows with what follows."""
        self._asking: Item | None = None
        """The entry of the newest round of calls."""

    def fork(self, context: Context) -> AnthropicShaper:
        """Return an independent copy that writes to the report of `context`."""
        other = super().fork(context)
        assert isinstance(other, AnthropicShaper)
        other._waiting = list(self._waiting)
        return other

    # --- system text in turns -----------------------------------------------------------------------------------------

    def system_in_place(self, item: Item, text: str) -> bool:
        """Keep system text behind a user message for a model that takes it there."""
        if not self.capabilities.system_in_turns or not self.messages or self.messages[-1]["role"] != "user":
            return False
        self._waiting.append((item, text))
        return True

    def push(self, role: str, parts: list[Json], item: Item | None) -> None:
        """Append a message; system text that waited goes before it in the form that is legal there."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            if role == "user":
                for each, text in waiting:
                    self.report.repair(
                        "X9", each, "rewritten", "system text before user text is sent as marked user text"
                    )
                    super().push("user", [self.text_part(_marked(text))], each)
            else:
                self.messages.append(_system(waiting))
        super().push(role, parts, item)

    # --- blocks -------------------------------------------------------------------------------------------------------

    def text_part(self, text: str) -> Json:
        """Return a text block."""
        return {"type": "text", "text": text}

    def document(self, item: Item, block: File) -> Json:
        """Return the source of a document; plain text goes as text, since the vendor takes no other bytes of it."""
        if block.url is not None:
            return {"type": "url", "url": block.url}
        if block.mime_type != "text/plain":
            return {"type": "base64", "media_type": "application/pdf", "data": block.data}
        content = base64.b64decode(block.data or "")
        text = content.decode("utf-8", "replace")
        if text.encode() != content:
            self.report.loss("X14", "warning", item, "what is not UTF-8 in a text document is sent as U+FFFD")
        if not text.strip():
            self.report.repair("X6", item, "rewritten", "an empty text document gets a stand-in")
        return {"type": "text", "media_type": "text/plain", "data": text if text.strip() else "(empty document)"}

    def part(self, item: Item, block: Block) -> Json:
        """Return one block."""
        if isinstance(block, Text | Refusal):
            return {"type": "text", "text": block.text}
        if isinstance(block, JsonBlock):
            return {"type": "text", "text": dumps(block.value)}
        if isinstance(block, Image):
            return {"type": "image", "source": _source(block)}
        if isinstance(block, File):
            part = {"type": "document", "source": self.document(item, block)}
            return {**part, "title": block.name} if block.name and block.name.strip() else part
        assert isinstance(block, VendorBlock)
        unmarked = _unmarked(block.value)
        if unmarked != block.value:
            self.report.repair("X16", item, "dropped", CACHE_MARKER)
        return unmarked

    def assistant_parts(self, item: Item, blocks: list[Block]) -> list[Json]:
        """Return the blocks of an assistant message; server tools keep only whole pairs."""
        parts = super().assistant_parts(item, blocks)
        return parts if all(part.get("type") == "text" for part in parts) else self._paired(item, parts)

    def call_parts(self, calls: Sequence[Call]) -> list[Json]:
        """Return `tool_use` blocks."""
        self._asking = calls[0].item
        return [
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": arguments_object(call.call, call.item, self.context),
            }
            for call in calls
        ]

    def reasoning_part(self, part: Reasoning) -> Json:
        """Return a thinking block as it was received."""
        if not part.signature:
            return {"type": "redacted_thinking", "data": part.data}
        return {"type": "thinking", "thinking": part.text or "", "signature": part.signature}

    def result_part(self, call: Call, blocks: list[Block], is_error: bool) -> Json:
        """Return a `tool_result` block; a failed one has text, an empty one no content."""
        part: dict[str, Json] = {"type": "tool_result", "tool_use_id": call.id}
        if len(blocks) == 1 and type(blocks[0]) is Text:
            part["content"] = blocks[0].text
        elif blocks:
            content = [self.part(call.result or call.item, block) for block in blocks]
            # One text is written as a string, also where it was a JSON value: equal facts, equal bytes.
            only = content[0].keys() == {"type", "text"} and len(content) == 1
            part["content"] = content[0]["text"] if only else content
        elif is_error:
            part["content"] = self.context.placeholder("output")
            self.report.repair("X6", call.result, "synthesized", "a failed result without text gets one")
        if is_error:
            part["is_error"] = True
        return part

    # --- the end ------------------------------------------------------------------------------------------------------

    def body(self) -> dict[str, Json]:
        """Return `{"messages": [...]}`, with `system` where there is any."""
        if self._waiting:
            self.messages.append(_system(self._waiting))
        self.trim()
        if not self.messages or self.messages[-1]["role"] != "system":
            self.close()
        self._check_thinking()
        wanted = self.context.options.cache_markers
        system: Json = self.system[0] if len(self.system) == 1 else [self.text_part(text) for text in self.system]
        spare = 0
        if self.system and wanted > 1:
            system = [self.text_part(text) for text in self.system]
            system[-1]["cache_control"] = {"type": "ephemeral"}
            spare = 1
        self._mark(wanted, spare)
        return {"system": system, "messages": self.messages} if self.system else {"messages": self.messages}

    def _check_thinking(self) -> None:
        """Say that thinking must be off where the round under way has lost its thinking."""
        if self.capabilities.thinking is not True:
            return
        for message in reversed(self.messages):
            if message["role"] == "assistant":
                content = message["content"]
                called = any(part["type"] == "tool_use" for part in content)
                if called and content[0]["type"] not in ("thinking", "redacted_thinking"):
                    self.report.loss(
                        "X13",
                        "warning",
                        self._asking,
                        "the tool round under way has no signed thinking; thinking must be off for this request",
                    )
                return
            if message["role"] == "user" and any(part["type"] != "tool_result" for part in message["content"]):
                return

    def _mark(self, wanted: int, spare: int) -> None:
        if not wanted:
            return
        cacheable = [
            index
            for index, message in enumerate(self.messages)
            if message["role"] != "system" and _cacheable(message["content"][-1])
        ]
        for index in marker_places(cacheable, wanted, spare):
            message = self.messages[index]
            content = list(message["content"])
            content[-1] = {**content[-1], "cache_control": {"type": "ephemeral"}}
            self.messages[index] = {**message, "content": content}

    def _paired(self, item: Item, parts: list[Json]) -> list[Json]:
        """Return the parts without halves of server tool pairs, which must stand whole in one message."""
        asked = {part.get("id") for part in parts if part.get("type") in _SERVER_CALLS and _is_server_call(part)}
        answered = {part.get("tool_use_id") for part in parts if "tool_use_id" in part}
        kept = []
        for part in parts:
            kind = part.get("type")
            if kind in _SERVER_CALLS and part.get("id") not in asked:
                self.report.loss("X4", "warning", item, "a server tool call with a foreign id or no input is not sent")
            elif kind in _SERVER_CALLS and part.get("id") not in answered:
                self.report.loss("X1", "warning", item, "a server tool call without its result is not sent")
            elif "tool_use_id" in part and part["tool_use_id"] not in asked:
                self.report.loss("X2", "warning", item, "a server tool result without its call is not sent")
            else:
                kept.append(part)
        return kept


_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_MCP_ID = re.compile(r"[a-zA-Z0-9_-]+")


def _is_server_call(part: Json) -> bool:
    """Say whether the vendor takes the id and the input, which both come back from it only as it made them."""
    call_id = part.get("id")
    form = _SERVER_ID if part["type"] == "server_tool_use" else _MCP_ID
    return isinstance(call_id, str) and form.fullmatch(call_id) is not None and isinstance(part.get("input"), dict)


def _unmarked(value: Json) -> Json:
    """Return a block without cache markers, wherever in its content they are; what a tool was asked stays as it is."""
    if isinstance(value, list):
        return [_unmarked(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: part if key == "input" else _unmarked(part) for key, part in value.items() if key != "cache_control"}


def _marked(text: str) -> str:
    return text if text.startswith("[note] ") else f"[system] {text}"


def _system(waiting: list[tuple[Item, str]]) -> dict[str, Json]:
    return {"role": "system", "content": "\n\n".join(text for _, text in waiting)}


def _cacheable(part: Json) -> bool:
    return part.get("type") not in ("thinking", "redacted_thinking")


def _source(block: Image) -> Json:
    if block.url is not None:
        return {"type": "url", "url": block.url}
    return {"type": "base64", "media_type": block.mime_type, "data": block.data}


def shape(context: Context, names: frozenset[str]) -> AnthropicShaper:
    """Start shaping a payload."""
    return AnthropicShaper(context, names)


PROJECTION = Projection(
    id="anthropic-messages",
    title="Anthropic Messages",
    api="POST /v1/messages",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://platform.claude.com/docs/en/api/messages",),
    aliases=("anthropic", "claude"),
    origins=frozenset(("anthropic-vertex", "vertex-anthropic")),
    capabilities=Capabilities(preserved_thinking=True),
)
