"""The journal as change events, in commit order."""

from __future__ import annotations

from collections.abc import Iterator

from sidecar.core.errors import StorageCorrupt
from sidecar.core.layouts import clip, length
from sidecar.store.base import REPLACED, ChangeEvent, StoredEdit
from sidecar.store.transaction import HistoryRow, Reader, VersionRecord
from sidecar.store.views import edits_between

MAX_ENTRIES = 2000
"""A change that brings more entries is told without them: the receiver reads for itself."""


def events_since(tx: Reader, last: tuple[int, int]) -> tuple[list[ChangeEvent], tuple[int, int]]:
    """Return the events of every change behind the cursor `last`, and the new cursor."""
    events: list[ChangeEvent] = []
    for cursor, newest_name, record, local in tx.changes_since(last):
        events += _events(tx, newest_name, record, local)
        last = cursor
    return events, last


def replaced_event(row: HistoryRow) -> ChangeEvent:
    """Return the event that makes everybody read a history again, because the whole store is another one."""
    return ChangeEvent(
        history=row.name,
        version=row.version,
        previous_version=0,
        len=row.len,
        kind=REPLACED,
        at=row.updated_at,
        local=False,
    )


def _events(tx: Reader, newest_name: str, record: VersionRecord, local: bool) -> Iterator[ChangeEvent]:
    # The name the history had after this change is what the next rename renamed.
    name = tx.next_rename(record.hid, record.version) or newest_name
    if record.renamed_from is not None:
        yield _event(record, record.renamed_from, local, deleted=True, renamed_to=name)
        yield _event(record, name, local, previous=0)
    elif record.kind == "delete":
        yield _event(record, name, local, deleted=True)
    else:
        yield _event(record, name, local, edits=_edits(tx, record))


def _event(
    record: VersionRecord,
    name: str,
    local: bool,
    *,
    previous: int | None = None,
    edits: tuple[StoredEdit, ...] | None = None,
    deleted: bool = False,
    renamed_to: str | None = None,
) -> ChangeEvent:
    return ChangeEvent(
        history=name,
        version=record.version,
        previous_version=record.previous if previous is None else previous,
        len=record.len,
        kind=record.kind,
        at=record.at,
        local=local,
        edits=edits,
        deleted=deleted,
        renamed_to=renamed_to,
        operation_id=record.operation_id,
        actor=record.actor,
    )


def _edits(tx: Reader, record: VersionRecord) -> tuple[StoredEdit, ...] | None:
    before = tx.version(record.hid, record.previous) if record.previous else None
    if record.previous and before is None:
        return None  # pruned meanwhile
    try:
        old = () if before is None else clip(tx.layout(record.hid, before.layout), before.len)
        new = clip(tx.layout(record.hid, record.layout), record.len)
        if length(new) - length(old) > MAX_ENTRIES:
            return None
        return edits_between(tx, old, new)
    except StorageCorrupt:
        return None  # who reads it is told; the feed of the other histories goes on
