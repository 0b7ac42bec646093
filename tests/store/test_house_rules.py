"""Rules of the SQLite engine that no type checker sees: which library, which schema, and who may open the files."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.core.errors import StorageCorrupt, StorageUnavailable
from sidecar.store import open_store
from sidecar.store.sqlite.schema import require_safe_library

SQLITE = Path(__file__).parents[2] / "sidecar" / "store" / "sqlite"


@pytest.mark.parametrize(
    ("version", "safe"),
    [("3.54.1", True), ("3.51.3", True), ("3.51.2", False), ("3.52.0", False), ("3.53.0", True), ("3.50.7", True),
     ("3.50.6", False), ("3.44.6", True), ("3.44.5", False), ("3.40.1", False)],
)  # fmt: skip
def test_the_library(version: str, safe: bool) -> None:
    """A SQLite that can lose committed pages in a shared store is refused."""
    if safe:
        require_safe_library(version)
    else:
        with pytest.raises(StorageUnavailable):
            require_safe_library(version)


def test_nobody_opens_the_files() -> None:
    """No module of the store reads the database files behind SQLite's back, and none brings a second SQLite."""
    for path in SQLITE.parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) sqlite3", text, re.MULTILINE), path.name
        assert not re.search(r"read_bytes|write_bytes|shutil\.copy", text), path.name
        for match in re.finditer(r"(?<![.\w])(?<!def )open\(([^)]*)\)", text):
            assert match.group(1).startswith(('"/proc', "location")), (path.name, match.group(0))


CHANGE = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute(sys.argv[2])
"""


async def opened_and_closed(path: Path) -> None:
    store = open_store(str(path))
    await store.open()
    await store.close()


def test_newer_schema(tmp_path: Path) -> None:
    """A store of a newer release is refused, unless that release says that this one may write it."""
    path = tmp_path / "store.db"
    asyncio.run(opened_and_closed(path))
    run = lambda statement: subprocess.run([sys.executable, "-c", CHANGE, str(path), statement], check=True)  # noqa: E731
    run("PRAGMA user_version=99")
    asyncio.run(opened_and_closed(path))
    run("UPDATE meta SET v = 99 WHERE k = 'min_writer'")
    with pytest.raises(StorageUnavailable) as refused:
        asyncio.run(opened_and_closed(path))
    assert refused.value.data["detail"] == "newerSchema"


def test_strange_files(tmp_path: Path) -> None:
    """Garbage, a directory and a symbolic link are refused and left as they are."""
    garbage = tmp_path / "garbage.db"
    garbage.write_bytes(b"no database at all" * 500)
    garbage.chmod(0o600)
    with pytest.raises(StorageCorrupt):
        asyncio.run(opened_and_closed(garbage))
    assert garbage.read_bytes() == b"no database at all" * 500
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    for name in ("folder.db", "link.db"):
        with pytest.raises(StorageUnavailable):
            asyncio.run(opened_and_closed(tmp_path / name))
    assert not (tmp_path / "elsewhere.db").exists()


def test_modes(tmp_path: Path) -> None:
    """The folder is 0700 and every file of the store 0600, whatever the umask."""
    code = (
        "import os, sys; os.umask(0); import asyncio; from tests.store.running import filled; from pathlib import Path;"
    )
    root = str(Path(__file__).parents[2])
    path = tmp_path / "s" / "store.db"
    subprocess.run([sys.executable, "-c", code + "filled(Path(sys.argv[1]))", str(path)], check=True, cwd=root)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {each.name: oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}
    assert set(modes.values()) == {"0o600"} and "store.db-wal" in modes, modes
