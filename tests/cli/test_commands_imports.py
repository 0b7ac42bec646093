"""What the commands for people may import, beside what `test_startup.py` says of serving."""

from __future__ import annotations

import subprocess
import sys


def _loaded(modules: str) -> set[str]:
    """Return the top-level modules that a fresh process holds after importing `modules`."""
    script = f"import sys, {modules}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


def test_commands_need_no_server() -> None:
    """They work on the store themselves, so that they start without pygls."""
    found = _loaded("sidecar.cli.histories, sidecar.cli.transfer, sidecar.cli.inspect, sidecar.cli.doctor")
    assert "rich" in found and not found & {"pygls", "lsprotocol"}


def test_serving_brings_no_importer() -> None:
    """The parser of foreign transcripts is loaded by the first import, not by every start of an editor."""
    assert "msgspec" not in _loaded("sidecar.server.app")
