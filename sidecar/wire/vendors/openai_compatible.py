"""Servers that speak the chat-completions wire with a chat template behind it: vLLM, SGLang, llama.cpp, MLX, TGI.

Documentation, read 2026-11-30:
- https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
The template of the model decides what is legal, so this profile is what the strictest known templates accept: one
system message at the front, strict alternation, text results, no null content. `capabilities.strictTemplate: false`
lifts it.
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
    calls_only="empty",
    refusals=False,
    media={"image": openai_chat.RULES.media["image"], "audio": openai_chat.RULES.media["audio"]},
    sources={
        "X6": ("https://github.com/cubist38/mlx-openai-server/pull/205", "https://github.com/ochafik/minja/pull/13"),
        "X7": ("https://github.com/local-inference-lab/vllm/issues/684",),
        "X8": ("https://github.com/strands-agents/harness-sdk/pull/1878",),
        "X9": (
            "https://github.com/vllm-project/vllm/issues/41114",
            "https://github.com/suitenumerique/conversations/issues/197",
        ),
        "X12": ("https://github.com/suitenumerique/conversations/issues/197",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="openai-compatible",
    title="OpenAI-compatible server with a chat template",
    api="POST /v1/chat/completions",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",),
    aliases=("vllm",),
    capabilities=Capabilities(strict_template=True, tool_result_images=False),
)
