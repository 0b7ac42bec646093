"""The demo is a test that people read: it must pass, and it must be able to fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sidecar.cli import demo


def test_everything_is_as_promised() -> None:
    """With a real sidecar that is killed in the middle; nothing is left on the disk or running."""
    run = subprocess.run(
        [sys.executable, "-m", "sidecar", "demo"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    output = run.stdout.decode()
    assert (run.returncode, run.stderr) == (0, b"")
    for method in ("append", "snapshot", "splicePrefix", "revert"):
        assert f"→ history/{method}" in output
    assert output.count("→ wire/project") == 2 and "kill -9" in output
    assert "Everything was as promised." in output


@pytest.mark.parametrize("broken", ["HISTORY", "QUESTION"])
def test_a_broken_promise_is_an_exit_code(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused call, or an answer that is not what was promised."""
    monkeypatch.setattr(demo, broken, "../no" if broken == "HISTORY" else {**demo.QUESTION, "id": "other"})
    assert demo.command.main([], standalone_mode=False) == 1
