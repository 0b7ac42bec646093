"""`store info | check | backup | recover | prune | copy | migrate`: looking after the store."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click
from attrs import asdict
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sidecar.cli.output import Failed, err, json_option, one_line_errors, out, plain, print_json, store_option
from sidecar.config import settings_from
from sidecar.core.jsontext import Json
from sidecar.store import is_database, open_store
from sidecar.store.base import Pruned, Store
from sidecar.store.checking import Facts, Finding
from sidecar.store.copying import Copied, copy_store
from sidecar.store.front import StoreFront
from sidecar.store.retention import SIZE_STEPS

DAY = 86_400_000
T = TypeVar("T")


@click.group()
def store() -> None:
    """Look after the store."""


@store.command()
@json_option
@store_option
def info(as_json: bool, store: str | None) -> None:
    """Say where the store is, what it holds and how large it is."""
    place = _place(store)
    with one_line_errors():
        if is_database(place):
            from sidecar.store.postgres import care as databases

            found = {"database": databases.place(place), **asdict(_facts(place))}
        else:
            found = {"file": str(_file(store)), **asdict(_facts(place))}
    found = {name: value for name, value in found.items() if value is not None}
    if as_json:
        print_json({_camel(name): value for name, value in found.items()})
        return
    for name, value in found.items():
        out().print(plain(f"{name.replace('_', ' '):<12} {_amount(name, value)}"))


@store.command()
@json_option
@store_option
def check(as_json: bool, store: str | None) -> int:
    """Check that every version of every history reads back; exit code 1 where something is wrong."""
    place = _place(store)
    with one_line_errors():
        if is_database(place):
            from sidecar.store.postgres import care as databases

            findings = databases.check(place)
        else:
            from sidecar.store.sqlite import care

            findings = care.check(_file(store))
    _print_findings(findings, as_json, "every version of every history reads back")
    return 1 if findings else 0


@store.command()
@click.argument("target", type=click.Path(path_type=Path))
@json_option
@store_option
def backup(target: Path, as_json: bool, store: str | None) -> None:
    """Write one consistent, checked copy to the new file TARGET; the store stays in use meanwhile."""
    from sidecar.store.sqlite import care

    with one_line_errors():
        size = care.backup(_file(store), target)
    if as_json:
        print_json({"bytes": size})
    else:
        out().print(plain(f"{_amount('bytes', size)} written and checked"))


@store.command()
@click.argument("target", type=click.Path(path_type=Path))
@json_option
@store_option
def recover(target: Path, as_json: bool, store: str | None) -> int:
    """Copy what can be read of a damaged store to the new file TARGET; exit code 1 where something is missing."""
    from sidecar.store.sqlite import care

    with one_line_errors():
        done = care.recover(_file(store), target, lambda table: err().print(plain(table, "dim")))
    if as_json:
        print_json({"rows": done.rows, "lostRanges": done.lost_ranges, "findings": _findings_json(done.findings)})
    else:
        out().print(plain(f"{done.rows} rows copied, {done.lost_ranges} stretches could not be read"))
        _print_findings(done.findings, False, "every version that came over reads back")
    return 1 if done.findings or done.lost_ranges else 0


@store.command()
@click.argument("history", required=False)
@click.option("--keep-versions", type=click.IntRange(1), help="Keep this many newest versions of each history.")
@click.option("--older-than", type=click.IntRange(0), metavar="DAYS", help="Destroy only what is older.")
@click.option("--to-size", type=click.IntRange(1), metavar="MIB", help="Destroy old versions until this much is left.")
@click.option("--deleted", is_flag=True, help="Destroy deleted histories only: no version of a live one goes.")
@click.option("--purge", is_flag=True, help="Destroy the history itself, without a trace; forks keep what they show.")
@click.option("--dry-run", is_flag=True, help="Only say what would be destroyed.")
@json_option
@store_option
def prune(
    history: str | None,
    keep_versions: int | None,
    older_than: int | None,
    to_size: int | None,
    deleted: bool,
    purge: bool,
    dry_run: bool,
    as_json: bool,
    store: str | None,
) -> None:
    """Destroy old versions for ever; the newest version of a live history always stays.

    DELETED HISTORIES GO WHOLE, whichever rule is given; only --older-than spares those that were deleted later.
    """
    rules = [keep_versions, older_than, to_size]
    if not (deleted or purge or dry_run) and rules == [None] * 3:
        raise Failed(
            "say what may go: --keep-versions, --older-than, --to-size, or --deleted for deleted histories only"
        )
    if deleted and (keep_versions, to_size) != (None, None):
        raise Failed("--deleted destroys no version of a live history: leave out --keep-versions and --to-size")
    if purge and (history is None or dry_run):
        raise Failed("--purge needs the name of a history and has no dry run")
    now = int(time.time() * 1000)
    before = None if older_than is None else now - older_than * DAY

    async def work(opened: Store) -> Pruned:
        if purge:
            assert history is not None
            return await opened.purge(history, at=now)
        keep = keep_versions
        if to_size is not None:
            keep = await _keep_for_size(opened, history, to_size << 20, before, _held(store))
        return await opened.prune(history, keep_versions=keep, before=before, dry_run=dry_run)

    pruned = _with_store(store, work)
    if as_json:
        print_json({"freedBytes": pruned.freed_bytes, "versionsDropped": pruned.versions_dropped, "dryRun": dry_run})
    else:
        would = "would go" if dry_run else "are gone"
        out().print(plain(f"{pruned.versions_dropped} versions and {_amount('bytes', pruned.freed_bytes)} {would}"))


@store.command()
@click.argument("source")
@click.argument("target")
@json_option
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy the whole store SOURCE to the empty store TARGET, file or postgresql://…; go on with an interrupted copy.

    Both sides are read again at the end and every row is compared.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True, disable=as_json or not sys.stderr.isatty()) as progress:
        task = progress.add_task("copying", total=None)

        def advance(table: str, rows: int) -> None:
            progress.update(task, description=table)
            progress.advance(task, rows)

        with one_line_errors():
            copied = asyncio.run(_copy(source, target, advance))
    if as_json:
        print_json(asdict(copied))
    else:
        out().print(plain(f"{copied.histories} histories with {copied.entries} entries copied and compared"))


async def _copy(source: str, target: str, advance: Callable[[str, int], None]) -> Copied:
    stores: list[StoreFront] = []
    for location in (source, target):
        opened = open_store(location)
        assert isinstance(opened, StoreFront)
        stores.append(opened)
    if stores[0].engine == "sqlite" and not Path(source).expanduser().exists():
        raise Failed("there is no store to copy")
    await stores[0].open()
    try:
        await stores[1].open()
        try:
            return await copy_store(stores[0], stores[1], advance)
        finally:
            await stores[1].close()
    finally:
        await stores[0].close()


@store.command()
@json_option
@store_option
def migrate(as_json: bool, store: str | None) -> None:
    """Bring the store to this release's schema; opening it does the same."""

    async def work(opened: Store) -> str:
        return opened.engine

    engine = _with_store(store, work)
    with one_line_errors():
        schema = _facts(_place(store)).schema
    if as_json:
        print_json({"engine": engine, "schema": schema})
    else:
        out().print(plain(f"the {engine} store is at schema {schema}"))


