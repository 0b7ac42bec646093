"""OpenAI Chat Completions.

Documentation, read 2026-11-30:
- https://platform.openai.com/docs/api-reference/chat/create
- openai SDK 3.57.0, `openai.types.chat.ChatCompletionMessageParam`
Where the two are silent, the public reports named in `RULES.sources` decide.
"""

from __future__ import annotations

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import IMAGE_TYPES, Capabilities, Context, MediaRule, Projection, Rules

RULES = Rules(
    system="anywhere",
    call_ids="openai",
    empty_messages=True,
    calls_only="null",
    content="parts",
    participant_names=True,
    refusals=True,
    media={
        "image": MediaRule(places=frozenset(("user",)), types=IMAGE_TYPES),
        "file": MediaRule(places=frozenset(("user",)), types=frozenset(("application/pdf",)), urls=False),
        "audio": MediaRule(places=frozenset(("user",)), types=frozenset(("audio/wav", "audio/mpeg")), urls=False),
    },
    sources={
        "X1": ("https://github.com/tidyverse/ellmer/issues/459",),
        "X2": (
            "https://github.com/BerriAI/litellm/issues/4931",
            "https://github.com/langchain-ai/langchain/issues/33245",
        ),
        "X4": ("https://github.com/vercel/ai/issues/5171", "https://github.com/agno-agi/agno/issues/5382"),
        "X6": (
            "https://github.com/run-llama/llama_index/pull/17921",
            "https://github.com/vercel/ai/issues/13744",
            "https://github.com/openai/openai-node/pull/1341",
        ),
        "X7": ("https://github.com/agno-agi/agno/issues/8971",),
        "X8": ("https://github.com/pydantic/pydantic-ai/issues/2653",),
        "X15": (
            "https://github.com/OpenHands/OpenHands/issues/7700",
            "https://github.com/openai/openai-node/issues/1030",
            "https://github.com/openai/openai-openapi/issues/523",
        ),
        "X19": ("https://github.com/microsoft/semantic-kernel/issues/9340",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="openai-chat",
    title="OpenAI Chat Completions",
    api="POST /v1/chat/completions",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://platform.openai.com/docs/api-reference/chat/create",),
    aliases=("openai",),
    capabilities=Capabilities(),
)
