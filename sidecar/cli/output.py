"""What all commands for people share: where to print, JSON, the open store, errors with a hint.

Rules:
- Results go to stdout, everything else (progress, losses, errors) to stderr. `--json` prints one JSON value, and
  nothing else, to stdout.
- Transcript text is untrusted: it is printed as plain text with control characters spelled out, never as markup, so
  that no transcript can move the cursor or change colours.
- Colour follows the terminal, and `NO_COLOR`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Concatenate, Final, ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text as Styled

from sidecar.config import settings_from
from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import Json
from sidecar.render.escape import one_line, visible
from sidecar.service import HistoryService, Session
from sidecar.service.filters import filters_of
from sidecar.store import open_store
from sidecar.store.base import Head
from sidecar.wire.base import Loss

P = ParamSpec("P")
R = TypeVar("R")

ROLE_COLOURS: Final = {
    "system": "magenta",
    "user": "bold blue",
    "assistant": "bold green",
    "tool": "yellow",
    "note": "cyan",
    "summary": "magenta",
}
SEVERITY_COLOURS: Final = {"error": "red", "warning": "yellow", "info": "dim"}
CLIENT: Final = "command line"
"""The name under which `history/versions` shows what people change here."""


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False, soft_wrap=True)


def err() -> Console:
    """Return the console for everything that is no result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Json) -> None:
    """Print one JSON value: indented for a terminal, one line for a pipe."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    write_text(text + "\n")


def write_text(text: str, file: IO[str] | None = None) -> None:
    """Print text as it is; a lone surrogate, which UTF-8 has no form for, as its JSON escape."""
    stream = file or sys.stdout
    data = text.encode("utf-8", "backslashreplace")
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(data.decode("utf-8"))
    else:
        stream.flush()
        binary.write(data)
    stream.flush()


def write_file(path: Path, text: str) -> None:
    """Write text to a file that only its owner reads, whole or not at all."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Failed(f"{path} cannot be written: {(error.strerror or 'unknown reason').lower()}") from None


def plain(text: str, style: str = "") -> Styled:
    """Return untrusted text, safe for a terminal."""
    return Styled(visible(text).replace("\t", "    "), style=style)


def when(ts: int) -> str:
    """Return Unix milliseconds for people, in their zone."""
    return datetime.fromtimestamp(ts / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = ()) -> None:
    """Print rows under headings; `numbers` names the columns that are aligned to the right.

    Nothing is folded, so that a line is a row; on a terminal the last column is cut to fit.
    """
    console = out()
    cells = [[one_line(cell, 300) for cell in row] for row in rows]
    widths = [max([cell_len(name), *(cell_len(row[at]) for row in cells)]) for at, name in enumerate(columns)]
    for row, style in ((list(columns), "bold"), *((row, "") for row in cells)):
        padded = [
            " " * (width - cell_len(cell)) + cell if name in numbers else cell + " " * (width - cell_len(cell))
            for cell, width, name in zip(row, widths, columns, strict=True)
        ]
        line = Styled("  ".join(padded).rstrip(), style=style)
        if console.is_terminal:
            line.truncate(console.width, overflow="ellipsis")
        console.print(line)


def print_losses(losses: Sequence[tuple[str, Loss]], *, most: int = 20) -> None:
    """Print what was lost, with where, to stderr: the worst first, what was left out as expected in one line."""
    order = {"error": 0, "warning": 1, "info": 2}
    console = err()
    told = [(where, loss) for where, loss in losses if loss.rule != "bookkeeping"]
    for where, loss in sorted(told, key=lambda pair: order[pair[1].severity])[:most]:
        place = f"{where}: " if where else ""
        entry = f" ({loss.entry_id})" if loss.entry_id else ""
        console.print(
            plain(f"{place}{loss.severity}: {loss.message}{entry} [{loss.rule}]", SEVERITY_COLOURS[loss.severity])
        )
    rest = len(told) - most
    if rest > 0:
        console.print(plain(f"… and {rest} more; --json lists all", "dim"))
    if len(told) < len(losses):
        console.print(plain("records of the tools' own were left out; --json counts them", "dim"))


def loss_json(loss: Loss) -> dict[str, Json]:
    """Return a loss in wire names."""
    return {
        "rule": loss.rule,
        "severity": loss.severity,
        "entryId": loss.entry_id,
        "path": loss.path,
        "message": loss.message,
    }


class Failed(click.ClickException):
    """One line on stderr: what went wrong, and what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line."""
        line = f"error: {one_line(self.message, 500)}" + (f" ({self.hint})" if self.hint else "")
        click.echo(line, err=True)


_HINTS: Final[Mapping[str, str]] = {
    "historyNotFound": "`history-sidecar list` shows what there is",
    "historyExists": "pick another name, or delete it first",
    "invalidName": "letters, digits and . _ ~ - in segments joined by /",
    "versionUnavailable": "`history-sidecar versions NAME` shows what can be read",
    "unparsable": "name the format with --format",
    "unknownVendor": "`history-sidecar call wire/vendors` lists them",
    "storageUnavailable": "try again; `history-sidecar doctor` looks closer",
    "storageCorrupt": "`history-sidecar doctor` looks closer",
    "storageReadOnly": "is the disk full, or the folder read-only?",
    "versionMismatch": "somebody else changed it; look again",
}


def failed(error: SidecarError) -> Failed:
    """Return a domain error as one line with a hint."""
    message = error.message
    if error.kind == "invalidParams" and error.data.get("errors"):
        first = error.data["errors"][0]
        message = f"{first['path'].lstrip('/') or 'value'} {first['message']}"
    return Failed(message, _HINTS.get(error.kind, ""))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn domain errors into one line with a hint."""
    try:
        yield
    except SidecarError as error:
        raise failed(error) from None


def json_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON value instead of text for people.")(
        command
    )


def store_option(command: Callable[P, R]) -> Callable[P, R]:
    """Add `--store`."""
    return click.option(
        "--store", metavar="PLACE", help="SQLite file, or postgresql://… (default: the store all your tools share)."
    )(command)


def with_session(
    command: Callable[Concatenate[Session, P], Awaitable[R]],
) -> Callable[Concatenate[str | None, P], R]:
    """Run an async command with an open store; its `--store` is taken away, domain errors become one line."""

    def run(store: str | None, /, *args: P.args, **kwargs: P.kwargs) -> R:
        async def inner() -> R:
            settings = settings_from(store)
            async with HistoryService(open_store(settings.store), filters=filters_of(settings.mask)) as service:
                return await command(service.session(CLIENT), *args, **kwargs)

        with one_line_errors():
            return asyncio.run(inner())

    return run


async def all_heads(session: Session, prefix: str = "", limit: int | None = None) -> list[Head]:
    """Read every page of a listing, newest first."""
    heads: list[Head] = []
    cursor: str | None = None
    while True:
        page = await session.list(prefix=prefix, cursor=cursor, limit=None, order_by="updatedAt")
        heads += page.rows
        cursor = page.cursor
        if cursor is None or (limit is not None and len(heads) >= limit):
            return heads[:limit]


class NameType(click.ParamType[str]):
    """A history's name; completes from the store."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed."""

        async def names(session: Session) -> list[str]:
            return [head.history for head in await all_heads(session, incomplete, 100)]

        try:
            return [CompletionItem(name) for name in with_session(names)(ctx.params.get("store"))]
        except (click.ClickException, OSError):
            return []


NAME: Final = NameType()
