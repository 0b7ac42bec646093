"""GLM (Z.ai, Zhipu).

Documentation, read 2026-11-30:
- https://docs.z.ai/api-reference/llm/chat-completion
- https://docs.z.ai/guides/capabilities/thinking-mode.md
Thinking is on by default from GLM 4.7 on; with tools the reasoning must come back complete, unmodified, in order.
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    first="user",
    call_ids="any",
    empty_messages=False,
    participant_names=False,
    content="mixed",
    calls_only="empty",
    refusals=False,
    reasoning="text",
    reasoning_key="reasoning_content",
    media={"image": openai_chat.RULES.media["image"]},
    sources={
        "X3": ("https://github.com/MetaGLM/zhipuai-sdk-python-v4/issues/14",),
        "X13": ("https://docs.z.ai/guides/capabilities/thinking-mode.md",),
        "X18": ("https://github.com/anomalyco/opencode/issues/2557", "https://github.com/HKUDS/nanobot/pull/3086"),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="glm",
    title="GLM (Z.ai)",
    api="POST /api/paas/v4/chat/completions",
    documentation=("https://docs.z.ai/api-reference/llm/chat-completion",),
    aliases=("zai",),
    origins=frozenset(("zhipu", "zhipuai")),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
