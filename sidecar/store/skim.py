"""A look at stored bytes before they are handed out: whether they are an entry's JSON at first sight.

It stands apart from `bodies` because it loads msgspec, which a server that has opened no store does without.
"""

from __future__ import annotations

import msgspec

from sidecar.core.errors import StorageCorrupt
from sidecar.core.jsontext import Json, loads
from sidecar.store.bodies import damaged


class _Message(msgspec.Struct, gc=False):
    role: str


class _Entry(msgspec.Struct, gc=False):
    id: str
    message: _Message


_SKIM = msgspec.json.Decoder(_Entry)


def sound(body: bytes) -> bytes:
    """Return a stored body; raise StorageCorrupt where it is not the JSON of an entry at first sight."""
    try:
        body.decode()
        try:
            _SKIM.decode(body)
        except (msgspec.DecodeError, RecursionError):
            if not _looks_like_an_entry(loads(body)):  # it knows lone surrogates, which msgspec refuses
                raise ValueError from None
    except ValueError:
        raise damaged() from None
    return body


def is_sound(body: bytes) -> bool:
    """Say whether `sound` would hand the body out."""
    try:
        sound(body)
    except StorageCorrupt:
        return False
    return True


def _looks_like_an_entry(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str)
        and isinstance(message := value.get("message"), dict)
        and isinstance(message.get("role"), str)
    )
