"""Clients in seven languages play the conformance sessions against a real sidecar, each with its usual library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SESSIONS = sorted((HERE.parents[1] / "protocol" / "conformance").glob("*.jsonl"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "history-sidecar-tests"

pytestmark = [pytest.mark.client, pytest.mark.timeout(900)]

Command = list[str]


def need(program: str, install: str) -> str:
    """Return the program's path; where it is missing, skip, or fail where CI=true."""
    found = shutil.which(program)
    if found is None:
        message = f"{program} is missing: {install}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return found


def build(folder: Path, *command: str, **environment: str) -> None:
    """Run one build step; show what it printed where it fails."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def python(folder: Path) -> Command:
    return [sys.executable, "-I", str(folder / "play.py")]


def typescript(folder: Path) -> Command:
    node, npm = need("node", "https://nodejs.org, 18 or newer"), need("npm", "https://nodejs.org, 18 or newer")
    build(folder, npm, "install", "--no-package-lock", "--no-audit", "--no-fund")
    build(folder, npm, "run", "build")
    return [node, str(folder / "out" / "play.js")]


def go(folder: Path) -> Command:
    program = need("go", "https://go.dev/dl, 1.21 or newer")
    build(folder, program, "mod", "tidy")
    build(folder, program, "vet", ".")
    build(folder, program, "build", "-o", "play", ".")
    return [str(folder / "play")]


def rust(folder: Path) -> Command:
    target = CACHE / "rust-target"
    build(folder, need("cargo", "https://rustup.rs"), "build", "--quiet", CARGO_TARGET_DIR=str(target))
    return [str(target / "debug" / "sidecar-conformance-client")]


def java(folder: Path) -> Command:
    program, maven = need("java", "apt-get install default-jdk"), need("mvn", "apt-get install maven")
    build(folder, maven, "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
    classpath = f"{folder / 'target' / 'classes'}{os.pathsep}{(folder / 'classpath').read_text().strip()}"
    return [program, "-cp", classpath, "Play"]


def ruby(folder: Path) -> Command:
    return [need("ruby", "apt-get install ruby"), str(folder / "play.rb")]


def lua(folder: Path) -> Command:
    return [need("lua5.4", "apt-get install lua5.4 lua-cjson"), str(folder / "play.lua")]


LANGUAGES: Mapping[str, Callable[[Path], Command]] = {
    build.__name__: build for build in (python, typescript, go, rust, java, ruby, lua)
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_passes_every_session(language: str, tmp_path: Path) -> None:
    """Every session that the language's library can play passes; what is skipped says why."""
    folder = tmp_path / language
    shutil.copytree(HERE / language, folder, ignore=shutil.ignore_patterns("node_modules", "out", "target"))
    command = LANGUAGES[language](folder)
    environment = {**os.environ, "SIDECAR_COMMAND": json.dumps([sys.executable, "-m", "sidecar"])}
    environment["PYTHONPATH"] = str(HERE.parents[1])
    done = subprocess.run(
        [*command, *map(str, SESSIONS)], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    lines = done.stdout.splitlines()
    report = done.stdout + done.stderr[-3000:]
    assert done.returncode == 0 and lines, report
    outcomes = [line.split()[0] for line in lines[:-1]]
    assert len(outcomes) == len(SESSIONS) and set(outcomes) <= {"ok", "skip"}, report
    assert outcomes.count("ok") >= 0.85 * len(SESSIONS), report
