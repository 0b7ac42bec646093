"""Real editors on a real sidecar with a temporary store.

Each editor's own test runner drives it headlessly; afterwards the Python test looks into the store. An editor that is
not installed skips with the line that installs it; with `CI=true` it fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sidecar.client import Sidecar

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = Path(
    os.environ.get("EDITORS_CACHE")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "history-sidecar" / "editors"
)
ARTEFACTS = Path(os.environ.get("EDITORS_ARTEFACTS") or ROOT / "artefacts" / "editors")

ODD_ENTRY = {
    "id": "odd",
    "message": {
        "role": "user",
        "content": [
            {"type": "text", "text": "keep me \U0001f642 \u202e"},
            {
                "type": "json",
                "value": {"z": None, "a": {}, "m": [], "one": 1.0, "big": 9007199254740993, "e": "\U0001f642"},
            },
            {"type": "unheard-of", "payload": {"b": 1, "a": None}},
        ],
    },
    "ts": 1_700_000_000_000,
    "_meta": {"example.com/z": {}, "example.com/a": None},
}
"""Everything that some JSON client damages on a round trip: null, {}, [], 1.0, 2^53+1, emoji, unsorted keys."""

EDITED_ENTRY = {"id": "edit-me", "message": {"role": "user", "content": "before"}}


def missing(editor: str) -> Any:
    """Skip, or fail on CI, because the editor is not there."""
    message = f"{editor} is not installed: sh tests/editors/install.sh {editor}"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def program(editor: str, name: str) -> str:
    """Return the path of a program, or `missing`."""
    found = shutil.which(name)
    return found if found is not None else missing(editor)


def debian13(name: str) -> str:
    """Return the launcher of an editor of Debian 13; it is beside the first tier, so that it may be missing on CI."""
    path = CACHE / "debian13" / "bin" / name
    if not path.exists():
        pytest.skip(f"the {name} of Debian 13 is not installed: sh tests/editors/install.sh debian13")
    return str(path)


class Stage:
    """A temporary store, the command that starts a sidecar on it, and a list of the processes that were started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "histories.db"
        self.pids_file = folder / "pids"
        self.home = folder / "home"
        self.home.mkdir()
        # A wrapper that notes its process id and becomes the sidecar: what an editor would find on the PATH.
        self.command = folder / "bin" / "history-sidecar"
        self.command.parent.mkdir()
        self.command.write_text(
            "#!/bin/sh\n"
            f"echo $$ >> {shlex.quote(str(self.pids_file))}\n"
            f'exec {shlex.quote(sys.executable)} -m sidecar "$@" 2>> {shlex.quote(str(folder / "stderr"))}\n'
        )
        self.command.chmod(0o755)

    def record(self) -> None:
        """From now on keep what editors and sidecars send, for `exchange`."""
        requests, replies = shlex.quote(str(self.folder / "requests")), shlex.quote(str(self.folder / "replies"))
        sidecar = f'{shlex.quote(sys.executable)} -m sidecar "$@" 2>> {shlex.quote(str(self.folder / "stderr"))}'
        self.command.write_text(
            "#!/bin/sh\n"
            f"echo $$ >> {shlex.quote(str(self.pids_file))}\n"
            f"tee -a {requests} | {sidecar} | tee -a {replies}\n"
        )

    def exchange(self) -> list[tuple[dict[str, Any], bytes]]:
        """What an editor sent, in order, each with the reply as it was sent back, `b""` for a notification."""
        replies = {json.loads(body).get("id"): body for body in _frames(self.folder / "replies")}
        sent = [json.loads(body) for body in _frames(self.folder / "requests")]
        return [(message, replies.get(message.get("id"), b"") if "id" in message else b"") for message in sent]

    def env(self, **more: str) -> dict[str, str]:
        """The environment of an editor: the sidecar on the PATH, its own home, no display."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "HISTORY_", "DISPLAY"))}
        return {
            **kept,
            "PATH": f"{self.command.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "HISTORY_SIDECAR_STORE": str(self.store),
            "STAGE": str(self.folder),
            "PLUGINS": str(ROOT / "editors"),
            "APPEND": shlex.join([sys.executable, str(HERE / "append.py"), str(self.store)]),
            "LC_ALL": "C.UTF-8",
            **more,
        }

    def sidecar(self) -> Sidecar:
        """Another process on the same store."""
        return Sidecar.spawn(store=str(self.store), name="test")

    def seed(self) -> None:
        """Make the histories that every editor's test uses."""
        with self.sidecar() as sidecar:
            sidecar.append("odd", [ODD_ENTRY, EDITED_ENTRY])
            sidecar.append("live", [{"id": "first", "message": {"role": "user", "content": "hello there"}}])
            call = {"id": "c1", "name": "read", "arguments": "{}"}
            sidecar.append(
                "work/broken",
                [
                    {"id": "q", "message": {"role": "user", "content": "read it"}},
                    {"id": "a", "message": {"role": "assistant", "content": None, "toolCalls": [call]}},
                ],
            )
            for start in range(0, 10_000, 1_000):
                sidecar.append("big", [_line(number) for number in range(start, start + 1_000)])

    def entries(self, history: str) -> list[Any]:
        """What the store holds now."""
        with self.sidecar() as sidecar:
            return sidecar.call("history/snapshot", history=history)["entries"]

    def pids(self) -> list[int]:
        """Process ids of the sidecars that editors started."""
        return [int(line) for line in self.pids_file.read_text().split()] if self.pids_file.exists() else []

    def alive(self) -> list[int]:
        """Those that still run."""
        return [pid for pid in self.pids() if _runs(pid)]

    def wait_until_gone(self, seconds: float) -> None:
        """Fail where a sidecar outlives its editor."""
        deadline = time.monotonic() + seconds
        while self.alive():
            assert time.monotonic() < deadline, f"sidecar {self.alive()} outlives its editor"
            time.sleep(0.05)

    def stderr(self) -> str:
        """What the sidecars wrote to stderr."""
        path = self.folder / "stderr"
        return path.read_text() if path.exists() else ""

    def close(self) -> None:
        """Leave no process behind, whatever the test did."""
        for pid in self.alive():
            os.kill(pid, signal.SIGKILL)


