"""The demo is a test that people read: it must pass, and it must be able to fail."""

from __future__ import annotations

import json
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
    lines = output.splitlines()
    assert len(lines) < 300 and max(map(len, lines)) <= demo.WIDTH, "a person reads this, on a screen of 100 columns"
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": [1, None]}, ['    {"a": [1, null]}']),
        (
            {"a": "x" * 50, "b": 1, "c": {"d": "é" * 70}, "e": "z" * 90, "f": [], "g": True},
            ["    {", f'      "a": "{"x" * 50}", "b": 1,', f'      "c": {{"d": "{"é" * 70}"}},']
            + [f'      "e": "{"z" * 90}",', '      "f": [],', '      "g": true', "    }"],
        ),
    ],
)
def test_json_takes_few_lines_of_the_screen(value: object, lines: list[str]) -> None:
    """Short values stay on one line, members without structure share lines, and it stays JSON."""
    shown = demo._lines(value, 4)
    assert shown == lines
    assert json.loads("".join(shown)) == value


@pytest.mark.parametrize("broken", ["HISTORY", "QUESTION"])
def test_a_broken_promise_is_an_exit_code(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused call, or an answer that is not what was promised."""
    monkeypatch.setattr(demo, broken, "../no" if broken == "HISTORY" else {**demo.QUESTION, "id": "other"})
    assert demo.command.main([], standalone_mode=False) == 1
