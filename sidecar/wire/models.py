"""What a model can do, where it differs from its vendor's default: one table with sources.

Rules: rows are read in order and later ones win; a row applies where its vendor matches (none named: any vendor) and
its pattern matches the start of the model name without route and date. The caller's `capabilities` win over the table.
A model that no row knows gets the vendor's default, which is what the strictest known model of it accepts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from attrs import evolve, fields, frozen

from sidecar.core.errors import InvalidParams
from sidecar.wire.passes.identifiers import FORMATS
from sidecar.wire.passes.reasoning import model_family
from sidecar.wire.projection import Capabilities


@frozen
class Row:
    """What is known of some models of some vendors; no vendor means whichever serves the model."""

    vendors: tuple[str, ...]
    models: str
    capabilities: Mapping[str, Any]
    source: str


_ANTHROPIC: Final = ("anthropic-messages", "bedrock-converse")
_OPENAI: Final = ("openai-chat", "azure-openai", "openai-responses")
_CLAUDE_OLD: Final = (
    r"claude-(instant|v?[123](?!\d)|(opus|sonnet|haiku)-4(-[0-5])?$|(opus|sonnet|haiku)-[34](?!-[6-9])(-\d)?$)"
)

MODELS: Final[tuple[Row, ...]] = (
    # The newest Claude models are the default of the vendor; older ones take a prefill and check no prefix.
    Row(
        _ANTHROPIC,
        _CLAUDE_OLD,
        {"prefill": True, "preserved_thinking": False},
        "https://github.com/langchain-ai/deepagents/issues/1585 (prefill is refused from the 4.6 family on)",
    ),
    Row(
        _ANTHROPIC,
        r"claude-(opus|sonnet|haiku)-4-[6-9]",
        {"preserved_thinking": False},
        "https://platform.claude.com/docs/build-with-claude/preserved-thinking",
    ),
    Row(
        ("anthropic-messages",),
        r"claude-(opus-4-[89]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))",
        {"system_in_turns": True},
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
    ),
    Row(
        ("bedrock-converse",),
        r"(nova|titan|llama|mistral|mixtral|command|jamba|ai21)",
        {"thinking": False, "prefill": False},
        "https://github.com/BerriAI/litellm/issues/9063 (reasoning content is refused by models without thinking)",
    ),
    Row(
        _OPENAI,
        r"(o[1-9]|gpt-[5-9]|chatgpt-[5-9]|codex)",
        {"developer_role": True},
        "openai SDK 3.57.0 chat_completion_developer_message_param (o1 and newer: `developer` replaces `system`)",
    ),
    Row(
        ("openai-responses",),
        r"(gpt-[34](?!\d)|chatgpt-4)",
        {"thinking": False},
        "https://github.com/OpenHands/software-agent-sdk/pull/1208 (encrypted content is refused by some models)",
    ),
    Row(
        ("gemini",),
        r"gemini-(1|2)(?!\d)",
        {"signed_calls": False, "tool_result_images": False},
        "https://ai.google.dev/gemini-api/docs/thought-signatures (signatures are required from Gemini 3 on)",
    ),
    Row(
        ("deepseek",),
        r"(deepseek-chat|deepseek-coder|deepseek-v3(?!\.)|deepseek-v2)",
        {"thinking": False},
        "https://api-docs.deepseek.com/guides/thinking_mode",
    ),
    Row(
        ("deepseek",),
        r"deepseek-(reasoner|r1)",
        {"strict_template": True},
        "https://github.com/open-webui/open-webui/issues/9266 (no successive user or assistant messages)",
    ),
    Row(
        ("kimi",),
        r"(kimi-k2-0|kimi-k2-turbo|kimi-k2-instruct|kimi-latest|moonshot-v1)",
        {"thinking": False},
        "https://platform.moonshot.ai/docs (these models do not think)",
    ),
    Row(
        ("kimi",),
        r"(kimi-k2-|moonshot-v1-(8k|32k|128k|auto)$)",
        {"images": False},
        "litellm 1.110.2 moonshot/chat/transformation (text-only models take string content)",
    ),
    Row(
        ("glm",),
        r"glm-(4|4\.[5-9]|5(\.\d)?)(-(air|airx|x|flash|plus|long|0520))?$",
        {"images": False},
        "https://docs.z.ai/guides/overview (vision models have a `v` in their name)",
    ),
    Row(
        ("groq",),
        r"(gpt-oss|qwen3|qwen-qwq|deepseek-r1)",
        {"thinking": True},
        "groq SDK 1.7.0 (`reasoning`); https://github.com/musistudio/llms/pull/64 (some models refuse it)",
    ),
    Row(
        ("mistral",),
        r"magistral",
        {"thinking": True},
        "mistralai SDK 3.7.0 ThinkChunk",
    ),
    Row(
        ("cohere",),
        r"command-a-reasoning",
        {"thinking": True},
        "cohere SDK 7.3.1 AssistantMessageV2 content (thinking)",
    ),
)


def capabilities_of(vendor: str, defaults: Capabilities, model: str | None) -> Capabilities:
    """Return what the table says of `model` at `vendor`."""
    if model is None:
        return defaults
    family = model_family(model)
    found: dict[str, Any] = {}
    for row in MODELS:
        if vendor in row.vendors and _compiled(row.models).match(family):
            found.update(row.capabilities)
    return evolve(defaults, **found) if found else defaults


def overridden(capabilities: Capabilities, given: Mapping[str, Any]) -> Capabilities:
    """Return `capabilities` with what the caller says, in wire names; raise `InvalidParams` for a wrong type."""
    changes: dict[str, Any] = {}
    for attribute in fields(Capabilities):
        key = _wire_name(attribute.name)
        value = given.get(key)
        if value is None:
            continue
        if attribute.name == "call_id_format":
            if value not in FORMATS:
                raise InvalidParams.at(f"/capabilities/{key}", f"must be one of {', '.join(FORMATS)}")
        elif not isinstance(value, bool):
            raise InvalidParams.at(f"/capabilities/{key}", "must be a boolean")
        changes[attribute.name] = value
    return evolve(capabilities, **changes) if changes else capabilities


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
