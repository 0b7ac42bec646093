"""`import` and `export`: conversations of other tools in, and out again."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
from attrs import evolve, frozen
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from sidecar.cli.discovery import Found, discover, found_session, history_name
from sidecar.cli.opencode import sessions_of
from sidecar.cli.output import (
    NAME,
    Failed,
    err,
    failed,
    json_option,
    loss_json,
    out,
    plain,
    print_json,
    print_losses,
    store_option,
    table,
    when,
    with_session,
    write_file,
    write_text,
)
from sidecar.core.errors import InvalidParams, LimitExceeded, SidecarError, Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.names import check_name
from sidecar.formats.registry import AUTO, FORMATS, format_of
from sidecar.formats.source import CHUNK, Source
from sidecar.formats.transfer import export as export_entries
from sidecar.formats.transfer import exportable
from sidecar.service import Session
from sidecar.service.transfer import IMPORT_KEY, Importing, ImportOutcome, ImportPlan
from sidecar.store.base import Head
from sidecar.wire.base import Loss

_TRANSCRIPTS = tuple({ending for form in FORMATS.values() for ending in form.extensions})
_ENDINGS = {".jsonl": "own-jsonl", ".md": "markdown", ".html": "html", ".htm": "html"}


@frozen(kw_only=True)
class _File:
    """One file to import. `path` is `None` for stdin."""

    path: Path | None
    history: str
    format: str
    certain: bool = True
    """The file was named; else it was met in a folder, and may be something else."""
    read: Callable[[], bytes] | None = None
    """See `discovery.Found`."""

    def source(self) -> Source:
        """Return the transcript. Raises `OSError`."""
        if self.read is not None:
            return Source.of(self.read())
        return _source(self.path)


# --- import -----------------------------------------------------------------------------------------------------------


@click.command(name="import")
@click.argument("paths", nargs=-1, metavar="PATH…")
@click.option("--format", "form", default=AUTO, show_default=True, type=click.Choice([AUTO, *FORMATS]),
              metavar="FORMAT", help="Format of the files; `auto` looks at their content.")  # fmt: skip
@click.option("--into", metavar="NAME", help="Import into this history (one file only).")
@click.option("--prefix", default="", metavar="NAME", help="Put this before the names of the histories.")
@click.option("--all-branches", is_flag=True, help="Also import abandoned branches and sub-agents, as forks.")
@click.option("--dry-run", "-n", is_flag=True, help="Read everything, report losses, change nothing.")
@click.option("--discover", "find", is_flag=True, help="Find the conversations of known tools on this machine.")
@click.option("--yes", "-y", is_flag=True, help="With --discover: import what was found.")
@json_option
@store_option
def import_command(
    paths: tuple[str, ...],
    form: str,
    into: str | None,
    prefix: str,
    all_branches: bool,
    dry_run: bool,
    find: bool,
    yes: bool,
    as_json: bool,
    store: str | None,
) -> int:
    """Import conversations of other tools: files, folders, globs, or `-` for stdin.

    A second import of a file that has grown adds only what is new.
    """
    if find and paths:
        raise click.UsageError("--discover looks for itself; leave PATH out")
    if not find and not paths:
        raise click.UsageError("give a PATH, or --discover")
    if find and not yes and not dry_run:
        return _list_found(form, as_json, store)
    if find:
        files = [_file(found) for found in discover() if form in (AUTO, found.format)]
    else:
        files = list(_files(paths, form))
    if into is not None:
        if len(files) != 1:
            raise click.UsageError("--into takes exactly one file")
        files = [evolve(files[0], history=into)]
    if prefix:
        files = [evolve(file, history=f"{prefix.strip('/')}/{file.history}") for file in files]
    return _import_files(_distinct(files), all_branches, dry_run, as_json, store)


def _files(paths: Sequence[str], form: str) -> Iterator[_File]:
    for given in paths:
        if given == "-":
            yield _File(path=None, history="stdin", format=form)
            continue
        path = Path(given).expanduser()
        if path.is_dir():
            for inner in sorted(path.rglob("*")):
                if inner.is_file() and inner.name.lower().endswith(_TRANSCRIPTS):
                    yield _named(inner, form, path, certain=False)
        elif path.suffix == ".db" and path.is_file():
            yield from (_file(found_session(session)) for session in sessions_of(path))
        elif path.exists():
            yield _named(path, form, None)
        else:
            found = sorted(glob.glob(str(path), recursive=True))
            if not found:
                raise Failed(f"{given} is not there")
            for name in found:
                if Path(name).is_file():
                    yield _named(Path(name), form, None)


def _file(found: Found) -> _File:
    return _File(path=found.path, history=found.history, format=found.format, read=found.read)


def _named(path: Path, form: str, root: Path | None, *, certain: bool = True) -> _File:
    found = form
    if form == AUTO:
        try:
            found = format_of(AUTO, _source(path)).id
        except (SidecarError, OSError):
            found = AUTO
    return _File(
        path=path, history=history_name(found if found != AUTO else "import", path, root), format=found, certain=certain
    )


def _distinct(files: Iterable[_File]) -> list[_File]:
    """Two files never go to one history by the accident of their names."""
    taken: dict[str, int] = {}
    distinct: list[_File] = []
    for file in files:
        check_name(file.history)
        taken[file.history] = taken.get(file.history, 0) + 1
        name = file.history if taken[file.history] == 1 else f"{file.history}.{taken[file.history]}"
        distinct.append(evolve(file, history=name))
    return distinct


def _source(path: Path | None) -> Source:
    if path is None:
        return Source.of(sys.stdin.buffer.read(), name="stdin")

    def chunks() -> Iterator[bytes]:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk

    return Source(chunks, name=path.stem, size=_size(path), file=lambda: path.open("rb"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # opening it will say what is wrong


def _import_files(files: Sequence[_File], all_branches: bool, dry_run: bool, as_json: bool, store: str | None) -> int:
    rows: list[dict[str, Json]] = []
    losses: list[tuple[str, Loss]] = []
    problems = 0

    async def run(session: Session) -> None:
        nonlocal problems
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=err(), transient=True, disable=as_json or not sys.stderr.isatty()) as progress:
            whole = progress.add_task("files", total=None) if len(files) > 1 else None
            for count, file in enumerate(files, 1):
                name = str(file.path) if file.path is not None else "stdin"
                task = progress.add_task(Path(name).name, total=1.0)
                if whole is not None:
                    progress.update(whole, description=f"{count} of {len(files)}")
                row: dict[str, Json] = {"path": name}
                importing: Importing | None = None
                try:
                    importing = Importing(
                        session,
                        file.history,
                        file.format,
                        file.source(),
                        all_branches=all_branches,
                        on_progress=partial(_advance, progress, task),
                    )
                    if dry_run:
                        histories = [_plan_json(plan) async for plan in importing.plan()]
                    else:
                        histories = [_outcome_json(outcome) async for outcome in importing]
                    row |= {"format": importing.format, "histories": histories}
                except (Unparsable, InvalidParams, LimitExceeded, OSError) as error:
                    if file.certain or not isinstance(error, Unparsable):
                        problems += 1
                    text = failed(error).message if isinstance(error, SidecarError) else _reason(error)
                    row |= {"format": None, "histories": [], "error": text}
                lost = importing.losses if importing is not None else ()
                losses.extend((Path(name).name, loss) for loss in lost)
                row["losses"] = [loss_json(loss) for loss in lost]
                rows.append(row)
                progress.remove_task(task)

    with_session(run)(store)
    if as_json:
        print_json({"dryRun": dry_run, "files": rows})
    else:
        _report(rows, losses, dry_run)
    return 1 if problems else 0


def _advance(progress: Progress, task: TaskID, done: float) -> None:
    progress.update(task, completed=done)


def _reason(error: OSError) -> str:
    return f"cannot be read: {(error.strerror or 'unknown reason').lower()}"


def _plan_json(plan: ImportPlan) -> dict[str, Json]:
    return {
        "history": plan.history,
        "title": plan.title,
        "branch": plan.branch,
        "entries": plan.entries,
        "new": plan.new,
    }


def _outcome_json(outcome: ImportOutcome) -> dict[str, Json]:
    head = outcome.head
    return {
        "history": outcome.history,
        "title": outcome.title,
        "branch": outcome.branch,
        "version": head.version if head is not None else 0,
        "len": head.len if head is not None else 0,
        "new": len(outcome.entry_ids),
        "skipped": outcome.skipped,
        "dropped": outcome.dropped,
        "entryIds": list(outcome.entry_ids),
    }


def _report(rows: Sequence[dict[str, Json]], losses: Sequence[tuple[str, Loss]], dry_run: bool) -> None:
    cells = []
    for row in rows:
        if row.get("error"):
            cells.append(("–", "", "0", f"{Path(row['path']).name}: {row['error']}"))
        for history in row["histories"]:
            known = history["entries"] - history["new"] if dry_run else history["skipped"]
            notes = [f"{known} known"] if known else []
            notes += [f"{history['dropped']} taken back"] if history.get("dropped") else []
            notes += [history["title"]] if history["title"] else []
            cells.append((history["history"], row["format"], str(history["new"]), ", ".join(notes)))
    table(("HISTORY", "FORMAT", "WOULD ADD" if dry_run else "ADDED", ""), cells, numbers=("ADDED", "WOULD ADD"))
    print_losses(losses)


def _list_found(form: str, as_json: bool, store: str | None) -> int:
    found = [file for file in discover() if form in (AUTO, file.format)]

    async def states(session: Session) -> list[str]:
        return [_state(await session.find(file.history), file) for file in found]

    known = with_session(states)(store) if found else []
    if as_json:
        print_json(
            [
                {
                    "format": file.format,
                    "path": str(file.path),
                    "history": file.history,
                    "bytes": file.size,
                    "changedAt": round(file.changed * 1000),
                    "state": state,
                }
                for file, state in zip(found, known, strict=True)
            ]
        )
        return 0
    if not found:
        out().print("no conversations of known tools were found")
        return 0
    rows = [
        (
            file.format,
            file.history,
            f"{file.size / 1000:.0f} kB",
            when(round(file.changed * 1000)),
            state,
        )
        for file, state in zip(found, known, strict=True)
    ]
    table(("FORMAT", "HISTORY", "SIZE", "CHANGED", "STATE"), rows, numbers=("SIZE",))
    err().print(plain("`history-sidecar import --discover --yes` imports what is new", "dim"))
    return 0


def _state(head: Head | None, file: Found) -> str:
    if head is None:
        return "new"
    if not isinstance(head.metadata.get(IMPORT_KEY), dict):
        return "exists"
    return "changed" if file.changed * 1000 > head.updated_at else "imported"


# --- export -----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("name", type=NAME)
@click.option("--format", "-f", "form", metavar="FORMAT",
              help="own-jsonl, markdown, html, or a vendor's id for its request body (default: by the ending of"
              " --output, else markdown).")  # fmt: skip
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, whole or not at all."
)
@click.option("--version", "at_version", type=click.IntRange(1), help="An older version.")
@click.option("--redact", is_flag=True, help="Mask well-known secrets.")
@json_option
@store_option
def export(
    name: str,
    form: str | None,
    output: Path | None,
    at_version: int | None,
    redact: bool,
    as_json: bool,
    store: str | None,
) -> None:
    """Write a history as our own JSON lines, Markdown, a web page, or a vendor's request body."""
    form = form or (_ENDINGS.get(output.suffix.lower()) if output is not None else None) or "markdown"
    if form not in exportable():
        raise Failed(f"format {form!r} cannot be written", f"one of {', '.join(exportable())}")

    async def run(session: Session) -> tuple[int, str, Sequence[Loss]]:
        version, items = await session.items(name, at_version, injected=False)
        entries = [item.entry for item in items]
        exported = export_entries(entries, form, redact=redact, title=name, version=version, items=items)
        return version, exported.text, exported.losses

    version, text, losses = with_session(run)(store)
    if output is not None:
        write_file(output, text)
    if as_json:
        print_json(
            {
                "history": name,
                "version": version,
                "format": form,
                "path": str(output) if output is not None else None,
                "text": text if output is None else None,
                "bytes": len(text.encode("utf-8", "backslashreplace")),
                "losses": [loss_json(loss) for loss in losses],
            }
        )
        return
    if output is None:
        write_text(text if text.endswith("\n") else text + "\n")
    else:
        err().print(plain(f"wrote {output}"))
    print_losses([("", loss) for loss in losses])
