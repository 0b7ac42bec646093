"""`list`, `show`, `append`, `search`, `versions`, `fork`, `rename`, `delete`, `revert`: histories for people."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from rich.console import Console

from sidecar.cli.output import (
    NAME,
    ROLE_COLOURS,
    Failed,
    all_heads,
    json_option,
    out,
    plain,
    print_json,
    store_option,
    table,
    when,
    with_session,
    write_text,
)
from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, loads
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Assistant, Audio, Block, Entry, File, Image, Refusal, Text, Tool, User
from sidecar.core.names import check_name
from sidecar.render.document import argument_text, media_label, pretty, reasoning_label, structured
from sidecar.service import Conditions, Session, Window, token_estimate
from sidecar.store.base import Applied, Delta, Head

_FOLLOW_SECONDS = 0.25


def head_json(head: Head) -> dict[str, Json]:
    """Return a history's facts as `history/info` does."""
    return {
        "history": head.history,
        "version": head.version,
        "len": head.len,
        "title": head.title,
        "createdAt": head.created_at,
        "updatedAt": head.updated_at,
        "tokenEstimate": token_estimate(head),
        "tags": list(head.tags),
        "metadata": dict(head.metadata),
    }


def done(applied: Applied, as_json: bool, words: str, **more: Json) -> None:
    """Print what a change did."""
    if as_json:
        print_json({**head_json(applied.head), "replayed": applied.replayed, **more})
    else:
        out().print(plain(words))


# --- list and search --------------------------------------------------------------------------------------------------


@click.command(name="list")
@click.argument("prefix", default="", type=NAME)
@click.option("--limit", type=click.IntRange(1), help="Show at most so many, newest first.")
@json_option
@store_option
def list_histories(prefix: str, limit: int | None, as_json: bool, store: str | None) -> None:
    """List histories, newest first."""

    async def run(session: Session) -> list[Head]:
        return await all_heads(session, prefix, limit)

    heads = with_session(run)(store)
    if as_json:
        print_json([head_json(head) for head in heads])
    elif not heads:
        out().print(
            "no histories" + (" with this prefix" if prefix else "; `history-sidecar import --discover` finds some")
        )
    else:
        rows = [
            (
                head.history,
                str(head.len),
                str(head.version),
                _count(token_estimate(head)),
                when(head.updated_at),
                head.title or "",
            )
            for head in heads
        ]
        table(
            ("NAME", "ENTRIES", "VERSION", "TOKENS", "CHANGED", "TITLE"), rows, numbers=("ENTRIES", "VERSION", "TOKENS")
        )


def _count(tokens: int | None) -> str:
    if tokens is None:
        return "–"
    return str(tokens) if tokens < 10_000 else f"{tokens / 1000:.0f}k"


