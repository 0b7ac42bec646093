"""Large pictures by reference, asked of a real process."""

from __future__ import annotations

import base64
import hashlib
import random
from typing import Any

from peer import Peer

PICTURE = random.Random(1).randbytes(300_000)
DATA = base64.b64encode(PICTURE).decode()
HASH = hashlib.sha256(PICTURE).hexdigest()


def image(**place: str) -> dict[str, Any]:
    return {"type": "image", "mimeType": "image/png", **place}


def shown(peer: Peer, **params: Any) -> list[list[dict[str, Any]]]:
    """Return the blocks of the entries that a snapshot answers, full or as a delta."""
    result = peer.call("history/snapshot", {"history": "h", **params})
    entries = result["entries"] if result["kind"] == "full" else result["edits"][0]["entries"]
    return [entry["message"]["content"] for entry in entries]


def test_a_snapshot_leaves_large_pictures_out_when_asked(peer: Peer) -> None:
    """Full, in a window, of an older version and as a delta; small ones stay, and without asking all come whole."""
    small = image(data="AAAA")
    for content in ([{"type": "text", "text": "look"}], [image(data=DATA), small], [image(blob=HASH)]):
        peer.call("history/append", {"history": "h", "entries": [{"message": {"role": "user", "content": content}}]})
    text, whole, referred = [{"type": "text", "text": "look"}], image(data=DATA), image(blob=HASH)
    assert shown(peer) == [text, [whole, small], [whole]]
    assert shown(peer, references=True) == [text, [referred, small], [referred]]
    assert shown(peer, references=True, start=-1) == [[referred]]
    assert shown(peer, references=True, atVersion=2) == [text, [referred, small]]
    assert shown(peer, references=True, sinceVersion=1) == [[referred, small], [referred]]
    assert shown(peer, sinceVersion=1) == [[whole, small], [whole]]
    assert shown(peer, references=None, start=2) == [[whole]]
