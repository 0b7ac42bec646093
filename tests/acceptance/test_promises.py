"""The promises of the protocol, one by one, asked of a real process by a client that knows nothing of our code."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from queue import Empty
from typing import Any

from peer import Peer, read, said, texts, user


def test_append_creates_and_every_mutation_answers_the_common_result(peer: Peer) -> None:
    """0 → 1, then +1 per change however many entries; ids are made where absent and results always carry blocks."""
    first = peer.call("history/append", {"history": "a/b", "entries": [user("one"), said("two")]})
    assert {k: first[k] for k in ("history", "version", "len", "replayed")} == {
        "history": "a/b",
        "version": 1,
        "len": 2,
        "replayed": False,
    }
    assert isinstance(first["tokenEstimate"], int) and len(set(first["entryIds"])) == 2
    second = peer.call("history/append", {"history": "a/b", "entries": [user("three", id="mine")]})
    assert (second["version"], second["len"], second["entryIds"]) == (2, 3, ["mine"])
    full = peer.call("history/snapshot", {"history": "a/b"})
    assert (full["kind"], full["version"], full["len"], full["start"]) == ("full", 2, 3, 0)
    entry = full["entries"][0]
    assert entry["message"] == {"role": "user", "content": [{"type": "text", "text": "one"}]}
    assert isinstance(entry["ts"], int) and entry["id"] == first["entryIds"][0]
    assert "agent" not in entry and "pinned" not in entry


def test_if_version_and_operation_id(peer: Peer) -> None:
    """A mismatch changes nothing; a repeat answers the first result and is checked before ifVersion."""
    params = {"history": "h", "entries": [user("x")], "ifVersion": 0, "operationId": "op-1"}
    first = peer.call("history/append", params)
    again = peer.call("history/append", params)
    assert again == {**first, "replayed": True}
    error = peer.refuse("history/append", {"history": "h", "entries": [user("y")], "ifVersion": 5})
    assert error["code"] == 1003
    assert {k: error["data"][k] for k in ("kind", "history", "expected", "actual")} == {
        "kind": "versionMismatch",
        "history": "h",
        "expected": 5,
        "actual": 1,
    }
    error = peer.refuse("history/append", {**params, "entries": [user("other")]})
    assert (error["code"], error["data"]["kind"]) == (1005, "operationReused")
    error = peer.refuse("history/append", {"history": "h", "entries": [user("y")], "ifVersion": 0})
    assert error["code"] == 1003
    assert read(peer, "h") == ["x"]


def test_splice_truncate_replace_revert(peer: Peer) -> None:
    """Nothing is destroyed: every version stays readable and can come back."""
    call = peer.call
    call("history/append", {"history": "h", "entries": [user("u1"), said("a1"), user("u2"), said("a2")]})
    spliced = call("history/splicePrefix", {"history": "h", "dropCount": 2, "summary": "S"})
    assert (spliced["dropped"], spliced["version"], spliced["len"]) == (2, 2, 3)
    assert read(peer, "h") == ["S", "u2", "a2"]
    assert call("history/snapshot", {"history": "h"})["entries"][0]["message"]["role"] == "summary"
    cut = call("history/truncate", {"history": "h", "len": 99})
    assert (cut["version"], cut["dropped"], cut["len"]) == (2, 0, 3)
    cut = call("history/truncate", {"history": "h", "len": 1})
    assert (cut["version"], cut["dropped"]) == (3, 2)
    replaced = call("history/replace", {"history": "h", "entries": [user("only")]})
    assert (replaced["version"], replaced["len"], len(replaced["entryIds"])) == (4, 1, 1)
    assert [read(peer, "h", atVersion=v) for v in (1, 2, 3, 4)] == [
        ["u1", "a1", "u2", "a2"],
        ["S", "u2", "a2"],
        ["S"],
        ["only"],
    ]
    back = call("history/revert", {"history": "h", "toVersion": 1})
    assert (back["version"], back["len"]) == (5, 4)
    assert read(peer, "h") == ["u1", "a1", "u2", "a2"]
    kinds = [row["kind"] for row in call("history/versions", {"history": "h"})["data"]]
    assert sorted(kinds) == sorted(["append", "splicePrefix", "truncate", "replace", "revert"])
    over = call("history/splicePrefix", {"history": "h", "dropCount": 99, "summary": user("all")})
    assert (over["dropped"], over["len"]) == (4, 1)
    error = peer.refuse("history/snapshot", {"history": "h", "atVersion": 77})
    assert (error["code"], error["data"]["kind"]) == (1008, "versionUnavailable")


def test_splice_prefix_options(peer: Peer) -> None:
    """`turn` moves the cut back, `exact` warns of a split pair, `carry` keeps entries before the summary."""
    call = peer.call
    calls = [{"id": "c1", "name": "ls", "arguments": {}}]
    entries = [
        user("u1", id="u1"),
        {"id": "a1", "message": {"role": "assistant", "content": None, "toolCalls": calls}},
        {"id": "t1", "message": {"role": "tool", "callId": "c1", "content": "ok"}},
        user("u2", id="u2"),
        {"id": "a2", "message": {"role": "assistant", "content": "done"}},
    ]
    call("history/append", {"history": "h", "entries": entries})
    assert call("history/splicePrefix", {"history": "h", "dropCount": 2, "summary": "S"})["warnings"]
    call("history/revert", {"history": "h", "toVersion": 1})
    turned = call("history/splicePrefix", {"history": "h", "dropCount": 4, "summary": "S", "align": "turn"})
    assert turned["dropped"] == 3
    ids = [entry["id"] for entry in call("history/snapshot", {"history": "h"})["entries"]]
    assert ids[1:] == ["u2", "a2"]
    call("history/revert", {"history": "h", "toVersion": 1})
    version = call("history/len", {"history": "h"})["version"]
    call("history/append", {"history": "h", "entries": [user("late", id="late")]})
    params = {"history": "h", "dropCount": 3, "summary": "S", "carry": ["u1"], "ifPrefix": version}
    assert call("history/splicePrefix", params)["dropped"] == 3
    got = call("history/snapshot", {"history": "h"})["entries"]
    assert [e["id"] for e in got][:1] == ["u1"] and got[1]["message"]["role"] == "summary"
    assert [e["id"] for e in got][2:] == ["u2", "a2", "late"]
    error = peer.refuse("history/splicePrefix", params)
    assert error["data"]["kind"] == "versionMismatch"


def test_len_delete_rename_fork(peer: Peer) -> None:
    """Absent is 0/0/true; a tombstone keeps the version so that a stale ifVersion cannot resurrect."""
    call = peer.call
    assert call("history/len", {"history": "none"}) == {"len": 0, "version": 0, "isEmpty": True}
    call("history/append", {"history": "h", "entries": [user("1"), user("2")]})
    fork = call("history/fork", {"history": "h", "to": "f", "len": 1})
    assert (fork["history"], fork["len"]) == ("f", 1)
    assert read(peer, "f") == ["1"]
    assert peer.refuse("history/fork", {"history": "h", "to": "f"})["code"] == 1002
    assert peer.refuse("history/fork", {"history": "none", "to": "g"})["code"] == 1001
    renamed = call("history/rename", {"history": "f", "to": "g"})
    assert renamed["history"] == "g" and call("history/len", {"history": "f"})["version"] == 0
    assert read(peer, "g") == ["1"]
    gone = call("history/delete", {"history": "h"})
    assert gone["existed"] is True and gone["version"] == 2
    assert call("history/delete", {"history": "never"})["existed"] is False
    assert peer.refuse("history/snapshot", {"history": "h"})["code"] == 1001
    assert peer.refuse("history/append", {"history": "h", "entries": [user("z")], "ifVersion": 1})["code"] == 1003
    again = call("history/append", {"history": "h", "entries": [user("z")]})
    assert again["version"] > gone["version"] and read(peer, "h") == ["z"]


def test_reading_windows_and_deltas(peer: Peer) -> None:
    """A delta applied to the old snapshot is the new snapshot, across appends, splices and edits."""
    call = peer.call
    call("history/append", {"history": "h", "entries": [user(f"m{i}", id=f"i{i}") for i in range(10)]})
    window = call("history/snapshot", {"history": "h", "start": -3, "count": 2})
    assert (window["start"], texts(window)) == (7, ["m7", "m8"])
    before = call("history/snapshot", {"history": "h"})
    assert call("history/snapshot", {"history": "h", "sinceVersion": 1})["kind"] == "unchanged"
    steps: list[tuple[str, dict[str, Any]]] = [
        ("history/append", {"entries": [user("more")]}),
        ("history/splicePrefix", {"dropCount": 4, "summary": "S"}),
        (
            "history/applyEdits",
            {
                "ifVersion": 3,
                "edits": [{"kind": "setText", "entryId": "i6", "text": "edited"}, {"kind": "remove", "entryId": "i7"}],
            },
        ),
        ("history/truncate", {"len": 3}),
        ("history/revert", {"toVersion": 2}),
    ]
    for method, params in steps:
        call(method, {"history": "h", **params})
        after = call("history/snapshot", {"history": "h"})
        delta = call("history/snapshot", {"history": "h", "sinceVersion": before["version"]})
        entries = list(before["entries"])
        if delta["kind"] == "full":
            entries = delta["entries"]
        else:
            assert (delta["kind"], delta["fromVersion"]) == ("delta", before["version"])
            for edit in delta["edits"]:
                entries[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["entries"]
        assert entries == after["entries"] and delta["version"] == after["version"]
        before = after


def test_apply_edits_is_atomic_and_needs_if_version(peer: Peer) -> None:
    """Edits see the result of those before; one bad edit changes nothing."""
    call = peer.call
    call("history/append", {"history": "h", "entries": [user("a", id="a"), user("b", id="b")]})
    assert peer.refuse("history/applyEdits", {"history": "h", "edits": []})["code"] == -32602
    bad = {
        "history": "h",
        "ifVersion": 1,
        "edits": [{"kind": "remove", "entryId": "a"}, {"kind": "remove", "entryId": "zz"}],
    }
    error = peer.refuse("history/applyEdits", bad)
    assert (error["code"], error["data"]["entryId"]) == (1006, "zz")
    assert read(peer, "h") == ["a", "b"]
    edits = [
        {"kind": "splice", "start": 1, "deleteCount": 0, "entries": [user("n", id="n")]},
        {"kind": "setText", "entryId": "n", "text": "new"},
        {"kind": "remove", "entryId": "a"},
    ]
    done = call("history/applyEdits", {"history": "h", "ifVersion": 1, "edits": edits})
    assert done["version"] == 2 and read(peer, "h") == ["new", "b"]
    dup = {"history": "h", "entries": [user("again", id="b")]}
    assert peer.refuse("history/append", dup)["code"] == 1009


def test_runtime_only_state_lives_in_the_connection(peer: Peer, store: str) -> None:
    """Auto-injected entries shift no position, reach no store and no other process."""
    call = peer.call
    call("history/append", {"history": "h", "entries": [user("old")]})
    result = call(
        "history/append", {"history": "h", "entries": [user("inj", autoInjected=True), user("new", sender="tg:1")]}
    )
    assert result["len"] == 2
    assert read(peer, "h") == ["old", "inj", "new"]
    assert call("history/len", {"history": "h"})["len"] == 2
    assert all("sender" not in e for e in call("history/snapshot", {"history": "h"})["entries"])
    other = Peer(store)
    try:
        assert read(other, "h") == ["old", "new"]
    finally:
        other.end()
    assert call("history/clearInjected", {"history": "h"})["dropped"] == 1
    assert read(peer, "h") == ["old", "new"]


def test_tokens_follow_the_seed(peer: Peer) -> None:
    """Baseline plus delta; a real cut, a splice and a replace clear the baseline (seeds.md §9.2 to 11)."""

    def estimate(history: str) -> Any:
        return peer.call("history/tokenEstimate", {"history": history, "estimator": "bytes4"})["tokens"]

    call = peer.call
    assert estimate("none") is None
    call("history/append", {"history": "h", "entries": [user("a" * 40)]})
    assert estimate("h") == 10
    call("history/recordInputTokens", {"history": "h", "tokens": 1000})
    assert estimate("h") == 1000
    call("history/append", {"history": "h", "entries": [user("a" * 40)]})
    assert estimate("h") == 1010
    call("history/truncate", {"history": "h", "len": 5})
    assert estimate("h") == 1010
    call("history/truncate", {"history": "h", "len": 1})
    assert estimate("h") == 10
    assert peer.refuse("history/recordInputTokens", {"history": "none", "tokens": 1})["code"] == 1001
    call(
        "history/recordInputTokens",
        {
            "history": "h",
            "vendor": "anthropic-messages",
            "usage": {
                "input_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "output_tokens": 9,
            },
        },
    )
    assert estimate("h") == 125
    call(
        "history/recordInputTokens",
        {
            "history": "h",
            "vendor": "openai-chat",
            "usage": {"prompt_tokens": 300, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 200}},
        },
    )
    assert estimate("h") == 300


def test_metadata_list_info(peer: Peer) -> None:
    """Metadata is patched in three states and is no change of the content."""
    call = peer.call
    for name in ("p/a", "p/b", "q"):
        call("history/append", {"history": name, "entries": [user("x")]})
    info = call(
        "history/setMetadata", {"history": "p/a", "patch": {"title": "T", "tags": ["x"], "metadata": {"ex.com/k": 1}}}
    )
    assert (info["title"], info["metadata"], info["version"]) == ("T", {"ex.com/k": 1}, 1)
    info = call("history/setMetadata", {"history": "p/a", "patch": {"title": None}})
    assert info["title"] is None and info["metadata"] == {"ex.com/k": 1}
    page = call("history/list", {"prefix": "p/", "limit": 1})
    rest = call("history/list", {"prefix": "p/", "limit": 1, "cursor": page["nextCursor"]})
    assert {page["data"][0]["history"], rest["data"][0]["history"]} == {"p/a", "p/b"} and rest["nextCursor"] is None
    assert peer.refuse("history/list", {"cursor": "nonsense"})["data"]["kind"] == "cursorInvalid"
    info = call("history/info", {"history": "q"})
    assert {"history", "version", "len", "title", "createdAt", "updatedAt", "tokenEstimate", "metadata"} <= info.keys()


def test_subscribers_hear_every_version_in_order(peer: Peer, store: str) -> None:
    """No gap, own and foreign changes alike, `origin.local` tells them apart."""
    start = peer.call("history/subscribe", {"history": "h", "entries": True})
    assert start["version"] == 0
    other = Peer(store)
    try:
        for i in range(3):
            peer.call("history/append", {"history": "h", "entries": [user(f"p{i}")]})
            other.call("history/append", {"history": "h", "entries": [user(f"o{i}")]})
        wait_for(lambda: len(peer.notes) >= 6)
        notes = [note["params"] for note in peer.notes if note["method"] == "history/didChange"]
        assert [n["version"] for n in notes] == [1, 2, 3, 4, 5, 6]
        assert [n["previousVersion"] for n in notes] == [0, 1, 2, 3, 4, 5]
        assert [n["origin"]["local"] for n in notes] == [True, False] * 3
        assert all(n["subscriptionIds"] == [start["subscriptionId"]] for n in notes)
        assert [n["change"]["edits"][0]["start"] for n in notes] == [0, 1, 2, 3, 4, 5]
        other.call("history/delete", {"history": "h"})
        wait_for(lambda: any(note["method"] == "history/didDelete" for note in peer.notes))
    finally:
        other.end()


def wait_for(condition: Any, seconds: float = 10) -> None:
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError("nothing came")


def test_kill_loses_nothing_acknowledged(store: str) -> None:
    """Every answered append is there after kill -9, in order, exactly once."""
    peer = Peer(store)
    total = 200
    for i in range(total):
        peer.send("history/append", {"history": "h", "entries": [user(str(i))], "operationId": f"op{i}"})
    acknowledged = 0
    while acknowledged < 60:
        assert "result" in peer.reply()
        acknowledged += 1
    os.kill(peer.process.pid, signal.SIGKILL)
    peer.process.wait()
    try:
        while True:
            assert "result" in peer.reply(timeout=0.2)
            acknowledged += 1
    except Empty:
        pass
    again = Peer(store)
    try:
        kept = read(again, "h")
        assert kept == [str(i) for i in range(len(kept))] and len(kept) >= acknowledged
        for i in range(total):
            again.call("history/append", {"history": "h", "entries": [user(str(i))], "operationId": f"op{i}"})
        assert read(again, "h") == [str(i) for i in range(total)]
    finally:
        again.end()


def test_life_cycle_and_bad_input(store: str) -> None:
    """Every request gets exactly one answer of the right kind; the process survives all of it."""
    peer = Peer(store, initialize=False)
    assert peer.refuse("history/len", {"history": "h"})["code"] == -32002
    peer.call("initialize", {"processId": os.getpid(), "capabilities": {}})
    peer.tell("initialized")
    for params in (None, [], {}):
        assert peer.call("sidecar/info", params)["protocolVersion"] == 1
    assert peer.refuse("sidecar/info", [1])["code"] == -32602
    assert peer.refuse("no/such", {})["code"] == -32601
    peer.tell("no/such", {})
    error = peer.refuse("history/append", {"history": 7, "entries": []})
    assert error["code"] == -32602 and error["data"]["kind"] == "invalidParams"
    assert "/history" in [e["path"] for e in error["data"]["errors"]]
    error = peer.refuse("history/append", {"history": "h", "entries": [user("x"), {"message": {"role": "alien"}}]})
    assert error["data"]["errors"][0]["path"] == "/entries/1/message/role"
    assert peer.refuse("history/len", {"history": "../x"})["data"]["kind"] == "invalidName"
    peer.write(b"{nonsense")
    bad = peer.reply()
    assert (bad["id"], bad["error"]["code"]) == (None, -32700)
    peer.write(b"[]")
    assert peer.reply()["error"]["code"] == -32600
    peer.write(
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 99,
                "method": "history/append",
                "params": {
                    "history": "deep",
                    "entries": [user("x", _meta={"e.com/d": json.loads("[" * 200 + "]" * 200)})],
                },
            }
        ).encode()
    )
    assert peer.reply()["error"]["data"]["kind"] in ("limitExceeded", "invalidParams")
    odd = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "x",
        "file-path": 1,
        "class": None,
        "n": 2**53 + 1,
        "f": 1.0,
        "e": {},
        "t": "😀",
    }
    peer.call(
        "history/append",
        {
            "history": "odd",
            "entries": [{"message": {"role": "tool", "callId": "c", "content": [{"type": "json", "value": odd}]}}],
        },
    )
    got = peer.call("history/snapshot", {"history": "odd"})["entries"][0]["message"]["content"][0]["value"]
    assert json.dumps(got) == json.dumps(odd)
    assert peer.call("history/len", {"history": "h"})["version"] == 0
    assert peer.call("shutdown") is None
    assert peer.refuse("history/len", {"history": "h"})["code"] == -32600
    peer.tell("exit")
    assert peer.process.wait(20) == 0
    assert (os.stat(store).st_mode & 0o777, os.stat(Path(store).parent).st_mode & 0o777) == (0o600, 0o700)


def test_projection_of_both_first_vendors(peer: Peer) -> None:
    """Two parallel calls with results land in each vendor's legal form, and nothing is silent."""
    calls = [{"id": "c1", "name": "ls", "arguments": '{"p":1}'}, {"id": "c2", "name": "cat", "arguments": "{}"}]
    peer.call(
        "history/append",
        {
            "history": "h",
            "entries": [
                {"message": {"role": "system", "text": "be brief"}},
                user("look"),
                {"message": {"role": "assistant", "content": None, "toolCalls": calls}},
                {"message": {"role": "tool", "callId": "c2", "name": "cat", "content": "boom", "isError": True}},
                {
                    "message": {
                        "role": "tool",
                        "callId": "c1",
                        "name": "ls",
                        "content": [{"type": "json", "value": {"b": 1, "a": 2}}],
                    }
                },
                said("done"),
                user("thanks"),
            ],
        },
    )
    chat = peer.call("wire/project", {"vendor": "openai-chat", "history": "h"})
    assert chat["vendor"] == "openai-chat" and chat["version"] == 1
    messages = chat["body"]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    assert messages[2]["content"] is None and [c["id"] for c in messages[2]["tool_calls"]] == ["c1", "c2"]
    assert [(m["tool_call_id"], m["content"]) for m in messages[3:5]] == [
        ("c1", '{"b":1,"a":2}'),
        ("c2", "ERROR: boom"),
    ]
    body = peer.call("wire/project", {"vendor": "anthropic-messages", "history": "h"})["body"]
    assert "be brief" in json.dumps(body["system"])
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    results = body["messages"][2]["content"]
    assert [(b["type"], b["tool_use_id"], b.get("is_error", False)) for b in results] == [
        ("tool_result", "c1", False),
        ("tool_result", "c2", True),
    ]
    assert body["messages"][1]["content"][0]["input"] == {"p": 1}
    assert peer.refuse("wire/project", {"vendor": "nobody", "history": "h"})["data"]["kind"] == "unknownVendor"
    peer.call("history/append", {"history": "h", "entries": [said("bye")]})
    more = peer.call("wire/project", {"vendor": "openai-chat", "history": "h", "sincePrefixOf": 1})
    assert more["stableMessages"] == 7
    raw = peer.call("wire/project", {"vendor": "openai-chat", "entries": [user("hi")]})
    assert raw["body"]["messages"] == [{"role": "user", "content": "hi"}]


def test_a_long_client_name_is_cut(store: str) -> None:
    """A name is kept with every change, so only its first 128 characters are."""
    peer = Peer(store, initialize=False)
    try:
        options = {"sidecar": {"protocolVersion": 1, "client": {"name": "n" * 5000}}}
        peer.call("initialize", {"processId": None, "capabilities": {}, "initializationOptions": options})
        peer.call("history/append", {"history": "h", "entries": [user("x")]})
        (row,) = peer.call("history/versions", {"history": "h"})["data"]
        assert row["origin"] == {"local": True, "client": "n" * 128}
    finally:
        peer.end()
