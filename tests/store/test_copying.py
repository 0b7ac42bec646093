"""A whole store moves between engines: every version, operation id and byte, also after an interruption."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sidecar.core.errors import InvalidParams, StorageCorrupt
from sidecar.core.messages import Entry, Image
from sidecar.store import copying, open_store
from sidecar.store.base import Append, Delete, Elide, Fork, Mutation, Rename, SetMetadata, SplicePrefix
from sidecar.store.front import StoreFront
from tests.store.stores import place

PAIRS = [
    ("sqlite", "sqlite"),
    pytest.param("sqlite", "postgres", marks=pytest.mark.postgres),
    pytest.param("postgres", "sqlite", marks=pytest.mark.postgres),
]


def entry(number: int, text: str = "x") -> Entry:
    return evolve(Entry.user(text), id=f"e{number}", ts=number)


async def fill(store: StoreFront) -> None:
    """Make histories of every kind: forks, tombstones, marks, blobs, odd text."""

    async def do(history: str, operation: Any, **more: Any) -> None:
        await store.apply(Mutation(history=history, operation=operation, at=7, actor="a\x00\ud83d", **more))

    await do("a", Append(tuple(entry(i, f"日本 {i}\x00\ud83d") for i in range(450))), operation_id="op", digest=b"d")
    await do("a", SplicePrefix(drop_count=100, summary=evolve(Entry.summary("s"), id="s", ts=1)))
    await do("a", Elide(("e200",), "result"))
    await do("a", Fork(to="b", at_version=1, len=5))
    await do("b", SetMetadata(title="t\ud83d", metadata={"k": None, "l": [1.5]}))
    await do("c", Append((evolve(Entry.user([Image(mime_type="image/png", data="QUJD" * 90_000)]), id="i", ts=1),)))
    await do("c", Rename("d"))
    await do("gone", Append((entry(1),)))
    await do("gone", Delete())


async def shown(store: StoreFront) -> list[Any]:
    """Return everything a client could see."""
    out: list[Any] = []
    for head in (await store.list(prefix="", cursor=None, limit=50, order_by="name")).rows:
        rows = (await store.versions(head.history, cursor=None, limit=50)).rows
        out += [head, [evolve(row, local=False) for row in rows]]
        out += [(await store.read(head.history, version=row.version)).rows for row in rows if row.kind != "rename"]
    return out


def both(source: str, target: str, tmp_path: Path, work: Any) -> None:
    async def run() -> None:
        stores = [open_store(place(engine, tmp_path / name)) for engine, name in ((source, "from"), (target, "to"))]
        for store in stores:
            await store.open()
        try:
            await fill(stores[0])  # type: ignore[arg-type]
            await work(*stores)
        finally:
            for store in stores:
                await store.close()

    asyncio.run(run())


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_copy_shows_what_the_source_shows_and_lives_on(source: str, target: str, tmp_path: Path) -> None:
    """Equal to the last row; ids repeat, and new histories get numbers of their own."""

    async def work(old: StoreFront, new: StoreFront) -> None:
        copied = await copying.copy_store(old, new)
        assert (copied.histories, copied.entries) == (4, 453)
        assert await shown(new) == await shown(old)
        again = Mutation(history="a", operation=Append((entry(0),)), at=9, operation_id="op", digest=b"d")
        assert (await new.apply(again)).replayed
        await new.apply(Mutation(history="new", operation=Append((entry(1),)), at=9))
        stale = await new.apply(Mutation(history="gone", operation=Append((entry(1),)), at=9))
        assert stale.head.version == 3
        with pytest.raises(InvalidParams):
            await copying.copy_store(old, new)

    both(source, target, tmp_path, work)


@pytest.mark.parametrize(("source", "target"), PAIRS[:2])
def test_an_interrupted_copy_goes_on(source: str, target: str, tmp_path: Path) -> None:
    """Rows that arrived are not copied again, and what was committed meanwhile arrives as well."""

    class Stopped(Exception):
        pass

    async def work(old: StoreFront, new: StoreFront) -> None:
        def stop(table: str, _rows: int) -> None:
            if table == "entry":
                raise Stopped

        with pytest.raises(Stopped):
            await copying.copy_store(old, new, stop)
        await old.apply(Mutation(history="a", operation=Append((entry(9000),)), at=9))
        seen: list[tuple[str, int]] = []
        await copying.copy_store(old, new, lambda table, rows: seen.append((table, rows)))
        assert sum(rows for table, rows in seen if table == "entry") == 254 + 2 * 454
        assert await shown(new) == await shown(old)

    both(source, target, tmp_path, work)


def test_a_copy_that_is_not_equal_is_refused(tmp_path: Path) -> None:
    """A row that changed on the way is found by the comparison."""

    async def work(old: StoreFront, new: StoreFront) -> None:
        def damage(tx: Any) -> None:
            tx.rows("UPDATE entry SET body = ? WHERE id = (SELECT min(id) FROM entry)", (b"{}",))

        done = False

        def progress(table: str, _rows: int) -> None:
            nonlocal done
            if table == "change" and not done:
                done = True
                asyncio.ensure_future(new._writing(damage))

        with pytest.raises(StorageCorrupt):
            await copying.copy_store(old, new, progress)

    both("sqlite", "sqlite", tmp_path, work)
