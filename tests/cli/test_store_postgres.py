"""The commands that look after a store, on a real database."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from attrs import evolve

from sidecar.core.messages import Entry, Image, User
from sidecar.store import open_store
from sidecar.store.base import Append, Delete, Mutation
from tests.store.postgres_server import fresh_database
from tests.store.running import entry

pytestmark = pytest.mark.postgres


def run(dsn: str, *args: str, code: int = 0) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "sidecar", "store", *args, "--json", "--store", dsn], capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else done.stderr


async def fill(dsn: str) -> None:
    store = open_store(dsn)
    await store.open()
    picture = Image(mime_type="image/png", data=base64.b64encode(bytes(300_000)).decode())
    for history in ("a", "b", "c"):
        for number in range(5):
            entries = (entry(f"{number}", "x" * 100), evolve(Entry(message=User((picture,))), id=f"p{number}", ts=1))
            await store.apply(Mutation(history=history, operation=Append(entries[: 1 + (number == 4)]), at=1))
    await store.apply(Mutation(history="c", operation=Delete(), at=2))
    await store.close()


def test_looking_after_a_database() -> None:
    """Info counts and names no secret, check finds nothing in a whole store and what is broken in another."""
    dsn = fresh_database()
    assert "there is no store in this database" in run(dsn, "info", code=1)
    assert run(dsn, "migrate") == {"engine": "postgresql", "schema": 2}
    asyncio.run(fill(dsn))
    info = run(f"{dsn}&password=secret", "info")
    assert info.pop("bodyBytes") > 1500 and info.pop("fileBytes") > 300_000
    assert info.pop("database").startswith("test_") and "secret" not in str(info)
    assert info == {
        "schema": 2, "histories": 2, "deleted": 1, "versions": 16, "entries": 18, "blobs": 1, "blobBytes": 300_000
    }  # fmt: skip
    assert run(dsn, "check") == {"ok": True, "findings": []}
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DELETE FROM entry WHERE id = (SELECT hid << 32 | 5 FROM history WHERE name = 'b')")
        connection.execute("UPDATE blob SET data = 'other'")
    found = run(dsn, "check", code=1)["findings"]
    assert [(one["history"], one["version"]) for one in found] == [("b", 5), ("", None)]
    assert run(dsn, "prune", "--to-size", "1", "--dry-run")["dryRun"] is True


def test_what_the_database_does_itself() -> None:
    """Backup and recover answer with one line that says what to use."""
    dsn = fresh_database()
    for command in ("backup", "recover"):
        assert "pg_dump" in run(dsn, command, "/tmp/never", code=1)
