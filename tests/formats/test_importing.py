"""Import as a use-case: into a real store, again and again, and through a real sidecar."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from sidecar.client import Sidecar
from sidecar.core.errors import InvalidParams, OperationReused, Unparsable, VersionMismatch
from sidecar.core.messages import Entry
from sidecar.formats.base import MAX_ID
from sidecar.formats.source import Source
from sidecar.service import ANYWAY, Conditions, HistoryService, Limits, Session
from sidecar.service.apart import ReaderFailed, ReaderProcess
from sidecar.service.reading import Piece
from sidecar.service.transfer import IMPORT_KEY, Importing, ImportOutcome
from sidecar.store import open_store
from sidecar.store.sqlite.engine import SqliteStore

DATA = Path(__file__).parent / "data"
TEA = (DATA / "claude-code/rewound.jsonl").read_bytes()


def in_store(test: Callable[[Session], Awaitable[None]], limits: Limits | None = None) -> None:
    async def run() -> None:
        async with HistoryService(open_store(":memory:"), limits=limits or Limits()) as service:
            await test(service.session("test"))

    asyncio.run(run())


async def take(session: Session, data: bytes | str, form: str = "auto", **more: Any) -> list[ImportOutcome]:
    conditions = more.pop("conditions", ANYWAY)
    importing = Importing(session, "h", form, Source.of(data), conditions, **more)
    return [outcome async for outcome in importing]


async def texts(session: Session, name: str = "h") -> list[str]:
    return [entry.text for entry in (await session.entries(name)).entries]


def talk(*words: str) -> str:
    lines = [
        {"type": "user" if at % 2 == 0 else "assistant", "uuid": word, "sessionId": "s", "timestamp": "2026-01-01",
         "message": {"role": "user" if at % 2 == 0 else "assistant", "content": word}}
        for at, word in enumerate(words)
    ]  # fmt: skip
    return "\n".join(map(json.dumps, lines)) + "\n"


def test_a_second_import_adds_only_what_is_new() -> None:
    """The same file twice changes nothing; a grown one adds its new entries; what people removed stays away."""

    async def test(session: Session) -> None:
        (first,) = await take(session, talk("a", "b"))
        assert (first.entry_ids, first.skipped) == (("a", "b"), 0)
        (again,) = await take(session, talk("a", "b"))
        assert (again.entry_ids, again.skipped, again.head) == ((), 2, first.head)
        await session.append("h", [Entry.user("mine")])
        await session.splice_prefix("h", 1, Entry.summary("short"))
        (grown,) = await take(session, talk("a", "b", "c"))
        assert (grown.entry_ids, grown.skipped) == (("c",), 2)
        assert await texts(session) == ["short", "b", "mine", "c"]
        (rewound,) = await take(session, talk("a", "b", "x"))
        assert rewound.entry_ids == ("x",) and await texts(session) == ["short", "b", "mine", "x"]
        (elsewhere,) = await take(session, talk("a", "b", "y", "z"))
        assert elsewhere.entry_ids == ("y", "z") and await texts(session) == ["short", "b", "mine", "y", "z"]
        await session.append("h", [Entry.user("built on it")])
        await take(session, talk("a", "b", "q"))
        assert await texts(session) == ["short", "b", "mine", "y", "z", "built on it", "q"]

    in_store(test)


def test_a_rewind_is_followed_and_can_be_undone() -> None:
    """Entries that the tool took back leave the newest version and stay in an older one."""

    async def test(session: Session) -> None:
        await take(session, talk("a", "b", "c", "d"))
        (outcome,) = await take(session, talk("a", "b", "x"))
        assert (outcome.dropped, outcome.entry_ids) == (2, ("x",))
        assert await texts(session) == ["a", "b", "x"]
        await session.revert("h", 1)
        assert await texts(session) == ["a", "b", "c", "d"]

    in_store(test)


def test_facts_of_the_source_are_remembered() -> None:
    """Title and session facts become the history's; a title that somebody gave is kept."""

    async def test(session: Session) -> None:
        await take(session, TEA)
        head = await session.head("h")
        assert head.title == "Tea"
        assert head.metadata[IMPORT_KEY]["source"] == "11111111-2222-4333-8444-555555555555"
        assert head.metadata[IMPORT_KEY]["facts"]["cwd"] == "/srv/tea"
        await session.set_metadata("h", title="Mine")
        grown = (
            TEA
            + TEA.splitlines()[-2].replace(b'"a3"', b'"a9"').replace(b'"parentUuid": "u3"', b'"parentUuid": "a3"')
            + b"\n"
        )
        await take(session, grown)
        assert (await session.head("h")).title == "Mine"

    in_store(test)


