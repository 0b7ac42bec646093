"""The command line. `history-sidecar` alone serves stdio, so that path imports no terminal library.

Rules: `--version` and `--help` never import pygls (guarded by `tests/cli/test_startup.py`); a command's module is
imported when the command runs (`app.COMMANDS`).
"""

from __future__ import annotations

import os
import sys

COMPLETION = "_HISTORY_SIDECAR_COMPLETE"
"""Set by the scripts that `history-sidecar completion` prints."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    args = sys.argv[1:] if argv is None else argv
    if COMPLETION in os.environ:
        # A shell asks what could come next; what was typed is in the environment too.
        from sidecar.cli.app import run

        return run(args)
    if not args or args[0] == "serve" or args[0].startswith(("--store", "--stdio")):
        from sidecar.cli.serve import main as serve

        return serve(args)
    from sidecar.cli.app import run

    return run(args)
