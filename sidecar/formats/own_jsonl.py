"""Our own transcripts: one entry per line, in the form that a store keeps and `history/snapshot` answers.

Rules: lossless. Ids, times and every field a newer release may have written come back equal; runtime-only fields
(`sender`, `autoInjected`) are not taken over. Export writes exactly one line per entry and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import evolve

from sidecar.core.errors import InvalidParams, Unparsable
from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import ROLES, Entry
from sidecar.formats.base import Format, ImportedHistory, ReadOptions, Report, Restart, keep
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    dict_of,
    tag,
)
from sidecar.formats.source import Source


def write(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield one line per entry."""
    for entry in entries:
        yield dumpb(entry_to_json(entry)) + b"\n"


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    if not any(_is_entry(record) for record in Head.of(source).records):
        raise Unparsable("", "no line is an entry")
    yield ImportedHistory(entries=_entries(source, report))


def _is_entry(record: Json) -> bool:
    return isinstance(record, dict) and tag(dict_of(record.get("message")), "role") in ROLES


def _entries(source: Source, report: Report) -> Iterator[Entry | Restart]:
    held: Entry | None = None
    ids: set[str] = set()
    for number, record in source.records(report):
        where = f"line {number}"
        if not isinstance(record, dict) or "message" not in record:
            report.unknown(record, tag(dict_of(record), "type"), where)
            continue
        try:
            entry = entry_from_json(record)
        except InvalidParams as error:
            problem = error.data["errors"][0]
            report.invalid(record, f"is no entry: {problem['path'] or '/'} {problem['message']}", where)
            continue
        if entry.id in ids:
            report.add("duplicateId", "warning", f"{where} repeats an entry id and got a new one", path=where)
            entry = evolve(entry, id="")
        if not entry.id:
            # Ours always have one; what somebody wrote by hand must meet the same id when it is read again.
            entry = evolve(entry, id=hashlib.sha256(b"own-jsonl%d" % number + dumpb(record)).hexdigest()[:32])
        ids.add(entry.id)
        if held is not None:
            yield held
        held = evolve(entry, sender="", auto_injected=False)
        if records := report.take_records():
            held = keep(held, records=records)
    if held is not None:
        yield keep(held, records=report.take_records())


def _detect(head: Head) -> int:
    for record in head.objects[:5]:
        if _is_entry(record) and not ({"type", "uuid", "sessionId"} & record.keys()):
            return 98 if "text" in record["message"] or "content" in record["message"] else 70
    return 0


FORMAT: Final = Format(
    id="own-jsonl", title="History Sidecar entries", extensions=(".jsonl",), detect=_detect, read=_read, streams=True
)
