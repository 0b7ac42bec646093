"""Vim 9: a Vim9 script inside it, then a look into the store."""

from __future__ import annotations

import editor_programs
import pytest
from editor_stage import HERE, Stage, check_killed, check_odd_history, debian13, run_editor


@pytest.fixture(params=["9.0", "9.1"])
def vim(request: pytest.FixtureRequest) -> str:
    return editor_programs.vim() if request.param == "9.0" else debian13("vim")


def argv(vim: str) -> list[str]:
    return [vim, "-Nu", "NONE", "-i", "NONE", "-n", "-es", "-S", str(HERE / "vim" / "history_test.vim")]


def test_vim(vim: str, stage: Stage) -> None:
    """Every test passes, and the store holds what the editor did and nothing else."""
    run = run_editor(argv(vim), stage)
    report = stage.folder / "report"
    said = report.read_text() if report.exists() else ""
    print(said, run.output)
    assert run.code == 0, f"{said}\n{run.output}\n{stage.stderr()}"
    assert said.count("ok - ") == 9
    run.check(stage)
    check_odd_history(stage, "vim")
    stage.wait_until_gone(5)


def test_vim_killed(vim: str, stage: Stage) -> None:
    """The sidecar goes when its editor is killed."""
    check_killed(argv(vim), stage, SCENE="hold")
