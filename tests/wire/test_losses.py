"""Nothing is changed silently: what each kind of content becomes, and what is told about it."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from sidecar.core.errors import Unprojectable
from sidecar.core.messages import (
    Assistant,
    Audio,
    Entry,
    File,
    Image,
    JsonBlock,
    Opaque,
    Origin,
    Reasoning,
    Text,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.wire import project
from sidecar.wire.base import Item, Options, Projected
from tests.wire.flat import flat, messages_of, system_of
from tests.wire.strategies import VENDORS

USER = Entry.user("q")
CALL = ToolCall(id="call_1", name="f", arguments="{}")


def sent(vendor: str, *entries: Entry, **options: Any) -> Projected:
    items = [Item(entry=evolve(entry, id=entry.id or f"e{index}"), index=index) for index, entry in enumerate(entries)]
    return project(items, vendor, Options(**options))


def told(projected: Projected) -> list[tuple[str, str, str | None]]:
    return [(loss.rule, loss.severity, loss.entry_id) for loss in projected.losses]


def assistant(*reasoning: Reasoning, **more: Any) -> Entry:
    return Entry(message=Assistant(content=(Text("a"),), reasoning=reasoning, **more))


# --- the seeds (the numbers are those of the source documents' test cases) --------------------------------------------


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        (Entry.assistant("", tool_calls=[CALL]), None),  # 19
        (Entry.assistant(""), ""),  # 20
        (Entry.user(""), ""),  # 20
        (Entry.assistant("thinking", tool_calls=[CALL]), "thinking"),  # 21
        (Entry.assistant("hi", agent="sage"), '<from agent="sage">\nhi\n</from>'),  # 23
        (evolve(Entry.user("hi"), agent="sage"), "hi"),  # 23
        (Entry.assistant("", tool_calls=[CALL], agent="sage"), None),  # 24 under the decision on wrappers
        (Entry.assistant("x", agent='a"b<&\n'), '<from agent="a&quot;b&lt;&amp;&#10;">\nx\n</from>'),
    ],
)
def test_null_rule_and_guests(entry: Entry, content: str | None) -> None:
    """Null stands exactly beside calls without text, and only a guest's text is wrapped."""
    assert messages_of(sent("openai-chat", entry).body)[0]["content"] == content


