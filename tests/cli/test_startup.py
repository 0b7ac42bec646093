"""What starting costs: nothing is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pygls", "lsprotocol", "cattrs", "apsw", "asyncio")


def _imported(*arguments: str) -> set[str]:
    """Return the top-level modules that a run imports."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "sidecar", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.decode().splitlines()}


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_help_and_version_import_no_server(flag: str) -> None:
    """Nor a database, nor an event loop."""
    assert not _imported(flag) & set(HEAVY)


def test_serving_imports_no_terminal_library() -> None:
    """An editor spawns this on every start."""
    assert not _imported("serve", "--store", ":memory:") & {"click", "rich", "psycopg", "markdown_it"}
