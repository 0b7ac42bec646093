"""What a session promises beside the seeds: order, idempotency, windows, deltas, the overlay, notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.core.errors import (
    EntryExists,
    HistoryNotFound,
    InvalidName,
    LimitExceeded,
    OperationReused,
    SidecarError,
    VersionMismatch,
)
from sidecar.core.jsontext import loads
from sidecar.core.messages import Entry
from sidecar.service import (
    Conditions,
    Delta,
    HistoryService,
    Limits,
    Notification,
    Remove,
    Session,
    SetText,
    Splice,
    Unchanged,
    Window,
    open_store,
)

pytestmark = pytest.mark.asyncio
H = "h"


def bodies(read: object) -> list[dict]:
    assert isinstance(read, Window)
    return [loads(body) for body in read.bodies]


def texts(read: object) -> list[str]:
    return ["".join(block["text"] for block in body["message"]["content"]) for body in bodies(read)]


def users(*words: str) -> list[Entry]:
    return [Entry.user(word) for word in words]


async def test_calls_take_effect_in_the_order_they_were_started(session: Session) -> None:
    """Reads see exactly the writes before them, though nobody waits in between."""
    tasks = []
    for number in range(30):
        tasks.append(asyncio.ensure_future(session.append(H, users(str(number)))))
        tasks.append(asyncio.ensure_future(session.snapshot(H)))
    results = await asyncio.gather(*tasks)
    assert [applied.head.version for applied in results[::2]] == list(range(1, 31))
    assert [texts(read) for read in results[1::2]] == [[str(n) for n in range(last + 1)] for last in range(30)]


async def test_a_refused_call_in_the_middle_holds_nothing_up(session: Session) -> None:
    """What stands behind it goes on."""
    calls = [
        session.append(H, users("a")),
        session.append(H, users("x"), Conditions(if_version=7)),
        session.snapshot("absent"),
        session.append(H, users("b")),
        session.snapshot(H),
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result).__name__ for result in results[1:3]] == ["VersionMismatch", "HistoryNotFound"]
    assert texts(results[4]) == ["a", "b"]


async def test_a_cancelled_call_that_waits_is_as_if_never_made(session: Session) -> None:
    """And the ones behind it keep their order."""
    first = asyncio.ensure_future(session.append(H, users("a")))
    read = asyncio.ensure_future(session.snapshot(H))
    dropped = asyncio.ensure_future(session.append(H, users("never")))
    last = asyncio.ensure_future(session.append(H, users("b")))
    await asyncio.sleep(0)
    dropped.cancel()
    await asyncio.wait([first, read, dropped, last])
    kept = texts(await session.snapshot(H))
    assert kept == (["a", "b"] if dropped.cancelled() else ["a", "never", "b"])


async def test_a_repeat_answers_the_first_result(session: Session, location: str) -> None:
    """Before `ifVersion` is looked at, for every kind of change, and in another process as well."""
    await session.append(H, users("a", "b", "c", "d"))
    calls: list[Callable[[Session, Conditions], object]] = [
        lambda s, c: s.append(H, users("e"), c),
        lambda s, c: s.splice_prefix(H, 1, Entry.summary("S"), c),
        lambda s, c: s.replace(H, users("a", "b", "c"), c),
        lambda s, c: s.truncate(H, c, len=2),
        lambda s, c: s.apply_edits(H, [Splice(start=0, delete_count=1, entries=tuple(users("z")))], c),
        lambda s, c: s.revert(H, 1, c),
        lambda s, c: s.fork(H, "fork", c),
        lambda s, c: s.rename(H, "k", c),
        lambda s, c: s.delete("fork", c),
    ]
    for number, call in enumerate(calls):
        operation = f"op{number}"
        first = await call(session, Conditions(operation_id=operation))
        again = await call(session, Conditions(operation_id=operation, if_version=0))
        assert (first.replayed, again.replayed) == (False, True)
        assert (again.head.version, again.entry_ids) == (first.head.version, first.entry_ids), number


async def test_an_operation_id_with_other_params_is_refused(session: Session) -> None:
    """Nothing changes."""
    await session.append(H, users("a"), Conditions(operation_id="op"))
    for other in (
        session.append(H, users("b"), Conditions(operation_id="op")),
        session.append(H, users("a", "a"), Conditions(operation_id="op")),
        session.truncate(H, Conditions(operation_id="op"), len=0),
    ):
        with pytest.raises(OperationReused):
            await other
    assert texts(await session.snapshot(H)) == ["a"]


async def test_what_is_refused_changes_nothing(session: Session) -> None:
    """Names, limits, duplicates, conditions."""
    await session.append(H, [Entry.user("a")])
    (entry,) = bodies(await session.snapshot(H))
    same = Entry(message=Entry.user("b").message, id=entry["id"])
    refused: list[tuple[object, type[SidecarError]]] = [
        (session.append("../h", users("x")), InvalidName),
        (session.rename(H, "a//b"), InvalidName),
        (session.fork(H, ""), InvalidName),
        (session.append(H, [same]), EntryExists),
        (session.append(H, users(*"x" * 10_001)), LimitExceeded),
        (session.append(H, users("x"), Conditions(if_version=0)), VersionMismatch),
        (session.set_metadata(H, title="x" * 300_000), LimitExceeded),
        (session.truncate("absent", len=1), HistoryNotFound),
        (session.record_tokens("absent", 1), HistoryNotFound),
    ]
    for call, kind in refused:
        with pytest.raises(kind):
            await call
    head = await session.head(H)
    assert (head.version, head.len, head.title, bodies(await session.snapshot(H))) == (1, 1, None, [entry])


async def test_windows(session: Session) -> None:
    """Negative starts count from the end; what is beyond the ends is cut."""
    await session.append(H, users(*"abcdef"))
    windows = {
        (None, None): (0, "abcdef"),
        (2, 2): (2, "cd"),
        (-2, None): (4, "ef"),
        (-2, 1): (4, "e"),
        (-99, 1): (0, "a"),
        (4, 99): (4, "ef"),
        (99, 1): (6, ""),
        (0, 0): (0, ""),
    }
    for (start, count), (first, letters) in windows.items():
        read = await session.snapshot(H, start=start, count=count)
        assert isinstance(read, Window)
        assert (read.version, read.len, read.start, "".join(texts(read))) == (1, 6, first, letters)


async def test_a_large_history_is_read_in_parts_that_fit(location: str) -> None:
    """A short answer says where to go on, and the parts make up the whole."""
    limits = Limits(reply_bytes=1000, chunk_bytes=300)
    async with HistoryService(open_store(location), limits=limits) as service:
        session = service.session()
        await session.append(H, users(*[str(number) * 50 for number in range(40)]))
        whole: list[str] = []
        while len(whole) < 40:
            read = await session.snapshot(H, start=len(whole), at_version=1)
            assert read.start == len(whole) and 0 < sum(map(len, read.bodies)) <= 1300
            whole += texts(read)
        assert whole == [str(number) * 50 for number in range(40)]


async def test_deltas(session: Session) -> None:
    """Unchanged, an edit, and in full where a delta cannot be told."""
    await session.append(H, users("a", "b"))
    assert await session.snapshot(H, since_version=1) == Unchanged(version=1, len=2)
    await session.append(H, users("c"))
    delta = await session.snapshot(H, since_version=1)
    assert isinstance(delta, Delta)
    assert [(edit.start, edit.delete_count, len(edit.bodies)) for edit in delta.edits] == [(2, 0, 1)]
    assert isinstance(await session.snapshot(H, since_version=99), Window)
    assert isinstance(await session.snapshot(H, since_version=1, start=0, count=1), Window)
    with pytest.raises(HistoryNotFound):
        await session.snapshot("absent", since_version=1)


async def test_edits(session: Session) -> None:
    """Each sees the result of those before; ids and times are stamped on what is new."""
    await session.append(H, [Entry(message=Entry.user(text).message, id=text) for text in "abc"])
    edits = [
        Splice(start=1, delete_count=1, entries=tuple(users("n"))),
        Remove(entry_id="a"),
        SetText(entry_id="c", text="C"),
    ]
    applied = await session.apply_edits(H, edits, Conditions(if_version=1))
    entries = bodies(await session.snapshot(H))
    assert ([entry["id"] for entry in entries], entries[0]["ts"]) == ([*applied.entry_ids, "c"], 1000)


async def test_injected_entries_keep_their_places(session: Session) -> None:
    """Through windows, splices and renames; they shift no position and are marked."""
    await session.append(H, users("a", "b"))
    applied = await session.append(H, [Entry.user("i1").injected(), Entry.user("c"), Entry.user("i2").injected()])
    assert (applied.head.len, len(applied.entry_ids)) == (3, 3)
    await session.append(H, [Entry.user("i3").injected()])
    assert texts(await session.snapshot(H)) == ["a", "b", "i1", "c", "i2", "i3"]
    assert [body.get("autoInjected", False) for body in bodies(await session.snapshot(H))] == [0, 0, 1, 0, 1, 1]
    window = await session.snapshot(H, start=1, count=1)
    assert (window.start, texts(window)) == (1, ["b"])
    await session.splice_prefix(H, 2, Entry.user("S"))
    await session.rename(H, "k")
    assert texts(await session.snapshot("k")) == ["S", "i1", "c", "i2", "i3"]
    _, items = await session.items("k")
    assert [item.entry.text for item in items] == ["S", "i1", "c", "i2", "i3"]
    assert [item.index for item in items] == [0, 1, 1, 1, 1]
    assert (await session.clear_injected("k"), texts(await session.snapshot("k"))) == (3, ["S", "c"])


async def test_an_append_of_injected_entries_alone_is_no_change(session: Session) -> None:
    """It creates nothing, and its condition is still looked at."""
    applied = await session.append(H, [Entry.user("i").injected()])
    assert (applied.changed, applied.head.version, applied.head.len, await session.find(H)) == (False, 0, 0, None)
    assert texts(await session.snapshot(H)) == ["i"]
    with pytest.raises(VersionMismatch):
        await session.append(H, [Entry.user("i").injected()], Conditions(if_version=3))
    await session.append(H, users("a"))
    assert texts(await session.snapshot(H)) == ["i", "a"]


async def test_a_repeated_append_of_injected_entries_answers_as_the_first_time(session: Session) -> None:
    """Ids that the server made included; the same operation id in another history is another operation."""
    operation = Conditions(operation_id="op")
    first, again = [await session.append(H, [Entry.user("i").injected()], operation) for _ in range(2)]
    other = await session.append("other", [Entry.user("i").injected()], operation)
    assert (first.replayed, again.replayed, other.replayed) == (False, True, False)
    assert first.entry_ids == again.entry_ids != other.entry_ids


async def test_filters_see_every_entry_before_it_is_stored(location: str) -> None:
    """The hook for masking secrets."""

    def mask(entry: Entry) -> Entry:
        return Entry(message=Entry.user(entry.text.replace("hunter2", "***")).message, id=entry.id, ts=entry.ts)

    async with HistoryService(open_store(location), filters=[mask]) as service:
        session = service.session()
        await session.append(H, users("password hunter2"))
        assert texts(await session.snapshot(H)) == ["password ***"]


class Recorder:
    """A sink that keeps everything."""

    congested = False

    def __init__(self) -> None:
        self.got: list[Notification] = []

    def notify(self, notification: Notification) -> None:
        self.got.append(notification)


async def test_subscribers_hear_every_change_in_order(service: HistoryService) -> None:
    """From the version that the answer told; the author as well; deletes and renames too."""
    sink = Recorder()
    session = service.session("author", sink)
    await session.append(H, users("before"))
    name, version = await session.subscribe(H)
    await asyncio.gather(
        *[session.append(H, users(str(number)), Conditions(operation_id=f"op{number}")) for number in range(5)]
    )
    await session.delete(H)
    events = [item.event for item in sink.got]
    assert version == 1
    assert [(event.version, event.previous_version) for event in events] == [(n, n - 1) for n in range(2, 8)]
    assert {item.subscription_ids for item in sink.got} == {(name,)}
    assert [event.operation_id for event in events] == [*[f"op{number}" for number in range(5)], None]
    assert {(event.local, event.actor) for event in events} == {(True, "author")}
    assert events[-1].deleted
    session.unsubscribe(name)
    await session.append(H, users("after"))
    assert len(sink.got) == 6


async def test_everything_is_there_after_a_reopen(tmp_path: Path) -> None:
    """Entries, versions, metadata, operation ids."""
    location = str(tmp_path / "s" / "store.db")
    async with HistoryService(open_store(location)) as service:
        session = service.session()
        await session.append(H, users("a", "b"), Conditions(operation_id="op"))
        await session.splice_prefix(H, 1, Entry.summary("S"))
        await session.set_metadata(H, title="T", tags=["x"], metadata={"ex.com/k": [1, None]})
        before = await session.head(H)
    async with HistoryService(open_store(location)) as service:
        session = service.session()
        assert await session.head(H) == before
        assert texts(await session.snapshot(H, at_version=1)) == ["a", "b"]
        assert (await session.append(H, users("a", "b"), Conditions(operation_id="op"))).replayed
        kinds = [row.kind for row in (await session.versions(H)).rows]
        assert kinds == ["splicePrefix", "append"]
