"""The commands that look after a store, as real processes on real files, whole and damaged."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sidecar.store import open_store
from sidecar.store.base import Delete, Mutation
from tests.store.running import filled

DAMAGE = """
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    file.write(b"x" * 40960)
"""


class Files:
    """A store file with three histories, closed, and the command line on it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s" / "store.db"
        self.folder = folder
        filled(self.path)

    def run(self, *args: str, code: int = 0, store: Path | None = None) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "sidecar", "store", *args, "--json", "--store", str(store or self.path)],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": str(self.folder)},
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if done.stdout else done.stderr


async def delete(path: Path, name: str) -> None:
    store = open_store(str(path))
    await store.open()
    await store.apply(Mutation(history=name, operation=Delete(), at=1))
    await store.close()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_info_and_check(files: Files) -> None:
    """Info counts what is there, and a whole store has no findings."""
    info = files.run("info")
    assert (info["histories"], info["versions"], info["entries"], info["deleted"]) == (3, 33, 330, 0)
    assert info["bodyBytes"] > 330_000 and info["schema"] >= 1
    assert files.run("check") == {"ok": True, "findings": []}
    assert files.run("migrate")["engine"] == "sqlite"


def test_backup(files: Files) -> None:
    """A backup is a private file that opens as a store with the same content; an existing file is never touched."""
    target = files.folder / "copy.db"
    assert files.run("backup", str(target))["bytes"] == target.stat().st_size
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in files.folder.iterdir()) == ["copy.db", "s"]
    same = ("histories", "versions", "entries", "bodyBytes")
    ours, theirs = files.run("info"), files.run("info", store=target)
    assert (ours.pop("file"), theirs.pop("file")) == (str(files.path), str(target))
    assert [ours[name] for name in same] == [theirs[name] for name in same]
    assert files.run("check", store=target)["ok"]
    assert files.run("migrate", store=target)["engine"] == "sqlite"
    assert "target must be a new file; one of this name is there already" in files.run("backup", str(target), code=1)
    assert "error" in files.run("info", store=files.folder / "nothing.db", code=1)


def test_prune(files: Files) -> None:
    """Dry runs change nothing; by count, by size and by purge versions go."""
    assert files.run("prune", "--keep-versions", "1", "--dry-run")["versionsDropped"] == 30
    assert files.run("info")["versions"] == 33
    assert files.run("prune", "h0", "--keep-versions", "1")["versionsDropped"] == 10
    assert files.run("prune", "--older-than", "1")["versionsDropped"] == 20, "the versions are from 1970"
    assert files.run("prune", "h1", "--purge")["versionsDropped"] == 2
    assert (files.run("info")["histories"], files.run("check")["ok"]) == (2, True)
    assert "purge" in files.run("prune", "--purge", code=1)


def test_deleted_histories_go_only_when_asked(files: Files) -> None:
    """A prune without a rule would take exactly them, so it wants to be told; a dry run only looks."""
    asyncio.run(delete(files.path, "h0"))
    assert "--deleted" in files.run("prune", code=1)
    assert "--keep-versions" in files.run("prune", "--deleted", "--keep-versions", "1", code=1)
    assert files.run("prune", "--dry-run")["versionsDropped"] == 12
    assert files.run("info")["deleted"] == 1
    assert files.run("prune", "--deleted")["versionsDropped"] == 12
    assert files.run("info")["versions"] == 22


def test_prune_to_size(files: Files) -> None:
    """Pruning to a size keeps as many versions as fit."""
    before = files.run("info")["bodyBytes"]
    files.run("prune", "--to-size", "1")
    assert files.run("info")["bodyBytes"] == before
    with_room = files.run("prune", "--to-size", "1", "--dry-run")
    assert with_room["versionsDropped"] == 0


def test_recover(files: Files) -> None:
    """Of a file with damaged pages everything readable comes over, and what is missing is named; garbage is refused."""
    size = files.path.stat().st_size
    subprocess.run([sys.executable, "-c", DAMAGE, str(files.path), str(size // 2 // 4096 * 4096)], check=True)
    target = files.folder / "new.db"
    done = files.run("recover", str(target), code=1)
    assert done["rows"] > 100 and done["lostRanges"] > 0
    info = files.run("info", store=target)
    assert 0 < info["entries"] < 330 and info["histories"] == 3
    garbage = files.folder / "garbage.db"
    garbage.write_bytes(b"not a database" * 1000)
    assert "error" in files.run("recover", str(files.folder / "x.db"), store=garbage, code=1)
    assert garbage.read_bytes() == b"not a database" * 1000


def test_without_a_command_it_is_help_and_no_error(tmp_path: Path) -> None:
    """`store` alone shows its help as help, not after the word error."""
    done = subprocess.run([sys.executable, "-m", "sidecar", "store"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr.startswith("Usage: ") and done.returncode == 2
