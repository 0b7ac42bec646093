"""Fix everything that vendors would refuse, as one change.

Rules: the edits of all fixes are collected against values first, each fix seeing the result of those before, exactly as
`history/applyEdits` will apply them; then they are applied at the version that was read, or not at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from sidecar.core.edit_text import set_text
from sidecar.core.errors import EntryNotFound
from sidecar.core.jsontext import Json
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Entry
from sidecar.server.documents_source import Call, read_entries

MAX_FIXES = 500
"""Fixes in one change: a history that needs more is fixed by asking again."""


async def fix_all(call: Call, history: str, vendors: Sequence[str], if_version: int | None) -> Json:
    """Apply the first fix of every violation; answer what `history/applyEdits` does, and how many fixes there were."""
    at = await call("history/len", {"history": history})
    version = int(at["version"]) if if_version is None else if_version
    raw = await read_entries(call, history, start=0, count=int(at["len"]), at_version=version) if at["version"] else []
    entries = [entry_from_json(item) for item in raw]
    edits: list[Json] = []
    tried: set[str] = set()
    fixed = 0
    while fixed < MAX_FIXES:
        fix = await _next_fix(call, entries, vendors, tried)
        if fix is None:
            break
        entries = apply_edits(history, entries, fix)
        edits += fix
        fixed += 1
        await asyncio.sleep(0)
    if not edits:
        return {"history": history, "version": at["version"], "len": at["len"], "fixed": 0}
    answer = await call("history/applyEdits", {"history": history, "ifVersion": version, "edits": edits})
    return {**answer, "fixed": fixed}


async def _next_fix(call: Call, entries: Sequence[Entry], vendors: Sequence[str], tried: set[str]) -> list[Json] | None:
    if not entries:
        return None
    stored = [entry_to_json(entry) for entry in entries]
    answer = await call("wire/check", {"entries": stored, "vendors": list(vendors)})
    for violation in answer["violations"]:
        for fix in violation["fixes"][:1]:
            # A fix that did not cure what it promised to must not be tried for ever.
            key = repr((violation["rule"], violation["entryId"], fix["edits"]))
            if key not in tried:
                tried.add(key)
                return list(fix["edits"])
    return None


def apply_edits(history: str, entries: Sequence[Entry], edits: Sequence[Mapping[str, Json]]) -> list[Entry]:
    """Return the entries after the edits, as `history/applyEdits` does."""
    found = list(entries)
    for edit in edits:
        if edit["kind"] == "splice":
            start, count = int(edit["start"]), int(edit["deleteCount"])
            found[start : start + count] = [entry_from_json(item) for item in edit["entries"]]
            continue
        at = next((at for at, entry in enumerate(found) if entry.id == edit["entryId"]), None)
        if at is None:
            raise EntryNotFound(history, str(edit["entryId"]))
        if edit["kind"] == "remove":
            del found[at]
        else:
            found[at] = set_text(found[at], edit["text"], edit.get("block"))
    return found
