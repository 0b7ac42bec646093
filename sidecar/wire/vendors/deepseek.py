"""DeepSeek.

Documentation, read 2026-11-30:
- https://api-docs.deepseek.com/api/create-chat-completion
- https://api-docs.deepseek.com/guides/thinking_mode
Thinking is on by default. Reasoning of turns with tool calls must come back in all later requests; of turns without
calls it is ignored, so it is sent alike and the prefix stays stable. `thinking: false` leaves the key out.
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    call_ids="any",
    empty_messages=False,
    participant_names=False,
    calls_only="empty",
    content="string",
    refusals=False,
    reasoning="text",
    reasoning_key="reasoning_content",
    reasoning_on_calls=" ",
    reasoning_always=True,
    media={},
    sources={
        "X1": ("https://github.com/gptme/gptme/issues/3421",),
        "X8": ("https://github.com/lastmile-ai/mcp-agent/issues/25",),
        "X12": ("https://github.com/open-webui/open-webui/issues/9266",),
        "X13": (
            "https://api-docs.deepseek.com/guides/thinking_mode",
            "https://github.com/anomalyco/opencode/issues/24135",
            "https://github.com/langchain-ai/langchain/issues/34199",
        ),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="deepseek",
    title="DeepSeek",
    api="POST /chat/completions",
    documentation=("https://api-docs.deepseek.com/api/create-chat-completion",),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
