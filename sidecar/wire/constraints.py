"""What each vendor refuses, as data for the checker.

Rules: one `Constraints` per vendor id, derived from the vendor's documentation, SDK types and public reports named
in `rules.py`. Nothing here is shared with the projector, so that the checker can judge it and be judged. The default
values describe the OpenAI Chat dialect; the others say where they differ. A field holding a severity says how bad a
breach is for this vendor, `None` that it is legal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import evolve, frozen

from sidecar.wire.base import Severity

Place: TypeAlias = Literal["anywhere", "front"]
Replay: TypeAlias = Literal["none", "text", "signed", "encrypted", "thought", "details"]

_WORD = r"[a-zA-Z0-9_-]"
_PHOTOS: Final = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
_ALL: Final = frozenset(("image", "file", "audio"))
_SEEN: Final = frozenset(("image",))
_READ: Final = frozenset(("image", "file"))
_NOTHING: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Constraints:
    """One vendor's limits; the comment of each group names its rule."""

    vendor: str
    # X17: kinds of the vendor's own blocks that are calls, results or reasoning; as blocks they have no partner.
    own_forms: frozenset[str] = frozenset()
    # X3: where two calls with one id are refused.
    unique_ids: Literal["request", "turn"] | None = "turn"
    # X4: the whole id must match; the words go into the sentence.
    call_id: str | None = r"(?s).{1,40}"
    call_id_words: str = "1 to 40 characters"
    # X5
    tool_name: str | None = rf"{_WORD}{{1,64}}"
    tool_name_severity: Severity = "error"
    # X6
    blank_text: Severity | None = None
    blank_result: Severity | None = None
    blank_error_result: Severity | None = None
    empty_assistant: Severity | None = None
    null_alone: Severity | None = "error"
    null_with_calls: Severity | None = None
    # X8
    error_media: Severity | None = None
    # X9
    system: Place = "anywhere"
    late_system: Severity = "error"
    system_behind_user: Severity | None = "error"
    second_system: Severity | None = None
    # X10, X11, X12, X18, X21
    last_assistant: Severity | None = None
    trailing_space: Severity | None = None
    first_assistant: Severity | None = None
    repeated_role: Severity | None = None
    no_user: Severity | None = None
    user_after_result: Severity | None = None
    # X13: what may be replayed, and whether a call without reasoning is refused while thinking is on.
    replay: Replay = "none"
    reasoning_with_calls: bool = False
    # X15
    user_media: frozenset[str] = _ALL
    assistant_media: frozenset[str] = _NOTHING
    result_media: frozenset[str] = _NOTHING
    image_types: frozenset[str] | None = None
    media_bytes_only: bool = False
    plain_documents: bool = False
    # X16, X17, X19, X22
    max_cache_markers: int | None = None
    strict_keys: bool = False
    names: Literal["pattern", "refused", "free"] = "free"
    max_repeats: int | None = None


_CHAT = Constraints(vendor="openai-chat", names="pattern")
_LOOSE = evolve(
    _CHAT,
    vendor="",
    call_id=r"(?s).+",
    call_id_words="at least one character",
    tool_name_severity="warning",
    names="free",
)

