"""Pruning and purging: what goes, what stays, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest
from attrs import evolve

from sidecar.core.errors import HistoryNotFound, VersionUnavailable
from sidecar.core.messages import Entry
from sidecar.store.base import Append, Delete, Fork, Pruned, Replace, Revert, SplicePrefix, Truncate
from tests.store.stores import Opened, opened

KB = "x" * 1000


def entries(*names: str, text: str = KB) -> tuple[Entry, ...]:
    return tuple(evolve(Entry.user(text), id=name, ts=1) for name in names)


def summary(name: str) -> Entry:
    return evolve(Entry.summary("s"), id=name, ts=1)


async def prune(
    store: Opened, history: str | None = None, *, keep: int | None = None, before: int | None = None, dry: bool = False
) -> Pruned:
    return await store.store.prune(history, keep_versions=keep, before=before, dry_run=dry)


async def versions(store: Opened, history: str) -> list[int]:
    return [row.version for row in (await store.store.versions(history, cursor=None, limit=100)).rows]


@opened
async def test_keep_versions(store: Opened) -> None:
    """A dry run says exactly what the run then frees; the versions that stay read as before."""
    await store.do("h", Append(entries("a", "b", "c", "d")))  # 1
    await store.do("h", SplicePrefix(drop_count=2, summary=summary("s1")))  # 2: s1 c d
    await store.do("h", Append(entries("e")))  # 3: s1 c d e
    await store.do("h", Truncate(len=2))  # 4: s1 c
    kept = {version: await store.bodies("h", version) for version in (3, 4)}
    would = await prune(store, "h", keep=2, dry=True)
    assert would.versions_dropped == 2 and 2000 < would.freed_bytes < 2600
    assert await versions(store, "h") == [4, 3, 2, 1]
    assert await prune(store, "h", keep=2) == would
    assert await versions(store, "h") == [4, 3]
    assert {version: await store.bodies("h", version) for version in (3, 4)} == kept
    with pytest.raises(VersionUnavailable) as refused:
        await store.bodies("h", 2)
    assert refused.value.data["oldest"] == 3
    assert await prune(store, "h", keep=2) == Pruned(freed_bytes=0, versions_dropped=0)
    await store.do("h", Revert(3))
    assert await store.bodies("h") == kept[3]
    await store.do("h", Append(entries("a")))
    assert (await store.store.head("h")).len == 5  # type: ignore[union-attr]


@opened
async def test_before(store: Opened) -> None:
    """By age: what is older than the time goes, the newest version always stays."""
    for name in "abcd":
        await store.do("h", Replace(entries(name)))  # at 1001 … 1004
    assert (await prune(store, before=1003)).versions_dropped == 2
    assert await versions(store, "h") == [4, 3]
    assert (await prune(store, before=9999)).versions_dropped == 1
    assert await versions(store, "h") == [4]
    assert (await prune(store)).versions_dropped == 0
    for _ in "ab":
        await store.do("h", Replace(entries("z")))
    assert (await prune(store, keep=1, before=1005)).versions_dropped == 1, "either rule keeps"
    with pytest.raises(HistoryNotFound):
        await prune(store, "nobody")


@opened
async def test_forks_pin(store: Opened) -> None:
    """A fork keeps what it shows, though the origin is deleted and pruned, until it goes itself."""
    await store.do("h", Append(entries("a", "b", "c")))
    await store.do("h", Fork(to="f", len=2))
    await store.do("f", Append(entries("x")))
    shown = await store.bodies("f")
    await store.do("h", Delete())
    freed = await prune(store)
    assert freed.versions_dropped == 2 and 1000 < freed.freed_bytes < 1300, "only c"
    assert await store.bodies("f") == shown
    rows = (await store.store.read("f")).rows
    assert [row.prefix_changed for row in rows] == [False, False, False]
    await store.do("f", Delete())
    assert 3000 < (await prune(store, before=1 << 50)).freed_bytes < 3900


@opened
async def test_index_follows(store: Opened) -> None:
    """Search goes on working, and finds nothing that was destroyed."""
    await store.do("h", Append(entries("a", text="apple")))
    await store.do("h", Replace(entries("b", text="banana")))
    assert len((await store.store.search("apple", prefix="", cursor=None, limit=9)).rows) == 0
    await store.do("h", Revert(1))
    assert len((await store.store.search("apple", prefix="", cursor=None, limit=9)).rows) == 1
    await prune(store, keep=1)
    assert len((await store.store.search("apple", prefix="", cursor=None, limit=9)).rows) == 1
    assert len((await store.store.search("banana", prefix="", cursor=None, limit=9)).rows) == 0


@opened
async def test_a_new_life_after_a_purge(store: Opened) -> None:
    """A purged name is gone, and its next life goes on from the tombstone."""
    await store.do("h", Append(entries("a")), operation_id="k", digest=b"1")
    await store.store.purge("h", at=5)
    assert await store.store.head("h") is None
    with pytest.raises(HistoryNotFound):
        await store.bodies("h")
    assert (await store.do("h", Append(entries("a")), operation_id="k", digest=b"2")).head.version == 3


SCAN = """
import pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    print(path.read_bytes().count(sys.argv[2].encode()))
"""


@opened
async def test_the_feed_goes_on(store: Opened) -> None:
    """A change that follows the pruning of the very last one is told."""
    events: list[int] = []
    store.store.subscribe(lambda event: events.append(event.version))
    await store.do("h", Append(entries("a")))
    await store.do("h", Delete())
    await prune(store)
    await store.do("g", Append(entries("a")))
    await store.do("g", Append(entries("b")))
    for _ in range(100):
        if len(events) == 4:
            break
        await asyncio.sleep(0.05)
    assert events == [1, 2, 1, 2]


@opened
async def test_a_purge_leaves_no_trace(store: Opened) -> None:
    """After a purge no file of the store holds a word of what was said; another history is untouched."""
    if store.store.engine != "sqlite":
        return
    secret = "PurgedSecretWord"
    await store.do("other", Append(entries("o")))
    for number in range(20):
        await store.do("h", Append(entries(f"a{number}", text=f"{secret} {KB} lowerpurgedsecret")))
        await store.do("other", Append(entries(f"o{number}")))
    await store.store.search("lowerpurgedsecret", prefix="", cursor=None, limit=5)
    folder = store.location.rpartition("/")[0]

    def traces(word: str) -> int:
        # Another process: an open and close of the files in this one would drop SQLite's locks.
        done = subprocess.run([sys.executable, "-c", SCAN, folder, word], capture_output=True, text=True, check=True)
        return sum(map(int, done.stdout.split()))

    assert traces(secret) > 0 and traces("lowerpurgedsecret") > 0
    await store.store.purge("h", at=99)
    assert (traces(secret), traces("lowerpurgedsecret")) == (0, 0)
    assert len(await store.bodies("other")) == 21