async def _keep_for_size(opened: Store, history: str | None, most: int, before: int | None, held: int) -> int:
    for keep in SIZE_STEPS:
        would = await opened.prune(history, keep_versions=keep, before=before, dry_run=True)
        if held - would.freed_bytes <= most:
            return keep
    return SIZE_STEPS[-1]


def _held(store: str | None) -> int:
    facts = _facts(_place(store))
    return facts.body_bytes + facts.blob_bytes


def _facts(place: str) -> Facts:
    if is_database(place):
        from sidecar.store.postgres import care as databases

        return databases.facts(place)
    from sidecar.store.sqlite import care

    return care.facts(_path(place))


def _with_store(store: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        opened = open_store(settings_from(store).store)
        await opened.open()
        try:
            return await work(opened)
        finally:
            await opened.close()

    with one_line_errors():
        return asyncio.run(run())


def _place(store: str | None) -> str:
    place = settings_from(store).store
    if place == ":memory:":
        raise Failed("a store in memory has nothing to look after")
    return place


def _file(store: str | None) -> Path:
    place = _place(store)
    if is_database(place):
        raise Failed("this is for SQLite files", "pg_dump backs up a database; `store copy` brings it into a file")
    return _path(place)


def _path(place: str) -> Path:
    return Path(place).expanduser().absolute()


def _findings_json(findings: tuple[Finding, ...]) -> list[Json]:
    return [asdict(finding) for finding in findings]


def _print_findings(findings: tuple[Finding, ...], as_json: bool, well: str) -> None:
    if as_json:
        print_json({"ok": not findings, "findings": _findings_json(findings)})
        return
    for finding in findings:
        where = f"{finding.history} at version {finding.version}: " if finding.history else ""
        out().print(plain(f"{where}{finding.problem}"))
    if not findings:
        out().print(plain(well))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _amount(name: str, value: int | str) -> str:
    if isinstance(value, str) or "bytes" not in name:
        return str(value)
    size = float(value)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")
