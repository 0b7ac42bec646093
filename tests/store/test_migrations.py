"""From an older schema to a newer one: what is kept, who is let in, and what a failing step leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from sidecar.core.errors import SidecarError, StorageReadOnly
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation
from sidecar.store.postgres import schema as postgres_schema
from sidecar.store.sqlite import schema as sqlite_schema
from sidecar.store.steps import Step, min_writer
from tests.store.postgres_server import fresh_database
from tests.store.running import entry

NEWER = "ALTER TABLE history ADD COLUMN mood TEXT; UPDATE history SET mood = 'new'"
BROKEN = "UPDATE history SET name = 'spoiled'; INSERT INTO nowhere VALUES(1)"


async def use(location: str, *names: str) -> list[str]:
    """Open, append, read back."""
    store = open_store(location)
    await store.open()
    try:
        for name in names:
            await store.apply(Mutation(history="h", operation=Append((entry(name, "text"),)), at=1))
        return [str(row.body) for row in (await store.read("h")).rows]
    finally:
        await store.close()


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let a release with further steps take over."""

    def release(module: ModuleType, *steps: Step) -> None:
        monkeypatch.setattr(module, "STEPS", [*module.STEPS, *steps])
        monkeypatch.setattr(module, "SCHEMA", len(module.STEPS))

    yield release
    monkeypatch.undo()


def test_a_file_is_kept_before_it_is_rewritten(tmp_path: Path, newer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a step that is not additive the old store is kept, private and whole; the older release still opens it."""
    path = tmp_path / "store.db"
    before = asyncio.run(use(str(path), "a", "b"))
    newer(sqlite_schema, Step(NEWER, additive=False))
    assert asyncio.run(use(str(path), "c"))[:2] == before
    assert {each.name for each in tmp_path.glob("*.bak*")} == {"store.db.v1.bak"}
    backup = tmp_path / "store.db.v1.bak"
    assert backup.stat().st_mode & 0o777 == 0o600
    monkeypatch.undo()
    assert asyncio.run(use(str(backup))) == before
    with pytest.raises(SidecarError) as refused:
        asyncio.run(use(str(path)))
    assert refused.value.data["detail"] == "newerSchema"


def test_an_additive_step_lets_the_older_release_in(
    tmp_path: Path, newer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two releases share a store: an additive step keeps no file, and the older one goes on writing."""
    path = tmp_path / "store.db"
    asyncio.run(use(str(path), "a"))
    newer(sqlite_schema, Step("CREATE TABLE more(a INTEGER) STRICT", additive=True))
    asyncio.run(use(str(path), "b"))
    monkeypatch.undo()
    assert len(asyncio.run(use(str(path), "c"))) == 3
    assert not list(tmp_path.glob("*.bak*"))


def test_a_failing_step_changes_nothing(tmp_path: Path, newer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a step fails, the store stays at the old schema and the older release goes on."""
    path = tmp_path / "store.db"
    before = asyncio.run(use(str(path), "a"))
    newer(sqlite_schema, Step(NEWER, additive=False), Step(BROKEN, additive=False))
    with pytest.raises(SidecarError):
        asyncio.run(use(str(path)))
    monkeypatch.undo()
    assert asyncio.run(use(str(path), "b"))[:1] == before


@pytest.mark.postgres
def test_a_database_without_the_function(newer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of the first schema is written by a role that may not migrate it, and migrated by its owner."""
    owner = fresh_database()
    with monkeypatch.context() as older:
        older.setattr(postgres_schema, "STEPS", postgres_schema.STEPS[:1])
        older.setattr(postgres_schema, "SCHEMA", 1)
        asyncio.run(use(owner, "a", "b"))
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS sidecar_reader")
        connection.execute("CREATE ROLE sidecar_reader LOGIN")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO sidecar_reader")
        connection.execute("REVOKE INSERT, UPDATE, DELETE ON meta FROM sidecar_reader")
        found = "SELECT v::int FROM meta WHERE k = 'schema'"
        user = owner.replace("postgres@", "sidecar_reader@")
        try:
            assert len(asyncio.run(use(user, "c", "d", "e"))) == 5
            assert connection.execute(found).fetchone() == (1,)
            assert len(asyncio.run(use(owner, "f", "g"))) == 7
            assert connection.execute(found).fetchone() == (2,)
            newer(postgres_schema, Step(NEWER, additive=False))
            with pytest.raises(StorageReadOnly):
                asyncio.run(use(user))
            assert len(asyncio.run(use(owner))) == 7
        finally:
            connection.execute("DROP OWNED BY sidecar_reader")
            connection.execute("DROP ROLE sidecar_reader")


def test_what_an_older_release_must_know() -> None:
    """Additive steps behind the last other one ask nothing of older releases."""
    other, additive = Step("", additive=False), Step("", additive=True)
    assert [min_writer(steps) for steps in ([other], [other, additive], [other, additive, other, additive])] == [
        1,
        1,
        3,
    ]