def test_conditions_hold() -> None:
    """`ifVersion` and `operationId` mean for an import what they mean for an append."""

    async def test(session: Session) -> None:
        with pytest.raises(VersionMismatch):
            await take(session, TEA, conditions=Conditions(if_version=3))
        once = Conditions(operation_id="op-1", if_version=0)
        (first,) = await take(session, TEA, conditions=once, params="tea")
        (again,) = await take(session, TEA, conditions=once, params="tea")
        assert (again.replayed, again.entry_ids) == (True, first.entry_ids)
        with pytest.raises(OperationReused):
            await take(session, TEA, conditions=once, params="coffee")
        with pytest.raises(VersionMismatch):
            await take(session, talk("a"), conditions=Conditions(if_version=7))
        assert (await session.head("h")).version == 1

    in_store(test)


def test_a_long_transcript_comes_in_batches() -> None:
    """What is longer than one call may be is appended in whole batches; a compaction on the way restarts the view."""
    words = [f"w{number}" for number in range(25)]
    compacted = talk(*words) + json.dumps({"type": "system", "subtype": "compact_boundary", "uuid": "cut"}) + "\n"
    compacted += talk("after", "that")

    async def test(session: Session) -> None:
        (outcome,) = await take(session, talk(*words))
        assert (outcome.entry_ids, outcome.head.version if outcome.head else 0) == (tuple(words), 3)
        await session.delete("h")
        (outcome,) = await take(session, compacted, form="claude-code")
        assert outcome.entry_ids == ("after", "that")
        assert await texts(session) == ["after", "that"]

    in_store(test, Limits(entries_per_call=10))


CUT = json.dumps({"type": "system", "subtype": "compact_boundary", "uuid": "cut"}) + "\n"


async def kinds(session: Session) -> list[tuple[str, int]]:
    return [(row.kind, row.len) for row in reversed((await session.versions("h")).rows)]


@pytest.mark.parametrize("limit", [2, 100])
def test_what_a_compaction_took_out_of_view_is_an_older_version(limit: int) -> None:
    """Entries before a compaction are appended and then replaced, so they can be read; a second import adds none."""

    async def test(session: Session) -> None:
        lines = talk("a", "b", "c") + CUT + talk("sum", "d")
        (outcome,) = await take(session, lines, form="claude-code")
        assert (outcome.entry_ids, outcome.skipped, outcome.dropped) == (("sum", "d"), 0, 0)
        before = 2 if limit == 2 else 1
        assert (await kinds(session))[before:] == [("splicePrefix", 2)]
        assert [entry.text for entry in (await session.entries("h", before)).entries] == ["a", "b", "c"]
        (again,) = await take(session, lines, form="claude-code")
        assert (again.entry_ids, again.skipped, again.head) == ((), 2, outcome.head)
        lines += talk("e") + CUT + talk("sum2", "f")
        (grown,) = await take(session, lines, form="claude-code")
        assert (grown.entry_ids, grown.dropped) == (("sum2", "f"), 2)
        assert (await kinds(session))[before + 1 :] == [("import", 3), ("splicePrefix", 2)]
        assert [entry.text for entry in (await session.entries("h", before + 2)).entries] == ["sum", "d", "e"]
        await session.append("h", [Entry.user("mine")])
        (other,) = await take(session, lines + CUT + talk("sum3"), form="claude-code")
        assert await texts(session) == ["sum2", "f", "mine", "sum3"]

    in_store(test, Limits(entries_per_call=limit))


