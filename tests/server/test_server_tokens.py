"""Token methods of a real process: records, estimates, elision and plans, to the letter of the contract."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.frames import SIDECAR, Process


def serve(store: Path | str) -> Process:
    return Process((*SIDECAR, "serve", "--store", str(store)))


@pytest.fixture(scope="module")
def sidecar() -> Iterator[Process]:
    with serve(":memory:") as process:
        yield process


def user(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}, **fields}


def estimate(process: Process, history: str, estimator: str | None = None, **params: Any) -> dict[str, Any]:
    more = {} if estimator is None else {"estimator": estimator}
    found: dict[str, Any] = process.result("history/tokenEstimate", history=history, **more, **params)
    return found


def test_seed_cases_of_the_ledger(sidecar: Process) -> None:
    """seeds.md §9, cases 1 to 5, 9, 11 and 14 with `bytes4`."""
    call = sidecar.result
    absent = estimate(sidecar, "seed/absent", "bytes4")
    assert (absent["tokens"], absent["version"], absent["baseline"], absent["delta"]) == (None, 0, None, 0)
    call("history/append", history="seed/2", entries=[user("a" * 40)])
    assert estimate(sidecar, "seed/2", "bytes4")["tokens"] == 10
    call("history/append", history="seed/3", entries=[user("seed")])
    assert call("history/recordInputTokens", history="seed/3", tokens=1000)["tokenEstimate"] == 1000
    call("history/append", history="seed/3", entries=[user("b" * 40)])
    found = estimate(sidecar, "seed/3", "bytes4")
    assert (found["tokens"], found["baseline"], found["delta"], found["basis"]) == (1010, 1000, 10, "recorded+delta")
    assert call("history/recordInputTokens", history="seed/3", tokens=2000)["tokenEstimate"] == 2000
    call("history/replace", history="seed/3", entries=[user("c" * 80)])
    assert estimate(sidecar, "seed/3", "bytes4")["tokens"] == 20
    call("history/append", history="seed/9", entries=[user("seed one"), user("seed two")])
    call("history/recordInputTokens", history="seed/9", tokens=5000)
    call("history/splicePrefix", history="seed/9", dropCount=1, summary="d" * 80)
    assert estimate(sidecar, "seed/9", "bytes4")["tokens"] == 22
    call("history/append", history="seed/11", entries=[user("seed")])
    call("history/recordInputTokens", history="seed/11", tokens=5000)
    call("history/append", history="seed/11", entries=[user("e" * 40)])
    call("history/truncate", history="seed/11", len=99)
    assert estimate(sidecar, "seed/11", "bytes4")["tokens"] == 5010
    call("history/truncate", history="seed/11", len=1)
    assert estimate(sidecar, "seed/11", "bytes4")["tokens"] == 1
    call("history/truncate", history="seed/11", len=0)
    assert estimate(sidecar, "seed/11", "bytes4")["tokens"] is None
    assert call("history/recordInputTokens", history="seed/11", tokens=7)["tokenEstimate"] == 7
    assert estimate(sidecar, "seed/11", "bytes4")["tokens"] == 7


def test_a_record_is_bound_to_the_version_it_measured(sidecar: Process) -> None:
    """What was appended between the call and its answer is in the delta; a list rewritten since gets no baseline."""
    call = sidecar.result
    first = call("history/append", history="bound", entries=[user("seed")])["version"]
    call("history/append", history="bound", entries=[user("f" * 40)])
    call("history/recordInputTokens", history="bound", tokens=1000, atVersion=first)
    found = estimate(sidecar, "bound", "bytes4")
    assert (found["tokens"], found["baseline"], found["delta"]) == (1010, 1000, 10)
    before = call("history/len", history="bound")["version"]
    call("history/splicePrefix", history="bound", dropCount=1, summary="g" * 80)
    call("history/recordInputTokens", history="bound", tokens=9000, atVersion=before)
    found = estimate(sidecar, "bound", "bytes4")
    assert (found["tokens"], found["baseline"]) == (30, None)


def test_usage_of_a_vendor_is_summed_once(sidecar: Process) -> None:
    """Cached tokens count once, whichever side of the input number the vendor puts them on."""
    call = sidecar.result
    call("history/append", history="usage", entries=[user("x")])
    claude = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90}
    openai = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 900}}
    for vendor, usage in (("anthropic-messages", claude), ("anthropic", claude), ("openai-chat", openai)):
        found = call("history/recordInputTokens", history="usage", usage=usage, vendor=vendor)
        assert found["tokenEstimate"] == 1000
    assert sidecar.error("history/recordInputTokens", history="usage", usage={}, vendor="gemini")["code"] == -32602
    assert sidecar.error("history/recordInputTokens", history="usage", usage=openai, vendor="x")["code"] == 1010
    assert sidecar.error("history/recordInputTokens", history="usage/no", tokens=1)["code"] == 1001
    for unknown in ("x", "", "Classes"):
        assert sidecar.error("history/tokenEstimate", history="usage", estimator=unknown)["code"] == -32602


def test_overhead_survives_splice_and_restart(tmp_path: Path) -> None:
    """Tools and system parameter, learnt from a record, are still in the estimate after a splice and a restart."""
    claude = {"vendor": "anthropic-messages", "model": "claude-opus-5-5"}
    with serve(tmp_path / "store.db") as process:
        call = process.result
        call("history/append", history="h", entries=[user("word " * 400), user("again " * 400)])
        alone = estimate(process, "h", **claude)
        assert (alone["basis"], alone["overhead"], alone["profile"]) == ("heuristic", 0, "anthropic-v4.8")
        call("history/recordInputTokens", history="h", tokens=alone["tokens"] + 7000, **claude)
        call("history/splicePrefix", history="h", dropCount=1, summary="short")
    with serve(tmp_path / "store.db") as process:
        found = estimate(process, "h", **claude)
        assert (found["basis"], found["overhead"], found["baseline"]) == ("rebased", 7000, None)
        assert 7000 < found["low"] < found["tokens"] < found["high"] < 7000 + alone["tokens"]
        other = estimate(process, "h", vendor="openai-chat", model="gpt-5")
        assert (other["overhead"], other["ratio"]) == (7000, 1.0)


def result_entry(number: int, text: str) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "name": "read_file", "arguments": json.dumps({"path": f"f{number}"})}
    return [
        {"id": f"a{number}", "message": {"role": "assistant", "content": None, "toolCalls": [call]}},
        {"id": f"r{number}", "message": {"role": "tool", "callId": f"c{number}", "content": text}},
    ]


def project(process: Process, history: str) -> str:
    return json.dumps(process.result("wire/project", vendor="openai-chat", history=history)["body"])


def test_elision_is_undone_without_a_trace(sidecar: Process) -> None:
    """A placeholder in the projection, fewer tokens, the entry whole in the store, and every byte back afterwards."""
    call = sidecar.result
    entries = [user("go"), *result_entry(1, "line of output\n" * 500), user("thanks")]
    call("history/append", history="elide", entries=entries)
    before, tokens = project(sidecar, "elide"), estimate(sidecar, "elide")["tokens"]
    stored = call("history/snapshot", history="elide")["entries"]
    marked = call("history/elide", history="elide", entryIds=["r1"])
    after = project(sidecar, "elide")
    assert "[tool output elided: 7,500 bytes, " in after
    assert "ask for entry r1 to see it]" in after
    assert "line of output" not in after
    assert marked["tokenEstimate"] == estimate(sidecar, "elide")["tokens"] < tokens / 10
    assert marked["version"] == 2
    assert call("history/snapshot", history="elide")["entries"] == stored
    assert [row["elided"] for row in call("history/outline", history="elide")["data"]] == [False, False, True, False]
    undone = call("history/unelide", history="elide", entryIds=["r1"])
    assert (undone["version"], undone["tokenEstimate"]) == (3, tokens)
    assert project(sidecar, "elide") == before
    assert sidecar.error("history/elide", history="elide", entryIds=["nobody"])["code"] == 1006


def test_a_policy_that_nobody_would_obey_is_refused(sidecar: Process) -> None:
    """`preview` is the one key of a policy: anything else is refused with its place, and changes nothing."""
    sidecar.result("history/append", history="policy", entries=[user("word " * 400, id="u")])
    for policy, place in (
        ("x", "/policy"),
        ([], "/policy"),
        ({"prevew": 20}, "/policy"),
        ({"preview": 20, "keep": 1}, "/policy"),
        ({"preview": -1}, "/policy/preview"),
        ({"preview": 1.5}, "/policy/preview"),
        ({"preview": True}, "/policy/preview"),
        ({"preview": "20"}, "/policy/preview"),
    ):
        refused = sidecar.error("history/elide", history="policy", entryIds=["u"], policy=policy)
        assert (refused["code"], refused["data"]["errors"][0]["path"]) == (-32602, place), policy
    assert sidecar.result("history/info", history="policy")["version"] == 1
    for policy in (None, {}, {"preview": 0}, {"preview": 20}):
        sidecar.result("history/elide", history="policy", entryIds=["u"], policy=policy)
    assert "word word word word \\n[text elided: " in project(sidecar, "policy")


def test_pinned_entries_are_shown_whole(sidecar: Process) -> None:
    """Eliding a pinned entry changes nothing that a model sees; a picture gets a placeholder that says its size."""
    call = sidecar.result
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big") + b"\0" * 800
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(head).decode()}
    entries = [user("p" * 4000, id="p", pinned=True), {"id": "i", "message": {"role": "user", "content": [picture]}}]
    call("history/append", history="pinned", entries=entries)
    call("history/elide", history="pinned", entryIds=["p", "i"])
    shown = project(sidecar, "pinned")
    assert "p" * 4000 in shown
    assert "[image elided: 640x480 png, entry i]" in shown


def test_a_plan_is_carried_out_by_a_splice(sidecar: Process) -> None:
    """`dropCount` and `carry` = head + carry give the planned list, within the planned bounds, and no second plan."""
    call = sidecar.result
    entries = [{"id": "s", "message": {"role": "system", "text": "be brief"}}]
    for number in range(12):
        entries.append(user(f"question {number}", id=f"u{number}", pinned=number == 3))
        entries += result_entry(number, "output line\n" * 120)
    call("history/append", history="plan", entries=entries)
    budget = {"window": 8000, "trigger": 0.5, "target": 0.3}
    params = {"history": "plan", "budget": budget, "summaryTokens": 200, "vendor": "deepseek"}
    plan = call("history/planSplice", **params)
    assert (plan["action"], plan["reason"], plan["head"], plan["carry"]) == ("splice", "fits", ["s"], ["u3"])
    assert plan == call("history/planSplice", **params)
    assert plan["tokens"]["after"] <= 2400 and plan["tokens"]["before"] > 4000
    assert plan["summary"] == {"role": "user", "maxTokens": 200, "insertAfter": "u3"}
    late = call("history/append", history="plan", entries=[user("late", id="late")])["version"]
    spliced = call(
        "history/splicePrefix",
        history="plan",
        dropCount=plan["dropCount"],
        carry=plan["head"] + plan["carry"],
        summary="what happened so far",
        ifPrefix=plan["version"],
    )
    assert (spliced["dropped"], spliced["version"], spliced["warnings"]) == (plan["dropCount"], late + 1, [])
    ids = [entry["id"] for entry in call("history/snapshot", history="plan")["entries"]]
    assert ids[:2] == ["s", "u3"] and ids[3] == plan["tail"]["first"] and ids[-1] == "late"
    assert not set(plan["drop"]) & set(ids)
    again = call("history/planSplice", **params)
    assert (again["action"], again["reason"]) == ("none", "under_trigger")
    second = {"history": "plan", "dropCount": 5, "summary": "x", "ifPrefix": plan["version"]}
    assert sidecar.error("history/splicePrefix", **second)["code"] == 1003
    assert sidecar.error("history/planSplice", **params, version=plan["version"])["code"] == 1003


def test_of_two_carried_out_plans_one_holds(sidecar: Process) -> None:
    """Two clients with plans of one version: one splice succeeds, the other is told, and nothing is dropped twice."""
    call = sidecar.result
    entries: list[dict[str, Any]] = []
    for number in range(12):
        entries.append(user(f"question {number} " + "word " * 200, id=f"u{number}"))
        entries.append({"id": f"a{number}", "message": {"role": "assistant", "content": "a"}})
    version = call("history/append", history="plan/two", entries=entries)["version"]
    params = {"history": "plan/two", "budget": {"trigger": 1000, "target": 900}, "summaryTokens": 50}
    plans = [call("history/planSplice", **params, version=version) for _ in range(2)]
    assert plans[0] == plans[1]
    splice = {"history": "plan/two", "dropCount": plans[0]["dropCount"], "carry": plans[0]["head"] + plans[0]["carry"]}
    done = call("history/splicePrefix", **splice, summary="mine", ifPrefix=version)
    late = sidecar.error("history/splicePrefix", **splice, summary="theirs", ifPrefix=version)
    assert (late["code"], late["data"]["kind"]) == (1003, "versionMismatch")
    assert done["dropped"] == plans[0]["dropCount"] > 0
    ids = [entry["id"] for entry in call("history/snapshot", history="plan/two")["entries"]]
    assert ids[1:] == [entry["id"] for entry in entries[done["dropped"] :]]


@pytest.mark.parametrize(
    ("vendor", "model", "action"),
    [
        ("anthropic", "claude-opus-5-5", "vendorCompaction"),
        ("anthropic", "claude-opus-4-5", "splice"),
        ("bedrock", "claude-opus-5-5", "splice"),
        ("openai-responses", "gpt-5.4", "vendorCompaction"),
        ("openai-chat", "gpt-5.4", "splice"),
        (None, None, "splice"),
    ],
)
def test_a_vendor_that_compacts_itself_is_preferred(
    sidecar: Process, vendor: str | None, model: str | None, action: str
) -> None:
    """Where a splice would cost signed reasoning and the vendor's compaction keeps it, the plan says so."""
    history = f"plan/vendor/{vendor}/{model}"
    entries: list[dict[str, Any]] = []
    for number in range(12):
        reasoning = [{"text": "so", "signature": "c2ln", "vendor": vendor or "anthropic"}]
        entries.append(user(f"question {number} " + "word " * 200, id=f"u{number}"))
        entries.append({"id": f"a{number}", "message": {"role": "assistant", "content": "a", "reasoning": reasoning}})
    sidecar.result("history/append", history=history, entries=entries)
    params: dict[str, Any] = {"history": history, "budget": {"trigger": 1000, "target": 900}, "pinned": ["u0"]}
    named = {} if vendor is None else {"vendor": vendor, "model": model}
    plan = sidecar.result("history/planSplice", **params, **named, summaryTokens=50)
    assert (plan["action"], plan["carry"]) == (action, ["u0"])
    assert plan["warnings"] == (["pins_into_instructions"] if action == "vendorCompaction" else [])
    assert plan["summary"]["maxTokens"] == 50 and plan["dropCount"] > 0


def test_plans_refuse_to_guess(sidecar: Process) -> None:
    """Shares need a window, a reserve must leave room, and an absent history is told."""
    sidecar.result("history/append", history="plan/small", entries=[user("x")])
    for budget in ({}, {"trigger": 0.5, "target": 100}, {"window": 10, "reserveOutput": 10}):
        assert sidecar.error("history/planSplice", history="plan/small", budget=budget)["code"] == -32602
    assert sidecar.error("history/planSplice", history="plan/none", budget={"window": 10})["code"] == 1001
    absolute = {"trigger": 2, "target": 2}
    found = sidecar.result("history/planSplice", history="plan/small", budget=absolute)
    assert (found["action"], found["reason"], found["dropCount"]) == ("impossible", "no_cut_point", 0)
