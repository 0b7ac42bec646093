"""Neovim: busted inside it, then a look into the store."""

from __future__ import annotations

import shutil
import subprocess

import editor_programs
import pytest
from editor_stage import HERE, ROOT, Stage, check_killed, check_odd_history, debian13, missing, run_editor


@pytest.fixture(params=["0.11", "0.10"])
def neovim(request: pytest.FixtureRequest) -> str:
    return editor_programs.neovim() if request.param == "0.11" else debian13("nvim")


def argv(neovim: str, *more: str) -> list[str]:
    return [neovim, "--headless", "--clean", "-u", "NONE", "-l", str(HERE / "neovim" / "run.lua"), *more]


def test_neovim(neovim: str, stage: Stage) -> None:
    """Every spec passes, and the store holds what the editor did and nothing else."""
    run = run_editor(argv(neovim), stage)
    print(run.output)
    run.check(stage)
    check_odd_history(stage, "neovim")
    stage.wait_until_gone(5)


def test_neovim_killed(neovim: str, stage: Stage) -> None:
    """The sidecar goes when its editor is killed."""
    check_killed(argv(neovim, "hold"), stage)


def test_neovim_without_a_sidecar(neovim: str, stage: Stage) -> None:
    """A missing program is one sentence, not a Lua stack."""
    script = stage.folder / "missing.lua"
    script.write_text(
        f"vim.opt.runtimepath:prepend('{ROOT}/editors/neovim')\n"
        "vim.cmd('runtime! plugin/history_sidecar.lua')\n"
        "vim.cmd('History list')\n"
        "print(vim.fn.execute('messages'))\n"
    )
    run = run_editor(
        [neovim, "--headless", "--clean", "-u", "NONE", "-l", str(script)], stage, HISTORY_SIDECAR="no-such-program"
    )
    assert "is not executable; see :checkhealth history_sidecar" in run.output
    assert "stack traceback" not in run.output


def test_neovim_lint() -> None:
    """luacheck finds nothing."""
    luacheck = shutil.which("luacheck") or missing("neovim")
    plugin = ROOT / "editors" / "neovim"
    run = subprocess.run(
        [luacheck, "--no-color", "--globals", "vim", "--max-line-length", "120", "--", str(plugin)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
