"""How large an input was, read from the usage object of any vendor, with nothing counted twice.

Rules:
- The number is the size of the context, not what the request cost: where a vendor adds several passes of one request
  up, the last (or first complete) pass counts (tokens.md §2.2).
- Whether cached tokens are part of the input number or beside it depends on the shape: OpenAI's shapes, Gemini's and
  Ollama's include them; Anthropic's and Bedrock's do not.
- The shape decides, not the vendor alone: gateways answer in other vendors' shapes.
- A count that is there but is no count (negative, a fraction, a text) is refused: taking it for absent would record a
  smaller context than there is. `null` is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json

LARGEST_COUNT: Final = 2**53 - 1
"""The largest integer of the protocol."""

_WRAPPERS: Final = ("usage", "usageMetadata", "usage_metadata", "response")

_BESIDE: Final = ("anthropic-messages", "anthropic", "claude")
"""Vendors in whose `input_tokens` cached tokens are not contained even where the cache keys are missing."""

_INCLUDING: Final = (
    "initial_prompt_token_count",  # google-genai: the first request of a continued decode
    "promptTokenCount",
    "prompt_token_count",
    "prompt_tokens",
    "prompt_eval_count",
)
"""Keys whose number is the whole input, in the order in which they win."""


def input_tokens(usage: Mapping[str, Json], vendor: str) -> int:
    """Return the total input tokens of a raw usage object, tokens read from and written to a cache included.

    `usage` may also be the object around it. Raises `InvalidParams` where it holds no input size, or an impossible one.
    """
    for _ in range(3):
        total = _total(usage, vendor)
        if total is not None:
            if total > LARGEST_COUNT:
                raise InvalidParams.at("/usage", "adds up to more tokens than a number can say")
            return total
        inner = next((usage[key] for key in _WRAPPERS if isinstance(usage.get(key), Mapping)), None)
        if inner is None:
            break
        usage = inner
    raise InvalidParams.at("/usage", "holds no number of input tokens")


def _total(usage: Mapping[str, Json], vendor: str) -> int | None:
    if vendor in _BESIDE or "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage:
        total = _anthropic(usage)
        # A gateway in front of Claude reports OpenAI's sum as well, which includes the cache.
        if total is not None and _number(usage, "prompt_tokens") is None:
            return total
    for key in _INCLUDING:
        number = _number(usage, key)
        if number is not None:
            return number
    if "inputTokens" in usage:  # Bedrock
        return _sum(usage, "inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    if "input_tokens" in usage:
        return _number(usage, "input_tokens")
    hit_and_miss = _sum(usage, "prompt_cache_hit_tokens", "prompt_cache_miss_tokens")  # DeepSeek
    if hit_and_miss is not None:
        return hit_and_miss
    for key in ("tokens", "billed_units"):  # Cohere; billed units leave out what is free
        inner = usage.get(key)
        if isinstance(inner, Mapping):
            number = _number(inner, "input_tokens")
            if number is not None:
                return number
    return None


def _anthropic(usage: Mapping[str, Json]) -> int | None:
    iterations = usage.get("iterations")
    if isinstance(iterations, list):
        # The top level sums all sampling passes of a server-tool loop; the context is what the last one saw.
        passes = [each for each in iterations if isinstance(each, Mapping) and each.get("type", "message") == "message"]
        if passes:
            usage = passes[-1]
    return _sum(usage, "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _sum(usage: Mapping[str, Json], *keys: str) -> int | None:
    numbers = [number for number in (_number(usage, key) for key in keys) if number is not None]
    return sum(numbers) if numbers else None


def _number(usage: Mapping[str, Json], key: str) -> int | None:
    value = usage.get(key)
    if value is None:
        return None
    # Some languages have one kind of number and write 7.0.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_COUNT:
        raise InvalidParams.at("/usage", f"{key} is not a number of tokens")
    if value != int(value):
        raise InvalidParams.at("/usage", f"{key} is not a number of tokens")
    return int(value)
