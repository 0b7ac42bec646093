"""What starting costs: nothing is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pygls", "lsprotocol", "cattrs", "apsw", "asyncio")


def _imported(*arguments: str) -> set[str]:
    """Return the modules of ours and the top-level ones of others that a run imports."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "sidecar", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    names = {line.rpartition("|")[2].strip() for line in run.stderr.decode().splitlines()}
    return {name if name.startswith("sidecar.") else name.partition(".")[0] for name in names}


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_help_and_version_import_no_server(flag: str) -> None:
    """Nor a database, nor an event loop."""
    assert not _imported(flag) & set(HEAVY)


def test_serving_imports_no_terminal_library() -> None:
    """An editor spawns this on every start."""
    assert not _imported("serve", "--store", ":memory:") & {"click", "rich", "psycopg", "markdown_it"}


def test_serving_an_agent_imports_no_document_feature() -> None:
    """Only an editor's first request does."""
    imported = _imported("serve", "--store", ":memory:")
    assert "sidecar.server.documents_table" in imported
    assert not imported & {"sidecar.server.documents", "sidecar.server.documents_checks", "sidecar.wire.check"}
