"""Groq.

Documentation, read 2026-11-30:
- https://console.groq.com/docs/api-reference
- groq SDK 1.7.0, `groq.types.chat.ChatCompletionMessageParam`
Unknown keys are refused, `reasoning_content` among them; `reasoning` is sent for models that are known to take it.
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Capabilities, Context, Projection
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
        "X13": ("https://github.com/janhq/jan/issues/8136", "https://github.com/musistudio/llms/pull/64"),
        "X17": ("https://github.com/janhq/jan/issues/8136",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="groq",
    title="Groq",
    api="POST /openai/v1/chat/completions",
    documentation=("https://console.groq.com/docs/api-reference",),
    capabilities=Capabilities(thinking=False),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
