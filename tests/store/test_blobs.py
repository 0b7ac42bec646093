"""Large strings: kept once, returned byte for byte or by reference."""

from __future__ import annotations

import base64
import hashlib
import random

import pytest
from attrs import evolve

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import dumpb, loads
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Entry, File, Image, Text
from sidecar.store.base import Append, ApplyEdits, Delete, Fork, Replace, SetText
from tests.store.stores import Opened, opened

PICTURE = random.Random(1).randbytes(300_000)
DATA = base64.b64encode(PICTURE).decode()
HASH = hashlib.sha256(PICTURE).hexdigest()


def entry(name: str, *blocks: object) -> Entry:
    return evolve(Entry.user(blocks), id=name, ts=1)  # type: ignore[arg-type]


def picture(data: str = DATA) -> Image:
    return Image(mime_type="image/png", data=data, extra={"detail": "low"})


@opened
async def test_byte_exact_or_by_reference(store: Opened) -> None:
    """The body comes back byte for byte; on request a reference stands in for the data and can be sent again."""
    tricky = Text(f'"blob":"{HASH}" {{"blob":"{HASH}"}}')
    odd = DATA[:-4] + "!\n\u00e9\ud800"  # no base64
    made = entry("a", tricky, picture(), picture(), File(name="f", mime_type="x/y", data=odd), picture("c2hvcnQ="))
    await store.do("h", Append((made,)))
    assert await store.bodies("h") == [dumpb(entry_to_json(made))]
    (by_reference,) = await store.bodies("h", references=True)
    assert len(by_reference) < 2000
    content = loads(by_reference)["message"]["content"]
    assert content[1] == {"type": "image", "mimeType": "image/png", "blob": HASH, "detail": "low"}
    assert "blob" in content[3] and content[4]["data"] == "c2hvcnQ="

    sent = entry("b", Image(mime_type="image/png", blob=HASH))
    await store.do("h", Append((sent,)))
    expected = entry("b", Image(mime_type="image/png", data=DATA))
    assert (await store.bodies("h"))[1] == dumpb(entry_to_json(expected))
    assert (await store.bodies("h", references=True))[1] == dumpb(entry_to_json(sent))
    delta = await store.store.delta("h", 1)
    assert delta.edits[0].bodies == (dumpb(entry_to_json(expected)),)


@opened
async def test_unknown_references_are_refused(store: Opened) -> None:
    """A reference must name a stored blob, or one that came earlier in the same call; nothing changes otherwise."""
    for blob in ("0" * 64, HASH, "short", "../etc"):
        with pytest.raises(InvalidParams) as refused:
            await store.do("h", Append((entry("a", Text("x"), Image(mime_type="i/p", blob=blob)),)))
        assert refused.value.data["errors"][0]["path"] == "/entries/0/message/content/1/blob"
    assert await store.store.head("h") is None
    await store.do("h", Append((entry("a", picture()), entry("b", Image(mime_type="i/p", blob=HASH)))))
    assert len(await store.bodies("h")) == 2


@opened
async def test_kept_once_and_freed(store: Opened) -> None:
    """Resending costs no second copy, an edit keeps the picture, and pruning frees it with its last entry."""
    await store.do("h", Append((entry("a", picture(), Text("t")),)))
    await store.do("h", Fork(to="f"))
    await store.do("h", Replace((entry("b", picture(), Text("t")),)))
    await store.do("h", ApplyEdits((SetText(entry_id="b", text="new", block=1),)))
    (body,) = await store.bodies("h")
    assert body == dumpb(entry_to_json(entry("b", picture(), Text("new"))))
    await store.do("h", Delete())
    pruned = await store.store.prune(None, keep_versions=None, before=None, dry_run=False)
    assert pruned.freed_bytes < 2000, "the fork pins the picture"
    assert await store.bodies("f") == [dumpb(entry_to_json(entry("a", picture(), Text("t"))))]
    await store.do("f", Delete())
    pruned = await store.store.prune(None, keep_versions=None, before=None, dry_run=False)
    assert 300_000 < pruned.freed_bytes < 301_000
    with pytest.raises(InvalidParams):
        await store.do("g", Append((entry("a", Image(mime_type="i/p", blob=HASH)),)))


@opened
async def test_pages_of_pictures(store: Opened) -> None:
    """A byte limit holds for the bodies as they are shown, one at least, whatever the page begins with."""
    made = [entry(f"e{i}", *((picture(),) if i in (1, 2, 5) else (Text("t"),))) for i in range(8)]
    await store.do("h", Append(tuple(made)))
    wanted = [dumpb(entry_to_json(each)) for each in made]
    for limit in (1, 1000, len(DATA) + 1000, 10 * len(DATA)):
        rows, bodies = [], []
        while len(rows) < 8:
            page = (await store.store.read("h", start=len(rows), max_bytes=limit)).rows
            assert page and (len(page) == 1 or sum(len(row.body) for row in page) <= limit)
            rows += [row.body for row in page]
        while len(bodies) < 8:
            some = (await store.store.bodies("h", start=len(bodies), max_bytes=limit)).bodies
            assert some and (len(some) == 1 or sum(map(len, some)) <= limit)
            bodies += some
        assert rows == bodies == wanted
