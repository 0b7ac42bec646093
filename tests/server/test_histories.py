"""Histories over real pipes: order, bad input, death, notifications."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from frames import SIDECAR, Process, notification, request

from sidecar.contract.methods import METHODS


def serve(store: str | Path, **options: Any) -> Process:
    return Process((*SIDECAR, "--store", str(store)), **options)


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}, **more}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    with serve(":memory:") as process:
        yield process


def texts(snapshot: dict[str, Any]) -> list[str]:
    return [entry["message"]["content"][0]["text"] for entry in snapshot["entries"]]


def test_every_method_is_served_or_not_announced(shared: Process) -> None:
    """What `initialize` and `rpc.discover` name answers, what they do not is −32601."""
    announced = shared.initialized["result"]["capabilities"]["experimental"]["sidecar"]["history"]
    discovered = {method["name"] for method in shared.result("rpc.discover")["methods"]}
    for method in METHODS:
        if method.kind == "request":
            code = shared.call(method.name).get("error", {}).get("code")
            unknown = code == -32601
            assert code != -32603, method.name
            assert unknown == (method.name not in discovered), method.name
            if method.noun == "history":
                assert (method.verb in announced) == (not unknown), method.name


def test_pipelined_requests_take_effect_in_order(store: Path) -> None:
    """500 appends to five histories with reads and lengths in between, all written before anything is read."""
    with serve(store) as process:
        expected: dict[int, Any] = {}
        counts = dict.fromkeys("abcde", 0)
        messages = []
        dice = random.Random(1)
        for number in range(1000):
            name = dice.choice("abcde")
            if number % 2:
                messages.append(request(number, "history/append", history=name, entries=[user(str(counts[name]))]))
                counts[name] += 1
                expected[number] = ("version", counts[name])
            elif number % 4:
                messages.append(request(number, "history/len", history=name))
                expected[number] = ("len", counts[name])
            elif counts[name]:
                messages.append(request(number, "history/snapshot", history=name))
                expected[number] = ("entries", [str(n) for n in range(counts[name])])
        process.send(*messages)
        got = {}
        for _ in messages:
            reply = process.recv()
            key = expected[reply["id"]][0]
            result = reply["result"]
            got[reply["id"]] = (key, texts(result) if key == "entries" else result[key])
        assert got == expected


def test_kill_9_while_pipelining_loses_nothing_that_was_acknowledged(store: Path) -> None:
    """Again and again on one store: what was answered is there, each once and in order, with what followed it."""
    dice = random.Random(2)
    acknowledged: list[str] = []
    for round_number in range(4):
        with serve(store) as process:
            if round_number:
                kept = texts(process.result("history/snapshot", history="h"))
                assert kept[: len(acknowledged)] == acknowledged and len(set(kept)) == len(kept)
                acknowledged = kept
            process.send(
                *[
                    request(number, "history/append", history="h", entries=[user(f"{round_number}.{number}")])
                    for number in range(400)
                ]
            )
            for number in range(dice.randrange(1, 200)):
                assert process.recv()["id"] == number
                acknowledged.append(f"{round_number}.{number}")
            process.process.kill()
            process.wait()
            while (reply := process.recv()) is not None:
                acknowledged.append(f"{round_number}.{reply['id']}")
    with serve(store) as process:
        kept = texts(process.result("history/snapshot", history="h"))
        assert kept[: len(acknowledged)] == acknowledged


def test_commits_under_way_finish_when_the_client_goes(store: Path) -> None:
    """Everything that was read is stored, whether stdin ends, `exit` comes or the process is terminated."""
    ends = {
        "eof": lambda process: process.process.stdin.close(),
        "exit": lambda process: process.send(notification("exit")),
        "term": lambda process: process.process.terminate(),
    }
    for name, end in ends.items():
        with serve(store) as process:
            process.send(*[request(n, "history/append", history=name, entries=[user(str(n))]) for n in range(100)])
            assert process.recv()["id"] == 0  # so that all of it was read
            end(process)
            rest = []
            while (reply := process.recv()) is not None:
                assert "result" in reply
                rest.append(reply["id"])
            assert (rest, process.wait(), process.stderr) == (list(range(1, 100)), 1, "")
    with serve(store) as process:
        assert [process.result("history/len", history=name)["len"] for name in ends] == [100, 100, 100]


BAD: list[tuple[str, dict[str, Any], int, str]] = [
    ("history/append", {}, -32602, "/entries"),
    ("history/append", {"history": "h", "entries": []}, -32602, "/entries"),
    ("history/append", {"history": "h", "entries": {}}, -32602, "/entries"),
    ("history/append", {"history": "h", "entries": ["x"]}, -32602, "/entries/0"),
    ("history/append", {"history": "h", "entries": [user("x"), {}]}, -32602, "/entries/1/message"),
    ("history/append", {"history": "h", "entries": [user("x", id=5)]}, -32602, "/entries/0/id"),
    ("history/append", {"history": "h", "entries": [user("x")], "ifVersion": "1"}, -32602, "/ifVersion"),
    ("history/append", {"history": "h", "entries": [user("x")], "ifVersion": -1}, -32602, "/ifVersion"),
    ("history/append", {"history": "h", "entries": [user("x")], "ifVersion": 1.0}, -32602, "/ifVersion"),
    ("history/append", {"history": "h", "entries": [user("x")], "operationId": "o" * 65}, -32602, "/operationId"),
    ("history/append", {"history": "h", "entries": [user("x")], "operationId": ""}, -32602, "/operationId"),
    ("history/append", {"history": 7, "entries": [user("x")]}, -32602, "/history"),
    ("history/append", {"history": None, "entries": [user("x")]}, -32602, "/history"),
    ("history/append", {"history": "", "entries": [user("x")]}, 1004, ""),
    ("history/append", {"history": "../etc/passwd", "entries": [user("x")]}, 1004, ""),
    ("history/append", {"history": "a/./b", "entries": [user("x")]}, 1004, ""),
    ("history/append", {"history": "x" * 256, "entries": [user("x")]}, 1004, ""),
    ("history/append", {"history": "h\n", "entries": [user("x")]}, 1004, ""),
    ("history/append", {"history": "h", "entries": [user("x", id="kept")]}, 1009, ""),
    ("history/append", {"history": "h", "entries": [user("x")], "ifVersion": 9}, 1003, ""),
    ("history/append", {"history": "h", "entries": [user("x")] * 10_001}, 1007, ""),
    ("history/splicePrefix", {"history": "h", "dropCount": -1, "summary": "S"}, -32602, "/dropCount"),
    ("history/splicePrefix", {"history": "h", "dropCount": True, "summary": "S"}, -32602, "/dropCount"),
    ("history/splicePrefix", {"history": "h", "dropCount": 1}, -32602, "/summary"),
    ("history/splicePrefix", {"history": "h", "dropCount": 1, "summary": 5}, -32602, "/summary"),
    ("history/splicePrefix", {"history": "h", "dropCount": 1, "summary": {"role": "x"}}, -32602, "/summary/role"),
    ("history/splicePrefix", {"history": "h", "dropCount": 1, "summary": "S", "align": "x"}, -32602, "/align"),
    ("history/splicePrefix", {"history": "h", "dropCount": 1, "summary": "S", "carry": ["no"]}, 1006, ""),
    ("history/splicePrefix", {"history": "h", "dropCount": 1, "summary": "S", "ifPrefix": 99}, 1008, ""),
    ("history/splicePrefix", {"history": "none", "dropCount": 1, "summary": "S"}, 1001, ""),
    ("history/replace", {"history": "h", "entries": [user("a", id="i"), user("b", id="i")]}, 1009, ""),
    ("history/truncate", {"history": "h"}, -32602, ""),
    ("history/truncate", {"history": "h", "len": 1, "afterEntry": "kept"}, -32602, ""),
    ("history/truncate", {"history": "h", "afterEntry": "no"}, 1006, ""),
    ("history/truncate", {"history": "none", "len": 0}, 1001, ""),
    ("history/applyEdits", {"history": "h", "edits": [{"kind": "remove", "entryId": "kept"}]}, -32602, "/ifVersion"),
    ("history/applyEdits", {"history": "h", "ifVersion": 1, "edits": [{"kind": "x"}]}, -32602, "/edits/0/kind"),
    ("history/applyEdits", {"history": "h", "ifVersion": 1, "edits": [{"kind": "remove"}]}, -32602, "/edits/0/entryId"),
    ("history/applyEdits", {"history": "h", "ifVersion": 0, "edits": [{"kind": "remove", "entryId": "kept"}]},
     1003, ""),
    ("history/applyEdits",
     {"history": "h", "ifVersion": 1, "edits": [{"kind": "splice", "start": 0, "deleteCount": 0, "entries": [1]}]},
     -32602, "/edits/0/entries/0"),
    ("history/revert", {"history": "h", "toVersion": 77}, 1008, ""),
    ("history/revert", {"history": "none", "toVersion": 1}, 1001, ""),
    ("history/rename", {"history": "h", "to": "taken"}, 1002, ""),
    ("history/rename", {"history": "h", "to": "/"}, 1004, ""),
    ("history/rename", {"history": "none", "to": "x"}, 1001, ""),
    ("history/fork", {"history": "h", "to": "taken"}, 1002, ""),
    ("history/fork", {"history": "h", "to": "h"}, 1002, ""),
    ("history/fork", {"history": "h", "to": "new", "atVersion": 5}, 1008, ""),
    ("history/delete", {"history": "h", "ifVersion": 5}, 1003, ""),
    ("history/setMetadata", {"history": "h"}, -32602, "/patch"),
    ("history/setMetadata", {"history": "h", "patch": {"title": 5}}, -32602, "/patch/title"),
    ("history/setMetadata", {"history": "h", "patch": {"tags": [1]}}, -32602, "/patch/tags/0"),
    ("history/setMetadata", {"history": "none", "patch": {"title": "x"}}, 1001, ""),
    ("history/snapshot", {"history": "none"}, 1001, ""),
    ("history/snapshot", {"history": "h", "atVersion": 9}, 1008, ""),
    ("history/snapshot", {"history": "h", "count": -1}, -32602, "/count"),
    ("history/snapshot", {"history": "h", "start": "0"}, -32602, "/start"),
    ("history/list", {"cursor": "!"}, 1031, ""),
    ("history/list", {"limit": 0}, -32602, "/limit"),
    ("history/list", {"orderBy": "size"}, -32602, "/orderBy"),
    ("history/versions", {"history": "none"}, 1001, ""),
    ("history/versions", {"history": "h", "cursor": "e30="}, 1031, ""),
    ("history/subscribe", {}, -32602, ""),
    ("history/subscribe", {"history": "h", "prefix": ""}, -32602, ""),
    ("history/subscribe", {"history": ".."}, 1004, ""),
    ("history/import", {"history": "h", "format": "nope", "text": "x"}, -32602, "/format"),
    ("history/import", {"history": "h", "format": "own-jsonl", "text": "nothing like it"}, 1012, ""),
    ("history/import", {"history": "h", "format": "auto", "uri": "file:///etc/passwd"}, -32602, "/uri"),
    ("history/import", {"history": "h", "format": "auto", "uri": "http://x/y"}, -32602, "/uri"),
    ("history/import", {"history": "h", "format": "auto", "uri": "file://["}, -32602, "/uri"),
    ("history/export", {"history": "h", "format": "own-jsonl", "uri": "file:///tmp/\ud800"}, -32602, "/uri"),
    ("history/append",
     {"history": "h",
      "entries": [{"message": {"role": "user",
                               "content": [{"type": "image", "mimeType": "image/png", "blob": "\ud800"}]}}]},
     -32602, "/entries/0/message/content/0/blob"),
    ("history/export", {"history": "h", "format": "nope"}, -32602, "/format"),
    ("history/export", {"history": "h", "format": "own-jsonl", "uri": "file:///tmp/../etc/x"}, -32602, "/uri"),
    ("wire/project", {"history": "h"}, -32602, "/vendor"),
    ("wire/project", {"history": "h", "vendor": "nope"}, 1010, ""),
    ("wire/project", {"history": "none", "vendor": "openai-chat"}, 1001, ""),
    ("wire/project", {"vendor": "openai-chat"}, -32602, ""),
    ("wire/project", {"vendor": "openai-chat", "entries": [5]}, -32602, "/entries/0"),
    ("wire/project", {"vendor": "openai-chat", "history": "h", "capabilities": {"thinking": 1}}, -32602,
     "/capabilities/thinking"),
    ("wire/project", {"vendor": "openai-chat", "entries": [user("x")], "sincePrefixOf": 1}, -32602, "/sincePrefixOf"),
    ("wire/check", {"history": "h", "vendors": ["nope"]}, 1010, ""),
    ("wire/parse", {"vendor": "openai-chat", "kind": "reply", "body": {}}, -32602, "/kind"),
    ("wire/parse", {"vendor": "openai-chat", "kind": "response", "body": []}, 1012, ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> Iterator[Process]:
    with serve(":memory:") as process:
        process.result("history/append", history="h", entries=[user("x", id="kept")], operationId="first")
        process.result("history/append", history="taken", entries=[user("y", id="other")])
        yield process


def everything(process: Process) -> Any:
    names = [info["history"] for info in process.result("history/list")["data"]]
    return process.result("history/list"), [process.result("history/snapshot", history=name) for name in names]


@pytest.mark.parametrize(("method", "params", "code", "path"), BAD, ids=[f"{row[0]} {row[3]}" for row in BAD])
def test_bad_input_gets_the_right_error_and_changes_nothing(
    prepared: Process, method: str, params: dict[str, Any], code: int, path: str
) -> None:
    """The code, the kind, the JSON Pointer in wire names, and a store that is as before."""
    before = everything(prepared)
    error = prepared.error(method, **params)
    assert error["code"] == code, error
    assert {"kind", "retryable"} <= error["data"].keys()
    assert error["message"][0].islower() and not error["message"].endswith(".")
    if code == -32602:
        assert path in [problem["path"] for problem in error["data"]["errors"]]
    assert everything(prepared) == before


def test_unknown_keys_and_nulls_in_params_are_as_if_omitted(prepared: Process) -> None:
    """A newer client and a client that writes every key are both understood."""
    params = {"history": "nulls", "entries": [user("x", ts=None, agent=None)], "ifVersion": None, "operationId": None}
    assert prepared.result("history/append", **params, later={"a": 1}, _meta={"ex.com/x": 1})["version"] == 1
    prepared.result("history/delete", history="nulls")


def test_a_queued_mutation_can_be_cancelled(store: Path) -> None:
    """One that is cancelled while it waits is −32800 and leaves no trace; the others are answered truly."""
    with serve(store) as process:
        process.send(*[request(n, "history/append", history="h", entries=[user(str(n))]) for n in range(300)])
        process.send(notification("$/cancelRequest", id=299))
        replies = {(reply := process.recv())["id"]: reply for _ in range(300)}
        kept = texts(process.result("history/snapshot", history="h"))
        stored = [str(n) for n in range(300) if "result" in replies[n]]
        assert kept == stored and len(stored) >= 299
        assert all(reply["error"]["code"] == -32800 for reply in replies.values() if "error" in reply)


def test_changes_are_told_with_and_without_entries(store: Path) -> None:
    """The stored bytes with the edits, or only how many there are; versions follow each other."""
    with serve(store) as process:
        full = process.result("history/subscribe", history="h")
        short = process.result("history/subscribe", prefix="", entries=False)
        assert (full["version"], short["version"]) == (0, None)
        process.send(request("a", "history/append", history="h", entries=[user("x", id="i", ts=5)], operationId="op"))
        messages = [process.recv() for _ in range(3)]
        notes = [message["params"] for message in messages if "params" in message]
        told = {
            "history": "h",
            "version": 1,
            "previousVersion": 0,
            "len": 1,
            "operationId": "op",
            "origin": {"local": True, "client": None},
        }
        entry = {"id": "i", "message": {"role": "user", "content": [{"type": "text", "text": "x"}]}, "ts": 5}
        edit = {"start": 0, "deleteCount": 0}
        assert notes == [
            {
                "subscriptionIds": [full["subscriptionId"]],
                **told,
                "change": {"kind": "edits", "edits": [{**edit, "entries": [entry]}]},
            },
            {
                "subscriptionIds": [short["subscriptionId"]],
                **told,
                "change": {"kind": "edits", "edits": [{**edit, "insertCount": 1}]},
            },
        ]
        process.result("history/unsubscribe", subscriptionId=full["subscriptionId"])
        process.result("history/unsubscribe", subscriptionId=short["subscriptionId"])
        process.result("history/append", history="h", entries=[user("y")])
        assert process.quiet()


def test_a_subscriber_that_does_not_read_is_told_to_read_again(store: Path) -> None:
    """20 MB of changes while it does not read: at most the bound piles up, and then one resync covers the rest."""
    with serve(store) as process:
        process.result("history/subscribe", history="h")
        text = "x" * 100_000
        process.send(*[request(n, "history/append", history="h", entries=[user(text)]) for n in range(200)])
        version, kinds = 0, set()
        while version < 200:
            message = process.recv()
            if "params" in message:
                note = message["params"]
                assert note["previousVersion"] == version
                version = note["version"]
                kinds.add(note["change"]["kind"])
        assert kinds == {"edits", "resync"}


def test_the_client_may_name_the_store_only_if_nobody_else_did(tmp_path: Path) -> None:
    """The flag and the environment win over `initializationOptions`."""
    home = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": "", "HISTORY_SIDECAR_STORE": ""}
    wish = str(tmp_path / "wish" / "store.db")
    options = {"initializationOptions": {"sidecar": {"protocolVersion": 1, "store": wish, "client": {"name": "me"}}}}
    for command, env, expected in (
        (SIDECAR, home, wish),
        ((*SIDECAR, "--store", str(tmp_path / "flag" / "s.db")), home, str(tmp_path / "flag" / "s.db")),
        (
            SIDECAR,
            {**home, "HISTORY_SIDECAR_STORE": str(tmp_path / "env.d" / "s.db")},
            str(tmp_path / "env.d" / "s.db"),
        ),
    ):
        with Process(command, env=env, initialize=False) as process:
            process.result("initialize", capabilities={}, **options)
            process.result("history/append", history="h", entries=[user("x")])
            (row,) = process.result("history/versions", history="h")["data"]
            assert row["origin"] == {"local": True, "client": "me"}
            assert Path(expected).exists()
        Path(expected).unlink()
    with Process(SIDECAR, env=home) as process:
        process.result("history/append", history="h", entries=[user("x")])
    assert (tmp_path / "home" / ".local" / "share" / "history-sidecar" / "store.db").exists()


def test_a_store_that_cannot_be_opened_is_the_answer_to_initialize(tmp_path: Path) -> None:
    """A storage error without a path; the process lives and a second try may succeed."""
    (tmp_path / "store.db").write_bytes(b"this is not a database, " * 500)
    with serve(tmp_path / "store.db", initialize=False) as process:
        for _ in range(2):
            error = process.error("initialize", capabilities={})
            assert error["data"]["kind"] in ("storageCorrupt", "storageUnavailable")
            assert str(tmp_path) not in json.dumps(error)
        assert process.error("history/len", history="h")["code"] == -32002
        (tmp_path / "store.db").unlink()
        process.result("initialize", capabilities={})
        assert process.result("history/len", history="h")["len"] == 0


def test_nothing_of_a_conversation_is_logged(store: Path) -> None:
    """Not even when something fails, at the most talkative level that is not DEBUG."""
    with serve(store, env={"HISTORY_SIDECAR_LOG": "INFO"}) as process:
        secret = "correct-horse-battery-staple"
        process.result("history/append", history="h", entries=[user(secret)], operationId="op")
        process.error("history/append", history="h", entries=[user(secret + "2")], operationId="op")
        process.error("history/append", history="h", entries=[{"message": {"role": secret}}])
        process.result("wire/project", history="h", vendor="openai-chat")
        process.send(notification("history/nope", text=secret), {"text": secret})
        process.recv()
        process.end()
        assert "correct-horse" not in process.stderr


@pytest.mark.slow
def test_memory_is_flat_over_20_000_requests(store: Path) -> None:
    """Resident memory after 20 000 mixed requests is what it was after the first 2 000, and under 100 MB."""

    def resident() -> int:
        status = Path(f"/proc/{process.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    with serve(store) as process:
        entries = [user("x" * 900) for _ in range(5000)]
        for _ in range(2):
            process.result("history/append", history="big", entries=entries)
        process.result("history/snapshot", history="big")
        process.result("history/subscribe", prefix="")
        first = 0
        for batch in range(100):
            if batch == 10:
                first = resident()
            messages = []
            for n in range(200):
                name = f"h{n % 7}"
                if n % 4:
                    append = {"entries": [user("x" * 300, sender="s")], "operationId": f"{batch}.{n}"}
                    messages.append(request(n, "history/append", history=name, **append))
                elif n % 8:
                    messages.append(request(n, "history/snapshot", history=name, start=-3))
                else:
                    messages.append(request(n, "history/len", history=name))
            process.send(*messages)
            answered = 0
            while answered < 200:
                answered += "id" in process.recv()
        grown = resident() - first
        assert (grown < 8 * 1024, resident() < 100 * 1024) == (True, True), (grown, resident())