@click.command()
@click.argument("query")
@click.option("--prefix", default="", type=NAME, help="Only histories whose name begins so.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1))
@json_option
@store_option
def search(query: str, prefix: str, limit: int, as_json: bool, store: str | None) -> int:
    """Find entries by their text."""

    async def run(session: Session) -> Sequence[Any]:
        return (await session.search(query, prefix=prefix, limit=limit)).rows

    hits = with_session(run)(store)
    if as_json:
        print_json(
            [
                {
                    "history": hit.history,
                    "entryId": hit.entry_id,
                    "index": hit.index,
                    "snippet": hit.snippet,
                    "rank": hit.rank,
                }
                for hit in hits
            ]
        )
    else:
        console = out()
        for hit in hits:
            console.print(plain(f"{hit.history}:{hit.index}", "bold"), plain(" ".join(hit.snippet.split())))
        if not hits:
            console.print("nothing found")
    return 0 if hits else 1


# --- show -------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("name", type=NAME)
@click.option("--version", "at_version", type=click.IntRange(1), help="An older version.")
@click.option("--last", type=click.IntRange(1), help="Only the last entries.")
@click.option("--follow", "-f", is_flag=True, help="Go on with what is appended, until interrupted.")
@click.option("--pager/--no-pager", default=None, help="Page long output (default: on a terminal).")
@json_option
@store_option
def show(
    name: str,
    at_version: int | None,
    last: int | None,
    follow: bool,
    pager: bool | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Show a conversation."""
    if follow and at_version is not None:
        raise click.UsageError("--follow shows the newest version; --version cannot be combined with it")

    async def run(session: Session) -> None:
        head = await session.head(name)
        if follow:
            await _follow(session, name, max(0, head.len - last) if last else 0, as_json)
        parsed = await session.entries(name, at_version)
        start = max(0, len(parsed.entries) - last) if last else 0
        entries = parsed.entries[start:]
        if as_json:
            bodies = [loads(row.body) for row in parsed.rows[start:]]
            facts = {"history": name, "version": parsed.version, "len": len(parsed.rows), "title": head.title}
            print_json({**facts, "start": start, "entries": bodies})
        else:
            console = out()
            paged = pager if pager is not None else console.is_terminal
            if paged:
                with console.pager(styles=not console.no_color):
                    _print_entries(console, entries, start)
            else:
                _print_entries(console, entries, start)

    with_session(run)(store)


async def _follow(session: Session, name: str, start: int, as_json: bool) -> NoReturn:
    console = out()

    def show(bodies: Sequence[bytes], index: int) -> None:
        for at, body in enumerate(bodies, index):
            if as_json:
                write_text(body.decode("utf-8") + "\n")
            else:
                _print_entries(console, [entry_from_json(loads(body))], at)

    def tell(what: str) -> None:
        if not as_json:
            console.print(plain(f"── {what} ──", "dim"))

    async def show_whole(at: int) -> tuple[int, int]:
        version: int | None = None
        while True:
            window = await session.snapshot(name, start=at, at_version=version)
            assert isinstance(window, Window)
            show(window.bodies, at)
            version, at = window.version, at + len(window.bodies)
            if at >= window.len or not window.bodies:
                return version, at

    version, shown = await show_whole(start)
    while True:
        await asyncio.sleep(_FOLLOW_SECONDS)
        found = await session.snapshot(name, since_version=version)
        if isinstance(found, Window):
            # Too much has changed for a delta, or the version shown last is gone.
            tell("the history changed, here it is anew")
            version, shown = await show_whole(0)
        elif isinstance(found, Delta):
            for edit in found.edits:
                if edit.delete_count or edit.start < shown:
                    tell(f"changed at {edit.start}: {edit.delete_count} entries taken out")
                show(edit.bodies, edit.start)
            version, shown = found.version, found.len


def _print_entries(console: Console, entries: Sequence[Entry], start: int) -> None:
    for index, entry in enumerate(entries, start):
        words = [f"{index}. {entry.role}"]
        message = entry.message
        if isinstance(message, Tool):
            words += [message.name] if message.name else []
            words += ["error"] if message.is_error else []
        words += [entry.agent] if entry.agent else []
        words += [when(entry.ts)] if entry.ts is not None else []
        colour = "bold red" if isinstance(message, Tool) and message.is_error else ROLE_COLOURS[entry.role]
        console.print(plain(" · ".join(words), colour))
        if isinstance(message, Assistant):
            for part in message.reasoning:
                console.print(plain(part.text.strip() if part.text else f"[{reasoning_label(part)}]", "italic dim"))
        if isinstance(message, User | Tool | Assistant):
            blocks = message.blocks if isinstance(message, Assistant) else message.content
            for block in blocks:
                _print_block(console, block)
        else:
            console.print(plain(message.text.rstrip()))
        for call in entry.tool_calls:
            console.print(plain(f"→ {call.name}", "yellow"), plain(argument_text(call.arguments)))
        console.print()


def _print_block(console: Console, block: Block) -> None:
    if isinstance(block, Text | Refusal):
        if block.text.strip():
            console.print(plain(block.text.rstrip()))
    elif isinstance(block, Image | File | Audio):
        console.print(plain(f"[{media_label(block)}]", "dim"))
    else:
        console.print(plain(pretty(structured(block)), "dim"))


@click.command()
@click.argument("name", type=NAME)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1))
@json_option
@store_option
def versions(name: str, limit: int, as_json: bool, store: str | None) -> None:
    """List the versions of a history, newest first."""

    async def run(session: Session) -> Sequence[Any]:
        return (await session.versions(name, limit=limit)).rows

    rows = with_session(run)(store)
    if as_json:
        print_json(
            [
                {"version": row.version, "kind": row.kind, "ts": row.at, "len": row.len, "client": row.actor}
                for row in rows
            ]
        )
    else:
        cells = [(str(row.version), row.kind, str(row.len), when(row.at), row.actor or "") for row in rows]
        table(("VERSION", "CHANGE", "ENTRIES", "WHEN", "BY"), cells, numbers=("VERSION", "ENTRIES"))


# --- changes ----------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("name", type=NAME)
@click.argument("text", required=False)
@click.option(
    "--role",
    default="user",
    show_default=True,
    type=click.Choice(["system", "user", "assistant", "note", "summary", "tool"]),
)
@click.option("--call-id", help="With --role tool: the call that this answers.")
@click.option("--entries", "raw", is_flag=True, help="Read whole entries from stdin: JSON lines or one JSON list.")
@click.option(
    "--if-version", type=click.IntRange(0), help="Only if the history is at this version; 0 = must not exist."
)
@json_option
@store_option
def append(
    name: str,
    text: str | None,
    role: str,
    call_id: str | None,
    raw: bool,
    if_version: int | None,
    as_json: bool,
    store: str | None,
) -> None:
    """Append TEXT (or stdin) to a history; makes the history where there is none."""
    if raw and text is not None:
        raise click.UsageError("--entries reads stdin; leave TEXT out")
    if text is None or text == "-":
        if sys.stdin.isatty() and text is None:
            raise click.UsageError("give TEXT, or `-` to read stdin")
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        text = text if raw else text.removesuffix("\n")
        if not text:
            raise Failed("stdin is empty", "give TEXT, or pipe it in")
    entries = _entries_of(text) if raw else [_entry_of(role, text, call_id)]

    async def run(session: Session) -> Applied:
        return await session.append(name, entries, Conditions(if_version=if_version))

    applied = with_session(run)(store)
    count = f"{len(entries)} entries" if len(entries) != 1 else "1 entry"
    words = f"appended {count} to {name}, now version {applied.head.version} with {applied.head.len} entries"
    done(applied, as_json, words, entryIds=list(applied.entry_ids))


def _entry_of(role: str, text: str, call_id: str | None) -> Entry:
    if role == "tool":
        if not call_id:
            raise click.UsageError("--role tool needs --call-id")
        return Entry.tool(text, call_id)
    if call_id:
        raise click.UsageError("--call-id belongs to --role tool")
    return entry_from_json(
        {"message": {"role": role, "text" if role in ("system", "note", "summary") else "content": text}}
    )


def _entries_of(text: str) -> list[Entry]:
    try:
        values = (
            loads(text)
            if text.lstrip().startswith("[")
            else [loads(line) for line in text.splitlines() if line.strip()]
        )
    except ValueError as error:
        raise Failed(f"stdin is not JSON: {error}") from None
    try:
        entries = [entry_from_json(value, f"/{index}") for index, value in enumerate(values)]
    except InvalidParams as error:
        first = error.data["errors"][0]
        raise Failed(f"entry {first['path']} {first['message']}") from None
    if not entries:
        raise Failed("stdin holds no entries")
    return entries


@click.command()
@click.argument("name", type=NAME)
@click.argument("to")
@click.option("--at-version", type=click.IntRange(1), help="Fork from an older version.")
@click.option("--len", "length", type=click.IntRange(0), help="Take only the first entries.")
@json_option
@store_option
def fork(name: str, to: str, at_version: int | None, length: int | None, as_json: bool, store: str | None) -> None:
    """Start the history TO with what NAME holds."""

    async def run(session: Session) -> Applied:
        return await session.fork(name, check_name(to), at_version=at_version, len=length)

    applied = with_session(run)(store)
    done(applied, as_json, f"forked {name} to {to} with {applied.head.len} entries")


@click.command()
@click.argument("name", type=NAME)
@click.argument("to")
@json_option
@store_option
def rename(name: str, to: str, as_json: bool, store: str | None) -> None:
    """Give a history another name."""

    async def run(session: Session) -> Applied:
        return await session.rename(name, to)

    done(with_session(run)(store), as_json, f"renamed {name} to {to}")


@click.command()
@click.argument("name", type=NAME)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@store_option
def delete(name: str, yes: bool, as_json: bool, store: str | None) -> None:
    """Delete a history."""

    async def run(session: Session) -> Applied:
        head = await session.head(name)
        if not yes:
            if not sys.stdin.isatty():
                raise Failed("nobody to ask", "--yes deletes without asking")
            question = f"Delete {name} with {head.len} entries?"
            if not await asyncio.to_thread(click.confirm, question, err=True):
                raise click.Abort
        return await session.delete(name, Conditions(if_version=head.version))

    applied = with_session(run)(store)
    if as_json:
        print_json({"history": name, "existed": applied.existed, "version": applied.head.version})
    else:
        out().print(plain(f"deleted {name}"))


@click.command()
@click.argument("name", type=NAME)
@click.argument("version", type=click.IntRange(1))
@json_option
@store_option
def revert(name: str, version: int, as_json: bool, store: str | None) -> None:
    """Bring back what a history held at VERSION, as a new version."""

    async def run(session: Session) -> Applied:
        return await session.revert(name, version)

    applied = with_session(run)(store)
    words = f"{name} is now at version {applied.head.version} with the content of {version}, {applied.head.len} entries"
    done(applied, as_json, words)
