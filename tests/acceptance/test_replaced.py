"""What becomes of a server whose store is replaced under it, asked of real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from peer import Peer, read, user

# In a process of its own, so that no descriptor of this one ever closes a store's locks.
COPY = "import apsw, sys; apsw.Connection(sys.argv[1]).execute('VACUUM INTO ?', (sys.argv[2],))"


@pytest.fixture
def backup(tmp_path: Path) -> str:
    """One sound file whose `h` holds `from the backup` at version 1."""
    made = str(tmp_path / "other" / "store.db")
    peer = Peer(made)
    peer.call("history/append", {"history": "h", "entries": [user("from the backup")]})
    peer.end()
    target = str(tmp_path / "backup.db")
    subprocess.run([sys.executable, "-c", COPY, made, target], check=True)
    return target


def refused_as_replaced(error: dict[str, Any]) -> bool:
    assert (error["code"], error["data"]) == (
        1020,
        {"kind": "storageUnavailable", "retryable": True, "engine": "sqlite", "detail": "replaced"},
    )
    return True


@pytest.mark.parametrize("first", ["history/snapshot", "history/append"])
def test_a_sound_file_in_its_place_is_opened(peer: Peer, store: str, backup: str, first: str) -> None:
    """One call says so, the next ones have the new content, and nothing of the old log gets into it."""
    for number in range(5):
        peer.call("history/append", {"history": "h", "entries": [user(str(number))]})
    assert peer.call("history/subscribe", {"history": "h"})["version"] == 5
    shutil.copy(backup, backup + ".copy")
    os.replace(backup + ".copy", store)
    params = {"history": "h"} if first == "history/snapshot" else {"history": "h", "entries": [user("lost?")]}
    assert refused_as_replaced(peer.refuse(first, params))
    assert read(peer, "h") == ["from the backup"]
    assert peer.call("history/append", {"history": "h", "entries": [user("more")]})["version"] == 2
    assert read(peer, "h") == ["from the backup", "more"]
    ends = time.monotonic() + 20
    while len(peer.notes) < 2 and time.monotonic() < ends:
        time.sleep(0.01)
    told = [note["params"] for note in peer.notes]
    assert [(change["version"], change["previousVersion"], change["change"]["kind"]) for change in told] == [
        (1, 5, "resync"),
        (2, 1, "edits"),
    ]
    peer.end()
    again = Peer(store)
    try:
        assert read(again, "h") == ["from the backup", "more"]
    finally:
        again.end()
    check = [sys.executable, "-m", "sidecar", "store", "check", "--store", store]
    assert subprocess.run(check, capture_output=True).returncode == 0
    assert len([name for name in os.listdir(Path(store).parent) if ".replaced-" in name]) == 2


@pytest.mark.parametrize("found", [None, b"", b"garbage" * 1000], ids=["nothing", "an empty file", "garbage"])
def test_what_is_no_store_is_left_alone(peer: Peer, store: str, backup: str, found: bytes | None) -> None:
    """Every call is refused and nothing is made or mended, until a store is there."""
    peer.call("history/append", {"history": "h", "entries": [user("x")]})
    os.unlink(store)
    if found is not None:
        Path(store).write_bytes(found)
    for _ in range(2):
        assert refused_as_replaced(peer.refuse("history/len", {"history": "h"}))
        assert refused_as_replaced(peer.refuse("history/append", {"history": "h", "entries": [user("y")]}))
    assert (Path(store).read_bytes() if Path(store).exists() else None) == found
    shutil.copy(backup, backup + ".copy")
    os.replace(backup + ".copy", store)
    peer.ask("history/len", {"history": "h"})
    assert read(peer, "h") == ["from the backup"]


def test_a_lost_log_stops_the_store(peer: Peer, store: str) -> None:
    """What was acknowledged may be in it alone, so the server does not go on as if nothing had been."""
    peer.call("history/append", {"history": "h", "entries": [user("x")]})
    os.unlink(store + "-wal")
    for _ in range(2):
        assert refused_as_replaced(peer.refuse("history/append", {"history": "h", "entries": [user("y")]}))
