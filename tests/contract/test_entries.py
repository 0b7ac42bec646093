"""The documented shape of entries and the reader of entries accept the same JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sidecar.contract.emit.schema import document
from sidecar.core.errors import InvalidParams
from sidecar.core.message_json import entry_from_json, entry_to_json

DOCUMENT = document()
INPUT = Draft202012Validator({**DOCUMENT, "$ref": "#/$defs/EntryInput"})
OUTPUT = Draft202012Validator({**DOCUMENT, "$ref": "#/$defs/Entry"})

# Floats with no fraction are left out: JSON Schema calls `1.0` an integer, the reader does not (see the README).
scalar = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**54), 2**54),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),
    st.sampled_from(["", "text", "user", "é\U0001f600", "\ud83d", "image/png"]),
)
anything = st.recursive(
    scalar,
    lambda part: st.one_of(st.lists(part, max_size=2), st.dictionaries(st.text(max_size=4), part, max_size=2)),
    max_leaves=4,
)
string = st.sampled_from(["", "a", "call_1", "日本"])


def shaped(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Build objects that are mostly right: now and then a member is missing, `null`, wrong or unknown."""
    whole = st.fixed_dictionaries(
        required, optional={name: st.one_of(kind, st.none()) for name, kind in optional.items()}
    )
    names = [*required, *optional, "unknown"]
    spoiled = st.tuples(whole, st.sampled_from(names), anything).map(lambda drawn: {**drawn[0], drawn[1]: drawn[2]})
    lacking = st.tuples(whole, st.sampled_from(names)).map(
        lambda drawn: {name: value for name, value in drawn[0].items() if name != drawn[1]}
    )
    return st.one_of(*[whole] * 8, spoiled, lacking)


sources = {"data": string, "url": string, "blob": string, "mimeType": string}
block = st.one_of(
    shaped({"type": st.just("text"), "text": string}, {}),
    shaped({"type": st.sampled_from(["image", "audio"])}, sources),
    shaped({"type": st.just("file")}, {**sources, "name": string}),
    shaped({"type": st.just("json"), "value": anything}, {}),
    shaped({"type": st.just("refusal"), "text": string}, {}),
    shaped({"type": st.just("vendor"), "vendor": string, "value": anything}, {}),
    shaped({"type": st.just("hologram")}, {"text": string, "value": anything}),
)
content = st.one_of(string, st.lists(block, max_size=3), st.lists(block, max_size=3), anything)
reasoning = shaped(
    {},
    {
        **dict.fromkeys(["text", "signature", "data", "vendor", "model", "scope", "id"], string),
        "cleared": st.booleans(),
    },
)
call = shaped(
    {"id": string, "name": string},
    {"arguments": st.one_of(string, st.just({"path": "a"})), "signature": string, "itemId": string},
)
origin = shaped({"vendor": string}, {"model": string, "scope": string})
message = st.one_of(
    shaped({"role": st.sampled_from(["system", "note"]), "text": string}, {}),
    shaped({"role": st.just("summary"), "text": string}, {"covers": st.integers(-(2**54), 2**54)}),
    shaped({"role": st.just("user"), "content": content}, {}),
    shaped({"role": st.just("tool"), "callId": string, "content": content}, {"name": string, "isError": st.booleans()}),
    shaped(
        {"role": st.just("assistant")},
        {
            "content": content,
            "reasoning": st.lists(reasoning, max_size=2),
            "toolCalls": st.lists(call, max_size=2),
            "origin": origin,
        },
    ),
)
entry = shaped(
    {"message": message},
    {
        "id": string,
        "agent": string,
        "sender": string,
        "autoInjected": st.booleans(),
        "principal": string,
        "ts": st.integers(-(2**54), 2**54),
        "pinned": st.booleans(),
        "_meta": st.dictionaries(string, anything, max_size=2),
    },
)


@given(st.one_of(entry, entry, entry, anything))
def test_schema_and_reader_agree(value: Any) -> None:
    """An entry is valid by the published schema exactly when the reader takes it; what is written is valid again."""
    agree(value)


@given(block)
def test_schema_and_reader_agree_on_blocks(value: Any) -> None:
    """The same for one block, where the rules are the finest."""
    agree({"message": {"role": "user", "content": [value]}})


@given(st.one_of(reasoning, call, origin))
def test_schema_and_reader_agree_on_parts(value: Any) -> None:
    """The same for the parts of an assistant message."""
    for member in ({"reasoning": [value]}, {"toolCalls": [value]}, {"origin": value}):
        agree({"message": {"role": "assistant", **member}})


def agree(value: Any) -> None:
    """Ask both judges, and both again about what is written."""
    try:
        read = entry_from_json(value)
    except InvalidParams as error:
        assert not INPUT.is_valid(value), error.data
        assert error.data["errors"]
        return
    assert INPUT.is_valid(value), next(INPUT.iter_errors(value)).message
    written = entry_to_json(read)
    assert OUTPUT.is_valid(written), next(OUTPUT.iter_errors(written)).message
    assert INPUT.is_valid(written)
