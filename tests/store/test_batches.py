"""Mutations that are committed together do what they do one after the other."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.errors import SidecarError
from sidecar.core.messages import Entry
from sidecar.store.base import (
    Append,
    ApplyEdits,
    Delete,
    Elide,
    Fork,
    Mutation,
    Operation,
    Remove,
    Rename,
    Replace,
    Revert,
    SetMetadata,
    Splice,
    SplicePrefix,
    Truncate,
)
from sidecar.store.sqlite.engine import SqliteStore

NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)
numbers = st.integers(0, 4)


def entry(number: int) -> Entry:
    return evolve(Entry.user(f"text {number}"), id=f"e{number}", ts=number)


entries = st.lists(numbers.map(entry), max_size=3).map(tuple)
operations: st.SearchStrategy[Operation] = st.one_of(
    entries.map(Append),
    entries.map(Append),
    entries.map(Append),
    entries.map(Replace),
    names.map(Rename),
    names.map(lambda to: Fork(to=to)),
    st.just(Delete()),
    numbers.map(lambda size: Truncate(len=size)),
    numbers.map(Revert),
    st.builds(lambda count, made: SplicePrefix(drop_count=count, summary=entry(made)), numbers, numbers),
    numbers.map(lambda number: ApplyEdits((Remove(entry_id=f"e{number}"),))),
    # The second edit is often out of bounds, when the first one has already written.
    st.builds(
        lambda added, start: ApplyEdits(
            (Splice(start=0, delete_count=0, entries=added), Splice(start=start, delete_count=1, entries=()))
        ),
        entries,
        numbers,
    ),
    numbers.map(lambda number: Elide((f"e{number}",), '"placeholder"')),
    st.text("xy", max_size=1).map(lambda title: SetMetadata(title=title)),
)
mutations = st.builds(
    lambda name, operation, version, key: Mutation(
        history=name,
        operation=operation,
        at=1,
        if_version=version,
        operation_id=key,
        digest=repr(operation).encode(),
        actor="test",
    ),
    names,
    operations,
    st.none() | st.none() | st.none() | st.integers(0, 3),
    st.none() | st.sampled_from(("k1", "k2")),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(mutations, min_size=1, max_size=8), max_size=5))
def test_a_batch_is_its_mutations_one_by_one(batches: list[list[Mutation]]) -> None:
    """Equal answers, equal refusals, and equal content of every version afterwards."""

    async def outcome(together: bool) -> tuple[list[Any], list[Any]]:
        store = SqliteStore(":memory:")
        await store.open()
        answers: list[Any] = []
        for batch in batches:
            for jobs in [batch] if together else [[job] for job in batch]:
                while jobs:  # a batch ends early where it takes too long
                    done = store._batch(jobs)
                    answers += map(_comparable, done)
                    jobs = jobs[len(done) :]
        held: list[Any] = [(await store.list(prefix="", cursor=None, limit=10, order_by="name")).rows]
        for head in held[0]:
            rows = (await store.versions(head.history, cursor=None, limit=100)).rows
            held.append(rows)
            held += [await store.read(head.history, version=row.version) for row in rows]
        await store.close()
        return answers, held

    assert asyncio.run(outcome(True)) == asyncio.run(outcome(False))


def test_a_refused_mutation_takes_back_only_itself() -> None:
    """One that had written when it was refused leaves what its neighbours did, before and behind."""

    async def scenario() -> None:
        store = SqliteStore(":memory:")
        await store.open()
        late_refusal = ApplyEdits(
            (Splice(start=0, delete_count=0, entries=(entry(7),)), Splice(start=9, delete_count=1, entries=()))
        )
        answers = store._batch(
            [
                Mutation(history="a", operation=Append((entry(1),)), at=1),
                Mutation(history="a", operation=late_refusal, at=1),
                Mutation(history="a", operation=Append((entry(1),)), at=1),
                Mutation(history="a", operation=Append((entry(2),)), at=1, operation_id="k"),
                Mutation(history="a", operation=Append((entry(2),)), at=1, operation_id="k"),
            ]
        )
        assert [_comparable(answer) for answer in answers][1:3] == [
            ("InvalidParams", {"errors": [{"path": "/edits/1", "message": "reaches beyond the 2 entries there are"}]}),
            ("EntryExists", {"history": "a", "entryId": "e1"}),
        ]
        assert answers[4] == evolve(answers[3], replayed=True)
        assert [json.loads(row.body)["id"] for row in (await store.read("a")).rows] == ["e1", "e2"]
        # What only waits to be written counts as much as what is stored.
        first, second = store._batch([Mutation(history="a", operation=Append((entry(3),)), at=1)] * 2)
        assert _comparable(second) == ("EntryExists", {"history": "a", "entryId": "e3"})
        assert first.head.len == 3
        await store.close()

    asyncio.run(scenario())


def _comparable(answer: object) -> object:
    return (type(answer).__name__, dict(answer.data or {})) if isinstance(answer, SidecarError) else answer
