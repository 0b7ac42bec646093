"""The journal as change events, in commit order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sidecar.core.layouts import clip, length
from sidecar.store.base import ChangeEvent, StoredEdit
from sidecar.store.sqlite.transaction import CHANGE_COLUMNS, SqliteTransaction, version_record
from sidecar.store.transaction import VersionRecord
from sidecar.store.views import edits_between

MAX_ENTRIES = 2000
"""A change that brings more entries is told without them: the receiver reads for itself."""

_COLUMNS = ", ".join(f"change.{name}" for name in CHANGE_COLUMNS.split(", "))


def events_since(tx: SqliteTransaction, last: int) -> tuple[list[ChangeEvent], int]:
    """Return the events of every change after journal row `last`, and the newest row."""
    found: Sequence[Any] = tx.execute(
        f"SELECT change.id, change.writer, history.name, {_COLUMNS} FROM change JOIN history USING(hid)"
        " WHERE change.id > ? ORDER BY change.id",
        (last,),
    ).fetchall()
    events: list[ChangeEvent] = []
    for _, writer, name, *columns in found:
        events += _events(tx, name, version_record(columns), writer == tx.writer)
    return events, found[-1][0] if found else last


def _events(tx: SqliteTransaction, newest_name: str, record: VersionRecord, local: bool) -> Iterator[ChangeEvent]:
    name = _name_then(tx, record, newest_name)
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


def _edits(tx: SqliteTransaction, record: VersionRecord) -> tuple[StoredEdit, ...] | None:
    before = tx.version(record.hid, record.previous) if record.previous else None
    if record.previous and before is None:
        return None  # pruned meanwhile
    old = () if before is None else clip(tx.layout(record.hid, before.layout), before.len)
    new = clip(tx.layout(record.hid, record.layout), record.len)
    if length(new) - length(old) > MAX_ENTRIES:
        return None
    return edits_between(tx, old, new)


def _name_then(tx: SqliteTransaction, record: VersionRecord, newest: str) -> str:
    """Return the name the history had after this change: what the next rename renamed."""
    later = tx.execute(
        "SELECT renamed_from FROM change WHERE hid = ? AND version > ? AND renamed_from IS NOT NULL"
        " ORDER BY version LIMIT 1",
        (record.hid, record.version),
    ).get
    return newest if later is None else str(later)
