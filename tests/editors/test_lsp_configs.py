"""The configuration files for editors that need no plugin: well-formed, and driven where the editor is there."""

from __future__ import annotations

import json
import subprocess
import tomllib
from typing import Any

import pytest
from editor_stage import ROOT, Stage, missing, program, run_editor

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
