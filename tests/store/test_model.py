"""Every history operation on every engine, against plain lists."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from attrs import evolve
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sidecar.core.errors import EntryExists, HistoryExists, VersionMismatch, VersionUnavailable
from sidecar.core.estimators import default_estimate
from sidecar.core.measures import Measure
from sidecar.core.messages import Entry
from sidecar.store import logic, open_store
from sidecar.store.base import (
    Append,
    Applied,
    ApplyEdits,
    ChangeEvent,
    Delete,
    Elide,
    Fork,
    Import,
    Mutation,
    Operation,
    Remove,
    Rename,
    Replace,
    Revert,
    SetText,
    Splice,
    SplicePrefix,
    Truncate,
    Unelide,
)
from sidecar.store.measuring import prepare
from tests.store.postgres_server import fresh_database

T = TypeVar("T")
NAMES = ("a", "b/c", "d")
texts = st.sampled_from(("", "x", "hello", "日本語", "a\ud83d", "two\nlines"))


class StoreMachine(RuleBasedStateMachine):
    """The model: per name, the list of (entry id, text) of every version, and the elided ids."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(self.place())
        self.run(self.store.open())
        self.events: list[ChangeEvent] = []
        self.store.subscribe(self.events.append)
        self.versions: dict[str, dict[int, list[tuple[str, str]]]] = {}
        self.elided: dict[str, dict[int, frozenset[str]]] = {}
        self.buried: dict[str, int] = {}
        self.mirror: dict[str, list[tuple[str, str]]] = {}
        self.counter = 0

    def place(self) -> str:
        return ":memory:"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.loop.close()
        self.folder.cleanup()

    # --- the model ----------------------------------------------------------------------------------------------------

    def now(self, name: str) -> list[tuple[str, str]]:
        return self.versions[name][self.version(name)] if name in self.versions else []

    def version(self, name: str) -> int:
        return max(self.versions[name]) if name in self.versions else 0

    def made(self, text: str) -> Entry:
        self.counter += 1
        return evolve(Entry.user(text), id=f"e{self.counter}", ts=self.counter)

    def do(self, name: str, operation: Operation, **conditions: Any) -> Applied:
        return self.run(self.store.apply(Mutation(history=name, operation=operation, at=self.counter, **conditions)))

    def became(self, name: str, entries: list[tuple[str, str]], applied: Applied, marks: Any = None) -> None:
        before = self.version(name) or self.buried.get(name, 0)
        assert (applied.head.history, applied.head.version, applied.head.len) == (name, before + 1, len(entries))
        old = self.elided.get(name, {}).get(self.version(name), frozenset())
        self.versions.setdefault(name, {})[before + 1] = entries
        self.elided.setdefault(name, {})[before + 1] = old if marks is None else marks

    # --- rules --------------------------------------------------------------------------------------------------------

    @initialize()
    def start(self) -> None:
        self.append("a", ["one", "two", "three"])

    @rule(name=st.sampled_from(NAMES), new=st.lists(texts, min_size=1, max_size=4))
    def append(self, name: str, new: list[str]) -> None:
        entries = tuple(self.made(text) for text in new)
        applied = self.do(name, Append(entries), if_version=self.version(name))
        self.became(name, self.now(name) + [(e.id, e.text) for e in entries], applied)

    @rule(name=st.sampled_from(NAMES), new=st.lists(texts, max_size=4), drop=st.integers(0, 3), data=st.data())
    def import_(self, name: str, new: list[str], drop: int, data: st.DataObject) -> None:
        entries = [self.made(text) for text in new]
        held = self.now(name)
        if held and data.draw(st.booleans()):
            # An entry that the history has stays where it is, unless it is among those dropped.
            known, text = data.draw(st.sampled_from(held))
            entries.insert(data.draw(st.integers(0, len(entries))), evolve(Entry.user(text), id=known, ts=1))
        if not held and not entries:
            return
        operation = Import(rows=tuple(map(prepare, entries)), drop=drop, metadata={"seen": len(entries)})
        applied = self.do(name, operation, if_version=self.version(name))
        kept = held[: len(held) - drop] if drop < len(held) else []
        shown = {entry_id for entry_id, _ in kept}
        added = [(entry.id, entry.text) for entry in entries if entry.id not in shown]
        assert (applied.entry_ids, applied.head.metadata) == (tuple(id for id, _ in added), {"seen": len(entries)})
        if applied.changed:
            self.became(name, kept + added, applied)
        else:
            assert not added and len(kept) == len(held)

    @rule(name=st.sampled_from(NAMES), new=st.lists(texts, max_size=3))
    def replace(self, name: str, new: list[str]) -> None:
        entries = tuple(self.made(text) for text in new)
        self.became(name, [(e.id, e.text) for e in entries], self.do(name, Replace(entries)))

    def live(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.versions)))

    @precondition(lambda self: self.versions)
    @rule(data=st.data(), drop=st.integers(0, 9))
    def splice(self, data: st.DataObject, drop: int) -> None:
        name = self.live(data)
        old = self.now(name)
        dropped = old[:drop]
        carry = data.draw(st.lists(st.sampled_from(dropped), unique=True, max_size=2)) if dropped else []
        summary = self.made("summary")
        applied = self.do(name, SplicePrefix(drop_count=drop, summary=summary, carry=tuple(i for i, _ in carry)))
        assert applied.dropped == len(dropped)
        kept = [each for each in dropped if each in carry]
        self.became(name, [*kept, (summary.id, "summary"), *old[drop:]], applied)

    @precondition(lambda self: self.versions)
    @rule(data=st.data(), keep=st.integers(0, 9))
    def truncate(self, data: st.DataObject, keep: int) -> None:
        name = self.live(data)
        old = self.now(name)
        applied = self.do(name, Truncate(len=keep))
        assert (applied.changed, applied.dropped) == (keep < len(old), max(0, len(old) - keep))
        if applied.changed:
            self.became(name, old[:keep], applied)

    @precondition(lambda self: any(self.now(name) for name in self.versions))
    @rule(data=st.data(), text=texts)
    def edit(self, data: st.DataObject, text: str) -> None:
        name = data.draw(st.sampled_from([n for n in sorted(self.versions) if self.now(n)]))
        old = self.now(name)
        at = data.draw(st.integers(0, len(old) - 1))
        gone = data.draw(st.integers(0, len(old) - 1))
        new = self.made("spliced")
        edits = (
            SetText(entry_id=old[at][0], text=text),
            Splice(start=at, delete_count=0, entries=(new,)),
            Remove(entry_id=old[gone][0]),
        )
        entries = list(old)
        entries[at] = (old[at][0], text)
        entries.insert(at, (new.id, "spliced"))
        entries = [each for each in entries if each[0] != old[gone][0]]
        self.became(name, entries, self.do(name, ApplyEdits(edits), if_version=self.version(name)))

    @precondition(lambda self: self.versions)
    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        name = self.live(data)
        to = data.draw(st.sampled_from(sorted(self.versions[name])))
        applied = self.do(name, Revert(to))
        self.became(name, list(self.versions[name][to]), applied, self.elided[name][to])

    @precondition(lambda self: self.versions)
    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def fork(self, data: st.DataObject, to: str) -> None:
        name = self.live(data)
        at = data.draw(st.sampled_from(sorted(self.versions[name])))
        size = data.draw(st.integers(0, 5))
        if to in self.versions:
            with pytest.raises(HistoryExists):
                self.do(name, Fork(to=to, at_version=at, len=size))
            return
        applied = self.do(name, Fork(to=to, at_version=at, len=size))
        self.became(to, self.versions[name][at][:size], applied, self.elided[name][at])

    @precondition(lambda self: self.versions)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self.live(data)
        applied = self.do(name, Delete())
        assert applied.head.version == self.version(name) + 1
        self.buried[name] = applied.head.version
        del self.versions[name], self.elided[name]
        self.mirror.pop(name, None)

    @precondition(lambda self: self.versions)
    @rule(data=st.data(), to=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, to: str) -> None:
        name = self.live(data)
        if to in self.versions:
            with pytest.raises(HistoryExists):
                self.do(name, Rename(to))
            return
        applied = self.do(name, Rename(to))
        assert applied.head.version == max(self.version(name), self.buried.get(to, 0)) + 1
        versions, marks = self.versions.pop(name), self.elided.pop(name)
        versions[applied.head.version] = versions[max(versions)]
        marks[applied.head.version] = marks[max(marks)]
        self.versions[to], self.elided[to] = versions, marks
        self.buried[name] = applied.head.version
        self.mirror[to] = self.mirror.pop(name, [])

    @precondition(lambda self: any(self.now(name) for name in self.versions))
    @rule(data=st.data(), on=st.booleans())
    def elide(self, data: st.DataObject, on: bool) -> None:
        name = data.draw(st.sampled_from([n for n in sorted(self.versions) if self.now(n)]))
        entry_id = data.draw(st.sampled_from(self.now(name)))[0]
        before = self.elided[name][self.version(name)]
        after = before | {entry_id} if on else before - {entry_id}
        applied = self.do(name, Elide((entry_id,), "result") if on else Unelide((entry_id,)))
        assert applied.changed == (after != before)
        if applied.changed:
            self.became(name, list(self.now(name)), applied, after)

    @precondition(lambda self: self.versions)
    @rule(data=st.data(), wrong=st.integers(1, 3))
    def refuse(self, data: st.DataObject, wrong: int) -> None:
        """A refused operation changes nothing; the invariants below look."""
        name = self.live(data)
        with pytest.raises(VersionMismatch):
            self.do(name, Append((self.made("x"),)), if_version=self.version(name) + wrong)
        with pytest.raises(VersionUnavailable):
            self.do(name, Revert(self.version(name) + wrong))
        if self.now(name):
            twin = evolve(self.made("twin"), id=self.now(name)[0][0])
            with pytest.raises(EntryExists):
                self.do(name, Append((self.made("ok"), twin)))
            with pytest.raises(EntryExists):
                self.do(name, ApplyEdits((Splice(start=0, delete_count=0, entries=(twin,)),)))

    # --- invariants ---------------------------------------------------------------------------------------------------

    def shown(self, name: str, version: int | None = None) -> list[tuple[str, str]]:
        return [entry_of(row.body) for row in self.run(self.store.read(name, version=version)).rows]

    @invariant()
    def every_version_reads_back(self) -> None:
        for name, versions in self.versions.items():
            for version, entries in versions.items():
                assert self.shown(name, version) == entries
            head = self.run(self.store.head(name))
            assert head is not None and (head.version, head.len) == (self.version(name), len(self.now(name)))
            rows = self.run(self.store.read(name)).rows
            marks = self.elided[name][self.version(name)]
            assert {entry_of(row.body)[0] for row in rows if row.elided} == marks & {i for i, _ in self.now(name)}
        page = self.run(self.store.list(prefix="", cursor=None, limit=10, order_by="name"))
        assert [head.history for head in page.rows] == sorted(self.versions)

    @invariant()
    def sums_of_any_part_are_right(self) -> None:
        for name in self.versions:
            version, middle = self.version(name), len(self.now(name)) // 2
            counts = [default_estimate(Measure.unpack(row.measure)) for row in self.run(self.store.read(name)).rows]
            for start, stop in ((0, middle), (middle, middle + 1), (middle, len(counts) + 5)):
                assert self.run(self.store.estimate(name, start, stop, version)) == sum(counts[start:stop])

    @invariant()
    def a_delta_from_any_version_is_right(self) -> None:
        for name, versions in self.versions.items():
            for since, entries in versions.items():
                delta = self.run(self.store.delta(name, since))
                patched = list(entries)
                for edit in delta.edits:
                    stop = edit.start + edit.delete_count
                    patched[edit.start : stop] = [entry_of(body) for body in edit.bodies]
                assert patched == self.now(name)

    @invariant()
    def events_rebuild_the_histories(self) -> None:
        for event in self.events:
            if event.edits is not None:
                entries = self.mirror.setdefault(event.history, [])
                for edit in event.edits:
                    entries[edit.start : edit.start + edit.delete_count] = [entry_of(body) for body in edit.bodies]
        self.events.clear()
        for name in self.versions:
            assert self.mirror.get(name, []) == self.now(name)


def entry_of(body: bytes) -> tuple[str, str]:
    entry = json.loads(body)
    content = entry["message"].get("content")
    return entry["id"], entry["message"]["text"] if content is None else content[0]["text"]


class SqliteMachine(StoreMachine):
    def place(self) -> str:
        return str(Path(self.folder.name) / "s" / "store.db")


class PostgresMachine(StoreMachine):
    def place(self) -> str:
        return fresh_database()


QUICK = settings(max_examples=20, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
TestMemory = StoreMachine.TestCase
TestMemory.settings = QUICK
TestSqlite = SqliteMachine.TestCase
TestSqlite.settings = QUICK


@pytest.mark.postgres
class TestPostgres(PostgresMachine.TestCase):  # type: ignore[misc, name-defined]
    """The same on a real server."""

    settings = settings(QUICK, max_examples=8)


class TestSqliteWithFewRanges(SqliteMachine.TestCase):  # type: ignore[misc, name-defined]
    """The same with layouts copied together after three ranges, so that the copying is met all the time."""

    settings = QUICK

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(logic, "MAX_RANGES", 3)
