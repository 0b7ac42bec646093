"""No input stops an importer: it reads what it can, counts the rest, or says that the text is not in the format."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from truths import read_file

from sidecar import wire
from sidecar.core.errors import InvalidParams, LimitExceeded, Unparsable
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Assistant
from sidecar.formats import source as sources
from sidecar.formats.base import MAX_LISTED
from sidecar.formats.registry import FORMATS
from sidecar.formats.source import Source
from sidecar.formats.transfer import import_text
from sidecar.wire.base import Item, Options

DATA = Path(__file__).parent / "data"
TRUTHS = json.loads((DATA / "truths.json").read_text())
FILES = sorted(TRUTHS)

KEYS = """type role content message messages parts payload id uuid parentUuid kind v k i data info requests response
mapping current_node conversations from value tool_calls function contents text thinking $set $rewindTo toolCalls"""
WORDS = """user assistant tool system model gemini human gpt ai llm message response_item compacted reasoning request
function_call tool_use tool_result response text thinking summary session.start assistant.message x"""
keys, words = st.sampled_from(KEYS.split()), st.sampled_from(WORDS.split())
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | words | st.text(max_size=4) | st.just(1e300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


def _must_not_crash(form: str, data: bytes) -> None:
    for all_branches in (False, True):
        try:
            found = import_text(form, data, all_branches=all_branches)
        except (Unparsable, InvalidParams):
            continue
        for history in found.histories:
            for entry in history.entries:
                assert entry_from_json(json.loads(json.dumps(entry_to_json(entry)))) == entry


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@pytest.mark.parametrize("form", [*FORMATS, "auto"])
def test_any_bytes(form: str, data: bytes) -> None:
    """Bytes of any kind are read or refused."""
    _must_not_crash(form, data)


@settings(max_examples=25, deadline=None)
@given(st.lists(values, max_size=5), st.booleans())
@pytest.mark.parametrize("form", [*FORMATS, "auto"])
def test_any_json(form: str, records: list, lines: bool) -> None:
    """JSON with the right words in the wrong places is read or refused."""
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records[0] if records else None)
    _must_not_crash(form, text.encode())


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(name: str) -> None:
    """A real file that was cut or overwritten anywhere still gives what is left of it."""
    data = (DATA / name).read_bytes()
    dice = random.Random(name)
    for _ in range(10):
        damaged = bytearray(data[: dice.randrange(len(data))] if dice.random() < 0.3 else data)
        for _ in range(dice.randrange(4)):
            if damaged:
                damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        _must_not_crash(TRUTHS[name]["format"], bytes(damaged))


@pytest.mark.parametrize("name", FILES)
def test_values_of_other_types(name: str) -> None:
    """A field that holds a value of another type is skipped or kept, never fatal."""
    path, dice = DATA / name, random.Random(name)
    try:
        records = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    except ValueError:
        try:
            records = [json.loads(path.read_text())]
        except ValueError:
            return
    for _ in range(15):
        copy = json.loads(json.dumps(records))
        _spoil(copy, dice)
        _must_not_crash(TRUTHS[name]["format"], "\n".join(map(json.dumps, copy)).encode())


def _spoil(value: object, dice: random.Random) -> None:
    while isinstance(value, dict | list) and value:
        key = dice.choice(list(value) if isinstance(value, dict) else list(range(len(value))))
        inner = value[key]  # type: ignore[index]
        if dice.random() < 0.25 or not isinstance(inner, dict | list) or not inner:
            value[key] = dice.choice([None, 7, -1.5, True, "x", [], {}, [["x"]], {"type": "text"}, [None, 3, "y"]])  # type: ignore[index]
            return
        value = inner


def test_torn_lines_are_counted_and_bounded() -> None:
    """Ten thousand torn lines make a short report that still counts every one."""
    line = json.dumps({"message": {"role": "user", "content": "hi"}, "id": "e"})
    found = import_text("own-jsonl", "\n".join([line, *["{torn"] * 10_000]))
    assert len(found.histories[0].entries) == 1
    assert len(found.losses) == MAX_LISTED + 1
    assert found.losses[-1].message == f"{10_000 - MAX_LISTED} more of these"


SAYS = [{"role": "user", "content": "x"}]


@pytest.mark.parametrize(
    ("form", "record", "lines"),
    [
        ("openai-chat", {"messages": SAYS}, False),
        ("openai-chat", {"messages": SAYS}, True),
        ("sharegpt", {"conversations": [{"from": "human", "value": "x"}]}, False),
        ("sharegpt", {"conversations": [{"from": "human", "value": "x"}]}, True),
        ("chatgpt-export", {"mapping": {"a": {"parent": None, "message": None}}}, False),
        ("anthropic-messages", {"max_tokens": 1, "messages": SAYS}, True),
    ],
)
def test_a_record_without_a_conversation_is_a_loss(form: str, record: dict, lines: bool) -> None:
    """Among many conversations of one file, what is none is named wherever it stands: first, between, last."""
    records = [{"title": "none"}, record, {"title": "none"}, record, {"title": "none"}]
    data = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    found = import_text(form, data)
    assert (len(found.histories), [loss.rule for loss in found.losses]) == (2, ["unknownRecord"] * 3)


def test_windows_line_ends_byte_order_mark_and_big_numbers() -> None:
    """A file that went through Windows reads the same, and integers of any size stay exact."""
    lines = [
        {"id": "a", "message": {"role": "user", "content": "hi"}, "n": 2**80},
        {"id": "b", "message": {"role": "assistant", "content": "ho \ud83d"}},
    ]
    data = b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, lines)).encode()
    entries = import_text("auto", data).histories[0].entries
    assert [entry.text for entry in entries] == ["hi", "ho \ud83d"]
    assert entries[0].extra == {"n": 2**80}


def test_chunks_may_break_anywhere() -> None:
    """The same entries come out of chunks of any size."""
    data = (DATA / "claude-code/parallel-calls.jsonl").read_bytes()
    whole = import_text("claude-code", data).histories
    for size in (1, 7, 64):
        source = Source(lambda size=size: (data[at : at + size] for at in range(0, len(data), size)))
        assert import_text("claude-code", source).histories == whole


def test_a_document_over_the_limit_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formats that are one JSON document have a limit."""
    monkeypatch.setattr(sources.Source.read, "__defaults__", (1000,))
    with pytest.raises(LimitExceeded):
        import_text("gemini", json.dumps({"contents": [{"role": "user", "parts": [{"text": "x" * 2000}]}]}))


