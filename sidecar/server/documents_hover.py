"""What a hover says about an entry: tokens, who and when, and how each configured vendor will see it.

Rules: every text of the transcript or the user is escaped, since editors render hovers as Markdown. What is worked out
for a whole version is kept, since the next hover is one mouse move away.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from itertools import accumulate
from typing import Any

from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import Json
from sidecar.render.document import time_of
from sidecar.render.escape import code, one_line, prose
from sidecar.server.documents_model import Document
from sidecar.server.documents_source import Call

PATIENCE = 0.5
"""Seconds that a hover waits for a vendor's view of a long history; the next hover finds it ready."""

_KEPT = 32


class Views:
    """Running totals and vendor views of whole versions, the last few of them."""

    def __init__(self, call: Call, tokens: Callable[[str, int], Awaitable[list[int]]]) -> None:
        self._call = call
        self._tokens = tokens
        self._kept: OrderedDict[tuple[str, int, str], asyncio.Task[Any]] = OrderedDict()

    async def total(self, document: Document, index: int) -> int | None:
        """Return the tokens of all entries up to and including `index`."""
        totals = await self._once(document, "", self._totals)
        return totals[index] if index < len(totals) else None

    async def notes(self, document: Document, vendor: str) -> Mapping[str | None, list[str]] | None:
        """Return by entry what this vendor's projection loses and repairs; `None` while that takes long.

        Raises where it cannot be projected.
        """
        work = self._once(document, vendor, self._notes)
        await asyncio.wait((work,), timeout=PATIENCE)
        return work.result() if work.done() else None

    def _once(
        self, document: Document, vendor: str, work: Callable[[Document, str], Coroutine[Any, Any, Any]]
    ) -> asyncio.Task[Any]:
        key = (document.history, document.version, vendor)
        if key not in self._kept:
            self._kept[key] = asyncio.ensure_future(work(document, vendor))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    async def _totals(self, document: Document, _: str) -> list[int]:
        return list(accumulate(await self._tokens(document.history, document.version)))

    async def _notes(self, document: Document, vendor: str) -> Mapping[str | None, list[str]]:
        params = {"vendor": vendor, "history": document.history, "atVersion": document.version}
        answer = await self._call("wire/project", params)
        notes: dict[str | None, list[str]] = {}
        for loss in answer["losses"]:
            notes.setdefault(loss["entryId"], []).append(f"{loss['rule']} {loss['message']}")
        for repair in answer["repairs"]:
            text = f"{repair['rule']} {repair['action']}: {repair['message']}"
            notes.setdefault(repair["entryId"], []).append(text)
        return notes


async def hover_text(
    views: Views,
    document: Document,
    at: int,
    vendors: Sequence[str],
    violations: Sequence[Mapping[str, Json]],
    sender: str,
) -> str:
    """Return the hover of the entry at this position of the document.

    `sender` is what the connection that asks knows of it: a sender is never stored, so for what another connection or
    process appended, and after a restart, it is `""` and the hover says nothing of it.
    """
    row = document.rows[at]
    index, entry_id = int(row["index"]), str(row["id"])
    facts = [code(str(row["agent"]))] if row.get("agent") else []
    facts += [f"from {code(sender)}"] if sender else []
    facts += [time_of(int(row["ts"]))] if row.get("ts") is not None else []
    facts += ["pinned"] if row.get("pinned") else []
    facts += ["elided: a projection shows a placeholder"] if row.get("elided") else []
    lines = [" · ".join([f"**{index}. {row['role']}**", *facts])]
    if row.get("tokens") is not None:
        total = await views.total(document, index)
        running = f", {total} with all before it" if total is not None else ""
        lines.append(f"{row['tokens']} tokens{running}")
    seen = await asyncio.gather(*[_seen(views, document, vendor, entry_id, violations) for vendor in vendors])
    if seen:
        views_shown = [f"- {vendor}: {text}" for vendor, text in zip(vendors, seen, strict=True)]
        lines.append("How vendors will see it:\n\n" + "\n".join(views_shown))
    return "\n\n".join(lines)


async def _seen(
    views: Views, document: Document, vendor: str, entry_id: str, violations: Sequence[Mapping[str, Json]]
) -> str:
    try:
        notes = await views.notes(document, vendor)
    except SidecarError as error:
        return _line(error.message)
    if notes is None:
        return "still being worked out"
    if entry_id in notes:
        return _line("; ".join(notes[entry_id]))
    refused = [str(item["message"]) for item in violations if item["vendor"] == vendor and item["entryId"] == entry_id]
    return f"as it is, but unrepaired it would be refused: {_line('; '.join(refused))}" if refused else "as it is"


def _line(text: str) -> str:
    return " ".join(prose(one_line(text, 1000)))
