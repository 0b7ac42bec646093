"""The starts that `protocol/README.md` gives for each language, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.clients.test_clients import CACHE, HERE, Command, build, need

pytestmark = [pytest.mark.client, pytest.mark.timeout(600)]

README = HERE.parents[1] / "protocol" / "README.md"
BODY = {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is the weather in Oslo?"}]}]}


def blocks() -> dict[str, str]:
    """Return the fenced programs of the section on languages, by the fence's word."""
    section = README.read_text(encoding="utf-8").split("## A start in your language", 1)[1]
    return dict(re.findall(r"^```(python|typescript|go|rust|java|ruby|lua)\n(.*?)^```$", section, re.M | re.S))


def python(folder: Path, text: str) -> Command:
    (folder / "start.py").write_text(text)
    return [sys.executable, "-I", str(folder / "start.py")]


def typescript(folder: Path, text: str) -> Command:
    shutil.copytree(
        HERE / "typescript", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "out")
    )
    (folder / "src" / "play.ts").write_text(text)
    npm = need("npm", "https://nodejs.org, 18 or newer")
    build(folder, npm, "install", "--no-package-lock", "--no-audit", "--no-fund")
    build(folder, npm, "run", "build")
    return [need("node", "https://nodejs.org, 18 or newer"), str(folder / "out" / "play.js")]


def go(folder: Path, text: str) -> Command:
    shutil.copy(HERE / "go" / "go.mod", folder)
    (folder / "main.go").write_text(text)
    program = need("go", "https://go.dev/dl, 1.21 or newer")
    build(folder, program, "mod", "tidy")
    build(folder, program, "build", "-o", "start", ".")
    return [str(folder / "start")]


def rust(folder: Path, text: str) -> Command:
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text(text)
    manifest = (HERE / "rust" / "Cargo.toml").read_text().replace("sidecar-conformance-client", "sidecar-start")
    (folder / "Cargo.toml").write_text(manifest)
    target = CACHE / "rust-target"
    build(folder, need("cargo", "https://rustup.rs"), "build", "--quiet", CARGO_TARGET_DIR=str(target))
    return [str(target / "debug" / "sidecar-start")]


def java(folder: Path, text: str) -> Command:
    shutil.copy(HERE / "java" / "pom.xml", folder)
    source = folder / "src" / "main" / "java"
    source.mkdir(parents=True)
    (source / "Start.java").write_text(text)
    maven = need("mvn", "apt-get install maven")
    build(folder, maven, "-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
    classpath = f"{folder / 'target' / 'classes'}{os.pathsep}{(folder / 'classpath').read_text().strip()}"
    return [need("java", "apt-get install default-jdk"), "-cp", classpath, "Start"]


def ruby(folder: Path, text: str) -> Command:
    (folder / "start.rb").write_text(text)
    return [need("ruby", "apt-get install ruby"), str(folder / "start.rb")]


def lua(folder: Path, text: str) -> Command:
    (folder / "start.lua").write_text(text)
    return [need("lua5.4", "apt-get install lua5.4 lua-cjson"), str(folder / "start.lua")]


STARTS: Mapping[str, Callable[[Path, str], Command]] = {
    start.__name__: start for start in (python, typescript, go, rust, java, ruby, lua)
}


def test_every_language_has_a_start() -> None:
    """The page holds exactly one program per language."""
    assert sorted(blocks()) == sorted(STARTS)


@pytest.mark.parametrize("language", STARTS)
def test_a_start_runs_as_it_stands(language: str, tmp_path: Path) -> None:
    """The program prints the payload that it asked for and ends in good order."""
    folder = tmp_path / "start"
    folder.mkdir()
    command = STARTS[language](folder, blocks()[language])
    binaries = tmp_path / "bin"
    binaries.mkdir()
    program = binaries / "history-sidecar"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HERE.parents[1]} exec {sys.executable} -m sidecar "$@"\n')
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "HISTORY_SIDECAR_STORE": str(tmp_path / "data" / "store.db"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == BODY
