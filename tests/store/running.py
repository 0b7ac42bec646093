"""Store files and processes for tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

from attrs import evolve

from sidecar.core.messages import Entry
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation, Replace


def entry(name: str, text: str) -> Entry:
    """Return a stamped entry."""
    return evolve(Entry.user(text), id=name, ts=1)


def filled(path: Path) -> None:
    """Make a store with the histories h0 to h2: ten appends of ten entries of 1 KB each, and one replace."""

    async def work() -> None:
        store = open_store(str(path))
        await store.open()
        for history in ("h0", "h1", "h2"):
            for number in range(11):
                entries = tuple(entry(f"e{number}.{i}", "x" * 1000) for i in range(10))
                operation = Append(entries) if number < 10 else Replace(entries)
                await store.apply(Mutation(history=history, operation=operation, at=number))
        await store.prune(None, keep_versions=None, before=None, dry_run=False)
        await store._writing(lambda tx: setattr(store, "_empty_log", True))  # type: ignore[attr-defined]
        await store.close()

    asyncio.run(work())


def summary(name: str) -> Entry:
    """Return a stamped summary."""
    return evolve(Entry.summary("s"), id=name, ts=1)