def test_guests_can_stay_plain() -> None:
    """The wrapper is left out on demand, and stands around each text block by itself."""
    entry = Entry(message=Assistant(content=(Text("a"), Text("b"))), agent="sage")
    wrapped = sent("anthropic-messages", USER, entry, USER).body["messages"][1]["content"]
    assert [part["text"] for part in wrapped] == ['<from agent="sage">\na\n</from>', '<from agent="sage">\nb\n</from>']
    plain = sent("anthropic-messages", USER, entry, USER, guests="plain").body["messages"][1]["content"]
    assert [part["text"] for part in plain] == ["a", "b"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_failed_result_says_so(vendor: str) -> None:
    """39: a flag where the wire has one, else one prefix, which is not doubled."""
    for text in ("boom", "ERROR: boom"):
        body = sent(vendor, USER, Entry.assistant(tool_calls=[CALL]), Entry.tool(text, "call_1", is_error=True)).body
        (result,) = [step for step in flat(vendor, body) if step.kind == "result"]
        if vendor in ("anthropic-messages", "bedrock-converse", "gemini"):
            assert result.error
            assert text in str(result.value)
        else:
            assert result.value == "ERROR: boom"


def test_json_results_keep_their_order() -> None:
    """37: a JSON result is compact text where the wire wants text, its keys as received."""
    entries = (USER, Entry.assistant(tool_calls=[CALL]), Entry.tool([JsonBlock({"z": "é", "a": [1, None]})], "call_1"))
    assert messages_of(sent("openai-chat", *entries).body)[2]["content"] == '{"z":"é","a":[1,null]}'
    (result,) = messages_of(sent("anthropic-messages", *entries).body)[2]["content"]
    assert result == {"type": "tool_result", "tool_use_id": "call_1", "content": '{"z":"é","a":[1,null]}'}
    (answer,) = messages_of(sent("gemini", *entries).body)[2]["parts"]
    assert answer["functionResponse"]["response"] == {"output": {"z": "é", "a": [1, None]}}
    null = Entry.tool([JsonBlock(None)], "call_1")
    assert messages_of(sent("openai-chat", *entries[:2], null).body)[2]["content"] == "null"


def test_notes_and_summaries_have_a_legal_place() -> None:
    """38: a note is system text where the vendor takes it, a summary opens a list as user text."""
    entries = (Entry.summary("so far"), Entry.assistant("a"), Entry.note("run finished"), USER)
    assert [message["role"] for message in messages_of(sent("openai-chat", *entries).body)] == [
        "user",
        "assistant",
        "system",
        "user",
    ]
    assert messages_of(sent("openai-chat", *entries).body)[2]["content"] == "[note] run finished"
    body = sent("anthropic-messages", *entries).body
    assert [message["role"] for message in messages_of(body)] == ["user", "assistant", "user"]
    assert [part["text"] for part in messages_of(body)[2]["content"]] == ["[note] run finished", "q"]
    newer = sent(
        "anthropic-messages",
        Entry.system("s"),
        USER,
        Entry.note("n"),
        Entry.assistant("a"),
        USER,
        model="claude-opus-5",
    )
    assert [message["role"] for message in messages_of(newer.body)] == ["user", "system", "assistant", "user"]
    assert system_of(newer.body) == ["s"]


def test_deepseek_reasoning() -> None:
    """34: the key is on every assistant message while thinking, and nowhere when the model does not think."""
    plain = messages_of(sent("deepseek", USER, Entry.assistant("x")).body)[1]
    assert plain == {"role": "assistant", "content": "x", "reasoning_content": ""}
    only = messages_of(sent("deepseek", USER, Entry.assistant("", reasoning="r")).body)[1]
    assert only == {"role": "assistant", "content": "", "reasoning_content": "r"}
    off = sent("deepseek", USER, Entry.assistant("x", reasoning="r"), capabilities={"thinking": False})
    assert "reasoning_content" not in messages_of(off.body)[1]
    assert told(off) == [("X13", "info", "e1")]
    assert (
        "reasoning_content" not in messages_of(sent("openai-chat", USER, Entry.assistant("x", reasoning="r")).body)[1]
    )


def test_tool_names_are_cleaned() -> None:
    """45: a legal name stays, another is cleaned, and two tools never become one."""
    names = ("resource.read", "a b/c", "list-files", "resource_read", "resource:read")
    calls = [ToolCall(id=f"c{index}", name=name, arguments="{}") for index, name in enumerate(names)]
    steps = flat("openai-chat", sent("openai-chat", USER, Entry.assistant(tool_calls=calls)).body)
    found = [step.name for step in steps if step.kind == "call"]
    assert found[1:4] == ["a_b_c", "list-files", "resource_read"]
    assert len(set(found)) == 5
    lone = sent(
        "openai-chat", USER, Entry.assistant(tool_calls=[ToolCall(id="c", name="resource.read", arguments="{}")])
    )
    assert messages_of(lone.body)[1]["tool_calls"][0]["function"]["name"] == "resource_read"


# --- reasoning --------------------------------------------------------------------------------------------------------

SIGNED = Reasoning(text="t", signature="c2ln", vendor="anthropic-messages", model="claude-sonnet-4-20250514", scope="o")


@pytest.mark.parametrize(
    ("part", "options", "severity"),
    [
        (SIGNED, {"scope": "o"}, None),
        (SIGNED, {"scope": "o", "model": "claude-sonnet-4"}, None),
        (SIGNED, {"scope": "o", "model": "claude-opus-4-1"}, "info"),
        (SIGNED, {"scope": "p"}, "info"),
        (SIGNED, {}, "info"),
        (evolve(SIGNED, scope=None), {"scope": "p"}, None),
        (evolve(SIGNED, vendor="bedrock-converse"), {"scope": "o"}, "info"),
        (evolve(SIGNED, vendor="anthropic"), {"scope": "o"}, None),
        (evolve(SIGNED, signature=None), {"scope": "o"}, "info"),
        (evolve(SIGNED, cleared=True), {"scope": "o"}, "warning"),
        (evolve(SIGNED, text="\ud800"), {"scope": "o"}, "warning"),
        (SIGNED, {"scope": "o", "reasoning": "drop"}, "info"),
        (SIGNED, {"scope": "o", "capabilities": {"thinking": False}}, "info"),
    ],
)
def test_signed_reasoning_goes_home_or_nowhere(part: Reasoning, options: dict[str, Any], severity: str | None) -> None:
    """Signed thinking goes back unaltered to its vendor, model family and scope; else it is dropped whole and told."""
    projected = sent("anthropic-messages", USER, assistant(part), USER, **options)
    content = messages_of(projected.body)[1]["content"]
    thinking = {"type": "thinking", "thinking": part.text, "signature": part.signature}
    assert content == ([thinking] if severity is None else []) + [{"type": "text", "text": "a"}]
    assert told(projected) == ([] if severity is None else [("X13", severity, "e1")])


@pytest.mark.parametrize(("model", "dropped"), [(None, True), ("claude-opus-5-5", True), ("claude-sonnet-4-5", False)])
def test_stale_reasoning_is_dropped_where_the_prefix_is_checked(model: str | None, dropped: bool) -> None:
    """Only what was made before the change is stale; what was made after it goes back."""
    part = evolve(SIGNED, model=None, scope=None)
    entries = [USER, assistant(part), USER, assistant(evolve(part, text="new")), USER]
    items = [Item(entry=evolve(entry, id=f"e{i}"), index=i, prefix_changed=i == 1) for i, entry in enumerate(entries)]
    projected = project(items, "anthropic-messages", Options(model=model))
    kinds = [[part["type"] for part in message["content"]] for message in messages_of(projected.body)]
    assert kinds[3] == ["thinking", "text"]
    assert kinds[1] == (["text"] if dropped else ["thinking", "text"])
    assert told(projected) == ([("X13", "warning", "e1")] if dropped else [])


def test_thinking_between_texts_keeps_its_place() -> None:
    """Where reasoning says what came before it, it goes back there."""
    parts = (SIGNED, evolve(SIGNED, text="u", extra={"before": 1}))
    entry = Entry(message=Assistant(content=(Text("a"), Text("b")), reasoning=parts))
    content = messages_of(sent("anthropic-messages", USER, entry, USER, scope="o").body)[1]["content"]
    assert [part.get("text", part.get("thinking")) for part in content] == ["t", "a", "u", "b"]


def test_openai_items_keep_ids_only_where_they_are_stored() -> None:
    """An item id goes out only when the vendor keeps the items, and only the vendor's own."""
    call = ToolCall(id="call_1", name="f", arguments="{}", item_id="fc_1")
    part = Reasoning(data="gAAA", id="rs_1")
    own = Entry(message=Assistant(reasoning=(part,), tool_calls=(call,), origin=Origin(vendor="openai-responses")))
    stateless = messages_of(sent("openai-responses", USER, own).body)
    assert [item.get("id") for item in stateless] == [None, "rs_1", None, None]
    stored = messages_of(sent("openai-responses", USER, own, capabilities={"stored": True}).body)
    assert [item.get("id") for item in stored] == [None, "rs_1", "fc_1", None]


# --- media and foreign blocks -----------------------------------------------------------------------------------------

PNG = Image(mime_type="image/png", data="iVBORw0KGgo=")


@pytest.mark.parametrize(
    ("block", "vendor", "rule"),
    [
        (Opaque("hologram", {"type": "hologram"}), "openai-chat", "X17"),
        (VendorBlock("gemini", {"text": "x"}), "openai-chat", "X17"),
        (Image(mime_type="image/tiff", data="aGk="), "anthropic-messages", "X15"),
        (Image(mime_type="image/png", data="not base64!"), "openai-chat", "X15"),
        (Image(mime_type="image/png", blob="abc"), "openai-chat", "X15"),
        (PNG, "deepseek", "X15"),
        (Image(url="https://example.com/a.png"), "ollama", "X15"),
        (Audio(mime_type="audio/wav", data="UklGRg=="), "anthropic-messages", "X15"),
        (File(name="a.zip", mime_type="application/zip", data="UEs="), "bedrock-converse", "X15"),
    ],
)
def test_what_cannot_be_sent_is_a_loss(block: Any, vendor: str, rule: str) -> None:
    """A block without a place leaves the rest of the message, a loss, and an error on demand."""
    entry = Entry(message=User((Text("see"), block)))
    projected = sent(vendor, entry)
    assert told(projected) == [(rule, "warning", "e0")]
    assert projected.losses[0].path == "/message/content/1"
    assert "see" in str(projected.body)
    with pytest.raises(Unprojectable) as raised:
        sent(vendor, entry, on_loss="error")
    (violation,) = raised.value.data["violations"]
    assert (violation["vendor"], violation["rule"], violation["entryId"], violation["index"]) == (vendor, rule, "e0", 0)


def test_vendor_blocks_go_home_verbatim() -> None:
    """A vendor's own block is sent as it is, and an incomplete server tool pair is not."""
    use = VendorBlock(
        "anthropic-messages", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    )
    found = VendorBlock(
        "anthropic-messages", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    )
    pair = Entry(message=Assistant(content=(use, found, Text("done"))))
    content = messages_of(sent("anthropic-messages", USER, pair, USER).body)[1]["content"]
    assert content == [use.value, found.value, {"type": "text", "text": "done"}]
    half = sent("anthropic-messages", USER, Entry(message=Assistant(content=(found, Text("done")))), USER)
    assert messages_of(half.body)[1]["content"] == [{"type": "text", "text": "done"}]
    assert told(half) == [("X2", "warning", "e1")]


def test_images_are_left_out_on_demand() -> None:
    """`images: elide` leaves a short text, in every place, as an info loss."""
    projected = sent("openai-chat", Entry(message=User((Text("see"), PNG))), images="elide")
    assert messages_of(projected.body)[0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "text", "text": "[image left out]"},
    ]
    assert told(projected) == [("X15", "info", "e0")]


