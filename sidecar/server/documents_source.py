"""Make documents out of what the sidecar's own methods answer.

Rules: everything is read through `call`, the methods that clients use, so a document can never show what a client
could not read. Long work yields to the loop, since mutations must not wait for a rendering.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from sidecar.core.errors import HistoryNotFound, VersionUnavailable
from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry
from sidecar.render import Span, render_markdown
from sidecar.render.document import pretty
from sidecar.render.escape import visible
from sidecar.server.documents_model import PAGE, Address, Document

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


async def read_page(call: Call, history: str, *, at_version: int | None, start: int | None, count: int) -> Page:
    """Read `count` entries from `start`, or the newest `count`; all of one version."""
    params: dict[str, Json] = {"history": history, "count": count}
    params |= {"start": -count} if start is None else {"start": start}
    params |= {} if at_version is None else {"atVersion": at_version}
    try:
        answer = await call("history/snapshot", params)
    except HistoryNotFound:
        return Page(version=0, length=0, start=0, entries=(), raw=(), rows=())
    version, length, first = int(answer["version"]), int(answer["len"]), int(answer.get("start") or 0)
    raw: list[Json] = list(answer["entries"])
    wanted = min(count, length - first)
    while len(raw) < wanted:
        more = await call(
            "history/snapshot",
            {"history": history, "start": first + len(raw), "count": wanted - len(raw), "atVersion": version},
        )
        if not more["entries"]:
            break
        raw += more["entries"]
    rows: list[Json] = []
    while len(rows) < len(raw):
        outline = await call(
            "history/outline",
            {"history": history, "start": first + len(rows), "count": len(raw) - len(rows), "atVersion": version},
        )
        if not outline["data"]:
            break
        rows += outline["data"]
    # The overlay of auto-injected entries is shown in a snapshot only; a document shows what is stored.
    stored = [item for item in raw if not item.get("autoInjected")]
    entries = tuple([entry_from_json(item) for item in stored])
    described = [{**row, "agent": entry.agent} for row, entry in zip(rows, entries, strict=False)]
    return Page(
        version=version,
        length=length,
        start=first,
        entries=entries[: len(described)],
        raw=tuple(stored[: len(described)]),
        rows=tuple(described),
    )


async def read_document(call: Call, uri: str, address: Address, *, with_tokens: bool = True) -> Document:
    """Read what the address names, as it is now or at its version."""
    if address.form == "projection":
        return await _projection(call, uri, address)
    page = await read_page(call, address.history, at_version=address.at_version, start=address.start, count=PAGE)
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
    if address.at_version is not None:
        notes.append(f"version {page.version}")
    if page.start > 0:
        previous = max(0, page.start - PAGE)
        notes.append(f"{page.start} earlier entries: history:///{address.history}.md?start={previous}")
    end = page.start + len(page.entries)
    if end < page.length:
        notes.append(f"{page.length - end} later entries: history:///{address.history}.md?start={end}")
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