def test_a_large_file_is_read_by_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader process brings in what reading here brings in, losses and facts too, and its failure is made good."""
    received = ReaderProcess.pieces
    failing = ended = 0

    async def pieces(self: ReaderProcess) -> AsyncGenerator[Piece, None]:
        nonlocal ended
        count = 0
        async for piece in received(self):
            count += 1
            if count == failing:
                raise ReaderFailed
            yield piece
        ended += 1

    async def outcome_of(session: Session, source: Source) -> Any:
        importing = Importing(session, "h", "auto", source, all_branches=True)
        outcomes = [outcome async for outcome in importing]
        found = [
            (outcome.history, outcome.format, outcome.entry_ids, outcome.skipped, outcome.title) for outcome in outcomes
        ]
        stored = []
        for name in (outcome.history for outcome in outcomes):
            head = await session.head(name)
            stored.append(((await session.entries(name)).entries, head.title, head.metadata, head.estimate))
            await session.delete(name)
        return found, stored, sorted(map(repr, importing.losses))

    async def test(session: Session) -> None:
        nonlocal failing, ended
        for name in ("claude-code/rewound", "claude-code/compacted-with-agent", "codex/replacement-history"):
            path = DATA / f"{name}.jsonl"
            here = await outcome_of(session, Source.of(path.read_bytes()))
            source = Source(lambda path=path: [path.read_bytes()], size=1, file=lambda path=path: path.open("rb"))
            for failing in (0, 2):
                ended = 0
                there = await outcome_of(session, source)
                assert ended == (not failing)
                # What a process told of losses before it failed is told again.
                assert there[:2] == here[:2] and (failing or there[2] == here[2])

    monkeypatch.setattr("sidecar.service.transfer.LARGE", 0)
    monkeypatch.setattr(ReaderProcess, "pieces", pieces)
    in_store(test, Limits(entries_per_call=2))


def test_a_cancelled_import_stops_behind_the_change_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that has begun takes effect, and nothing is begun behind it; an import that is done is answered."""
    words = [f"w{number}" for number in range(6)]
    commit = SqliteStore._commit

    async def cancelled_in_commit(limit: int) -> tuple[bool, list[str]]:
        loop = asyncio.get_running_loop()
        importing: asyncio.Task[Any] | None = None

        def committing(store: SqliteStore, jobs: Any) -> Any:
            nonlocal importing
            if importing is not None:
                cancel, importing = importing.cancel, None
                asked = threading.Event()
                loop.call_soon_threadsafe(lambda: (cancel(), asked.set()))
                assert asked.wait(10)
            return commit(store, jobs)

        monkeypatch.setattr(SqliteStore, "_commit", committing)
        service = HistoryService(open_store(str(tmp_path / f"{limit}.db")), limits=Limits(entries_per_call=limit))
        async with service:
            session = service.session()
            importing = task = asyncio.create_task(take(session, talk(*words)))
            try:
                await task
            except asyncio.CancelledError:
                return False, await texts(session)
            return True, await texts(session)

    assert asyncio.run(cancelled_in_commit(2)) == (False, words[:2])
    assert asyncio.run(cancelled_in_commit(10)) == (True, words)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked up in /proc")
def test_a_killed_import_is_finished_by_the_next(tmp_path: Path) -> None:
    """After kill -9 between two batches no process stays, and importing again makes the history what it should be."""
    path, store = tmp_path / "long.jsonl", str(tmp_path / "s.db")
    words = [f"{number} " + "word " * 8000 for number in range(600)]
    path.write_text(talk(*words[:100]) + CUT + talk(*words[100:]))
    command = [sys.executable, "-m", "sidecar", "import", str(path), "--into", "h", "--store", store]

    async def stored() -> tuple[int, list[str]]:
        async with HistoryService(open_store(store)) as service:
            session = service.session()
            head = await session.find("h")
            return (head.version, [entry.id for entry in (await session.entries("h")).entries]) if head else (0, [])

    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    readers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    seen: set[str] = set()
    while process.poll() is None and not asyncio.run(stored())[0]:
        seen.update(readers.read_text().split())
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -9 and seen
    version, ids = asyncio.run(stored())
    assert version >= 1 and ids != ids_of(words[100:]), "it was killed too late to show anything"
    deadline = time.monotonic() + 10
    while any(is_running(pid) for pid in seen) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in seen)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert asyncio.run(stored())[1] == ids_of(words[100:])
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    async def test() -> None:
        async with HistoryService(open_store(store)) as service:
            session = service.session()
            splice = next(row for row in (await session.versions("h")).rows if row.kind == "splicePrefix")
            whole = (await session.entries("h", splice.version - 1)).entries
            assert [entry.id for entry in whole] == ids_of(words[:100])

    asyncio.run(test())


