"""Cohere, chat v2.

Documentation, read 2026-11-30:
- https://docs.cohere.com/reference/chat
- cohere SDK 7.3.1, `cohere.types.ChatMessageV2`
Text beside tool calls is the `tool_plan`.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sidecar.core.messages import Reasoning
from sidecar.wire.base import Item
from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.passes.shaper import Call, Message
from sidecar.wire.projection import Capabilities, Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    call_ids="any",
    empty_messages=False,
    participant_names=False,
    content="mixed",
    calls_only="absent",
    refusals=False,
    reasoning="text",
    media={"image": openai_chat.RULES.media["image"]},
    sources={
        "X1": ("https://github.com/oracle/langchain-oracle/issues/10",),
        "X6": ("https://github.com/langchain-ai/langchain-cohere/pull/15",),
    },
)


class CohereShaper(ChatShaper):
    """Shapes `{"messages": [...]}` with a `tool_plan`."""

    PLACES_TEXT = True

    def put_reasoning(
        self, message: Message, reasoning: list[Reasoning], items: tuple[Item, ...], calls: Sequence[Call]
    ) -> None:
        """Write the text beside calls as the plan, and thinking as a content part where the model thinks."""
        content = message.pop("content", None)
        if content and calls:
            message["tool_plan"] = content
        text = "".join(part.text or "" for part in reasoning)
        if text:
            parts = [{"type": "thinking", "thinking": text}]
            message["content"] = parts if calls or not content else [*parts, {"type": "text", "text": content}]
        elif content is not None and not calls:
            message["content"] = content


def shape(context: Context, names: frozenset[str]) -> CohereShaper:
    """Start shaping a payload."""
    return CohereShaper(context, names)


PROJECTION = Projection(
    id="cohere",
    title="Cohere",
    api="POST /v2/chat",
    documentation=("https://docs.cohere.com/reference/chat",),
    capabilities=Capabilities(thinking=False),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