_VENDORS: tuple[Constraints, ...] = (
    _CHAT,
    evolve(_CHAT, vendor="azure-openai"),
    evolve(
        _CHAT,
        vendor="openai-responses",
        own_forms=frozenset(("function_call", "function_call_output", "reasoning", "item_reference")),
        unique_ids="request",
        call_id=rf"{_WORD}{{1,64}}",
        call_id_words="1 to 64 letters, digits, _ and -",
        null_alone=None,
        replay="encrypted",
        user_media=_READ,
        result_media=_READ,
        names="free",
    ),
    Constraints(
        vendor="anthropic-messages",
        own_forms=frozenset(("tool_use", "tool_result", "thinking", "redacted_thinking")),
        unique_ids="request",
        call_id=rf"{_WORD}+",
        call_id_words="letters, digits, _ and -",
        tool_name=rf"{_WORD}{{1,128}}",
        blank_text="error",
        empty_assistant="error",
        error_media="error",
        system="front",
        system_behind_user="warning",
        last_assistant="warning",
        trailing_space="error",
        first_assistant="error",
        replay="signed",
        user_media=_READ,
        result_media=_READ,
        image_types=_PHOTOS,
        max_cache_markers=4,
    ),
    Constraints(
        vendor="gemini",
        own_forms=frozenset(("functionCall", "functionResponse")),
        unique_ids=None,
        call_id=None,
        tool_name=r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
        blank_text="error",
        empty_assistant="error",
        system="front",
        last_assistant="warning",
        first_assistant="error",
        repeated_role="error",
        replay="thought",
        assistant_media=_ALL,
        result_media=_ALL,
    ),
    Constraints(
        vendor="bedrock-converse",
        own_forms=frozenset(("toolUse", "toolResult", "reasoningContent")),
        call_id=r"[a-zA-Z0-9_.:-]{1,64}",
        call_id_words="1 to 64 letters, digits, _ . : and -",
        blank_text="error",
        blank_result="error",
        blank_error_result="error",
        empty_assistant="error",
        system="front",
        last_assistant="warning",
        trailing_space="error",
        first_assistant="error",
        repeated_role="error",
        replay="signed",
        user_media=_READ,
        result_media=_READ,
        image_types=_PHOTOS,
        media_bytes_only=True,
        plain_documents=True,
        max_cache_markers=4,
    ),
    Constraints(
        vendor="mistral",
        unique_ids="request",
        call_id=r"[a-zA-Z0-9]{9}",
        call_id_words="exactly 9 letters and digits",
        empty_assistant="error",
        system="front",
        system_behind_user=None,
        last_assistant="warning",
        user_after_result="error",
        replay="text",
        names="refused",
    ),
    evolve(
        _LOOSE,
        vendor="deepseek",
        tool_name_severity="error",
        replay="text",
        reasoning_with_calls=True,
        user_media=_NOTHING,
    ),
    evolve(_LOOSE, vendor="kimi", replay="text", reasoning_with_calls=True, user_media=_SEEN),
    evolve(_LOOSE, vendor="qwen", system="front", second_system="warning", max_repeats=2),
    evolve(_LOOSE, vendor="glm", unique_ids="request", no_user="error", replay="text", reasoning_with_calls=True),
    evolve(_LOOSE, vendor="openrouter", replay="details"),
    evolve(
        _LOOSE,
        vendor="ollama",
        unique_ids=None,
        call_id=None,
        tool_name=None,
        system="front",
        late_system="warning",
        system_behind_user="warning",
        replay="text",
        user_media=_SEEN,
        media_bytes_only=True,
    ),
    evolve(_LOOSE, vendor="cohere", empty_assistant="warning", user_media=_SEEN),
    evolve(_LOOSE, vendor="xai", null_with_calls="warning", names="refused", user_media=_SEEN),
    evolve(_LOOSE, vendor="groq", strict_keys=True, replay="text", user_media=_SEEN),
    evolve(_LOOSE, vendor="cerebras", strict_keys=True, replay="text", user_media=_SEEN),
    evolve(
        _LOOSE,
        vendor="openai-compatible",
        empty_assistant="warning",
        null_with_calls="warning",
        system="front",
        late_system="warning",
        system_behind_user="warning",
        second_system="warning",
        repeated_role="warning",
        replay="text",
    ),
)

OUTSIDE: Final = evolve(_LOOSE, vendor="outside", tool_name=None)
"""What is asked of a vendor that an outside package registered: the rules that every chat wire has."""

CONSTRAINTS: Final[dict[str, Constraints]] = {constraints.vendor: constraints for constraints in _VENDORS}
"""Every vendor of the protocol by id."""


def for_caller(limits: Constraints, capabilities: Mapping[str, object]) -> Constraints:
    """Return the limits as the caller's facts about the model sharpen or lift them (protocol.md §6)."""
    changes: dict[str, Any] = {}
    strict = capabilities.get("strictTemplate")
    if strict is True:
        changes.update(system="front", late_system="error", system_behind_user="error", second_system="error")
        changes.update(repeated_role="error", first_assistant="error")
    elif strict is False and limits.vendor == "openai-compatible":
        changes.update(system="anywhere", second_system=None, repeated_role=None)
    in_turns = capabilities.get("systemInTurns")
    if isinstance(in_turns, bool) and strict is not True:
        changes.update(system_behind_user=None if in_turns else "error")
        if not in_turns:
            changes.update(system="front", late_system="error")
    prefill = capabilities.get("prefill")
    if isinstance(prefill, bool) and limits.last_assistant is not None:
        changes.update(last_assistant=None if prefill else "error")
    if capabilities.get("callIdFormat") == "any" and limits.call_id is not None:
        changes.update(call_id=r"(?s).+", call_id_words="at least one character")
    images = capabilities.get("toolResultImages")
    if isinstance(images, bool):
        changes.update(result_media=limits.result_media | _SEEN if images else _NOTHING)
    return evolve(limits, **changes)
