"""The checker: what it finds, what it leaves in peace, and that its fixes cure."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, Phase, given, settings

from sidecar.core.errors import UnknownVendor
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Entry
from sidecar.wire.base import Item, Options, Violation
from sidecar.wire.check import check
from sidecar.wire.constraints import CONSTRAINTS
from sidecar.wire.registry import vendor_ids
from sidecar.wire.rules import RULES
from tests.wire import strategies
from tests.wire.strategies import VENDORS

Turn = dict[str, Any]
# No shrinking: the histories are small already, and shrinking all parts of an entry takes minutes.
HOSTILE = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def system(text: str) -> Turn:
    return {"role": "system", "text": text}


def user(content: Any = "q", **extra: Any) -> Turn:
    return {"role": "user", "content": content, **extra}


def assistant(content: Any = "a", *calls: Turn, **extra: Any) -> Turn:
    out: Turn = {"role": "assistant", "content": content, **extra}
    if calls:
        out["toolCalls"] = list(calls)
    return out


def call(call_id: str = "abcdefgh1", name: str = "get_weather", arguments: str = "{}", **extra: Any) -> Turn:
    return {"id": call_id, "name": name, "arguments": arguments, **extra}


def tool(call_id: str = "abcdefgh1", content: Any = "ok", **extra: Any) -> Turn:
    return {"role": "tool", "callId": call_id, "content": content, **extra}


def text(value: str, **extra: Any) -> Turn:
    return {"type": "text", "text": value, **extra}


IMAGE = {"type": "image", "mimeType": "image/png", "data": "aGk="}
PDF = {"type": "file", "mimeType": "application/pdf", "data": "aGk="}
OWN_CALL = {"type": "vendor", "vendor": "gemini", "value": {"functionCall": {"name": "f", "args": {}}}}
SIGNED = {"text": "t", "signature": "s", "vendor": "anthropic-messages"}


def items(*turns: Turn) -> list[Item]:
    return strategies.items_of([entry_from_json({"message": turn}) for turn in turns])


def found(history: Sequence[Item], vendor: str, options: Options = Options()) -> list[tuple[str, str, int]]:  # noqa: B008
    return [(one.rule, one.severity, one.index) for one in check(history, [vendor], options)]


CLEAN = (
    system("Be brief."),
    user("Paris and Berlin?"),
    assistant(None, call("abcdefgh1"), call("abcdefgh2")),
    tool("abcdefgh1", "sun", name="get_weather"),
    tool("abcdefgh2", [{"type": "json", "value": {"sky": "rain"}}], name="get_weather"),
    assistant("Sun and rain."),
    user("Thanks"),
)


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_clean_history_has_no_error(vendor: str) -> None:
    """A history with every pair complete, plain ids and alternating roles is no error for any vendor."""
    assert [one for one in check(items(*CLEAN), [vendor]) if one.severity == "error"] == []


def test_every_vendor_of_the_protocol_has_constraints() -> None:
    """The checker knows exactly the vendors that can be projected to."""
    assert set(CONSTRAINTS) == set(vendor_ids()) == set(VENDORS)


def test_an_unknown_vendor_is_a_domain_error() -> None:
    """An unknown vendor id is refused with the known ones."""
    with pytest.raises(UnknownVendor) as caught:
        check(items(*CLEAN), ["openai-chat", "nobody"])
    assert caught.value.data["vendor"] == "nobody"
    assert set(caught.value.data["known"]) == set(VENDORS)


def test_an_alias_names_its_vendor() -> None:
    """A short name of a vendor is that vendor."""
    assert check(items(assistant("Pong ")), ["anthropic"]) == check(items(assistant("Pong ")), ["anthropic-messages"])


Q = user()
PAIR = (Q, assistant(None, call()), tool())

CASES: list[tuple[str, str, tuple[Turn, ...], list[tuple[str, str, int]]]] = [
    ("a call without a result", "openai-chat", (Q, assistant(None, call())), [("X1", "error", 1)]),
    (
        "a notice between call and result",
        "deepseek",
        (Q, assistant(None, call(), reasoning=[{"text": "t"}]), system("lint"), tool(), user()),
        [("X1", "error", 1)],
    ),
    (
        "late text between call and result",
        "anthropic-messages",
        (Q, assistant(None, call()), assistant("late"), tool(), user()),
        [("X1", "error", 1)],
    ),
    ("an orphan result", "anthropic-messages", (Q, tool("gone"), assistant("so"), user()), [("X2", "error", 1)]),
    ("a result before its call", "kimi", (Q, tool(), assistant("so")), [("X2", "error", 1)]),
    (
        "two results of one call",
        "glm",
        (*PAIR[:1], assistant("x", call(), reasoning=[{"text": "t"}]), tool(), tool()),
        [("X3", "error", 3)],
    ),
    (
        "one id twice in a turn",
        "openai-chat",
        (Q, assistant(None, call(), call()), tool(), tool()),
        [("X3", "error", 1)],
    ),
    (
        "one id in two turns, refused",
        "anthropic-messages",
        (*PAIR, *PAIR),
        [("X3", "error", 4)],
    ),
    ("one id in two turns, tolerated", "openai-chat", (*PAIR, *PAIR), [("X3", "warning", 4)]),
    ("one id twice, no ids on the wire", "ollama", (Q, assistant("x", call(), call()), tool(), tool()), []),
    (
        "an id with a dot",
        "anthropic-messages",
        (Q, assistant(None, call("functions.f:0")), tool("functions.f:0"), user()),
        [("X4", "error", 1)],
    ),
    (
        "an id of 41 characters",
        "openai-chat",
        (Q, assistant(None, call("x" * 41)), tool("x" * 41)),
        [("X4", "error", 1)],
    ),
    ("an empty id", "bedrock-converse", (Q, assistant(None, call("")), tool("")), [("X4", "error", 1)]),
    ("an id for Mistral", "mistral", (Q, assistant(None, call("call_1")), tool("call_1")), [("X4", "error", 1)]),
    (
        "a dotted tool name",
        "openai-responses",
        (Q, assistant(None, call(name="resource.read")), tool()),
        [("X5", "error", 1)],
    ),
    ("no tool name", "ollama", (Q, assistant("x", call(name="")), tool()), [("X5", "error", 1)]),
    ("a blank user message", "bedrock-converse", (user(" \n"),), [("X6", "error", 0)]),
    ("one blank block of two", "anthropic-messages", (user([text("hi"), text(" ")]),), [("X6", "error", 0)]),
    ("a blank assistant", "anthropic-messages", (Q, assistant(" "), user()), [("X6", "error", 1)]),
    ("an empty text beside calls", "anthropic-messages", (Q, assistant("", call()), tool()), [("X6", "info", 1)]),
    ("a blank text beside calls", "anthropic-messages", (Q, assistant(" ", call()), tool()), [("X6", "error", 1)]),
    ("white space alone, tolerated", "mistral", (Q, assistant(" "), user()), []),
    ("an empty reply", "mistral", (Q, assistant(""), user()), [("X6", "error", 1)]),
    ("null content without calls", "openai-chat", (Q, assistant(None), user()), [("X6", "error", 1)]),
    ("an empty error result", "bedrock-converse", (*PAIR[:2], tool(content="", isError=True)), [("X6", "error", 2)]),
    ("null content with calls", "xai", PAIR, [("X6", "warning", 1)]),
    ("no blocks at all", "gemini", (Q, assistant([]), user()), [("X6", "error", 1)]),
    ("half-finished arguments", "qwen", (Q, assistant(None, call(arguments='{"v": ')), tool()), [("X7", "error", 1)]),
    (
        "arguments that are a list",
        "gemini",
        (Q, assistant(None, call(arguments="[1]", signature="s")), tool()),
        [("X7", "error", 1)],
    ),
    ("no arguments", "openai-chat", (Q, assistant(None, call(arguments="")), tool()), [("X7", "error", 1)]),
    (
        "an image in an error result",
        "anthropic-messages",
        (*PAIR[:2], tool(content=[text("x"), IMAGE], isError=True)),
        [("X8", "error", 2)],
    ),
    ("system text late", "bedrock-converse", (Q, assistant(), system("s"), user()), [("X9", "error", 2)]),
    ("system text late, templates", "openai-compatible", (Q, assistant(), system("s"), user()), [("X9", "warning", 2)]),
    ("system text late, allowed", "openai-chat", (Q, assistant(), system("s"), user()), []),
    ("system text behind a user", "mistral", (Q, system("s"), user()), []),
    ("system text behind an assistant", "mistral", (Q, assistant(), system("s"), user()), [("X9", "error", 2)]),
    ("a note late", "bedrock-converse", (Q, assistant(), {"role": "note", "text": "n"}, user()), []),
    ("two system texts in front", "qwen", (system("a"), system("b"), Q), [("X9", "warning", 1)]),
    ("an assistant last", "mistral", (Q, assistant()), [("X10", "warning", 1)]),
    (
        "a space at the end",
        "anthropic-messages",
        (Q, assistant("Pong ")),
        [("X10", "warning", 1), ("X10", "error", 1)],
    ),
    ("an assistant first", "gemini", (assistant(), user()), [("X11", "error", 0)]),
    ("a summary first", "gemini", ({"role": "summary", "text": "s"}, assistant(), user()), []),
    ("two users in a row", "bedrock-converse", (user("a"), user("b")), [("X12", "error", 1)]),
    ("two assistants in a row", "gemini", (Q, assistant("a"), assistant("b"), user()), [("X12", "error", 2)]),
    ("two users in a row, tolerated", "anthropic-messages", (user("a"), user("b")), []),
    (
        "reasoning without a signature",
        "anthropic-messages",
        (Q, assistant(reasoning=[{"text": "t", "vendor": "anthropic-messages"}]), user()),
        [("X13", "warning", 1)],
    ),
    (
        "reasoning of another vendor",
        "openai-responses",
        (Q, assistant(reasoning=[SIGNED]), user()),
        [("X13", "warning", 1)],
    ),
    ("signed reasoning at home", "anthropic-messages", (Q, assistant(reasoning=[SIGNED]), user()), []),
    (
        "signed reasoning that was emptied",
        "anthropic-messages",
        (Q, assistant(reasoning=[{**SIGNED, "text": "", "cleared": True}]), user()),
        [("X13", "error", 1)],
    ),
    ("a turn with calls without reasoning", "kimi", PAIR, [("X13", "warning", 1)]),
    ("no thought signature", "gemini", PAIR, [("X13", "info", 1)]),
    ("half a character pair", "openai-chat", (user("\ud83d"),), [("X14", "error", 0)]),
    (
        "half a pair in arguments",
        "groq",
        (Q, assistant(None, call(arguments='{"s":"\ud83d"}')), tool()),
        [("X14", "error", 1)],
    ),
    (
        "half a pair, escaped, in arguments",
        "xai",
        (Q, assistant("x", call(arguments='{"s":["\\ud83d"]}')), tool()),
        [("X14", "error", 1)],
    ),
    (
        "half a pair in a call id",
        "kimi",
        (Q, assistant(None, call("i\udc00"), reasoning=[{"text": "t"}]), tool("i\udc00")),
        [("X14", "error", 1), ("X14", "error", 2)],
    ),
    ("an image in a result", "openai-chat", (*PAIR[:2], tool(content=[IMAGE])), [("X15", "error", 2)]),
    ("an image of the assistant", "anthropic-messages", (Q, assistant([IMAGE]), user()), [("X15", "error", 1)]),
    ("an image of the user", "deepseek", (user([IMAGE]),), [("X15", "error", 0)]),
    (
        "a document without text and name",
        "bedrock-converse",
        (user([PDF]),),
        [("X15", "error", 0), ("X15", "error", 0)],
    ),
    (
        "a document name twice",
        "bedrock-converse",
        (user([text("t"), {**PDF, "name": "a"}]), assistant(), user([text("t"), {**PDF, "name": "a"}])),
        [("X15", "error", 2)],
    ),
    (
        "five cache markers",
        "anthropic-messages",
        tuple(user([text("t", cache_control={"type": "ephemeral"})]) for _ in range(5)),
        [("X16", "error", 0)],
    ),
    (
        "a cache marker on empty text",
        "bedrock-converse",
        (user([text("t"), text(" ", cache_control={"type": "ephemeral"})]),),
        [("X6", "error", 0), ("X16", "error", 0)],
    ),
    ("an unknown key", "groq", (user(annotations=[]),), [("X17", "warning", 0)]),
    ("a call as a vendor's block", "gemini", (user([OWN_CALL, text("q")]),), [("X17", "warning", 0)]),
    ("nothing at all", "openai-chat", (), [("X18", "error", 0)]),
    ("only system text", "anthropic-messages", (system("s"),), [("X18", "error", 0)]),
    ("no user", "glm", (system("s"), assistant("x")), [("X18", "error", 1)]),
    ("a name with a space", "openai-chat", (user(name="Mr. X"),), [("X19", "error", 0)]),
    ("a name where none is taken", "xai", (user(name="bob"),), [("X19", "error", 0)]),
    ("a user behind a result", "mistral", (*PAIR, user()), [("X21", "error", 3)]),
    ("a foreign part", "gemini", (user([text("x"), {"type": "hologram"}]),), [("X22", "warning", 0)]),
    ("a part of its own", "gemini", (user([{"type": "vendor", "vendor": "gemini", "value": {}}]),), []),
    (
        "the same call again and again",
        "qwen",
        (Q, *(turn for n in range(3) for turn in (assistant(None, call(f"c{n}")), tool(f"c{n}")))),
        [("X22", "warning", 5)],
    ),
]


@pytest.mark.parametrize(("vendor", "turns", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_what_is_found(vendor: str, turns: tuple[Turn, ...], expected: list[tuple[str, str, int]]) -> None:
    """Each breach is named with its rule, its severity and its index, and nothing else is."""
    assert found(items(*turns), vendor) == expected


def test_every_rule_that_entries_can_break_has_a_case() -> None:
    """The table above breaks every rule but X20, which entries cannot express."""
    assert {rule for *_, expected in CASES for rule, _, _ in expected} == set(RULES) - {"X20"}


@pytest.mark.parametrize(
    ("vendor", "turns", "options", "expected"),
    [
        ("anthropic-messages", (Q, assistant()), Options(capabilities={"prefill": True}), []),
        (
            "openai-compatible",
            (system("a"), system("b"), user(), user()),
            Options(capabilities={"strictTemplate": True}),
            [("X9", "error", 1), ("X12", "error", 3)],
        ),
        (
            "anthropic-messages",
            (Q, system("s"), assistant(), user()),
            Options(capabilities={"systemInTurns": True}),
            [],
        ),
        (
            "anthropic-messages",
            (Q, system("s"), assistant(), user()),
            Options(capabilities={"systemInTurns": False}),
            [("X9", "error", 1)],
        ),
        (
            "openai-compatible",
            (Q, assistant(), system("s"), user(), user()),
            Options(capabilities={"strictTemplate": False}),
            [],
        ),
        ("mistral", (Q, assistant()), Options(capabilities={"prefill": False}), [("X10", "error", 1)]),
        ("deepseek", PAIR, Options(capabilities={"thinking": False}), []),
        ("deepseek", PAIR, Options(capabilities={"thinking": True}), [("X13", "error", 1)]),
        ("gemini", PAIR, Options(model="gemini-3-pro"), [("X13", "error", 1)]),
        ("gemini", PAIR, Options(model="gemini-2.5-pro"), []),
        ("mistral", (Q, assistant("x", call("c")), tool("c")), Options(capabilities={"callIdFormat": "any"}), []),
        (
            "openai-chat",
            (*PAIR[:2], tool(content=[text("t"), IMAGE])),
            Options(capabilities={"toolResultImages": True}),
            [],
        ),
    ],
)
def test_the_caller_knows_the_model(
    vendor: str, turns: tuple[Turn, ...], options: Options, expected: list[tuple[str, str, int]]
) -> None:
    """Capabilities and the model sharpen or lift the rules that depend on them."""
    assert found(items(*turns), vendor, options) == expected


def test_signed_reasoning_behind_a_changed_prefix_is_stale() -> None:
    """A signature whose prefix changed is an error where the vendor checks it, and the fix takes it out."""
    history = items(Q, assistant(reasoning=[SIGNED]), user())
    history[1] = evolve(history[1], prefix_changed=True)
    (violation,) = check(history, ["anthropic-messages"])
    assert (violation.rule, violation.severity) == ("X13", "error")
    after = applied(history, violation.fixes[0])
    assert after[1].entry.message == entry_from_json({"message": assistant()}).message


# --- fixes ------------------------------------------------------------------------------------------------------------


def applied(history: Sequence[Item], fix: Mapping[str, Any]) -> list[Item]:
    """Apply the edits of a fix as `history/applyEdits` does: in order, each seeing the result of those before."""
    rows = [(item.entry, item) for item in history]
    for edit in fix["edits"]:
        if edit["kind"] == "remove":
            rows = [row for row in rows if row[0].id != edit["entryId"]]
        elif edit["kind"] == "splice":
            start, end = edit["start"], edit["start"] + edit["deleteCount"]
            assert 0 <= start <= end <= len(rows)
            assert all(entry_to_json(entry_from_json(raw)) == raw for raw in edit["entries"])
            rows[start:end] = [(entry_from_json(raw), history[0]) for raw in edit["entries"]]
        else:
            assert edit["kind"] == "setText"
            rows = [(with_text(entry, edit) if entry.id == edit["entryId"] else entry, item) for entry, item in rows]
    ids = [entry.id for entry, _ in rows if entry.id]
    assert len(ids) == len(set(ids))
    stale = {item.entry.id for item in history if item.prefix_changed}
    return [
        Item(
            entry=entry if entry.id else evolve(entry, id=f"new{index}"),
            index=index,
            prefix_changed=entry.id in stale,
        )
        for index, (entry, _) in enumerate(rows)
    ]


def with_text(entry: Entry, edit: Mapping[str, Any]) -> Entry:
    raw = entry_to_json(entry)
    if "block" in edit:
        raw["message"]["content"][edit["block"]]["text"] = edit["text"]
    else:
        raw["message"]["text"] = edit["text"]
    return entry_from_json(raw)


def count(violations: Sequence[Violation], rule: str, severity: str | None = None) -> int:
    return sum(one.rule == rule and severity in (None, one.severity) for one in violations)


def assert_cured(history: Sequence[Item], violation: Violation, before: Sequence[Violation]) -> None:
    for fix in violation.fixes:
        assert set(fix) == {"title", "edits"}
        after = check(applied(history, fix), [violation.vendor])
        assert count(after, violation.rule) < count(before, violation.rule)
        assert count(after, violation.rule, "error") <= count(before, violation.rule, "error")


@pytest.mark.parametrize(("vendor", "turns"), [case[1:3] for case in CASES], ids=[case[0] for case in CASES])
def test_each_fix_of_the_table_cures(vendor: str, turns: tuple[Turn, ...]) -> None:
    """A fix takes its violation away and adds no error of its rule."""
    history = items(*turns)
    before = check(history, [vendor])
    for violation in before:
        assert_cured(history, violation, before)


FIXED_ERRORS = {rule for rule in RULES if rule not in ("X17", "X20", "X22")}


def test_every_rule_with_a_cure_offers_one() -> None:
    """Each rule but those that only name content offers a fix in at least one case of the table."""
    offered = {
        violation.rule
        for _, vendor, turns, _ in CASES
        for violation in check(items(*turns), [vendor])
        if violation.fixes
    }
    assert offered == FIXED_ERRORS


@HOSTILE
@given(history=strategies.items)
def test_fixes_cure_hostile_histories(history: list[Item]) -> None:
    """Whatever the history, for every vendor, each fix lowers the count of its own violation and adds no error."""
    for vendor in VENDORS:
        before = check(history, [vendor])
        for violation in before[:6]:
            assert_cured(history, violation, before)


@HOSTILE
@given(history=strategies.items)
def test_all_errors_can_be_fixed_away(history: list[Item]) -> None:
    """Applying first fixes again and again ends, and leaves only violations that have no fix."""
    vendor = "anthropic-messages"
    for _ in range(200):
        fixes = [violation.fixes[0] for violation in check(history, [vendor]) if violation.fixes]
        if not fixes:
            break
        history = applied(history, fixes[0])
    else:
        pytest.fail("fixes do not come to an end")


def test_fixes_leave_elided_and_injected_entries_alone() -> None:
    """An entry shown elided is not rewritten, and a runtime-only entry is not edited, since it is not stored."""
    history = items(user("\ud83d"), assistant(" x "))
    elided = [evolve(history[0], elided=True), history[1]]
    assert [one.fixes for one in check(elided, ["openai-chat"])] == [()]
    injected = [evolve(history[0], entry=history[0].entry.injected()), history[1]]
    assert [one.fixes for one in check(injected, ["openai-chat"])] == [()]


# --- promises ---------------------------------------------------------------------------------------------------------


@HOSTILE
@given(history=strategies.items)
def test_the_answer_is_the_same_each_time(history: list[Item]) -> None:
    """Checking is deterministic, sorted by vendor, index and rule, and asks nothing of the order of vendors."""
    together = check(history, VENDORS)
    assert together == check(history, VENDORS)
    assert together == tuple(one for vendor in VENDORS for one in check(history, [vendor]))
    for vendor in VENDORS:
        keys = [(one.index, int(one.rule[1:])) for one in together if one.vendor == vendor]
        assert keys == sorted(keys)


SECRET = "s3cret words"


def test_sentences_hold_no_conversation_text() -> None:
    """Messages name ids and tools, never what was said, asked for or answered."""
    history = items(
        system(SECRET),
        assistant(f"{SECRET} "),
        user([text(SECRET), {**PDF, "name": SECRET + ".pdf"}], name=SECRET),
        assistant(SECRET, call(arguments=SECRET), reasoning=[{"text": SECRET}]),
        system(SECRET),
        tool("gone", SECRET, isError=True),
        assistant(SECRET + " "),
    )
    messages = [one.message for one in check(history, VENDORS)]
    assert len(messages) > 50
    assert not [message for message in messages if SECRET in message]


@pytest.mark.parametrize("vendor", ["openai-chat", "bedrock-converse"])
def test_checking_is_linear(vendor: str) -> None:
    """Four times the entries take about four times as long, also when every entry is a violation."""

    def seconds(turns: int) -> float:
        history = items(*(turn for n in range(turns) for turn in (user(" "), assistant(None, call(f"c{n}")))))
        best = float("inf")
        for _ in range(3):
            begin = time.process_time()
            check(history, [vendor])
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(2000) < 12 * seconds(500)
