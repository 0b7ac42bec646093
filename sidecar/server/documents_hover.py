"""What a hover says about an entry: tokens, who and when, and how each configured vendor will see it.

Rules: every text of the transcript or the user is escaped, since editors render hovers as Markdown. A hover in a page
of a long history waits for nothing that reads the whole of it: tokens come from the store's running sums, and what
vendors make of the history is worked out afterwards, once per version and one thing after the other; the next hover
finds it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import Json
from sidecar.render.document import time_of
from sidecar.render.escape import code, one_line, prose
from sidecar.server.documents_model import Document
from sidecar.server.documents_source import Call
from sidecar.wire.base import Loss, Repair

PENDING = "still being worked out"

_KEPT = 32

Notes: TypeAlias = Mapping[str | None, list[str]]
Violations: TypeAlias = list[Mapping[str, Json]]
Changes: TypeAlias = Callable[[str, str, int], Awaitable[tuple[Sequence[Loss], Sequence[Repair]]]]
"""What a projection loses and repairs, by vendor, history and version."""


class Views:
    """What vendors make of whole versions, the last few; whoever asks first starts the work, others share it."""

    def __init__(self, call: Call, changes: Changes) -> None:
        self._call = call
        self._changes = changes
        self._kept: OrderedDict[Hashable, asyncio.Task[Any]] = OrderedDict()
        # Threads that compete for the interpreter would hold up the loop, and with it every other answer.
        self._turn = asyncio.Lock()

    def notes(self, document: Document, vendor: str) -> asyncio.Task[Notes]:
        """Return by entry what this vendor's projection loses and repairs."""
        return self._once((document.history, document.version, vendor), lambda: self._notes(document, vendor))

    def violations(self, document: Document, vendors: Sequence[str]) -> asyncio.Task[Violations]:
        """Return what the vendors would refuse."""
        key = (document.history, document.version, tuple(vendors))
        return self._once(key, lambda: self._violations(document, vendors))

    def _once(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> asyncio.Task[Any]:
        if key not in self._kept:
            self._kept[key] = task = asyncio.ensure_future(work())
            task.add_done_callback(lambda done: self._forget_failure(key, done))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _forget_failure(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if (task.cancelled() or task.exception() is not None) and self._kept.get(key) is task:
            del self._kept[key]

    async def _violations(self, document: Document, vendors: Sequence[str]) -> Violations:
        params = {"history": document.history, "vendors": list(vendors), "atVersion": document.version}
        async with self._turn:
            answer = await self._call("wire/check", params)
        return list(answer["violations"])

    async def _notes(self, document: Document, vendor: str) -> Notes:
        async with self._turn:
            losses, repairs = await self._changes(vendor, document.history, document.version)
        notes: dict[str | None, list[str]] = {}
        for loss in losses:
            notes.setdefault(loss.entry_id, []).append(f"{loss.rule} {loss.message}")
        for repair in repairs:
            notes.setdefault(repair.entry_id, []).append(f"{repair.rule} {repair.action}: {repair.message}")
        return notes


@frozen(kw_only=True)
class Facts:
    """What the document does not say of the entry.

    `sender` is what the connection that asks knows of it: a sender is never stored, so for what another connection or
    process appended, and after a restart, it is `""`. Tokens are `None` where the store has no such entry.
    """

    sender: str = ""
    tokens: int | None = None
    total: int | None = None
    """Tokens of the entry and all before it."""


async def hover_text(views: Views, document: Document, at: int, vendors: Sequence[str], known: Facts) -> str:
    """Return the hover of the entry at this position of the document."""
    row = document.rows[at]
    facts = [code(str(row["agent"]))] if row.get("agent") else []
    facts += [f"from {code(known.sender)}"] if known.sender else []
    facts += [time_of(int(row["ts"]))] if row.get("ts") is not None else []
    facts += ["pinned"] if row.get("pinned") else []
    facts += ["elided: a projection shows a placeholder"] if row.get("elided") else []
    lines = [" · ".join([f"**{row['index']}. {row['role']}**", *facts])]
    if known.tokens is not None:
        lines.append(f"{known.tokens} tokens, {known.total} with all before it")
    if vendors:
        seen = await _seen(views, document, str(row["id"]), vendors)
        lines.append("How vendors will see it:\n\n" + "\n".join(seen))
    return "\n\n".join(lines)


async def _seen(views: Views, document: Document, entry_id: str, vendors: Sequence[str]) -> list[str]:
    checked = views.violations(document, vendors)
    noted = [views.notes(document, vendor) for vendor in vendors]
    if document.is_whole:
        await asyncio.wait((checked, *noted))
    return [
        f"- {vendor}: {_view(vendor, entry_id, notes, checked)}" for vendor, notes in zip(vendors, noted, strict=True)
    ]


def _view(vendor: str, entry_id: str, noted: asyncio.Task[Notes], checked: asyncio.Task[Violations]) -> str:
    try:
        if not noted.done():
            return PENDING
        if entry_id in (notes := noted.result()):
            return _line("; ".join(notes[entry_id]))
        if not checked.done():
            return PENDING
        found = checked.result()
    except SidecarError as error:
        return _line(error.message)
    refused = [str(item["message"]) for item in found if item["vendor"] == vendor and item["entryId"] == entry_id]
    return f"as it is, but unrepaired it would be refused: {_line('; '.join(refused))}" if refused else "as it is"


def _line(text: str) -> str:
    return " ".join(prose(one_line(text, 1000)))
