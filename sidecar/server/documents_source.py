"""Make documents out of what the sidecar's own methods answer.

Rules: everything is read through `call`, the methods that clients use, so a document can never show what a client
could not read. Long work yields to the loop, since mutations must not wait for a rendering.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from attrs import evolve, frozen

from sidecar.core.errors import HistoryNotFound, VersionUnavailable
from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry
from sidecar.render import Span, render_markdown
from sidecar.render.document import pretty
from sidecar.render.escape import visible
from sidecar.server.documents_model import PAGE, PAGE_TOKENS, Address, Document

Call = Callable[[str, dict[str, Json]], Awaitable[Json]]

ABSENT_TEXT = "*[this history does not exist or is empty]*\n"


@frozen(kw_only=True)
class Page:
    """Entries of one version of a history, and their outline rows."""

    version: int
    length: int
    start: int
    entries: tuple[Entry, ...]
    raw: tuple[Json, ...]
    rows: tuple[Mapping[str, Json], ...]


async def read_page(call: Call, address: Address) -> Page:
    """Read the page that the address names; its rows first, since they say how many of its entries are not too much."""
    history = address.history
    start, count = address.start, PAGE
    if start is None and address.end is not None:
        start = max(0, address.end - PAGE)
        count = address.end - start
    params: dict[str, Json] = {"history": history, "start": -PAGE if start is None else start, "count": count}
    params |= {} if address.at_version is None else {"atVersion": address.at_version}
    try:
        outline = await call("history/outline", params)
    except HistoryNotFound:
        return Page(version=0, length=0, start=0, entries=(), raw=(), rows=())
    version, length = int(outline["version"]), int(outline["len"])
    rows = fitting(outline["data"], from_end=address.start is None)
    first = int(rows[0]["index"]) if rows else length
    raw = await read_entries(call, history, start=first, count=len(rows), at_version=version)
    entries = tuple([entry_from_json(item) for item in raw])
    described = [{**row, "agent": entry.agent} for row, entry in zip(rows, entries, strict=False)]
    return Page(
        version=version,
        length=length,
        start=first,
        entries=entries[: len(described)],
        raw=tuple(raw[: len(described)]),
        rows=tuple(described),
    )


async def read_entries(call: Call, history: str, *, start: int, count: int, at_version: int) -> list[Json]:
    """Read stored entries as JSON, in as many answers as the message limit wants."""
    found: list[Json] = []
    while len(found) < count:
        params = {"history": history, "start": start + len(found), "count": count - len(found), "atVersion": at_version}
        answer = await call("history/snapshot", params)
        # The overlay of auto-injected entries is shown in a snapshot only; a document shows what is stored.
        stored = [item for item in answer["entries"] if not item.get("autoInjected")]
        if not stored:
            break
        found += stored
    return found


def fitting(rows: Sequence[Mapping[str, Json]], *, from_end: bool) -> list[Mapping[str, Json]]:
    """Return the rows that one document shows: as many as `PAGE_TOKENS` allow, at least one."""
    shown = list(reversed(rows)) if from_end else list(rows)
    totals = accumulate(int(row["tokens"] or 0) for row in shown)
    shown = shown[: max(1, sum(total <= PAGE_TOKENS for total in totals))]
    return shown[::-1] if from_end else shown


async def read_document(call: Call, uri: str, address: Address, *, with_tokens: bool = True) -> Document:
    """Read what the address names, as it is now or at its version."""
    if address.form == "projection":
        return await _projection(call, uri, address)
    page = await read_page(call, address)
    if address.form == "raw":
        lines = [dumpb(item).decode("utf-8") for item in page.raw]
        spans = [Span(entry_id=entry.id, start_line=at, end_line=at + 1) for at, entry in enumerate(page.entries)]
        text = "".join(f"{line}\n" for line in lines)
        return _document(uri, address, page, text, spans)
    await asyncio.sleep(0)
    rendered = render_markdown(
        page.entries,
        start=page.start,
        title=address.history,
        version=page.version,
        tokens=[row.get("tokens") for row in page.rows] if with_tokens else None,
        elided=[str(row["id"]) for row in page.rows if row.get("elided")],
    )
    head, _, body = rendered.text.partition("\n\n")
    note = _note(address, page)
    if note is None:
        return _document(uri, address, page, rendered.text, rendered.map, rendered.parts)
    # One more paragraph between the title and the first entry.
    text = f"{head}\n\n{note}\n\n{body}"
    return _document(
        uri,
        address,
        page,
        text,
        [_moved(span, 2) for span in rendered.map],
        [_moved(part, 2) for part in rendered.parts],
    )


def _note(address: Address, page: Page) -> str | None:
    if not page.entries:
        return ABSENT_TEXT.strip()
    notes: list[str] = []
    others = f"history:///{address.history}.md?"
    if address.at_version is not None:
        notes.append(f"version {page.version}")
        others += f"atVersion={page.version}&"
    if page.start > 0:
        notes.append(f"{page.start} earlier entries: {others}end={page.start}")
    end = page.start + len(page.entries)
    if end < page.length:
        notes.append(f"{page.length - end} later entries: {others}start={end}")
    return f"*[{'; '.join(notes)}]*" if notes else None


def _moved(piece: Any, by: int) -> Any:
    return evolve(piece, start_line=piece.start_line + by, end_line=piece.end_line + by)


def _document(
    uri: str, address: Address, page: Page, text: str, spans: Sequence[Span], parts: Sequence[Any] = ()
) -> Document:
    return Document(
        uri=uri,
        history=address.history,
        form=address.form,
        version=page.version,
        text=text,
        spans=tuple(spans),
        parts=tuple(parts),
        rows=page.rows,
        live=address.at_version is None,
        is_whole=len(page.entries) == page.length,
    )


async def _projection(call: Call, uri: str, address: Address) -> Document:
    params: dict[str, Json] = {"vendor": address.vendor, "history": address.history}
    params |= {} if address.at_version is None else {"atVersion": address.at_version}
    try:
        answer = await call("wire/project", params)
    except HistoryNotFound:
        answer = {"version": 0, "body": {}}
    await asyncio.sleep(0)
    return Document(
        uri=uri,
        history=address.history,
        form="projection",
        vendor=address.vendor,
        version=int(answer.get("version") or 0),
        text=_json_text(answer["body"]) + "\n",
        live=address.at_version is None,
    )


def _json_text(value: Json) -> str:
    """Indented JSON; what could hide or move text is written as an escape, so that it stays valid JSON."""
    text = pretty(value)
    if text.isascii():
        return text
    return "".join(char if char == "\n" or visible(char) == char else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


async def version_before(call: Call, history: str, entry_id: str, version: int) -> int | None:
    """Return the version before the splice that brought this summary in; `None` where that is not known any more.

    It is the newest splice whose result holds the entry while the version before it does not.
    """
    cursor: str | None = None
    for _ in range(20):
        params: dict[str, Json] = {"history": history, "limit": 200} | ({"cursor": cursor} if cursor else {})
        answer = await call("history/versions", params)
        for change in answer["data"]:
            if int(change["version"]) > version or change["kind"] != "splicePrefix":
                continue
            before = int(change["version"]) - 1
            try:
                if await _holds(call, history, entry_id, before + 1) and not await _holds(
                    call, history, entry_id, before
                ):
                    return before
            except VersionUnavailable:
                return None
        cursor = answer.get("nextCursor")
        if not cursor:
            break
    return None


async def _holds(call: Call, history: str, entry_id: str, version: int) -> bool:
    # A summary stands at the head, behind what was carried: a page is more than enough.
    answer = await call("history/outline", {"history": history, "start": 0, "count": 100, "atVersion": version})
    return any(row["id"] == entry_id for row in answer["data"])
