"""Azure OpenAI, chat completions: the rules of `openai_chat`.

Documentation, read 2026-11-30:
- https://learn.microsoft.com/azure/ai-foundry/openai/reference
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    sources={**openai_chat.RULES.sources, "X2": ("https://github.com/microsoft/semantic-kernel/issues/12708",)},
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="azure-openai",
    title="Azure OpenAI Chat Completions",
    api="POST /openai/deployments/{deployment}/chat/completions",
    documentation=("https://learn.microsoft.com/azure/ai-foundry/openai/reference",),
    aliases=("azure",),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
