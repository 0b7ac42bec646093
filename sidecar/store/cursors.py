"""Opaque cursors of listings: they name the listing they belong to and the last row shown."""

from __future__ import annotations

import base64
from typing import Any

from sidecar.core.errors import CursorInvalid
from sidecar.core.jsontext import dumpb, loads


def make_cursor(listing: str, *key: Any) -> str:
    """Return a cursor behind the row with this key."""
    return base64.urlsafe_b64encode(dumpb([listing, *key])).decode()


def open_cursor(listing: str, cursor: str, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    """Return the key in a cursor of this listing; raise `CursorInvalid` for any other text."""
    try:
        found = loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except ValueError:
        raise CursorInvalid from None
    if not isinstance(found, list) or len(found) != len(kinds) + 1 or found[0] != listing:
        raise CursorInvalid
    if any(type(value) is not kind for value, kind in zip(found[1:], kinds, strict=True)):
        raise CursorInvalid
    return tuple(found[1:])
