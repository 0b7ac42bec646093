"""What makes two calls the same call, for operation ids.

Rules: the digest is over what the caller asked for, before ids and times are stamped on it. Conditions such as
`ifVersion` are no part of it: a client that retries after a restart may know a newer version.
"""

from __future__ import annotations

import hashlib
import json

from attrs import asdict

from sidecar.core.jsontext import Json
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Entry
from sidecar.store.base import EntryEdit, Splice


def digest_of(kind: str, history: str, params: Json) -> bytes:
    """Return 32 bytes that are equal for equal calls, whatever the order of keys."""
    text = json.dumps([kind, history, params], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()


def plain_entry(entry: Entry) -> Json:
    """Return an entry as it was asked for."""
    return [entry_to_json(entry), entry.auto_injected]


def plain_edit(edit: EntryEdit) -> Json:
    """Return an edit as it was asked for."""
    if isinstance(edit, Splice):
        return [edit.start, edit.delete_count, [plain_entry(entry) for entry in edit.entries]]
    return [type(edit).__name__, asdict(edit)]