@pytest.mark.parametrize("form", FORMATS)
def test_a_text_of_another_kind_is_refused(form: str) -> None:
    """A text that is nothing like the format raises `Unparsable`, also when it is JSON."""
    for text in ("", "just words\n", "[]", '{"hello": "world"}\n{"x": 1}\n', "\x00\x01"):
        with pytest.raises(Unparsable):
            import_text(form, text)


def test_an_unknown_format_is_a_wrong_parameter() -> None:
    """The error names the formats that there are."""
    with pytest.raises(InvalidParams):
        import_text("wordstar", "x")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("vendor", ["anthropic-messages", "openai-chat"])
def test_projects_clean(name: str, vendor: str) -> None:
    """Every imported history can be sent: no loss is an error, every call is answered, every answer was called."""
    entries, _ = read_file(DATA / name, TRUTHS[name]["format"])
    projected = wire.project([Item(entry=entry, index=index) for index, entry in enumerate(entries)], vendor, Options())
    assert [loss for loss in projected.losses if loss.severity == "error"] == []
    messages = projected.body["messages"]
    if vendor == "openai-chat":
        asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    else:
        blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert all(a["role"] != b["role"] for a, b in zip(messages, messages[1:], strict=False))
    assert asked == answered
    assert len(asked) == sum(len(e.message.tool_calls) for e in entries if isinstance(e.message, Assistant))


def test_all_branches_become_histories() -> None:
    """On request every abandoned branch and every sub-agent comes along as a history of its own."""
    found = import_text("claude-code", (DATA / "claude-code/rewound.jsonl").read_bytes(), all_branches=True)
    assert [(history.branch, [entry.text for entry in history.entries]) for history in found.histories] == [
        (None, ["Which tea has most caffeine?", "Green tea.", "What about black tea?", "Black tea has more."]),
        ("branch-1", ["Which tea has most caffeine?", "Green tea.", "Are you sure about green?", "No."]),
    ]
    found = import_text(
        "claude-code", (DATA / "claude-code/compacted-with-agent.jsonl").read_bytes(), all_branches=True
    )
    assert [entry.text for entry in found.histories[1].entries] == ["You are a sub-agent", "Agent words"]
    found = import_text("chatgpt-export", (DATA / "chatgpt-export/tree.json").read_bytes(), all_branches=True)
    assert found.histories[1].entries[-1].text == "Discarded."
    found = import_text("gemini-cli", (DATA / "gemini-cli/log.jsonl").read_bytes(), all_branches=True)
    assert [entry.text for entry in found.histories[1].entries] == ["Roll", "gone soon"]