def _frames(path: Path) -> list[bytes]:
    data, found = path.read_bytes(), []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        found.append(rest[:length])
        data = rest[length:]
    return found


def _line(number: int) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"id": f"n{number}", "message": {"role": role, "content": f"message number {number}"}}


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


class Run:
    """An editor that ended: its exit code and everything it wrote."""

    def __init__(self, code: int, output: str) -> None:
        self.code, self.output = code, output

    def check(self, stage: Stage) -> None:
        """The editor's own tests passed, and nobody saw a traceback."""
        assert self.code == 0, f"{self.output}\n--- sidecar\n{stage.stderr()}"
        assert "Traceback (most recent call last)" not in self.output
        assert "incident" not in stage.stderr(), stage.stderr()


def run_editor(argv: list[str], stage: Stage, *, timeout: float = 120, cwd: Path | None = None, **env: str) -> Run:
    """Run an editor in a process group of its own and leave nothing of it behind."""
    process = subprocess.Popen(
        argv,
        env=stage.env(**env),
        cwd=cwd or stage.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_group(process)
        output, _ = process.communicate()
        pytest.fail(f"{argv[0]} did not end\n{output.decode(errors='replace')}\n--- sidecar\n{stage.stderr()}")
    finally:
        kill_group(process)
    return Run(process.returncode, output.decode(errors="replace"))


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def check_killed(argv: list[str], stage: Stage, **env: str) -> None:
    """Start an editor that says `ready` in a file and waits; kill it the hard way; its sidecar must go."""
    process = subprocess.Popen(
        argv,
        env=stage.env(**env),
        cwd=stage.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not (stage.folder / "ready").exists():
            assert time.monotonic() < deadline and process.poll() is None, "the editor did not get ready"
            time.sleep(0.05)
        assert len(stage.alive()) == 1
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        stage.wait_until_gone(5)
    finally:
        kill_group(process)


def check_odd_history(stage: Stage, editor: str) -> None:
    """The editor opened, appended and edited; what it did not edit is byte for byte what it was."""
    entries = stage.entries("odd")
    assert json.dumps(entries[0]) == json.dumps(ODD_ENTRY)
    assert entries[1]["message"] == {"role": "user", "content": [{"type": "text", "text": f"edited by {editor}"}]}
    assert entries[2]["message"] == {"role": "user", "content": [{"type": "text", "text": f"from {editor}"}]}
    assert len(entries) == 3
