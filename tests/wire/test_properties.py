"""What holds of every history and every vendor, judged without the projector's own code."""

from __future__ import annotations

import json
import re

from attrs import evolve
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from sidecar.core.errors import Unprojectable
from sidecar.core.messages import Assistant, Entry, File, Note, Summary, System, Text, Tool, User
from sidecar.core.turns import pair
from sidecar.wire import project, stable_messages
from sidecar.wire.base import Item, Options
from tests.wire.flat import assert_json, assert_paired, flat, messages_of, system_of, text_of
from tests.wire.strategies import VENDORS, histories, items, items_of

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SURROGATE = re.compile("[\ud800-\udfff]")
BLOCKS = ("anthropic-messages", "bedrock-converse", "gemini")
options = st.builds(
    Options,
    model=st.sampled_from(
        [None, None, "claude-sonnet-4", "claude-opus-5", "gemini-2.5-pro", "gemini-3-pro", "gpt-5", "glm-4.6"]
    ),
    scope=st.sampled_from([None, "org-A"]),
    reasoning=st.sampled_from(["auto", "auto", "drop"]),
    guests=st.sampled_from(["wrap", "plain"]),
    images=st.sampled_from(["keep", "keep", "elide"]),
    cache_markers=st.integers(0, 6),
    capabilities=st.sampled_from(
        [{}, {}, {"strictTemplate": True}, {"prefill": True}, {"thinking": True}, {"stored": True}]
    ),
)


@QUICK
@given(items, options)
def test_the_payload_is_deterministic_json_and_paired(history: list[Item], asked: Options) -> None:
    """The same list gives the same bytes: JSON of well-formed Unicode in which every call is answered once, at once."""
    for vendor in VENDORS:
        note(vendor)
        projected = project(history, vendor, asked)
        assert assert_json(projected.body) == assert_json(project(history, vendor, asked).body)
        assert_paired(vendor, projected.body)
        assert messages_of(projected.body)


@QUICK
@given(items)
def test_no_text_is_lost_without_a_word(history: list[Item]) -> None:
    """Every text of a user, a system entry, an assistant or a result is in the payload, or a loss names its entry."""
    for vendor in VENDORS:
        note(vendor)
        projected = project(history, vendor, Options())
        everything = text_of(projected.body)
        told = {loss.entry_id for loss in projected.losses if loss.severity != "info"}
        for item in history:
            if item.entry.id in told:
                continue
            for text in _texts(item.entry):
                assert SURROGATE.sub("\ufffd", text) in everything


@QUICK
@given(histories, st.integers(0, 12))
def test_an_append_keeps_the_prefix(history: list[Entry], cut: int) -> None:
    """The payload of a list is a prefix of the payload of a longer list, up to its last message."""
    whole = items_of(history)
    part = whole[:cut]
    # What a vendor's rules force to change is left out here: an open round, a name that gives way to a valid one,
    # and Bedrock's limit of documents.
    assume(all(result < cut for (call, _), result in pair(history).result_of.items() if call < cut))
    assume(not (part and part[-1].entry.tool_calls))
    assume(_names(history[:cut]) == _names(history) or not {"a.b", "a b"} & _names(history[:cut]))
    assume(sum(isinstance(block, File) for entry in history for block in _blocks(entry)) <= 5)
    for vendor in VENDORS:
        note(vendor)
        before, after = project(part, vendor, Options()), project(whole, vendor, Options())
        # A stand-in at the very end goes when the list goes on, and the message before it may still grow.
        ends = any(repair.rule in ("X10", "X18") and repair.action == "synthesized" for repair in before.repairs)
        count = max(0, len(messages_of(before.body)) - 1 - ends)
        assert messages_of(before.body)[:count] == messages_of(after.body)[:count]
        assert stable_messages(before, after) >= count


@QUICK
@given(items, options)
def test_roles_alternate_and_text_is_not_blank(history: list[Item], asked: Options) -> None:
    """Block vendors get alternating roles, the user first, and no block of blank text."""
    for vendor in BLOCKS:
        note(vendor)
        projected = project(history, vendor, evolve(asked, capabilities={}))
        roles = [message["role"] for message in messages_of(projected.body) if message["role"] != "system"]
        assert roles[0] == "user"
        assert all(first != second for first, second in zip(roles, roles[1:], strict=False))
        steps = flat(vendor, projected.body)
        assert all(step.value.strip() for step in steps if step.kind == "text")
        assert all(text.strip() for text in system_of(projected.body))


@QUICK
@given(items)
def test_refusing_losses_refuses_exactly_losses(history: list[Item]) -> None:
    """With `onLoss: error` a payload comes out whole or not at all."""
    for vendor in VENDORS:
        note(vendor)
        projected = project(history, vendor, Options())
        lost = [loss for loss in projected.losses if loss.severity != "info"]
        try:
            assert project(history, vendor, Options(on_loss="error")).body == projected.body
            assert not lost
        except Unprojectable as error:
            assert len(error.data["violations"]) == len(lost) > 0


@QUICK
@given(items, st.integers(0, 9))
def test_cache_markers_are_few(history: list[Item], wanted: int) -> None:
    """At most four cache markers are set, and none where the wire has none."""
    for vendor in VENDORS:
        note(vendor)
        text = json.dumps(project(history, vendor, Options(cache_markers=wanted)).body)
        count = text.count('"cache_control": {') + text.count('"cachePoint": {')
        assert count <= min(wanted, 4)
        if vendor not in ("anthropic-messages", "bedrock-converse", "openrouter"):
            assert count == 0


def _texts(entry: Entry) -> list[str]:
    message = entry.message
    if isinstance(message, System | Note | Summary):
        return [message.text] if message.text.strip() else []
    return [block.text for block in _blocks(entry) if isinstance(block, Text) and block.text.strip()]


def _blocks(entry: Entry) -> tuple[object, ...]:
    message = entry.message
    if isinstance(message, User | Tool):
        return message.content
    return message.blocks if isinstance(message, Assistant) else ()


def _names(history: list[Entry]) -> set[str]:
    return {call.name for entry in history for call in entry.tool_calls}
