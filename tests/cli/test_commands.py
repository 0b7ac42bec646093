"""The commands for people, as real processes on a real store."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

import pytest

import sidecar.cli.histories
import sidecar.cli.inspect
import sidecar.cli.transfer  # noqa: F401
from sidecar.cli import main
from sidecar.render.marked import read_marked

DATA = Path(__file__).parents[1] / "formats" / "data"


class Shell:
    """Runs the command line with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "LANG", "PYTHONPATH", "LD_LIBRARY_PATH")
        }
        self.env = {**kept, "HOME": str(home), "HISTORY_SIDECAR_STORE": str(home / "s" / "store.db"), "PYTHONUTF8": "1"}

    def start(self, *args: str, **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "sidecar", *args],
            env={**self.env, **more.pop("env", {})},
            cwd=self.home,
            text=True,
            encoding="utf-8",
            stdin=more.pop("stdin", subprocess.PIPE),
            stdout=more.pop("stdout", subprocess.PIPE),
            stderr=more.pop("stderr", subprocess.PIPE),
            # Under `nohup` or in a script's background job SIGINT is ignored, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            **more,
        )

    def __call__(self, *args: str, input: str = "", code: int = 0, **env: str) -> str:
        """Run one command; return its stdout, and keep its stderr in `said`."""
        returned, out, self.said = self._forked(args, input, {**self.env, **env})
        assert returned == code, (returned, out, self.said)
        assert "Traceback" not in self.said
        return out

    def _forked(self, args: tuple[str, ...], input: str, env: dict[str, str]) -> tuple[int, str, str]:
        """Run a process that has its modules already, so that a test of twenty commands takes seconds."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8") as into,
            tempfile.TemporaryFile("w+", encoding="utf-8") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8") as err,
        ):
            into.write(input)
            into.seek(0)
            child = os.fork()
            if child == 0:
                _become(args, (into.fileno(), out.fileno(), err.fileno()), env, self.home)
            _, status = os.waitpid(child, 0)
            for file in (out, err):
                file.seek(0)
            return os.waitstatus_to_exitcode(status), out.read(), err.read()

    def json(self, *args: str, **more: Any) -> Any:
        return json.loads(self(*args, "--json", **more))


def _become(args: tuple[str, ...], files: tuple[int, ...], env: dict[str, str], folder: Path) -> NoReturn:
    """Be the command line, as a new process would."""
    code = 70
    try:
        for at, file in enumerate(files):
            os.dup2(file, at)
        sys.stdin, sys.stdout, sys.stderr = (
            open(at, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            for at, mode in enumerate(("r", "w", "w"))
        )
        os.environ.clear()
        os.environ.update(env)
        os.chdir(folder)
        code = main(list(args))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_a_day_with_histories(shell: Shell) -> None:
    """Append, list, show, fork, rename, revert and delete do what they say, for people and as JSON."""
    assert shell("append", "work/fix", "Why is the sky blue?") == (
        "appended 1 entry to work/fix, now version 1 with 1 entries\n"
    )
    shell("append", "work/fix", "--role", "assistant", input="Rayleigh scattering.\n")
    entries = [{"message": {"role": "user", "content": "Thanks"}}, {"message": {"role": "note", "text": "done"}}]
    added = shell.json("append", "work/fix", "--entries", input="\n".join(map(json.dumps, entries)))
    assert (added["version"], added["len"], len(added["entryIds"])) == (3, 4, 2)
    [row] = shell.json("list")
    assert (row["history"], row["len"], row["version"]) == ("work/fix", 4, 3)
    assert re.search(r"^work/fix +4 +3 ", shell("list"), re.MULTILINE)
    text = shell("show", "work/fix")
    assert "Why is the sky blue?" in text and "Rayleigh scattering." in text and "\x1b" not in text
    shown = shell.json("show", "work/fix", "--last", "1")
    assert [entry["message"] for entry in shown["entries"]] == [{"role": "note", "text": "done"}]
    assert shell.json("fork", "work/fix", "other", "--len", "2")["len"] == 2
    assert shell("rename", "other", "work/other") == "renamed other to work/other\n"
    assert shell.json("revert", "work/fix", "1")["len"] == 1
    assert [row["kind"] for row in shell.json("versions", "work/fix")][:2] == ["revert", "append"]
    shell("delete", "work/other", code=1)
    assert shell.said == "error: nobody to ask (--yes deletes without asking)\n"
    assert shell("delete", "work/other", "--yes") == "deleted work/other\n"
    assert [row["history"] for row in shell.json("list", "work")] == ["work/fix"]


def test_errors_are_one_line_with_a_hint(shell: Shell) -> None:
    """Whatever goes wrong: one line, a hint, an exit code, never a traceback or a usage dump."""
    cases: list[tuple[tuple[str, ...], str | None]] = [
        (("show", "nothing"), "history 'nothing' does not exist (`history-sidecar list` shows what there is)"),
        (("append", "../x", "hi"), "history name is not valid (letters, digits and . _ ~ - in segments joined by /)"),
        (("import", "missing.jsonl"), "missing.jsonl is not there"),
        (("export", "x", "-f", "aider"), None),
        (
            ("project", "x", "-V", "gemnii"),
            "vendor 'gemnii' is not known, did you mean 'gemini' (`history-sidecar call wire/vendors` lists them)",
        ),
        (
            ("project", "x", "-V", "nobody"),
            "vendor 'nobody' is not known (`history-sidecar call wire/vendors` lists them)",
        ),
        (("call", "history/len", "{"), None),
        (
            ("call", "no/such"),
            "method 'no/such' is not known (-32601) (`history-sidecar call rpc.discover` lists the methods)",
        ),
    ]
    for args, said in cases:
        assert shell(*args, code=1) == "" and shell.said.count("\n") == 1, (args, shell.said)
        assert shell.said.startswith("error: ") if said is None else shell.said == f"error: {said}\n"
    shell("append", "x", code=1, input="")
    assert shell.said == "error: stdin is empty (give TEXT, or pipe it in)\n"
    shell("frobnicate", code=2)
    assert shell.said.startswith("error: No such command 'frobnicate'") and shell.said.count("\n") == 1
    shell("append", "x", "--entries", code=1, input='{"message": {"role": "robot"}}')
    assert shell.said.startswith("error: entry /0/message/role must be one of")


def test_import_check_project_export(shell: Shell) -> None:
    """A folder of transcripts comes in once, is checked like code, projected, and goes out again."""
    plan = shell.json("import", str(DATA / "claude-code"), "-n")
    planned = sum(history["new"] for file in plan["files"] for history in file["histories"])
    assert plan["dryRun"] and planned > 10
    assert shell.json("list") == []
    text = shell("import", str(DATA / "claude-code"), str(DATA / "goose/*.jsonl"))
    assert re.search(r"^claude-code/rewound +claude-code +4 +Tea$", text, re.MULTILINE)
    assert "parallel-calls.jsonl: warning: line 8 is not JSON and was skipped [tornLine]" in shell.said
    assert sum(row["len"] for row in shell.json("list", "claude-code/")) == planned
    again = shell.json("import", str(DATA / "claude-code"))
    assert sum(h["new"] for file in again["files"] for h in file["histories"]) == 0
    name = "claude-code/parallel-calls"
    shell("check", "claude-code/rewound", "-V", "anthropic-messages")
    shell("append", "broken", "--entries", input=json.dumps(
        {"message": {"role": "assistant", "toolCalls": [{"id": "c", "name": "f", "arguments": "{}"}]}}
    ))  # fmt: skip
    found = shell("check", name, "broken", code=1)
    assert re.search(r'^broken:0: error: call "c" .* \[anthropic-messages X1\]$', found, re.MULTILINE)
    body = json.loads(shell("project", name, "-V", "anthropic-messages"))
    assert [message["role"] for message in body["messages"]][:4] == ["user", "assistant", "user", "assistant"]
    target = shell.home / "pots.html"
    shell("export", name, "-o", str(target))
    assert target.read_text().startswith("<!doctype html>") and target.stat().st_mode & 0o777 == 0o600
    lines = shell("export", name, "-f", "own-jsonl")
    assert shell.json("import", "-", "--into", "copy", input=lines)["files"][0]["histories"][0]["new"] == 5
    assert shell("export", "copy", "-f", "own-jsonl") == lines
    shell("append", "copy", "key AKIA" + "ABCD" * 4)
    assert "AKIA" not in shell("export", "copy", "--redact") and "1 aws-access-key was masked" in shell.said
    shell("import", str(DATA / "goose"), "--format", "codex", code=0)
    shell("import", str(DATA / "goose/tools.jsonl"), "--format", "codex", code=1)


def test_search(shell: Shell) -> None:
    """Entries are found by their text, also by Chinese text, in the histories of a prefix only where one is given."""
    shell("append", "tea/green", "A pot of one litre")
    shell("append", "coffee", "也有一升的水壶")
    [hit] = shell.json("search", "litre")
    assert (hit["history"], hit["index"]) == ("tea/green", 0)
    assert shell("search", "水壶").startswith("coffee:0 ")
    assert shell("search", "litre", "--prefix", "coffee", code=1) == "nothing found\n"


def test_discover(shell: Shell) -> None:
    """Sessions of known tools are found in their places, listed with their state, and imported incrementally."""
    folder = shell.home / ".claude/projects/-srv-tea"
    folder.mkdir(parents=True)
    lines = (DATA / "claude-code/rewound.jsonl").read_text().splitlines(keepends=True)
    (folder / "11111111.jsonl").write_text("".join(lines[:2]))
    (folder / "agent-5.jsonl").write_text(lines[0])
    chats = shell.home / ".gemini/tmp/abc/chats"
    chats.mkdir(parents=True)
    (chats / "session-1.jsonl").write_text((DATA / "gemini-cli/log.jsonl").read_text())
    found = shell.json("import", "--discover")
    names = ["claude-code/srv-tea/11111111", "gemini-cli/abc/session-1"]
    assert [(row["history"], row["state"]) for row in found] == [(name, "new") for name in names]
    assert shell.json("list") == []
    first = shell.json("import", "--discover", "--yes")
    assert [file["histories"][0]["new"] for file in first["files"]] == [2, 5]
    (folder / "11111111.jsonl").write_text("".join(lines))
    second = shell.json("import", "--discover", "--yes")
    assert [file["histories"][0]["new"] for file in second["files"]] == [2, 0]
    assert [row["len"] for row in shell.json("list", "claude-code")] == [4]
    elsewhere = shell.json("import", "--discover", CLAUDE_CONFIG_DIR=str(shell.home / "none"))
    assert [row["format"] for row in elsewhere] == ["gemini-cli"]


def test_follow_shows_what_others_append(shell: Shell) -> None:
    """`show --follow` prints what another process appends, until it is interrupted."""
    shell("append", "live", "first")
    watching = shell.start("show", "live", "--follow", "--json")
    try:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["message"]["content"][0]["text"] == "first"
        shell("append", "live", "second")
        ready, _, _ = select.select([watching.stdout], [], [], 20)
        assert ready and json.loads(watching.stdout.readline())["message"]["content"][0]["text"] == "second"
    finally:
        watching.send_signal(2)
    watching.communicate(timeout=60)
    assert watching.returncode == 130


def test_follow_says_what_was_taken_out(shell: Shell) -> None:
    """An entry that was cut off and what came in its place are told apart; a deletion ends it."""
    shell("append", "live", "first")
    shell("append", "live", "second")
    watching = shell.start("show", "live", "--follow", "--last", "1")
    try:
        assert watching.stdout is not None

        output = watching.stdout

        def lines(count: int) -> list[str]:
            found: list[str] = []
            while len(found) < count and (line := output.readline()):
                line = line.strip()
                found += [line.split(" · ")[0]] if line else []
            return found

        assert lines(2) == ["1. user", "second"]
        shell("call", "history/truncate", '{"history": "live", "len": 1}')
        assert lines(1) == ["── changed at 1: 1 entries taken out ──"]
        shell("append", "live", "third")
        assert lines(2) == ["1. user", "third"]
        shell("delete", "live", "--yes")
        assert watching.wait(20) == 1
    finally:
        watching.kill()
    watching.communicate(timeout=60)


def test_an_exported_page_names_its_history(shell: Shell) -> None:
    """An editor finds the history and the version that an exported file shows, whatever its title is."""
    shell("append", "work/tea", "hello")
    shell("call", "history/setMetadata", '{"history": "work/tea", "patch": {"title": "About tea"}}')
    target = shell.home / "tea.history.md"
    shell("export", "work/tea", "-o", str(target))
    found = read_marked(target.read_text())
    assert (found.history, found.version, len(found.map)) == ("work/tea", 1, 1)
    for command in (("export", "work/tea", "-o"), ("tokens", "work/tea", "--html")):
        shell(*command, str(shell.home / "none" / "x.md"), code=1)
        assert shell.said.endswith("x.md cannot be written: no such file or directory\n"), shell.said


def test_no_transcript_moves_the_cursor(shell: Shell) -> None:
    """Escape sequences of a transcript are spelled out; markup of the terminal library is plain text."""
    shell("append", "evil", input="\x1b[2J\x1b]0;owned\x07[bold red]x[/] \u202egnp.exe")
    text = shell("show", "evil")
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert "␛[2J" in text and "[bold red]x[/]" in text


def test_call(shell: Shell) -> None:
    """`call` sends one request to a real sidecar and prints its result, or its error."""
    sent = {"history": "a", "entries": [{"message": {"role": "user", "content": "hi"}}]}
    done = json.loads(shell("call", "history/append", json.dumps(sent)))
    assert (done["version"], done["len"]) == (1, 1)
    assert json.loads(shell("call", "history/len", "-", input='{"history": "a"}'))["len"] == 1
    error = shell.json("call", "history/info", '{"history": "b"}', code=1)["error"]
    assert (error["code"], error["data"]["kind"]) == (1001, "historyNotFound")


def test_doctor(shell: Shell) -> None:
    """`doctor` looks at the libraries, the store and a server of its own, and fails where the store is broken."""
    shell("append", "a", "hi")
    states = {row["name"]: (row["state"], row["text"]) for row in shell.json("doctor")}
    assert all(state == "ok" for state, _ in states.values())
    assert "1 histories, 1 entries" in states["store"][1] and "vendors" in states["server"][1]
    broken = shell.home / "broken.db"
    broken.write_text("this is no database " * 1000)
    rows = shell.json("doctor", "--store", str(broken), code=1)
    assert {row["name"] for row in rows if row["state"] == "error"} >= {"store"}


def test_from_scratch(shell: Shell) -> None:
    """A process that was not forked does the same: module, `--version`, `--help` with every command."""
    for args, wanted in (((), None), (("--version",), "history-sidecar, version "), (("--help",), "doctor")):
        process = shell.start(*(args or ("append", "a", "hi")))
        out, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "") and (wanted or "appended 1 entry to a") in out


def test_completion(shell: Shell) -> None:
    """The printed script is the shell's own, and completes commands and names of histories."""
    assert "_HISTORY_SIDECAR_COMPLETE=bash_complete" in shell("completion", "bash")
    assert "#compdef history-sidecar" in shell("completion", "zsh")
    shell("append", "tea/green", "hi")
    asked = {"_HISTORY_SIDECAR_COMPLETE": "bash_complete", "COMP_WORDS": "history-sidecar show te", "COMP_CWORD": "2"}
    assert shell(**asked) == "plain,tea/green\n"
    assert "plain,export\n" in shell(**{**asked, "COMP_WORDS": "history-sidecar ex", "COMP_CWORD": "1"})


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_follow_the_terminal(shell: Shell, env: dict[str, str], coloured: bool) -> None:
    """On a terminal output is coloured, unless `NO_COLOR` says otherwise."""
    shell("append", "a", "hi")
    master, slave = pty.openpty()
    process = shell.start("show", "a", "--no-pager", stdout=slave, env={"TERM": "xterm-256color", **env})
    os.close(slave)
    seen, end = b"", time.monotonic() + 30
    while time.monotonic() < end:
        try:
            chunk = os.read(master, 4096)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    process.communicate(timeout=60)
    os.close(master)
    assert b"hi" in seen and (re.search(rb"\x1b\[[0-9;]*3[0-9]m", seen) is not None) == coloured


def test_a_reader_that_had_enough(shell: Shell) -> None:
    """`… | head` ends quietly."""
    shell("append", "long", "--entries", input=json.dumps([{"message": {"role": "user", "content": "x" * 5000}}] * 200))
    process = shell.start("show", "long")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(20) == 1
