"""The command table. A new command is one module with a click command, and one row in `COMMANDS`."""

from __future__ import annotations

import importlib

import click

from sidecar import __version__
from sidecar.core.errors import SidecarError

COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("sidecar.cli.histories:list_histories", "List histories."),
    "show": ("sidecar.cli.histories:show", "Show a conversation; --follow shows it live."),
    "append": ("sidecar.cli.histories:append", "Append to a history."),
    "search": ("sidecar.cli.histories:search", "Find entries by their text."),
    "import": ("sidecar.cli.transfer:import_command", "Import conversations of other tools; --discover finds them."),
    "export": ("sidecar.cli.transfer:export", "Write a history as JSON lines, Markdown, HTML or a request body."),
    "fork": ("sidecar.cli.histories:fork", "Start a history with what another holds."),
    "rename": ("sidecar.cli.histories:rename", "Give a history another name."),
    "delete": ("sidecar.cli.histories:delete", "Delete a history."),
    "versions": ("sidecar.cli.histories:versions", "List the versions of a history."),
    "revert": ("sidecar.cli.histories:revert", "Bring back what a history held at a version."),
    "check": ("sidecar.cli.inspect:check", "Say what vendors would refuse; exit code 1 where something would be."),
    "project": ("sidecar.cli.inspect:project", "Print the message list that a vendor accepts."),
    "tokens": ("sidecar.cli.tokens:tokens", "Show where the context goes and what a compaction would free."),
    "call": ("sidecar.cli.call:call", "Send one request to a sidecar of its own."),
    "doctor": ("sidecar.cli.doctor:doctor", "Report on the installation, the store and the tools found."),
    "completion": ("sidecar.cli.doctor:completion", "Print the completion script for a shell."),
    "store": ("sidecar.cli.store:store", "Look after the store: info, check, backup, recover, prune, migrate."),
    "serve": ("sidecar.cli.serve:command", "Serve JSON-RPC over stdio (the default)."),
    "demo": ("sidecar.cli.demo:command", "Show an agent conversation with a real sidecar."),
    "protocol": ("sidecar.cli.protocol:command", "Print the protocol: OpenRPC, JSON Schema, types, reference."),
}
"""Command name -> (`module:attribute`, one-line help)."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="history-sidecar")
def app() -> None:
    """Named agent histories that survive, and the exact message list each model vendor accepts."""


def run(args: list[str]) -> int:
    """Run one command; errors are one line on stderr."""
    try:
        result = app.main(args, prog_name="history-sidecar", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "history-sidecar"
        click.echo(f"error: {error.format_message()} (`{command} --help` explains)", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except SidecarError as error:
        click.echo(f"error: {error.message}", err=True)
        return 1
    return result if isinstance(result, int) else 0
