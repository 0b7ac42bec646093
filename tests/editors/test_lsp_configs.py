"""The configuration files for editors that need no plugin: well-formed, and driven where the editor is there."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import shutil
import subprocess
import termios
import time
import tomllib
from typing import Any

import pytest
from editor_stage import ROOT, Stage, debian13, kill_group, missing, program, run_editor

LSP = ROOT / "editors" / "lsp"


def options_of(name: str) -> Any:
    """What a configuration file sends as `initializationOptions`, and the command that it starts."""
    if name == "helix/languages.toml":
        server = tomllib.loads((LSP / name).read_text())["language-server"]["history-sidecar"]
        return server["config"], [server["command"]]
    config = json.loads((LSP / name).read_text())
    if name == "kate/settings.json":
        server = config["servers"]["history"]
    elif name == "zed.json":
        server = config["lsp"]["history-sidecar"]
        return server["initialization_options"], [server["binary"]["path"], *server["binary"]["arguments"]]
    else:
        server = config["clients"]["history-sidecar"]
    return server["initializationOptions"], server["command"]


@pytest.mark.parametrize("name", ["helix/languages.toml", "kate/settings.json", "zed.json", "sublime.json"])
def test_a_configuration_starts_the_server_with_options_it_takes(name: str, stage: Stage) -> None:
    """The file parses, its command is the program, and the server accepts its options."""
    options, command = options_of(name)
    assert command == ["history-sidecar"]
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"capabilities": {}, "initializationOptions": options},
    }
    data = json.dumps(body).encode()
    run = subprocess.run(
        [str(stage.command)],
        input=b"Content-Length: %d\r\n\r\n%s" % (len(data), data),
        env=stage.env(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    reply = json.loads(run.stdout.partition(b"\r\n\r\n")[2])
    assert reply["result"]["capabilities"]["experimental"]["sidecar"]["protocolVersion"] == 1


def test_eglot(stage: Stage) -> None:
    """Eglot shows what vendors would refuse in an exported file, by the configuration as it stands."""
    emacs = program("emacs", "emacs")
    with stage.sidecar() as sidecar:
        text = sidecar.call("history/export", history="work/broken", format="markdown")["text"]
    file = stage.folder / "broken.history.md"
    file.write_text(text)
    probe = subprocess.run(
        [emacs, "--batch", "-f", "package-initialize", "--eval", "(kill-emacs (if (require 'eglot nil t) 0 1))"],
        capture_output=True,
        check=False,
    )
    if probe.returncode:
        missing("emacs")
    script = f"""
(progn
  (setq eglot-sync-connect 10 eglot-autoshutdown t)
  (load "{LSP}/eglot.el" nil t)
  (find-file "{file}")
  (call-interactively #'eglot) ; `eglot-ensure' waits for a command loop, which a batch run has not
  (with-timeout (20 (message "nothing came"))
    (while (null (flymake-diagnostics))
      (accept-process-output nil 0.05)
      (when (bound-and-true-p flymake-mode) (flymake-start))))
  (dolist (found (flymake-diagnostics))
    (message "line %d: %s" (line-number-at-pos (flymake-diagnostic-beg found)) (flymake-diagnostic-text found)))
  (when (eglot-current-server) (eglot-shutdown (eglot-current-server))))
"""
    run = run_editor([emacs, "--batch", "-f", "package-initialize", "--eval", script], stage)
    assert 'call "c1" of tool "read" has no result' in run.output
    stage.wait_until_gone(5)


def test_helix(stage: Stage) -> None:
    """Helix, by the configuration as it stands, shows diagnostics, hover and symbols of an exported file."""
    helix = debian13("hx")
    with stage.sidecar() as sidecar:
        text = sidecar.call("history/export", history="work/broken", format="markdown")["text"]
    file = stage.folder / "broken.history.md"
    file.write_text(text)
    config = stage.home / ".config" / "helix"
    config.mkdir(parents=True)
    shutil.copy(LSP / "helix" / "languages.toml", config)
    stage.record()
    line = 1 + next(at for at, line in enumerate(text.split("\n")) if line.startswith("## 1. assistant"))
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (40, 160))
    process = subprocess.Popen(
        [helix, f"{file}:{line}"],
        env=stage.env(TERM="xterm-256color"),
        cwd=stage.folder,
        stdin=inner,
        stdout=inner,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(inner)
    screen = b""

    def until(*texts: str) -> None:
        nonlocal screen
        deadline = time.monotonic() + 30
        while not all(text.encode() in screen for text in texts):
            assert time.monotonic() < deadline, (texts, screen[-3000:])
            if select.select([terminal], [], [], 0.1)[0]:
                screen += os.read(terminal, 1 << 16)

    def drain(seconds: float) -> None:
        # An editor whose screen nobody reads stops.
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):  # the other end is gone
                    os.read(terminal, 1 << 16)

    def press(keys: str) -> None:
        nonlocal screen
        screen = b""
        os.write(terminal, keys.encode())

    try:
        until("has no result")  # the diagnostic of this line, drawn at the top right
        press(" k")
        until("How vendors will see it")
        press("\x1b")
        drain(0.3)  # else the next key is read as one with Alt
        press(" s")
        drain(1)
        press("\x1b")
        drain(0.3)
        press(":q!\r")
        drain(20)
    finally:
        kill_group(process)
        os.close(terminal)
    assert process.returncode == 0
    exchange = stage.exchange()
    assert "shutdown" in {message.get("method") for message, _ in exchange}
    [symbols] = [reply for message, reply in exchange if message.get("method") == "textDocument/documentSymbol"]
    assert [symbol["name"] for symbol in json.loads(symbols)["result"]] == ["0. user", "1. assistant"]
    stage.wait_until_gone(5)
