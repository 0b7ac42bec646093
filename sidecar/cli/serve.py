"""`history-sidecar serve`: start the stdio server. argparse only, so that spawning stays fast."""

from __future__ import annotations

import argparse
import gc
from typing import Any

from sidecar.config import settings_from


def main(args: list[str]) -> int:
    """Parse the flags and serve until the client goes."""
    parser = argparse.ArgumentParser(prog="history-sidecar serve", description="Serve JSON-RPC over stdio.")
    parser.add_argument("command", nargs="?", choices=["serve"], help=argparse.SUPPRESS)
    parser.add_argument("--store", help="SQLite file, `:memory:`, or postgresql://… (default: the user's store)")
    # Some editors' clients add this to every stdio server's command line.
    parser.add_argument("--stdio", action="store_true", help=argparse.SUPPRESS)
    settings = settings_from(parser.parse_args(args).store)
    # What is imported now lives as long as the process: looking for garbage among it only delays the first reply.
    gc.disable()
    from sidecar.server.lazy_lsp import deferred_classes

    with deferred_classes():
        from sidecar.server.app import build_server

        server = build_server(settings)
    gc.freeze()
    gc.enable()
    return server.start_io()


def __getattr__(name: str) -> Any:
    # `command` exists for `--help` and completion only; building it on demand keeps click out of the serving path.
    if name != "command":
        raise AttributeError(name)
    import click

    @click.command(name="serve", context_settings={"ignore_unknown_options": True}, add_help_option=False)
    @click.argument("args", nargs=-1, type=click.UNPROCESSED)
    def command(args: tuple[str, ...]) -> int:
        """Serve JSON-RPC over stdio."""
        return main(["serve", *args])

    return command
