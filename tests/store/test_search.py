"""Full-text search on every engine."""

from __future__ import annotations

import pytest
from attrs import evolve

from sidecar.core.messages import Entry, ToolCall
from sidecar.store.base import Append, Delete, Fork, SplicePrefix
from tests.store.stores import Opened, opened

TEXTS = {
    "e1": Entry.user("The quick brown fox jumps over the lazy dog"),
    "e2": Entry.assistant("我们讨论了数据库的持久性"),
    "e3": Entry.user("これは日本語のテストです"),
    "e4": Entry.assistant(tool_calls=[ToolCall(id="c", name="lookup", arguments='{"key":"argumentsecret"}')]),
    "e5": Entry.tool("resultword quick", "c"),
    "e6": evolve(Entry.tool("privateword quick", "c"), meta={"sidecar/private": True}),
    "e7": Entry.note("naïve Ｆｕｌｌｗｉｄｔｈ café\ud83d\0end"),
}


async def filled(store: Opened) -> None:
    entries = tuple(evolve(entry, id=name, ts=1) for name, entry in TEXTS.items())
    await store.do("talk", Append(entries))


async def found(store: Opened, query: str, prefix: str = "") -> list[tuple[str, str, int]]:
    page = await store.store.search(query, prefix=prefix, cursor=None, limit=50)
    return [(hit.history, hit.entry_id, hit.index) for hit in page.rows]


@opened
async def test_what_is_found(store: Opened) -> None:
    """Words, phrases, beginnings, Chinese and Japanese are found; arguments and private entries never."""
    await filled(store)
    expected = {
        "fox": ["e1"],
        "FOX brown": ["e1"],
        '"brown fox"': ["e1"],
        '"fox brown"': [],
        "jum": [],
        "jum*": ["e1"],
        "数据": ["e2"],
        "库": ["e2"],
        "日本": ["e3"],
        "本日": [],
        "lookup": ["e4"],
        "argumentsecret": [],
        "resultword": ["e5"],
        "privateword": [],
        "fullwidth": ["e7"],
        "café": ["e7"],
        "end": ["e7"],
        "": [],
        '"': [],
        "AND OR NOT (": [],
        "'; DROP": [],
    }
    assert {query: [e for _, e, _ in await found(store, query)] for query in expected} == expected
    assert sorted(e for _, e, _ in await found(store, "quick")) == ["e1", "e5"]


@opened
async def test_hits_follow_the_histories(store: Opened) -> None:
    """A hit names where the entry stands now, in every live history that shows it, and nothing that is gone."""
    await filled(store)
    assert await found(store, "resultword") == [("talk", "e5", 4)]
    await store.do("talk", Fork(to="other/copy"))
    assert await found(store, "resultword") == [("other/copy", "e5", 4), ("talk", "e5", 4)]
    assert await found(store, "resultword", "other/") == [("other/copy", "e5", 4)]
    await store.do("talk", SplicePrefix(drop_count=5, summary=evolve(Entry.summary("short"), id="s", ts=1)))
    assert await found(store, "resultword") == [("other/copy", "e5", 4)]
    assert await found(store, "short") == [("talk", "s", 0)]
    await store.do("other/copy", Delete())
    assert await found(store, "resultword") == []


@opened
async def test_pages_and_snippets(store: Opened) -> None:
    """Pages hold every hit once, best first; a snippet shows the word in its surroundings."""
    entries = tuple(
        evolve(Entry.user("filler " * (30 + i) + "needle " * (1 + i % 3)), id=f"n{i}", ts=1) for i in range(250)
    )
    await store.do("many", Append(entries))
    await store.do("many", Fork(to="many2"))
    seen, cursor, ranks = [], None, []
    while True:
        page = await store.store.search("needle", prefix="", cursor=cursor, limit=33)
        assert len(page.rows) <= 33
        seen += [(hit.history, hit.entry_id) for hit in page.rows]
        ranks += [hit.rank for hit in page.rows]
        assert all("needle" in hit.snippet and len(hit.snippet) < 210 for hit in page.rows)
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted((h, f"n{i}") for i in range(250) for h in ("many", "many2"))
    assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize("cursor", ["", "x", "bm9wZQ=="])
def test_foreign_cursors(cursor: str) -> None:
    """Any other text is refused as a cursor."""
    from sidecar.core.errors import CursorInvalid
    from sidecar.store.cursors import open_cursor

    with pytest.raises(CursorInvalid):
        open_cursor("search::x", cursor, (float, int, int, str))