def test_bedrock_keeps_the_newest_documents() -> None:
    """Five documents go into a request; older ones leave a text, and names stay unique."""
    pdf = File(name="a.pdf", mime_type="application/pdf", data="JVBERi0=")
    entries = [entry for _ in range(7) for entry in (Entry(message=User((Text("see"), pdf))), Entry.assistant("ok"))]
    projected = sent("bedrock-converse", *entries[:-1])
    documents = [step for step in flat("bedrock-converse", projected.body) if step.kind == "media"]
    assert [step.value["name"] for step in documents] == [f"a-pdf ({number})" for number in range(3, 8)]
    assert [loss.severity for loss in projected.losses] == ["warning"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_private_facts_never_leave(vendor: str) -> None:
    """Sender, principal, times, pins, metadata and unknown keys are in no payload."""
    secret = "do-not-send"
    user = Entry(
        message=User((Text("q", {"cache_control": secret, "x": secret}),), {"x": secret}),
        principal=secret,
        ts=1234567890123,
        pinned=True,
        meta={"example.com/x": secret},
        extra={"x": secret},
        sender=secret,
    )
    call = evolve(CALL, extra={"x": secret})
    projected = sent(vendor, user, Entry.assistant("a", tool_calls=[call]), Entry.tool("ok", "call_1"))
    assert secret not in str(projected.body) and "1234567890123" not in str(projected.body)
    assert {("X17", "info", "e0"), ("X17", "info", "e1")} <= set(told(projected))


def test_placeholders_can_be_worded() -> None:
    """The caller's texts stand in, except blank ones, which vendors refuse."""
    entries = (USER, Entry.assistant(tool_calls=[CALL]))
    assert messages_of(sent("openai-chat", *entries, placeholder={"result": "gone"}).body)[2]["content"] == "gone"
    assert messages_of(sent("openai-chat", *entries, placeholder={"result": " "}).body)[2]["content"].strip()


@pytest.mark.parametrize(
    ("data", "text", "losses"),
    [("aGk=", "hi", []), ("aOk=", "h�", [("X14", "warning", "e0")]), ("ICA=", "(empty document)", [])],
)
def test_a_text_document_is_sent_as_text(data: str, text: str, losses: list[tuple[str, str, str]]) -> None:
    """Bytes that are no UTF-8 are replaced and told; an empty one gets a stand-in and a repair."""
    entry = Entry.user([File(name="a.txt", mime_type="text/plain", data=data), Text("read it")])
    projected = sent("anthropic-messages", entry)
    source = projected.body["messages"][0]["content"][0]["source"]
    assert source == {"type": "text", "media_type": "text/plain", "data": text}
    assert told(projected) == losses
    assert [repair.rule for repair in projected.repairs] == (["X6"] if text == "(empty document)" else [])
