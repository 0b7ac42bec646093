"""Kimi (Moonshot AI).

Documentation, read 2026-11-30:
- https://platform.moonshot.ai/docs/api/chat
While thinking, every assistant message with tool calls must carry `reasoning_content`.
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
    reasoning_key="reasoning_content",
    reasoning_on_calls=" ",
    media={"image": openai_chat.RULES.media["image"]},
    sources={
        "X8": ("https://github.com/strands-agents/harness-sdk/pull/1878",),
        "X13": (
            "https://github.com/continuedev/continue/issues/11600",
            "https://github.com/can1357/oh-my-pi/pull/1839",
        ),
    },
)


def shape(context: Context, names: frozenset[str]) -> ChatShaper:
    """Start shaping a payload."""
    return ChatShaper(context, names)


PROJECTION = Projection(
    id="kimi",
    title="Kimi",
    api="POST /v1/chat/completions",
    documentation=("https://platform.moonshot.ai/docs/api/chat",),
    aliases=("moonshot",),
    origins=frozenset(("moonshotai",)),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
