"""`history-sidecar protocol` prints what `protocol/` holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROTOCOL = Path(__file__).parents[2] / "protocol"


@pytest.mark.parametrize(
    ("what", "file"),
    [
        ((), "openrpc.json"),
        (("openrpc",), "openrpc.json"),
        (("schema",), "schema.json"),
        (("types.ts",), "types.ts"),
        (("types.lua",), "types.lua"),
        (("methods",), "methods.md"),
        (("spec",), "README.md"),
    ],
)
def test_prints_the_artefact(what: tuple[str, ...], file: str) -> None:
    """Every artefact comes out byte by byte; nothing of the server is needed for it."""
    command = [sys.executable, "-m", "sidecar", "protocol", *what]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == (PROTOCOL / file).read_bytes()


def test_an_unknown_artefact_is_one_line() -> None:
    """A wrong word is refused with the words there are."""
    command = [sys.executable, "-m", "sidecar", "protocol", "latin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "openrpc" in done.stderr
    assert "Traceback" not in done.stderr
