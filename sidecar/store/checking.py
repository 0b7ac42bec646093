"""Whether a store holds together: every version of every history reads back whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from attrs import frozen

from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import loads
from sidecar.core.layouts import clip, length
from sidecar.store.transaction import HistoryRow, Reader


@frozen(kw_only=True)
class Finding:
    """One thing that is wrong; it names a history and a version, never what was said."""

    history: str
    version: int | None
    problem: str


@frozen(kw_only=True)
class Facts:
    """What a store holds; `None` where the engine has no such thing."""

    schema: int
    histories: int
    deleted: int
    versions: int
    entries: int
    body_bytes: int
    blobs: int
    blob_bytes: int
    file_bytes: int
    log_bytes: int | None = None
    free_bytes: int | None = None


def check_versions(tx: Reader) -> Iterator[Finding]:
    """Read every version of every history, also of deleted ones that forks may need."""
    for row, live in tx.lives(None):
        yield from _history(tx, row, live)


def _history(tx: Reader, row: HistoryRow, live: bool) -> Iterator[Finding]:
    newest = row.version
    below = 1 << 53
    seen: dict[tuple[int, int], str | None] = {}
    first = True
    while records := tx.records_below(row.hid, below, 500):
        for record, _ in records:
            if first and record.version != newest and live:
                yield Finding(history=row.name, version=newest, problem="the newest version is not in the journal")
            first = False
            key = (record.layout, record.len)
            if key not in seen:
                seen[key] = _version(tx, row.hid, *key)
            if (problem := seen[key]) is not None:
                yield Finding(history=row.name, version=record.version, problem=problem)
        below = records[-1][0].version


def _version(tx: Reader, hid: int, layout: int, size: int) -> str | None:
    try:
        ranges = clip(tx.layout(hid, layout), size)
        if length(ranges) != size:
            return "the version has lost entries"
        for part in ranges:
            for at in range(part.lo, part.lo + part.size, 100):
                for body in tx.bodies(part.log, at, min(at + 100, part.lo + part.size)):
                    if not isinstance(loads(body), dict):
                        return "an entry does not read back"
    except SidecarError as error:
        return error.message
    except ValueError:
        return "an entry does not read back"
    return None


def blob_is_whole(digest: str, data: bytes, coded: bool) -> bool:
    """Say whether a blob still has the content that its hash names."""
    return hashlib.sha256(data if coded else b"text:" + data).hexdigest() == digest
