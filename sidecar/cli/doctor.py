"""`doctor` and `completion`: is everything here that a sidecar needs, and shell completion."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from attrs import frozen

from sidecar import __version__
from sidecar.cli.discovery import discover
from sidecar.cli.output import all_heads, json_option, out, plain, print_json, store_option
from sidecar.client import ConnectionLost, Sidecar
from sidecar.config import FOLDERS_VARIABLE, LOG_VARIABLE, MASK_VARIABLE, STORE_VARIABLE, settings_from
from sidecar.core.errors import SidecarError
from sidecar.service import HistoryService
from sidecar.store import open_store

_LIBRARIES = ("pygls", "lsprotocol", "cattrs", "attrs", "apsw", "msgspec", "click", "rich")
_SHELLS = ("bash", "zsh", "fish")


@frozen
class _Finding:
    """One line of the report; `state` is `ok`, `warning` or `error`."""

    name: str
    state: str
    text: str


@click.command()
@json_option
@store_option
def doctor(as_json: bool, store: str | None) -> int:
    """Report on the installation, the store and the tools found here; exit code 1 where something is broken."""
    findings = list(_examine(store))
    if as_json:
        print_json([{"name": found.name, "state": found.state, "text": found.text} for found in findings])
    else:
        marks = {"ok": ("ok", "green"), "warning": ("warn", "yellow"), "error": ("FAIL", "bold red")}
        console = out()
        for found in findings:
            mark, colour = marks[found.state]
            console.print(plain(f"{mark:<5}", colour), plain(f"{found.name:<12}"), plain(found.text))
    return 1 if any(found.state == "error" for found in findings) else 0


def _examine(store: str | None) -> Iterator[_Finding]:
    python = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield _Finding("version", "ok", f"history-sidecar {__version__}, {python}")
    for name in _LIBRARIES:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield _Finding(name, "error", "is not installed")
        else:
            yield _Finding(name, "ok", found)
    for variable in (STORE_VARIABLE, FOLDERS_VARIABLE, MASK_VARIABLE, LOG_VARIABLE):
        if value := os.environ.get(variable):
            # A database URL may hold a password.
            yield _Finding("environment", "ok", f"{variable} is set" + ("" if "://" in value else f": {value}"))
    place = settings_from(store).store
    yield from _store(place)
    yield from _spawn(place)
    counts = Counter(found.format for found in discover())
    tools = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    yield _Finding("tools", "ok", f"conversations found: {tools}" if tools else "no conversations of other tools found")


def _store(place: str) -> Iterator[_Finding]:
    is_file = "://" not in place and place != ":memory:"
    shown = place if "://" not in place else place.split("://", 1)[0] + "://…"
    path = Path(place)
    if is_file and path.exists():
        yield from _permissions(path)
    try:
        engine, count, entries = asyncio.run(_count(place))
    except SidecarError as error:
        yield _Finding("store", "error", f"{shown}: {error.message}")
        return
    yield _Finding("store", "ok", f"{shown}: {engine}, {count} histories, {entries} entries")
    if is_file:
        free = shutil.disk_usage(path.parent if path.parent.exists() else Path.home()).free
        state = "warning" if free < 500_000_000 else "ok"
        yield _Finding("disk", state, f"{free / 1e9:.1f} GB free")


async def _count(place: str) -> tuple[str, int, int]:
    opened = open_store(place)
    async with HistoryService(opened) as service:
        heads = await all_heads(service.session("doctor"))
        return opened.engine, len(heads), sum(head.len for head in heads)


def _permissions(path: Path) -> Iterator[_Finding]:
    if sys.platform == "win32":
        return
    for place, wanted in ((path, 0o600), (path.parent, 0o700)):
        mode = stat.S_IMODE(place.stat().st_mode)
        if mode & 0o077 and (place == path or place.name == "history-sidecar"):
            yield _Finding("permissions", "warning", f"{place} is {mode:04o}, others can read it; wanted {wanted:04o}")
        elif place == path:
            yield _Finding("permissions", "ok", f"{place.name} is {mode:04o}")


def _spawn(place: str) -> Iterator[_Finding]:
    began = time.perf_counter()
    try:
        with Sidecar.spawn(store=place, name="doctor", timeout=30) as sidecar:
            info = sidecar.call("sidecar/info")
            seconds = time.perf_counter() - began
    except (ConnectionLost, TimeoutError, SidecarError, OSError) as error:
        yield _Finding("server", "error", f"does not answer: {error}")
        return
    vendors = len(info.get("vendors") or ())
    yield _Finding("server", "ok", f"answers {seconds * 1000:.0f} ms after it was started, {vendors} vendors")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for SHELL, to be sourced by it."""
    from click.shell_completion import get_completion_class

    from sidecar.cli import COMPLETION
    from sidecar.cli.app import app

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "history-sidecar", COMPLETION).source())
