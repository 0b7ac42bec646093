"""OpenAI Responses.

Documentation, read 2026-11-30:
- https://platform.openai.com/docs/api-reference/responses/create
- https://platform.openai.com/docs/guides/reasoning
- openai SDK 3.57.0, `openai.types.responses.ResponseInputItemParam`
The projection is stateless: item ids are left out unless `capabilities.stored` says that the vendor keeps the items of
this scope. Reasoning goes back with its encrypted content, directly before the items of the same response.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Audio, Block, File, Image, Reasoning, Text, VendorBlock
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_text
from sidecar.wire.passes.content import join_text, plain_text, with_error_prefix
from sidecar.wire.passes.media import data_url
from sidecar.wire.passes.reasoning import foreign, reasoning_of
from sidecar.wire.passes.shaper import BaseShaper, Call, Outcome
from sidecar.wire.projection import IMAGE_TYPES, Capabilities, Context, MediaRule, Place, Projection, Rules

_PLACES: frozenset[Place] = frozenset(("user", "result", "error"))
_ITEM_ID = re.compile(r"(rs|fc|msg)_[A-Za-z0-9_-]{1,60}")

RULES = Rules(
    system="top",
    call_ids="responses",
    empty_messages=False,
    calls_only="absent",
    errors="prefix",
    reasoning="encrypted",
    own_forms=frozenset(("function_call", "function_call_output", "reasoning", "item_reference")),
    media={
        "image": MediaRule(places=_PLACES, types=IMAGE_TYPES),
        "file": MediaRule(places=_PLACES, types=frozenset(("application/pdf",))),
    },
    sources={
        "X1": ("https://github.com/openai/codex/issues/825", "https://github.com/livekit/agents/issues/5092"),
        "X2": ("https://github.com/everruns/everruns/pull/2039",),
        "X3": ("https://github.com/earendil-works/pi/issues/5151",),
        "X4": (
            "https://github.com/nodetool-ai/nodetool/pull/4252",
            "https://github.com/anomalyco/opencode/pull/44587",
        ),
        "X5": ("https://github.com/NousResearch/hermes-agent/pull/95021",),
        "X8": ("https://github.com/missdeer/ace-tool-rs/issues/11",),
        "X13": (
            "https://github.com/openai/openai-node/issues/1567",
            "https://github.com/continuedev/continue/issues/11994",
            "https://github.com/openai/openai-agents-js/issues/546",
            "https://github.com/Wei-Shaw/sub2api/issues/3038",
        ),
        "X20": ("https://github.com/continuedev/continue/issues/11994",),
    },
)


class ResponsesShaper(BaseShaper):
    """Shapes `{"instructions": ..., "input": [...]}`."""

    KNOWN_EXTRA = frozenset(("phase", "itemId"))

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        self._instructions: list[str] = []
        self._item_ids: set[str] = set()

    def fork(self, context: Context) -> ResponsesShaper:
        """Return an independent copy that writes to the report of `context`."""
        other = super().fork(context)
        other._instructions = list(self._instructions)
        other._item_ids = set(self._item_ids)
        return other

    # --- items --------------------------------------------------------------------------------------------------------

    def say(self, item: Item, role: str, text: str) -> bool:
        """Append a message item of one text."""
        self.messages.append({"type": "message", "role": role, "content": text})
        return True

    def user(self, item: Item, blocks: list[Block]) -> None:
        """Write a user message item."""
        blocks = [block for block in blocks if not (isinstance(block, Text) and not block.text)]
        if not blocks:
            self.drop_empty(item)
            return
        content: Json
        if len(blocks) == 1 and isinstance(blocks[0], Text):
            content = blocks[0].text
        else:
            content = [_part(block) for block in blocks]
        self.messages.append({"type": "message", "role": "user", "content": content})

    def assistant(self, items: tuple[Item, ...], blocks: list[Block], calls: Sequence[Call]) -> None:
        """Write the items of one response: reasoning, message, calls (X20)."""
        item = items[0]
        reasoning = reasoning_of(items, self.context)
        spoken = self._spoken(item, blocks)
        called = [self._function_call(call) for call in calls]
        if not spoken and not called:
            if reasoning:
                self.report.loss("X13", "warning", item, "reasoning is not sent: the item that it belongs to is empty")
            else:
                self.drop_empty(item)
            return
        follower = (spoken + called)[0]
        self.messages += self._reasoning_items(item, reasoning, follower)
        self.messages += spoken
        self.messages += called

    def results(self, outcome: list[Outcome]) -> None:
        """Write one output item per call."""
        for call, blocks, is_error in outcome:
            output: Json
            if len(blocks) == 1 and type(blocks[0]) is Text and not is_error:
                output = blocks[0].text
            elif any(isinstance(block, Image | File | Audio) for block in blocks):
                parts = [_part(block) for block in blocks if plain_text(block) != ""]
                if is_error and call.result is not None:
                    text = with_error_prefix("", self.context, call.result)
                    parts.insert(0, {"type": "input_text", "text": text})
                output = parts
            else:
                output = join_text(blocks)
                if is_error and call.result is not None:
                    output = with_error_prefix(output, self.context, call.result)
            self.messages.append({"type": "function_call_output", "call_id": call.id, "output": output})

    def system_slot(self, item: Item, text: str) -> None:
        """Write leading system text as instructions."""
        if self._instructions:
            self.report.repair(
                "X9", item, "merged", "the texts of the leading system entries are joined as instructions"
            )
        self._instructions.append(text)

    def system_in_place(self, item: Item, text: str) -> bool:
        """Write a system message item."""
        role = "developer" if self.capabilities.developer_role else "system"
        self.messages.append({"type": "message", "role": role, "content": text})
        return True

    # --- the end ------------------------------------------------------------------------------------------------------

    def body(self) -> dict[str, Json]:
        """Return `{"input": [...]}`, with `instructions` where there are any."""
        if not self.messages:
            text = self.stand_in("X18", "start", "the vendor wants an input item; a placeholder stands for it")
            self.messages.append({"type": "message", "role": "user", "content": text})
        if not self._instructions:
            return {"input": self.messages}
        return {"instructions": "\n\n".join(self._instructions), "input": self.messages}

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _spoken(self, item: Item, blocks: list[Block]) -> list[dict[str, Json]]:
        """Return message items for text, and this vendor's own items where they stood."""
        spoken: list[dict[str, Json]] = []
        texts: list[str] = []
        joined = 0

        def flush() -> None:
            if texts:
                spoken.append(self._message(item, "\n\n".join(texts)))
                texts.clear()

        for block in blocks:
            if isinstance(block, VendorBlock):
                flush()
                spoken.append(block.value)
            elif text := plain_text(block):
                joined += bool(texts)
                texts.append(text)
        flush()
        if joined:
            self.report.repair("X8", item, "merged", "several text blocks are sent as one text")
        return spoken

    def _message(self, item: Item, text: str) -> dict[str, Json]:
        message: dict[str, Json] = {"type": "message", "role": "assistant", "content": text}
        phase = item.entry.message.extra.get("phase")
        if phase in ("commentary", "final_answer"):
            # Dropping it degrades newer models (openai SDK 3.57.0, EasyInputMessageParam.phase).
            message["phase"] = phase
        return message

    def _function_call(self, call: Call) -> dict[str, Json]:
        arguments = arguments_text(call.call, call.item, self.context)
        part: dict[str, Json] = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
        item_id = call.call.item_id
        if item_id is not None and self.capabilities.stored and self._own(call.item) and self._new_id("fc_", item_id):
            part["id"] = item_id
        return part

    def _new_id(self, prefix: str, item_id: str) -> bool:
        """Take an item id, or say that it is not one or is taken."""
        if not item_id.startswith(prefix) or not _ITEM_ID.fullmatch(item_id) or item_id in self._item_ids:
            return False
        self._item_ids.add(item_id)
        return True

    def _own(self, item: Item) -> bool:
        message = item.entry.message
        origin = message.origin if isinstance(message, Assistant) else None
        return origin is not None and foreign(origin.vendor, origin.model, origin.scope, True, self.context) is None

    def _reasoning_items(self, item: Item, reasoning: list[Reasoning], follower: Json) -> list[dict[str, Json]]:
        found: list[dict[str, Json]] = []
        for part in reasoning:
            if part.id is None or not part.id.startswith("rs_") or part.id in self._item_ids:
                self.report.loss("X13", "warning", item, "reasoning is not sent: it has no item id of its own")
            elif part.data is None and "id" not in follower:
                self.report.loss("X13", "warning", item, "reasoning is not sent: the item behind it is not known there")
            else:
                self._item_ids.add(part.id)
                summary = [{"type": "summary_text", "text": part.text}] if part.text else []
                found.append({"type": "reasoning", "id": part.id, "summary": summary})
                if part.data is not None:
                    found[-1]["encrypted_content"] = part.data
        return found


def _part(block: Block) -> Json:
    if isinstance(block, Image):
        return {"type": "input_image", "detail": "auto", "image_url": data_url(block)}
    if isinstance(block, File):
        if block.url is not None:
            return {"type": "input_file", "file_url": block.url}
        return {"type": "input_file", "filename": block.name or "document", "file_data": data_url(block)}
    if isinstance(block, VendorBlock):
        return block.value
    return {"type": "input_text", "text": plain_text(block)}


def shape(context: Context, names: frozenset[str]) -> ResponsesShaper:
    """Start shaping a payload."""
    return ResponsesShaper(context, names)


PROJECTION = Projection(
    id="openai-responses",
    title="OpenAI Responses",
    api="POST /v1/responses",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://platform.openai.com/docs/api-reference/responses/create",),
    origins=frozenset(("openai", "azure-responses")),
    capabilities=Capabilities(),
)
