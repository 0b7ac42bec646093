"""The JSON form of entries: what is kept, what is refused."""

from __future__ import annotations

import pytest

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import dumpb, loads
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import ABSENT, Assistant, Entry, Text


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"role": "assistant"}, ABSENT),
        ({"role": "assistant", "content": None}, None),
        ({"role": "assistant", "content": ""}, (Text(""),)),
        ({"role": "assistant", "content": []}, ()),
    ],
)
def test_absent_null_and_empty_survive_a_save_and_a_load(message: dict[str, object], content: object) -> None:
    """Assistant content keeps its states through the stored form (seeds.md §9.22)."""
    entry = entry_from_json({"message": message})
    again = entry_from_json(loads(dumpb(entry_to_json(entry))))
    assert isinstance(again.message, Assistant)
    assert (again.message.content, again) == (content, entry)


def test_unknown_keys_and_blocks_are_kept_verbatim() -> None:
    """A store keeps what a newer client wrote."""
    raw = {
        "id": "e1",
        "message": {
            "role": "user",
            "content": [{"type": "hologram", "b": 1, "a": None}, {"type": "text", "text": "x", "zoom": 1.0}],
            "later": {"z": [], "y": 2**70},
        },
        "flavour": {"k": None},
    }
    assert entry_to_json(entry_from_json(raw)) == raw


def test_runtime_only_fields_are_never_written() -> None:
    """`sender` and `autoInjected` stay in the process."""
    entry = entry_from_json({"message": {"role": "user", "content": "x"}, "sender": "tg:1", "autoInjected": True})
    assert (entry.sender, entry.auto_injected) == ("tg:1", True)
    assert entry_to_json(entry) == {"message": {"role": "user", "content": [{"type": "text", "text": "x"}]}}


def test_lone_surrogates_and_nul_survive() -> None:
    """JavaScript clients emit them; the store keeps the original (wire rule X14)."""
    text = "a\ud83d\x00\U0001f600"
    entry = Entry.user(text)
    assert entry_from_json(loads(dumpb(entry_to_json(entry)))).text == text


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], ""),
        ({}, "/message"),
        ({"message": {"role": "robot"}}, "/message/role"),
        ({"message": {"role": "user"}}, "/message/content"),
        ({"message": {"role": "user", "content": None}}, "/message/content"),
        ({"message": {"role": "user", "content": [{"type": "text"}]}}, "/message/content/0/text"),
        ({"message": {"role": "user", "content": [{"type": "text", "text": 5}]}}, "/message/content/0/text"),
        ({"message": {"role": "user", "content": [{"type": "image", "mimeType": "a/b"}]}}, "/message/content/0"),
        ({"message": {"role": "tool", "content": "x"}}, "/message/callId"),
        ({"message": {"role": "assistant", "toolCalls": [{"id": "1", "name": "n", "arguments": []}]}},
         "/message/toolCalls/0/arguments"),
        ({"message": {"role": "note", "text": "x"}, "ts": True}, "/ts"),
        ({"message": {"role": "note", "text": "x"}, "ts": 2**53}, "/ts"),
        ({"message": {"role": "tool", "callId": "c", "content": "x", "isError": "no"}}, "/message/isError"),
    ],
)  # fmt: skip
def test_a_malformed_payload_of_a_known_tag_is_refused(value: object, path: str) -> None:
    """The error names the place by a JSON Pointer in wire names."""
    with pytest.raises(InvalidParams) as caught:
        entry_from_json(value)
    assert caught.value.data["errors"][0]["path"] == path
