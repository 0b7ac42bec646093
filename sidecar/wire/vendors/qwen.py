"""Qwen through DashScope's OpenAI-compatible endpoint (Alibaba Cloud Model Studio).

Documentation, read 2026-11-30:
- https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference
System text stands first only; arguments must parse as JSON; the service may refuse a history in which the same call
is repeated, which is reported and not hidden.
"""

from __future__ import annotations

from attrs import evolve

from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Context, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    system="leading",
    first="user",
    call_ids="any",
    empty_messages=False,
    participant_names=False,
    content="mixed",
    refusals=False,
    reasoning="text",
    reasoning_key="reasoning_content",
    repeats=3,
    media={"image": openai_chat.RULES.media["image"], "audio": openai_chat.RULES.media["audio"]},
    sources={
        "X1": ("https://github.com/sigoden/aichat/pull/993",),
        "X7": ("https://github.com/HKUDS/nanobot/issues/1487",),
        "X9": ("https://github.com/vllm-project/vllm/issues/41114", "https://github.com/ollama/ollama/issues/17774"),
        "X22": ("https://github.com/QwenLM/qwen-code/issues/5237",),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="qwen",
    title="Qwen (DashScope)",
    api="POST /compatible-mode/v1/chat/completions",
    documentation=("https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference",),
    aliases=("dashscope",),
    origins=frozenset(("alibaba",)),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