def is_running(pid: str) -> bool:
    """Say whether a process is there and no zombie that only waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ids_of(words: list[str]) -> list[str]:
    return [word if len(word) <= MAX_ID else hashlib.sha256(word.encode()).hexdigest()[:32] for word in words]


def test_a_file_of_many_conversations_fills_many_histories() -> None:
    """The first goes to the name given, the next to `name/2`; branches go to `name/branch-1`."""

    async def test(session: Session) -> None:
        found = await take(session, (DATA / "openai-chat/two-lines.jsonl").read_bytes())
        assert [outcome.history for outcome in found] == ["h", "h/2"]
        await session.delete("h")
        found = await take(session, TEA, all_branches=True)
        assert [outcome.history for outcome in found] == ["h", "h/branch-1"]
        assert (await texts(session, "h/branch-1"))[-1] == "No."

    in_store(test)


def test_into_a_history_that_has_the_entries() -> None:
    """Entries that the history holds already, in whatever way they came, are not added again."""

    async def test(session: Session) -> None:
        await session.append("h", [evolve(Entry.user("a"), id="a"), Entry.user("mine")])
        (outcome,) = await take(session, talk("a", "b"))
        assert (outcome.entry_ids, outcome.skipped) == (("b",), 1)
        assert await texts(session) == ["a", "mine", "b"]

    in_store(test)


def test_nothing_to_import_changes_nothing() -> None:
    """A text that is not in the format is refused, and one without entries makes no history."""

    async def test(session: Session) -> None:
        with pytest.raises(Unparsable):
            await take(session, "words")
        with pytest.raises(InvalidParams):
            await take(session, TEA, form="wordstar")
        (outcome,) = await take(session, '{"type": "summary", "summary": "x", "leafUuid": "y"}\n')
        assert outcome.head is None and await session.find("h") is None

    in_store(test)


def test_a_plan_changes_nothing() -> None:
    """A dry run says what would be new and leaves the store as it is."""

    async def test(session: Session) -> None:
        importing = Importing(session, "h", "auto", Source.of(talk("a", "b")))
        assert [(plan.history, plan.entries, plan.new) async for plan in importing.plan()] == [("h", 2, 2)]
        assert await session.find("h") is None
        await take(session, talk("a", "b"))
        importing = Importing(session, "h", "auto", Source.of(talk("a", "b", "c")))
        assert [(plan.entries, plan.new) async for plan in importing.plan()] == [(3, 1)]

    in_store(test)


def test_over_the_wire(tmp_path: Path) -> None:
    """A real sidecar imports text and files inside the allowed folder, reports losses, and exports again."""
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "tea.jsonl").write_bytes((DATA / "claude-code/parallel-calls.jsonl").read_bytes())
    outside = tmp_path / "secret.jsonl"
    outside.write_bytes(TEA)
    (folder / "link.jsonl").symlink_to(outside)
    env = {**os.environ, "HISTORY_SIDECAR_FOLDERS": str(folder)}
    with Sidecar.spawn(store=str(tmp_path / "s.db"), env=env) as sidecar:
        uri = (folder / "tea.jsonl").as_uri()
        done = sidecar.call("history/import", history="tea", format="auto", uri=uri, operationId="one")
        assert (done["format"], done["version"], done["len"], done["replayed"]) == ("claude-code", 1, 5, False)
        assert {loss["rule"] for loss in done["losses"]} == {"tornLine", "unknownRecord"}
        again = sidecar.call("history/import", history="tea", format="auto", uri=uri, operationId="one")
        assert (again["replayed"], again["entryIds"]) == (True, done["entryIds"])
        assert sidecar.call("history/import", history="tea", format="claude-code", uri=uri)["entryIds"] == []
        os.mkfifo(folder / "pipe.jsonl")
        for refused in (folder / "link.jsonl", outside, folder / "pipe.jsonl", folder / "missing", folder):
            with pytest.raises(InvalidParams):
                sidecar.call("history/import", history="x", format="auto", uri=refused.as_uri())
        with pytest.raises(InvalidParams):
            sidecar.call("history/import", history="x", format="wordstar", text="x")
        with pytest.raises(Unparsable):
            sidecar.call("history/import", history="x", format="codex", text="x")
        text = sidecar.call("history/export", history="tea", format="own-jsonl")["text"]
        copy = sidecar.call("history/import", history="copy", format="auto", text=text)
        assert (copy["format"], copy["entryIds"]) == ("own-jsonl", done["entryIds"])
        first, second = (sidecar.snapshot(name)["entries"] for name in ("tea", "copy"))
        assert first == second
        written = sidecar.call("history/export", history="tea", format="html", uri=(folder / "tea.html").as_uri())
        assert written["text"] is None and (folder / "tea.html").stat().st_size == written["bytes"]
        assert sidecar.call("history/export", history="tea", format="anthropic-messages")["text"].startswith("{")
