"""The committed artefacts are what the contract says, to the byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.contract.emit import ARTEFACTS, artefact

PROTOCOL = Path(__file__).parents[2] / "protocol"
COMMAND = "python -m sidecar.contract.emit --out protocol"


@pytest.mark.parametrize("name", ARTEFACTS)
def test_committed_file_is_fresh(name: str) -> None:
    """A change of the contract comes with its artefacts."""
    assert (PROTOCOL / name).read_text(encoding="utf-8") == artefact(name), f"stale: run `{COMMAND}`"


def test_check_says_what_is_stale(tmp_path: Path) -> None:
    """`--check` changes nothing, names each stale file and the command, and fails; after writing it passes."""

    def emit(*flags: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sidecar.contract.emit", "--out", str(tmp_path), *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert emit().returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(ARTEFACTS)
    assert emit("--check").returncode == 0
    (tmp_path / "types.ts").write_text("changed")
    stale = emit("--check")
    expected = f"{tmp_path / 'types.ts'} is stale: run `python -m sidecar.contract.emit --out {tmp_path}`\n"
    assert (stale.returncode, stale.stderr) == (1, expected)
    assert (tmp_path / "types.ts").read_text() == "changed"
