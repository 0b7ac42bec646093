"""OpenRouter.

Documentation, read 2026-11-30:
- https://openrouter.ai/docs/api-reference/chat-completion
- https://openrouter.ai/docs/use-cases/reasoning-tokens
- openrouter SDK 1.3.84, `openrouter.components.ChatAssistantMessage`
Reasoning goes back as `reasoning_details`, unmodified, on the message that it came with; an id in it that names a call
follows the call. Cache markers stand inside content parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sidecar.core.jsontext import Json
from sidecar.core.messages import Reasoning
from sidecar.wire.base import Item
from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.passes.shaper import Call, Message
from sidecar.wire.projection import Context, MediaRule, Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(
    openai_chat.RULES,
    empty_messages=False,
    participant_names=False,
    refusals=False,
    reasoning="details",
    media={
        "image": openai_chat.RULES.media["image"],
        "file": MediaRule(places=frozenset(("user",)), types=frozenset(("application/pdf",))),
        "audio": openai_chat.RULES.media["audio"],
    },
    cache_markers=True,
    sources={
        "X4": ("https://github.com/UKGovernmentBEIS/inspect_ai/pull/3987",),
        "X13": (
            "https://github.com/microsoft/agent-framework/issues/2947",
            "https://github.com/earendil-works/pi/issues/9534",
        ),
        "X16": ("litellm 1.110.2 openrouter/chat/transformation",),
    },
)


class OpenRouterShaper(ChatShaper):
    """Shapes `{"messages": [...]}` with `reasoning_details`."""

    PLACES_TEXT = True

    def put_reasoning(
        self, message: Message, reasoning: list[Reasoning], items: tuple[Item, ...], calls: Sequence[Call]
    ) -> None:
        """Write recorded details as they came, and plain reasoning as `reasoning`."""
        ids = {call.call.id: call.id for call in calls}
        details = []
        for part in reasoning:
            if part.vendor is None and part.signature is None and part.data is None and "type" not in part.extra:
                message["reasoning"] = message.get("reasoning", "") + (part.text or "")
            elif calls and part.id and part.id not in ids and _names_a_call(part):
                self.report.loss(
                    "X13", "warning", items[0], "reasoning that belongs to a call that is gone is not sent"
                )
            else:
                details.append(_detail(part, ids))
        if details:
            message["reasoning_details"] = details
        elif calls and "gemini-3" in (self.context.options.model or ""):
            self.report.loss(
                "X13", "warning", items[0], "the model wants its reasoning details back; none were recorded"
            )


def _names_a_call(part: Reasoning) -> bool:
    """Say whether the id of an encrypted detail is that of a call: Gemini's are, OpenAI's name a reasoning item."""
    form = part.extra.get("format")
    if isinstance(form, str):
        return form.startswith("google")
    return part.data is not None and not (part.id or "").startswith("rs_")


def _detail(part: Reasoning, ids: dict[str, str]) -> Json:
    kind = part.extra.get("type")
    if not isinstance(kind, str):
        kind = "reasoning.encrypted" if part.data is not None else "reasoning.text"
    detail: dict[str, Json] = {"type": kind}
    if part.text is not None:
        detail["summary" if kind == "reasoning.summary" else "text"] = part.text
    if part.data is not None:
        detail["data"] = part.data
    if part.signature is not None:
        detail["signature"] = part.signature
    if part.id is not None:
        detail["id"] = ids.get(part.id, part.id)
    for key in ("format", "index"):
        if key in part.extra:
            detail[key] = part.extra[key]
    return detail


def shape(context: Context, names: frozenset[str]) -> OpenRouterShaper:
    """Start shaping a payload."""
    return OpenRouterShaper(context, names)


PROJECTION = Projection(
    id="openrouter",
    title="OpenRouter",
    api="POST /api/v1/chat/completions",
    documentation=("https://openrouter.ai/docs/api-reference/chat-completion",),
    rules=RULES,
    shape=shape,
    read="2026-11-30",
)
