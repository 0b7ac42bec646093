"""Emacs: ERT inside it, then a look into the store."""

from __future__ import annotations

import subprocess

import pytest
from editor_stage import HERE, ROOT, Stage, check_killed, check_odd_history, debian13, program, run_editor


@pytest.fixture(params=["28", "30"])
def emacs(request: pytest.FixtureRequest) -> str:
    return program("emacs", "emacs") if request.param == "28" else debian13("emacs")


def argv(emacs: str, function: str) -> list[str]:
    tests = str(HERE / "emacs" / "history-sidecar-tests.el")
    return [emacs, "-Q", "--batch", "-L", str(ROOT / "editors" / "emacs"), "-l", tests, "-f", function]


def test_emacs(emacs: str, stage: Stage) -> None:
    """Every ERT test passes, and the store holds what the editor did and nothing else."""
    run = run_editor(argv(emacs, "ert-run-tests-batch-and-exit"), stage)
    print(run.output)
    run.check(stage)
    check_odd_history(stage, "emacs")
    stage.wait_until_gone(5)


def test_emacs_killed(emacs: str, stage: Stage) -> None:
    """The sidecar goes when its editor is killed."""
    check_killed(argv(emacs, "history-sidecar-tests-hold"), stage)


def test_emacs_without_a_sidecar(emacs: str, stage: Stage) -> None:
    """A missing program is one sentence, not a backtrace."""
    run = run_editor(
        [
            *[emacs, "-Q", "--batch", "-L", str(ROOT / "editors" / "emacs"), "-l", "history-sidecar"],
            *["--eval", '(condition-case err (history-sidecar-open "x") (user-error (message "%s" (cadr err))))'],
        ],
        stage,
        HISTORY_SIDECAR="no-such-program",
    )
    # The Emacs beside the system warns of folders that it was built for.
    said = [line for line in run.output.splitlines() if not line.startswith("Warning: ")]
    assert said == ["no-such-program was not found; see ‘history-sidecar-command’"]


def test_emacs_lint() -> None:
    """It byte-compiles without a warning, and checkdoc and package-lint find nothing."""
    program("emacs", "emacs")
    run = subprocess.run(
        ["sh", str(ROOT / "editors" / "emacs" / "lint.sh")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
