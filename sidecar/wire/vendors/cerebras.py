"""Cerebras.

Documentation, read 2026-11-30:
- https://inference-docs.cerebras.ai/api-reference/chat-completions
- cerebras-cloud-sdk 1.91.0, `cerebras.cloud.sdk.types.chat.completion_create_params`
Unknown keys are refused; reasoning goes back as `reasoning`.
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
    content="mixed",
    refusals=False,
    reasoning="text",
    reasoning_key="reasoning",
    media={"image": openai_chat.RULES.media["image"]},
    sources={
        "X13": ("https://github.com/QwenLM/qwen-code/issues/11045",),
        "X17": ("https://github.com/QwenLM/qwen-code/issues/11045",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="cerebras",
    title="Cerebras",
    api="POST /v1/chat/completions",
    documentation=("https://inference-docs.cerebras.ai/api-reference/chat-completions",),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
