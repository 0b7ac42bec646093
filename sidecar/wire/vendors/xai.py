"""xAI.

Documentation, read 2026-11-30:
- https://docs.x.ai/docs/api-reference
Every message wants a content element, `""` on messages with nothing but calls; `name` is refused.
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Context, MediaRule, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    call_ids="any",
    empty_messages=False,
    participant_names=False,
    content="mixed",
    calls_only="empty",
    refusals=False,
    media={
        "image": MediaRule(places=frozenset(("user",)), types=frozenset(("image/jpeg", "image/png"))),
    },
    sources={
        "X6": (
            "https://github.com/langchain-ai/langchain/issues/34140",
            "https://github.com/AstrBotDevs/AstrBot/issues/6447",
        ),
        "X19": ("litellm 1.110.2 xai/chat/transformation strip_name_from_messages",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="xai",
    title="xAI",
    api="POST /v1/chat/completions",
    documentation=("https://docs.x.ai/docs/api-reference",),
    origins=frozenset(("grok",)),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
