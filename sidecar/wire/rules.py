"""The wire rules X1 to X22: what vendors refuse in a message list, in words.

Rules of this module: it is data. A rule's `severity` is its usual one; the checker lowers it where a vendor only
degrades. Sources are public reports and vendor pages, read on 2026-11-30; each states the rule.
The projector, the checker, the editors' diagnostics and `protocol/vendors.md` name rules by these ids.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from sidecar.wire.base import Severity


@frozen(kw_only=True)
class Rule:
    """One wire rule: a short `title`, an `explanation` for a person, and where it is stated."""

    id: str
    title: str
    explanation: str
    severity: Severity
    sources: tuple[str, ...] = ()


_GITHUB = "https://github.com/"

_RULES: tuple[Rule, ...] = (
    Rule(
        id="X1",
        title="every tool call is answered directly behind it",
        explanation=(
            "Each tool call that is sent needs exactly one result in the message or messages directly behind it, "
            "with nothing in between."
        ),
        severity="error",
        sources=(
            _GITHUB + "tidyverse/ellmer/issues/459",
            _GITHUB + "OpenHands/OpenHands/issues/7512",
            _GITHUB + "google-gemini/gemini-cli/issues/3814",
            _GITHUB + "agno-agi/agno/issues/6698",
        ),
    ),
    Rule(
        id="X2",
        title="no tool result without its call",
        explanation="A tool result is refused when the message before its run does not hold the call it answers.",
        severity="error",
        sources=(
            _GITHUB + "BerriAI/litellm/issues/4931",
            _GITHUB + "datakurre/graph-agent/issues/85",
            _GITHUB + "everruns/everruns/pull/2039",
        ),
    ),
    Rule(
        id="X3",
        title="call ids are unique",
        explanation="Two calls with one id, or two results for one call, are refused or answered wrongly.",
        severity="error",
        sources=(
            _GITHUB + "HKUDS/nanobot/pull/4444",
            _GITHUB + "vectorize-io/hindsight/pull/4250",
            _GITHUB + "bvcyber/Cyber-AutoAgent-ng/issues/72",
        ),
    ),
    Rule(
        id="X4",
        title="call ids fit the vendor's alphabet and length",
        explanation="Ids minted by one vendor may hold characters or have a length that another refuses.",
        severity="error",
        sources=(
            _GITHUB + "maximhq/bifrost/issues/5097",
            _GITHUB + "vercel/ai/issues/5171",
            _GITHUB + "anomalyco/opencode/issues/1680",
        ),
    ),
    Rule(
        id="X5",
        title="tool names fit the vendor's alphabet and length",
        explanation="The name in a recorded call is checked like a declared one, also when the model invented it.",
        severity="error",
        sources=(_GITHUB + "NousResearch/hermes-agent/pull/95021", _GITHUB + "anomalyco/opencode/pull/48750"),
    ),
    Rule(
        id="X6",
        title="no empty text and no empty message",
        explanation=(
            "Several vendors refuse text blocks without a visible character and messages without content; "
            "absent, null and empty content are told apart."
        ),
        severity="error",
        sources=(
            _GITHUB + "anthropics/anthropic-sdk-python/issues/461",
            _GITHUB + "OpenHands/OpenHands/issues/5339",
            _GITHUB + "vercel/ai/issues/3775",
            _GITHUB + "run-llama/llama_index/pull/17921",
        ),
    ),
    Rule(
        id="X7",
        title="arguments are a JSON object",
        explanation="A call whose arguments are not the text of one JSON object is refused or breaks a chat template.",
        severity="error",
        sources=(
            _GITHUB + "HKUDS/nanobot/issues/1487",
            _GITHUB + "local-inference-lab/vllm/issues/684",
            _GITHUB + "aliasrobotics/cai/issues/76",
        ),
    ),
    Rule(
        id="X8",
        title="content has the vendor's type",
        explanation="A vendor takes a string, a list of blocks or an object in a place, and refuses the others.",
        severity="error",
        sources=(
            _GITHUB + "pydantic/pydantic-ai/issues/2653",
            _GITHUB + "lastmile-ai/mcp-agent/issues/25",
            _GITHUB + "vellum-ai/vellum-assistant/pull/18387",
        ),
    ),
    Rule(
        id="X9",
        title="system text stands where it is allowed",
        explanation="Many vendors take system text only in front of the conversation, some only once.",
        severity="error",
        sources=(
            _GITHUB + "vllm-project/vllm/issues/41114",
            "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        ),
    ),
    Rule(
        id="X10",
        title="the list ends as the vendor wants",
        explanation=(
            "Some vendors refuse a list that ends with the assistant, or a final assistant text that ends with a space."
        ),
        severity="error",
        sources=(
            _GITHUB + "0xPlaygrounds/rig/issues/708",
            _GITHUB + "langchain-ai/deepagents/issues/1585",
            _GITHUB + "Pasta-Devs/Marinara-Engine/issues/2673",
        ),
    ),
    Rule(
        id="X11",
        title="the list begins with the user",
        explanation="Some vendors refuse a list whose first turn is not the user's.",
        severity="error",
        sources=(_GITHUB + "google-gemini/gemini-cli/issues/11814", _GITHUB + "google-gemini/gemini-cli/issues/7003"),
    ),
    Rule(
        id="X12",
        title="roles alternate",
        explanation="Strict vendors refuse two messages of the same role in a row.",
        severity="error",
        sources=(
            _GITHUB + "langgenius/dify/issues/9294",
            _GITHUB + "google-gemini/gemini-cli/issues/7003",
            _GITHUB + "suitenumerique/conversations/issues/197",
        ),
    ),
    Rule(
        id="X13",
        title="reasoning goes back unaltered and only to its origin",
        explanation=(
            "Signed or encrypted reasoning is checked by the vendor that made it; elsewhere, altered, or behind a "
            "changed prefix it is refused. Some vendors refuse a call whose reasoning is missing."
        ),
        severity="warning",
        sources=(
            _GITHUB + "anthropics/anthropic-sdk-python/issues/1598",
            "https://ai.google.dev/gemini-api/docs/thought-signatures",
            "https://api-docs.deepseek.com/guides/thinking_mode",
            _GITHUB + "openai/openai-node/issues/1567",
        ),
    ),
    Rule(
        id="X14",
        title="strings are well-formed Unicode",
        explanation="A lone surrogate cannot be written as UTF-8; servers refuse the whole request body.",
        severity="error",
        sources=(_GITHUB + "anomalyco/opencode/pull/13985",),
    ),
    Rule(
        id="X15",
        title="media stand where they are allowed",
        explanation=(
            "Images, files and sounds are taken only in some roles, kinds and sources; "
            "Bedrock wants document names that are unique and plain."
        ),
        severity="error",
        sources=(
            _GITHUB + "OpenHands/OpenHands/issues/7700",
            _GITHUB + "SEMOSS/Semoss/issues/2323",
            _GITHUB + "maximhq/bifrost/issues/7003",
        ),
    ),
    Rule(
        id="X16",
        title="at most four cache markers",
        explanation="More than four cache markers, or one on an empty block or on reasoning, are refused.",
        severity="error",
        sources=(_GITHUB + "continuedev/continue/pull/6937", _GITHUB + "envoyproxy/ai-gateway/pull/1712"),
    ),
    Rule(
        id="X17",
        title="no unknown keys",
        explanation="Strict servers refuse a message that carries a key they do not know.",
        severity="warning",
        sources=(_GITHUB + "janhq/jan/issues/8136", _GITHUB + "QwenLM/qwen-code/issues/11045"),
    ),
    Rule(
        id="X18",
        title="there is something to answer",
        explanation="The list needs at least one message, for some vendors at least one of the user.",
        severity="error",
        sources=(_GITHUB + "langchain-ai/langchain/pull/31696", _GITHUB + "anomalyco/opencode/issues/2557"),
    ),
    Rule(
        id="X19",
        title="participant names fit the vendor's alphabet",
        explanation="A participant's name with a space or a dot is refused; some vendors take no name at all.",
        severity="error",
        sources=(_GITHUB + "microsoft/semantic-kernel/issues/9340", _GITHUB + "BerriAI/litellm/issues/6696"),
    ),
    Rule(
        id="X20",
        title="reasoning, text and calls stand in order",
        explanation=(
            "Inside an assistant turn reasoning comes first and calls last. "
            "An entry cannot express another order, so the checker reports late text under X1."
        ),
        severity="error",
        sources=(_GITHUB + "anomalyco/opencode/issues/5750", _GITHUB + "continuedev/continue/issues/11994"),
    ),
    Rule(
        id="X21",
        title="an assistant message stands between a result and the user",
        explanation="Mistral's API refuses a user message directly behind a tool result.",
        severity="error",
        sources=(
            _GITHUB + "datapizza-labs/datapizza-ai/issues/98",
            _GITHUB + "NousResearch/hermes-agent/pull/84944",
        ),
    ),
    Rule(
        id="X22",
        title="some content has no legal form",
        explanation="What no rule can repair is named, never hidden: foreign parts, endless repetition.",
        severity="warning",
        sources=(_GITHUB + "QwenLM/qwen-code/issues/5237",),
    ),
)

RULES: Final[dict[str, Rule]] = {rule.id: rule for rule in _RULES}
"""Every rule by id, in order."""
