"""Mistral.

Documentation, read 2026-11-30:
- https://docs.mistral.ai/api
- mistral-common 1.13.1, `mistral_common.protocol.instruct.validator` (the vendor's own rule code)
Call ids have nine letters or digits for tokenizers v3 to v11; v13 and later take any, so nine are always legal. An
assistant message stands between tool results and user text, which the hosted API still wants.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Reasoning
from sidecar.wire.base import Item
from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.passes.shaper import Call, Message
from sidecar.wire.projection import Capabilities, Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    system="front",
    first="user",
    last="prefix",
    bridge=True,
    call_ids="alnum9",
    empty_messages=False,
    participant_names=False,
    content="mixed",
    calls_only="empty",
    refusals=False,
    reasoning="text",
    media={"image": openai_chat.RULES.media["image"]},
    sources={
        "X2": ("https://github.com/charmbracelet/crush/issues/279",),
        "X4": ("https://github.com/anomalyco/opencode/issues/1680",),
        "X6": ("https://github.com/OpenHands/OpenHands/issues/8685",),
        "X10": ("https://github.com/0xPlaygrounds/rig/issues/708",),
        "X15": ("https://github.com/LibreChat-AI/agents/issues/344",),
        "X19": ("https://github.com/BerriAI/litellm/issues/6696",),
        "X21": (
            "https://github.com/datapizza-labs/datapizza-ai/issues/98",
            "https://github.com/NousResearch/hermes-agent/pull/84944",
        ),
    },
)


class MistralShaper(ChatShaper):
    """Shapes `{"messages": [...]}` with bridges and thinking chunks."""

    def tool_message(self, call: Call, content: Json) -> Message:
        """Return the message for one result, which names its tool."""
        return {"role": "tool", "name": call.name, "tool_call_id": call.id, "content": content}

    def put_reasoning(
        self, message: Message, reasoning: list[Reasoning], items: tuple[Item, ...], calls: Sequence[Call]
    ) -> None:
        """Write reasoning as a thinking chunk at the front of the content."""
        # A chunk of unknown make stays here: only thinking that is known to be Mistral's is a thinking chunk.
        origins = [item.entry.message.origin for item in items if isinstance(item.entry.message, Assistant)]
        own = [part for part in reasoning if part.vendor is not None or any(origins)]
        if len(own) < len(reasoning):
            self.report.loss("X13", "info", items[0], "reasoning is not sent: it is not known to be this vendor's")
        text = "".join(part.text or "" for part in own)
        if not text:
            return
        content = message.get("content")
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        message["content"] = [thinking, {"type": "text", "text": content}] if content else [thinking]


def shape(context: Context, names: frozenset[str]) -> MistralShaper:
    """Start shaping a payload."""
    return MistralShaper(context, names)


PROJECTION = Projection(
    id="mistral",
    title="Mistral",
    api="POST /v1/chat/completions",
    documentation=("https://docs.mistral.ai/api",),
    origins=frozenset(("mistralai",)),
    capabilities=Capabilities(thinking=False),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
