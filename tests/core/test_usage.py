"""The size of an input from the usage object of every vendor."""

from __future__ import annotations

from typing import Any

import pytest

from sidecar.core.errors import InvalidParams
from sidecar.core.usage import input_tokens

OPENAI = {"prompt_tokens": 1000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 900}}
RESPONSES = {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 900}, "output_tokens": 9}
CLAUDE = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 9}
GEMINI = {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 9, "totalTokenCount": 1009}
BEDROCK = {"inputTokens": 10, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 90, "outputTokens": 9}

CASES: list[tuple[str, dict[str, Any]]] = [
    *((vendor, OPENAI) for vendor in ("openai-chat", "azure-openai", "mistral", "qwen", "glm", "xai", "groq")),
    *((vendor, OPENAI) for vendor in ("cerebras", "openai-compatible", "openrouter", "kimi", "deepseek", "ollama")),
    ("openai-responses", RESPONSES),
    ("azure-openai", RESPONSES),
    ("anthropic-messages", CLAUDE),
    ("anthropic-messages", {"input_tokens": 1000, "output_tokens": 2}),
    ("anthropic-messages", {"input_tokens": 1000, "cache_read_input_tokens": None}),
    ("kimi", CLAUDE),
    ("openrouter", {**CLAUDE, "prompt_tokens": 1000}),
    ("bedrock-converse", BEDROCK),
    ("gemini", GEMINI),
    ("gemini", {"prompt_token_count": 3000, "initial_prompt_token_count": 1000}),
    ("ollama", {"prompt_eval_count": 1000, "eval_count": 3}),
    ("cohere", {"billed_units": {"input_tokens": 5}, "tokens": {"input_tokens": 1000, "output_tokens": 2}}),
    ("deepseek", {"prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 100}),
    ("openai-chat", {"id": "x", "usage": OPENAI}),
    ("gemini", {"usageMetadata": GEMINI}),
    (
        "anthropic-messages",
        {
            "input_tokens": 1990,
            "iterations": [
                {"type": "message", "input_tokens": 990},
                {"type": "message", "input_tokens": 100, "cache_read_input_tokens": 900},
                {"type": "compaction", "input_tokens": 77},
            ],
        },
    ),
]


@pytest.mark.parametrize(("vendor", "usage"), CASES)
def test_cached_tokens_are_counted_once(vendor: str, usage: dict[str, Any]) -> None:
    """Every case describes an input of 1000 tokens of which 900 came from a cache."""
    assert input_tokens(usage, vendor) == 1000


@pytest.mark.parametrize("bad", [-4, "9", True, 1.5, [1], {}, 2**53])
def test_an_impossible_count_is_refused(bad: Any) -> None:
    """Beside a good one as well: taken for absent, it would make the context smaller than it is."""
    with pytest.raises(InvalidParams):
        input_tokens({"input_tokens": 5, "cache_read_input_tokens": bad}, "anthropic-messages")


def test_a_sum_that_no_number_can_say_is_refused() -> None:
    """Each count is legal, the whole is not."""
    with pytest.raises(InvalidParams):
        input_tokens({"input_tokens": 1, "cache_read_input_tokens": 2**53 - 1}, "anthropic-messages")


@pytest.mark.parametrize("other", [None, 0, 0.0])
def test_no_cache_may_be_said_in_several_ways(other: Any) -> None:
    """Absent, zero and null are one."""
    assert input_tokens({"input_tokens": 5, "cache_read_input_tokens": other}, "anthropic-messages") == 5


@pytest.mark.parametrize(
    "usage", [{}, {"prompt_tokens": "12"}, {"prompt_tokens": -1}, {"input_tokens": True}, {"usage": {"usage": {}}}]
)
def test_nothing_is_guessed(usage: dict[str, Any]) -> None:
    """Without a number there is an error, never a zero."""
    with pytest.raises(InvalidParams):
        input_tokens(usage, "openai-chat")
