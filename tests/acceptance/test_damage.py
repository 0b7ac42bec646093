"""A damaged history is named, and the others go on; asked of a real process whose store is damaged under it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from peer import Peer, read, user

# In a process of its own: closing a second connection here would drop the locks of ours.
CHANGE = "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.execute(sys.argv[2]); c.close()"

FIRST = "(SELECT min(id) FROM entry)"
DAMAGES = {
    "a body that is no JSON": f"UPDATE entry SET body = x'7b22' WHERE id = {FIRST}",
    "a body that is no entry": f'UPDATE entry SET body = CAST(\'{{"id":"a"}}\' AS BLOB) WHERE id = {FIRST}',
    "an entry of a role that nobody knows": (
        f'UPDATE entry SET body = CAST(\'{{"id":"a","message":{{"role":"king"}}}}\' AS BLOB) WHERE id = {FIRST}'
    ),
    "a lost entry": f"DELETE FROM entry WHERE id = {FIRST}",
    "a lost layout": "DELETE FROM layout WHERE hid = (SELECT hid FROM history WHERE name = 'bad')",
    "a layout that is no JSON": (
        "UPDATE layout SET ranges = '[[' WHERE hid = (SELECT hid FROM history WHERE name = 'bad')"
    ),
}

READS: dict[str, dict[str, Any]] = {
    "history/snapshot": {"history": "bad"},
    "history/outline": {"history": "bad"},
    "history/render": {"history": "bad", "format": "markdown"},
    "wire/project": {"history": "bad", "vendor": "openai-chat"},
    "wire/check": {"history": "bad"},
    "history/planSplice": {"history": "bad", "budget": {"window": 1000}},
}

EDIT: tuple[str, dict[str, Any]] = (
    "history/applyEdits",
    {"history": "bad", "ifVersion": 1, "edits": [{"kind": "setText", "entryId": "a", "text": "new"}]},
)
CUT: tuple[str, dict[str, Any]] = ("history/truncate", {"history": "bad", "len": 1})


def change(store: str, statement: str) -> None:
    subprocess.run([sys.executable, "-c", CHANGE, store, statement], check=True)


def assert_names_the_history(error: dict[str, Any], name: str = "bad") -> None:
    assert (error["code"], error["data"]["kind"], error["data"]["retryable"]) == (1021, "storageCorrupt", False)
    assert error["data"]["history"] == name
    assert f"'{name}'" in error["message"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_damaged_history_is_named_and_the_others_go_on(store: str, damage: str) -> None:
    """Every read of it is `storageCorrupt` with its name; search, lists and other histories know nothing of it."""
    first = Peer(store)
    first.call("history/append", {"history": "bad", "entries": [user("word one", id="a"), user("word two", id="b")]})
    first.call("history/append", {"history": "good", "entries": [user("word three", id="c")]})
    first.end()
    change(store, damage)
    peer = Peer(store)
    try:
        found = peer.call("history/search", {"query": "word"})["data"]
        assert {hit["entryId"] for hit in found} <= {"b", "c"}
        assert "c" in {hit["entryId"] for hit in found}
        for method, params in READS.items():
            if method in ("history/snapshot", "history/planSplice") and "king" in damage:
                continue  # a role is opened only where it is needed
            assert_names_the_history(peer.refuse(method, params))
        method, params = CUT if "DELETE FROM entry" in damage else EDIT
        assert_names_the_history(peer.refuse(method, params))
        assert peer.call("history/len", {"history": "bad"})["len"] == 2
        assert [info["history"] for info in peer.call("history/list", {})["data"]] == ["bad", "good"]
        assert read(peer, "good") == ["word three"]
        assert peer.call("history/append", {"history": "good", "entries": [user("more")]})["version"] == 2
    finally:
        peer.end()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("history/append", {"entries": [user("x")]}),
        ("history/len", {}),
        ("history/versions", {}),
        ("history/truncate", {"len": 0}),
        ("history/info", {}),
        ("history/setMetadata", {"patch": {"title": "x"}}),
        ("history/prune", {"keepVersions": 1}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_store_names_the_history_that_was_asked_for(
    peer: Peer, store: str, method: str, params: dict[str, Any]
) -> None:
    """Where the whole file is a ruin, every call is told which history it did not reach."""
    peer.call("history/append", {"history": "bad", "entries": [user("x")]})
    with open(store, "r+b") as file:
        file.write(b"garbage!" * 2)
    assert_names_the_history(peer.refuse(method, {"history": "bad", **params}))
    assert peer.refuse("history/list", {})["data"]["history"] is None
