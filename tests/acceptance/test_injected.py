"""Runtime-only entries obey what stored ones do, asked of a real process."""

from __future__ import annotations

from typing import Any

import pytest
from peer import Peer, read, user


def injected(text: str, **more: Any) -> dict[str, Any]:
    return user(text, autoInjected=True, **more)


def append(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"history": "h", "entries": list(entries), **more}


@pytest.mark.parametrize(
    "entries",
    [
        [injected("x", id="same"), injected("y", id="same")],
        [injected("x", id="same"), user("y", id="same")],
        [injected("x", id="stored")],
        [injected("x", id="stored"), user("y")],
        [injected("x", id="there")],
        [injected("x", id="there"), user("y")],
        [user("x", id="there")],
    ],
    ids=["twice", "both kinds", "stored", "stored, with others", "injected", "injected, with others", "storing it"],
)
def test_no_id_is_used_twice(peer: Peer, entries: list[dict[str, Any]]) -> None:
    """Whether stored or injected, the second entry with an id is `entryExists`, and nothing is changed."""
    peer.call("history/append", append(user("a", id="stored"), injected("i", id="there")))
    error = peer.refuse("history/append", append(*entries))
    wanted = entries[0]["id"]
    assert (error["code"], error["data"]) == (
        1009,
        {"kind": "entryExists", "retryable": False, "history": "h", "entryId": wanted},
    )
    assert read(peer, "h") == ["a", "i"]
    assert peer.call("history/len", {"history": "h"})["version"] == 1


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("history/replace", {"entries": [user("x", id="there")]}),
        ("history/splicePrefix", {"dropCount": 1, "summary": user("x", id="there")}),
        (
            "history/applyEdits",
            {
                "ifVersion": 1,
                "edits": [{"kind": "splice", "start": 0, "deleteCount": 0, "entries": [user("x", id="there")]}],
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_writer_respects_what_is_injected(peer: Peer, method: str, params: dict[str, Any]) -> None:
    """An id that this connection injected is not stored by another call of it."""
    peer.call("history/append", append(user("a", id="stored"), injected("i", id="there")))
    assert peer.refuse(method, {"history": "h", **params})["data"]["kind"] == "entryExists"
    peer.call("history/clearInjected", {"history": "h"})
    assert peer.call(method, {"history": "h", **params})["version"] == 2


def test_pipelined_appends_do_not_slip_past_each_other(peer: Peer) -> None:
    """The second of two calls that were sent at once sees what the first one injected."""
    pair = [injected("x", id="same"), user("y")]
    for _ in range(2):
        peer.send("history/append", append(*pair))
    answers = sorted((peer.reply() for _ in range(2)), key=lambda answer: answer["id"])
    assert ["result" in answer for answer in answers] == [True, False]
    assert read(peer, "h") == ["x", "y"]


def test_another_process_may_store_an_id_that_is_injected_here(peer: Peer, store: str) -> None:
    """The stored entry is shown, and no id twice."""
    peer.call("history/append", append(user("a"), injected("mine", id="i")))
    other = Peer(store)
    try:
        other.call("history/append", append(user("theirs", id="i")))
    finally:
        other.end()
    assert read(peer, "h") == ["a", "theirs"]


def test_injected_entries_are_shown_before_the_history_is_there(peer: Peer) -> None:
    """Nothing is created, so others see nothing; this connection reads and projects them at version 0."""
    result = peer.call("history/append", append(injected("Monday", id="i"), ifVersion=0))
    assert {key: result[key] for key in ("version", "len", "entryIds", "replayed")} == {
        "version": 0,
        "len": 0,
        "entryIds": ["i"],
        "replayed": False,
    }
    for window in ({}, {"start": -1}, {"count": 5}, {"sinceVersion": 0}, {"sinceVersion": 7}):
        shown = peer.call("history/snapshot", {"history": "h", **window})
        assert {**shown, "entries": [entry["id"] for entry in shown["entries"]]} == {
            "kind": "full",
            "version": 0,
            "len": 0,
            "start": 0,
            "entries": ["i"],
        }
    projected = peer.call("wire/project", {"history": "h", "vendor": "openai-chat"})
    assert (projected["version"], projected["body"]) == (0, {"messages": [{"role": "user", "content": "Monday"}]})
    assert peer.call("history/len", {"history": "h"}) == {"len": 0, "version": 0, "isEmpty": True}
    assert peer.call("history/list", {})["data"] == []
    assert peer.refuse("history/snapshot", {"history": "h", "atVersion": 1})["data"]["kind"] == "historyNotFound"
    peer.call("history/append", append(user("hello")))
    assert read(peer, "h") == ["Monday", "hello"]
    peer.call("history/delete", {"history": "h"})
    assert peer.refuse("history/snapshot", {"history": "h"})["data"]["kind"] == "historyNotFound"


def test_an_operation_id_means_one_call_whether_it_stored_or_injected(peer: Peer) -> None:
    """Equal params answer the first result before `ifVersion` is looked at; other params are `operationReused`."""
    first = peer.call("history/append", append(injected("i", id="i"), operationId="op", ifVersion=0))
    peer.call("history/append", append(user("a"), operationId="stored"))
    assert peer.call("history/append", append(injected("i", id="i"), operationId="op", ifVersion=0)) == {
        **first,
        "replayed": True,
    }
    mixed = append(injected("j"), user("b"), operationId="mixed")
    second = peer.call("history/append", mixed)
    assert peer.call("history/append", mixed) == {**second, "replayed": True}
    for method, params in (
        ("history/append", append(injected("other"), operationId="op")),
        ("history/append", append(user("other"), operationId="op")),
        ("history/truncate", {"history": "h", "len": 0, "operationId": "op"}),
        ("history/append", append(injected("other"), operationId="stored")),
        ("history/append", append(injected("other"), operationId="mixed")),
    ):
        error = peer.refuse(method, params)
        assert (error["code"], error["data"]["operationId"]) == (1005, params["operationId"])
    assert read(peer, "h") == ["i", "a", "j", "b"]
