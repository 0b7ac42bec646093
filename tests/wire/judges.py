"""Both judges of payloads as one question, and the models that they are asked about."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import HealthCheck, Phase, settings

from tests.wire.validators import rules, shapes

HOSTILE = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

MODELS: dict[str, tuple[str, ...]] = {
    "anthropic-messages": ("claude-sonnet-4", "claude-sonnet-4-5", "claude-opus-5-5"),
    "bedrock-converse": ("anthropic.claude-sonnet-4-20250514-v1:0", "amazon.nova-pro-v1:0"),
    "gemini": ("gemini-2.5-pro", "gemini-3-pro"),
    "deepseek": ("deepseek-v4",),
    "kimi": ("kimi-k2.5",),
    "mistral": ("mistral-large-latest", "magistral-medium-latest"),
    "openrouter": ("google/gemini-3-pro", "anthropic/claude-sonnet-4.5"),
    "openai-chat": ("gpt-4o", "gpt-5"),
    "glm": ("glm-4.7",),
    "groq": ("openai/gpt-oss-120b",),
}

FACTS: dict[str, dict[str, Any]] = {
    "claude-sonnet-4": {"prefill": True, "systemInTurns": False},
    "claude-sonnet-4-5": {"prefill": True, "systemInTurns": False},
    "claude-opus-5-5": {"prefill": False, "systemInTurns": True},
}
"""What the vendors' pages say of a model, for the judge."""


def found(vendor: str, body: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    """Return what both judges have against a payload; the SDK's part is left out where it is not installed."""
    problems = [f"{one.rule} {one.path}: {one.problem}" for one in rules.judge(vendor, body, **facts)]
    if shapes.covered(vendor):
        with contextlib.suppress(shapes.Missing):
            problems += shapes.problems(vendor, body)
    return problems
