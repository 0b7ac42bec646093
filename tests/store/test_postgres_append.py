"""Appends through the function in the database: one round trip, and the same rows and answers as `store.logic`."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from attrs import evolve

from sidecar.core.errors import SidecarError
from sidecar.core.messages import Block, Entry, Image, Text, User
from sidecar.store import open_store
from sidecar.store.base import (
    Append,
    Applied,
    Delete,
    Elide,
    Fork,
    Mutation,
    Operation,
    RecordTokens,
    Rename,
    SetMetadata,
    SplicePrefix,
    Truncate,
)
from sidecar.store.postgres.appending import Appender
from sidecar.store.postgres.engine import PostgresStore
from tests.store.postgres_server import fresh_database
from tests.store.running import entry, summary

pytestmark = pytest.mark.postgres
TABLES = ("history", "tombstone", "entry", "layout", "marks", "change", "operation", "blob", "entry_blob", "borrow")
PICTURE = base64.b64encode(bytes(300_000)).decode()


def picture(name: str) -> Entry:
    """An entry with a blob, which the function does not do."""
    blocks: tuple[Block, ...] = (Text("look"), Image(mime_type="image/png", data=PICTURE))
    return evolve(Entry(message=User(blocks)), id=name, ts=1)


def append(*names: str, history: str = "h", fresh: bool = False, **conditions: Any) -> Mutation:
    return on(history, Append(tuple(entry(name, f"text of {name}") for name in names), fresh=fresh), **conditions)


def on(history: str, operation: Operation, **conditions: Any) -> Mutation:
    return Mutation(history=history, operation=operation, at=1, **conditions)


SCRIPT: Sequence[Mutation] = (
    append("a"),
    append("b", operation_id="1", digest=b"1", actor='an "editor" \\ \ud800\0'),
    append("b", operation_id="1", digest=b"1"),  # a repeat
    append("b", operation_id="1", digest=b"2"),  # another call under the same id
    append("c", "d", "e", if_version=2),
    append("f", if_version=2),
    append("g", "g"),
    append("h", "a"),
    append("\ud800", "\U0001f600 {\"'}\\", operation_id='"\\\ud800', digest=b"\0\xff"),
    on("h", SetMetadata(title="a \\ title \ud800", tags=("x", "ü"), metadata={"k": [1, None, {"ü": 1.5}]})),
    on("h", RecordTokens(tokens=77, calibration={"x": 1})),
    append("i", operation_id="2"),
    append("j", operation_id="3", fresh=True),
    on("h", Fork(to="f")),
    append("k", history="f", operation_id="1"),
    append("a", history="f"),
    append("a2", history="f", operation_id="2"),
    on("h", Truncate(len=3)),
    append("i"),
    append("i"),
    on("h", SplicePrefix(drop_count=2, summary=summary("s"))),
    append("a", operation_id="4"),
    append("s"),
    on("h", Elide(("a",), "manual")),
    append("v"),
    append("w", operation_id="8"),
    append("l", operation_id="5"),
    on("h", Append((picture("p"),)), operation_id="6"),
    append("m", operation_id="7"),
    on("h", Rename(to="n")),
    append("o", history="h"),
    append("o", history="n"),
    append("o2", history="h", if_version=0),
    append("q", history="h"),
    append("q2", history="h"),
    on("h", Delete()),
    append("r", history="h"),
    append("t", history="h"),
    append(*(f"many{n}" for n in range(300)), history="h"),
    append("u", history="h", operation_id="1"),
)


class _Forgetful(Appender):
    """It knows no history, so that nothing can be given to the function."""

    def learn(self, *_: Any) -> None:
        pass


async def outcomes(dsn: str, mutations: Sequence[Mutation], *, general: bool) -> list[Applied | str]:
    """Carry out one mutation after the other; `general` never uses the function."""
    # Two processes: what the one that appends has in mind goes stale whenever the other one does something.
    appending, other = PostgresStore(dsn), PostgresStore(dsn)
    if general:
        appending._appender = _Forgetful(1)
    for store in (appending, other):
        await store.open()
    found: list[Applied | str] = []
    for mutation in mutations:
        store = appending if isinstance(mutation.operation, Append) else other
        try:
            found.append(await store.apply(mutation))
        except SidecarError as error:
            found.append(f"{error!r} {error.data}")
    for store in (appending, other):
        await store.close()
    return found


def rows(dsn: str) -> dict[str, list[Any]]:
    """Everything that is stored, but for what says who wrote it when."""
    with psycopg.connect(dsn) as connection:
        found = {}
        for table in TABLES:
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2".encode())
            names = [column.name for column in cursor.description or ()]
            found[table] = [
                [value for name, value in zip(names, row, strict=True) if name not in ("xid", "writer")]
                for row in cursor
                if table != "operation"
            ]
        # A result is JSON text that two writers may space differently; what is read of it is compared by the repeats.
        found["operation"] = connection.execute(
            "SELECT name, operation_id, digest, at FROM operation ORDER BY 1, 2"
        ).fetchall()
        return found


def test_the_function_does_what_logic_does() -> None:
    """The same script gives the same answers, the same errors and the same rows with and without the function."""
    ours, theirs = fresh_database(), fresh_database()
    # Each operation id again at the end: what was remembered reads back as what was answered.
    script = [*SCRIPT, *(mutation for mutation in SCRIPT if mutation.operation_id)]
    assert asyncio.run(outcomes(ours, script, general=False)) == asyncio.run(outcomes(theirs, script, general=True))
    assert rows(ours) == rows(theirs)


def round_trips(trace: Path) -> int:
    """Count the requests that a client waited for: each ends with a Sync or is a simple query."""
    kinds = [line.split("\t")[3] for line in trace.read_text(errors="replace").splitlines() if line.count("\t") >= 3]
    sent = [line.split("\t")[1] for line in trace.read_text(errors="replace").splitlines() if line.count("\t") >= 3]
    return sum(who == "F" and kind in ("Sync", "Query") for who, kind in zip(sent, kinds, strict=True))


def test_an_append_is_one_round_trip(tmp_path: Path) -> None:
    """One append, one of several entries with conditions, and 50 at once: each is one statement."""

    async def work(store: PostgresStore) -> list[int]:
        await store.open()
        await asyncio.gather(*(store.apply(append("a", history=f"h{n}")) for n in range(5)))
        counts = []
        batches = (
            [append("a2", history="h1"), append("a2", history="h2")],  # prepares the statement
            [append("b", history="h1")],
            [append("c", "d", "e", history="h1", if_version=3, operation_id="o")],
            [append(f"x{n}", history=f"h{n % 5}") for n in range(50)],
        )
        for number, batch in enumerate(batches):
            trace = tmp_path / str(number)
            with trace.open("w") as file:
                assert store._connection is not None
                store._connection.pgconn.trace(file.fileno())
                # As one batch of the writer thread, which is not left to chance.
                results = await asyncio.to_thread(store._commit, batch)
                store._connection.pgconn.untrace()
            assert all(isinstance(result, Applied) for result in results)
            counts.append(round_trips(trace))
        await store.close()
        return counts

    assert asyncio.run(work(PostgresStore(fresh_database()))) == [2, 1, 1, 1]


def test_nothing_overtakes() -> None:
    """In one batch, what the function does and what it leaves alone take effect in the order of arrival."""
    batch = [
        append("a1", history="a"),
        append("b1", history="b"),
        on("a", Append((picture("a2"),))),
        append("a3", history="a"),
        append("b1", history="b"),  # refused
        append("b2", history="b"),
        on("c", Delete()),
        append("c1", history="c"),
        append("d1", history="d"),
        on("d", Rename(to="e")),
        append("e1", history="e"),
        append("b3", history="b"),
    ]

    async def work(store: PostgresStore) -> tuple[list[str], dict[str, list[str]]]:
        await store.open()
        for name in "abcd":
            await store.apply(append("0", history=name))
        results = await asyncio.to_thread(store._commit, batch)
        found = {}
        for name in "abce":
            ids = await store.positions(name, [f"{letter}{n}" for letter in "abcde" for n in range(4)])
            found[name] = sorted(ids, key=ids.__getitem__)
        await store.close()
        return [type(result).__name__ for result in results], found

    answers, found = asyncio.run(work(PostgresStore(fresh_database())))
    assert answers == ["Applied"] * 4 + ["EntryExists"] + ["Applied"] * 7
    assert found == {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"], "c": ["c1"], "e": ["d1", "e1"]}


def test_two_processes_append_to_one_history() -> None:
    """Writers who know nothing of each other's appends never fork a version, never let an id in twice."""

    async def work(dsn: str) -> tuple[list[int], int, int]:
        stores = [open_store(dsn) for _ in range(3)]
        for store in stores:
            await store.open()
            await store.apply(append(f"first{id(store)}"))
        versions: list[int] = []
        refused = 0

        async def write(number: int) -> None:
            nonlocal refused
            for n in range(40):
                name = f"{number}.{n}" if n % 2 else f"same{n}"
                try:
                    versions.append((await stores[number].apply(append(name))).head.version)
                except SidecarError:
                    refused += 1

        await asyncio.gather(*map(write, range(3)))
        size = len((await stores[0].read("h")).rows)
        for store in stores:
            await store.close()
        return sorted(versions), refused, size

    versions, refused, size = asyncio.run(work(fresh_database()))
    assert (versions, refused, size) == (list(range(4, 84)), 40, 83)


def test_old_results_are_forgotten() -> None:
    """Of the operations of one history the last thousand and few more are remembered."""

    async def work(dsn: str) -> None:
        store = PostgresStore(dsn)
        await store.open()
        for start in range(0, 1600, 200):
            batch = [append(f"e{n}", operation_id=f"o{n}") for n in range(start, start + 200)]
            await asyncio.gather(*map(store.apply, batch))
        assert (await store.apply(append("e600", operation_id="o600"))).replayed
        await store.close()

    dsn = fresh_database()
    asyncio.run(work(dsn))
    with psycopg.connect(dsn) as connection:
        (kept,) = connection.execute("SELECT count(*) FROM operation").fetchone() or (0,)
    assert 1000 <= kept <= 1000 + 256
