"""Ollama, its own chat API.

Documentation, read 2026-11-30:
- https://docs.ollama.com/api/chat
- ollama SDK 0.6.3, `ollama.Message`
Arguments are objects, content is a string, images are bare base64, results name their tool instead of an id. What the
model's template allows differs, so the strictest is the default (`capabilities.strictTemplate: false` lifts it).
"""

from __future__ import annotations

from attrs import evolve

from sidecar.core.jsontext import Json
from sidecar.core.messages import Block, Image, Text
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_object
from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.passes.shaper import Call, Message
from sidecar.wire.projection import Capabilities, Context, MediaRule, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    system="leading",
    first="user",
    call_ids="none",
    empty_messages=False,
    participant_names=False,
    calls_only="empty",
    content="string",
    arguments="object",
    refusals=False,
    reasoning="text",
    reasoning_key="thinking",
    media={"image": MediaRule(places=frozenset(("user",)), urls=False)},
    sources={
        "X7": ("https://github.com/aliasrobotics/cai/issues/76",),
        "X8": ("https://github.com/BerriAI/litellm/issues/11273",),
        "X9": ("https://github.com/ollama/ollama/issues/17774",),
        "X15": ("ollama SDK 0.6.3 Message.images",),
    },
)


class OllamaShaper(ChatShaper):
    """Shapes `{"messages": [...]}` of Ollama's own kind."""

    def user_message(self, item: Item, blocks: list[Block]) -> Message:
        """Return a user message: text and, beside it, images."""
        images = [block.data for block in blocks if isinstance(block, Image)]
        rest: list[Block] = [block for block in blocks if not isinstance(block, Image)]
        message: Message = {"role": "user", "content": self.content(item, rest or [Text("")], parts=False)}
        if images:
            message["images"] = images
        return message

    def tool_call(self, call: Call) -> Json:
        """Return one call; the wire has no ids, results follow in call order."""
        return {"function": {"name": call.name, "arguments": arguments_object(call.call, call.item, self.context)}}

    def tool_message(self, call: Call, content: Json) -> Message:
        """Return the message for one result."""
        return {"role": "tool", "tool_name": call.name, "content": content}


def shape(context: Context, names: frozenset[str]) -> OllamaShaper:
    """Start shaping a payload."""
    return OllamaShaper(context, names)


PROJECTION = Projection(
    id="ollama",
    title="Ollama",
    api="POST /api/chat",
    documentation=("https://docs.ollama.com/api/chat",),
    capabilities=Capabilities(strict_template=True, tool_result_images=False),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
