"""Parsing: what is refused, that nothing crashes it, and that a projection reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sidecar.core.errors import UnknownVendor, Unparsable
from sidecar.core.jsontext import dumpb
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Entry
from sidecar.wire import project
from sidecar.wire.base import Item, Options, Parsed
from sidecar.wire.parse import FAMILIES, parse
from sidecar.wire.registry import vendor_ids
from tests.wire import strategies
from tests.wire.strategies import VENDORS

HOSTILE = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


@pytest.mark.parametrize(
    ("vendor", "kind", "body", "path"),
    [
        ("openai-chat", "request", 7, ""),
        ("openai-chat", "request", {}, "/messages"),
        ("openai-chat", "request", {"messages": [{"role": "robot"}]}, "/messages/0/role"),
        ("openai-chat", "request", {"messages": [{"role": "user", "content": 7}]}, "/messages/0/content"),
        ("openai-chat", "response", {"choices": []}, "/choices"),
        (
            "openai-chat",
            "response",
            {"choices": [{"message": {"role": "assistant", "tool_calls": [{"function": {}}]}}]},
            "/choices/0/message/tool_calls/0/function/name",
        ),
        ("anthropic-messages", "response", {"content": [{"type": "thinking"}]}, "/content/0/thinking"),
        ("anthropic-messages", "request", {"messages": [{"role": "tool"}]}, "/messages/0/role"),
        ("gemini", "response", {"candidates": 3}, "/candidates"),
        ("gemini", "request", {"contents": [{"role": "user", "parts": [3]}]}, "/contents/0/parts/0"),
        ("bedrock-converse", "response", {"output": {}}, "/output/message"),
        ("openai-responses", "response", {"output": [{}]}, "/output/0/type"),
        ("ollama", "response", {"message": {"role": "assistant", "content": []}}, "/message/content"),
        ("cohere", "request", {"messages": [{"role": "assistant", "content": {}}]}, "/messages/0/content"),
    ],
)
def test_what_is_nothing_like_the_format_is_refused(vendor: str, kind: Any, body: Any, path: str) -> None:
    """A body of another shape is refused with the place where it stops to make sense."""
    with pytest.raises(Unparsable) as caught:
        parse(vendor, kind, body)
    assert caught.value.data["path"] == path


def test_an_unknown_vendor_is_refused() -> None:
    """A vendor that nobody registered is a domain error."""
    with pytest.raises(UnknownVendor):
        parse("nobody", "request", {})


def test_every_vendor_of_the_protocol_can_be_parsed() -> None:
    """There is a reader for each vendor id."""
    assert set(FAMILIES) == set(vendor_ids())


# --- properties -------------------------------------------------------------------------------------------------------

_KEYS = st.sampled_from(
    [
        "messages", "contents", "input", "output", "choices", "candidates", "message", "content", "parts", "role",
        "type", "text", "tool_calls", "function", "name", "arguments", "id", "call_id", "tool_call_id", "tool_use_id",
        "system", "systemInstruction", "instructions", "functionCall", "functionResponse", "response", "args",
        "toolUse", "toolResult", "toolUseId", "reasoningContent", "reasoningText", "thinking", "reasoning_details",
        "image_url", "url", "source", "summary", "usage", "usageMetadata", "model", "images", "inlineData", "mimeType",
        "data", "file", "file_data", "document", "tool_plan", "json", "image", "bytes", "format", "function_call",
    ]
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            "user", "assistant", "model", "tool", "system", "text", "image_url", "function_call", "tool_use", "message",
            "tool_result", "thinking", "reasoning", "input_text", "document", "image", "function_call_output", "\ud800",
            "data:image/png;base64,aGk=", "", "x",
        ]
    ),
)  # fmt: skip
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=25
)
_BODIES = st.one_of(
    _JSON,
    st.builds(
        lambda messages: {"messages": messages, "contents": messages, "input": messages, "output": messages},
        st.lists(st.dictionaries(_KEYS, _JSON, max_size=5), max_size=3),
    ),
    st.builds(
        lambda one: {"choices": [{"message": one}], "message": one, "output": {"message": one}, "content": one},
        st.dictionaries(_KEYS, _JSON, max_size=5),
    ),
)


_ONE_PER_FAMILY = tuple({FAMILIES[vendor]: vendor for vendor in VENDORS}.values())


@settings(HOSTILE, max_examples=150)
@given(body=_BODIES, kind=st.sampled_from(["request", "response"]))
def test_garbage_is_refused_or_read(body: Any, kind: Any) -> None:
    """Arbitrary JSON is `Unparsable` or gives entries that can be stored; nothing else happens."""
    for vendor in (
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "gemini",
        "bedrock-converse",
        "cohere",
        "ollama",
    ):
        try:
            parsed = parse(vendor, kind, body)
        except Unparsable:
            continue
        for entry in parsed.entries:
            assert entry_from_json(entry_to_json(entry)) == entry


def reread(items: list[Item], vendor: str) -> tuple[Any, Parsed, Any]:
    first = project(items, vendor, Options())
    parsed = parse(vendor, "request", first.body)
    second = project(strategies.items_of(list(parsed.entries)), vendor, Options())
    return first, parsed, second


@HOSTILE
@given(history=strategies.histories)
def test_what_was_read_projects_to_the_same_bytes(history: list[Entry]) -> None:
    """Projecting what was parsed out of a projection gives the same bytes: at once where nothing was dropped or lost,
    and from the second round on always.
    """
    items = strategies.items_of(history)
    for vendor in VENDORS:
        first, parsed, second = reread(items, vendor)
        dropped = any(repair.action == "dropped" for repair in first.repairs)
        lost = any(loss.severity != "info" for loss in first.losses)
        if dropped or lost:
            third = reread(strategies.items_of(list(parsed.entries)), vendor)[2]
            assert dumpb(third.body) == dumpb(second.body)
        else:
            assert dumpb(second.body) == dumpb(first.body)


PLAIN = [
    Entry.system("Be brief."),
    Entry.user("Paris?"),
    Entry.assistant("", tool_calls=[strategies.ToolCall(id="abcdefgh1", name="f", arguments='{"city":"Paris"}')]),
    Entry.tool("sun", "abcdefgh1", "f"),
    Entry.assistant("Sun."),
    Entry.note("a run finished"),
    Entry.user("Thanks"),
    Entry.assistant("You are welcome.", agent="sage"),
    Entry.user("Bye"),
]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_plain_history_reads_back(vendor: str) -> None:
    """Roles, texts, calls, arguments and guests come back for every vendor; ids too where the wire has them."""
    _, parsed, _ = reread(strategies.items_of(PLAIN), vendor)

    def facts(entry: Entry) -> tuple[Any, ...]:
        calls = [(call.name, call.arguments) for call in entry.tool_calls]
        return entry.role, entry.text, entry.agent, calls

    def merged(entries: Any) -> list[tuple[Any, ...]]:
        """Join what strict vendors join: a note in front of user text is part of it."""
        out: list[tuple[Any, ...]] = []
        for entry in entries:
            role, said, agent, calls = facts(entry)
            if role == "note":
                role, said = "user", f"[note] {said}"
            if role == "user" and out and out[-1][0] == "user":
                said = "\n".join([out.pop()[1], said])
            out.append((role, said.replace("\n", ""), agent, calls))
        return [one for one in out if one != ("assistant", "(Results received.)", "", [])]

    assert merged(parsed.entries) == merged(PLAIN)
    results = {entry.tool_call_id for entry in parsed.entries if entry.tool_call_id}
    assert results == {call.id for entry in parsed.entries for call in entry.tool_calls}
    if vendor != "ollama":
        assert results == {"abcdefgh1"}
