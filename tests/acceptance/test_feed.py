"""What subscribers hear of another process, asked of two real processes on one store."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from peer import Peer, read, user


def heard(peer: Peer, version: int) -> list[dict[str, Any]]:
    """Return the changes that the peer was told, up to a version, and forget them."""
    ends = time.monotonic() + 20
    while not any(note["params"].get("version", -1) >= version for note in peer.notes):
        assert time.monotonic() < ends, peer.notes
        time.sleep(0.01)
    notes = [note["params"] for note in peer.notes if note["method"] == "history/didChange"]
    peer.notes.clear()
    return notes


def test_a_prune_of_another_process_leaves_no_gap(peer: Peer, store: str) -> None:
    """Versions that went before this process could read them are one resync from the last one it told."""
    peer.call("history/append", {"history": "h", "entries": [user("0")]})
    assert peer.call("history/subscribe", {"history": "h"})["version"] == 1
    os.kill(peer.process.pid, signal.SIGSTOP)
    other = Peer(store)
    try:
        for number in range(1, 6):
            other.call("history/append", {"history": "h", "entries": [user(str(number))]})
        assert other.call("history/prune", {"history": "h", "keepVersions": 1})["versionsDropped"] == 5
        os.kill(peer.process.pid, signal.SIGCONT)
        (change,) = heard(peer, 6)
        assert (change["previousVersion"], change["version"], change["change"]) == (1, 6, {"kind": "resync"})
        assert read(peer, "h", sinceVersion=1) == list("012345")
        other.call("history/append", {"history": "h", "entries": [user("6", id="last")]})
        (change,) = heard(peer, 7)
        assert (change["previousVersion"], change["change"]["edits"][0]["start"]) == (6, 6)
    finally:
        os.kill(peer.process.pid, signal.SIGCONT)
        other.end()
