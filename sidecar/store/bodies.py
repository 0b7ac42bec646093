"""Stored bytes back to values: what does not read back is damage, and is told as such.

Rules: bodies go into replies as they are, so a damaged one would break the stream for its reader or show a client
something that is no entry. Each is skimmed before it is handed out (`skim`); only `entry_of` reads it whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sidecar.core.errors import InvalidParams, StorageCorrupt
from sidecar.core.jsontext import loads
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry

WHOLE = ("header", "NotADBError", "postgresql")
"""Details of damage that is not one history's."""


def entry_of(body: bytes) -> Entry:
    """Return a stored entry as a value. Raises StorageCorrupt: whatever was stored had been read as one before."""
    try:
        return entry_from_json(loads(body))
    except (ValueError, InvalidParams):
        raise damaged() from None


def json_of(text: str | bytes, what: str) -> Any:
    """Return what the store wrote as JSON of its own; raise StorageCorrupt with the detail `what`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise StorageCorrupt("a row of the store does not read back", detail=what) from None


@contextmanager
def naming(history: str) -> Iterator[None]:
    """Name the history that was asked for where the store is damaged: a client has to know which to leave alone."""
    try:
        yield
    except StorageCorrupt as error:
        if error.data["history"] is not None:
            raise
        detail = error.data["detail"]
        place = "cannot be reached, the store is damaged" if detail in WHOLE else "is damaged"
        raise StorageCorrupt(f"history {history!r} {place}", history, detail) from None


def damaged() -> StorageCorrupt:
    """Return the error about an entry that is damaged."""
    return StorageCorrupt("a history holds an entry that does not read back", detail="entry")
