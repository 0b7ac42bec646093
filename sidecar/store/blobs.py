"""Large binary strings, kept once by content hash and put back byte for byte.

Rules:
- The base64 text of a media block over `BLOB_CHARS` leaves the stored body; `"blob":"<hash>"` stands in its place.
- The hash is the SHA-256, in hex, of the decoded bytes, so that a client can compute it from the file. Text that is
  not canonical base64 would not come back byte for byte from its decoded form; it is kept as it is, and hashed with a
  prefix of its own.
- A body remembers where its references stand, as byte offsets: text that looks like a reference is never touched.
- A reference that a client sends is a reference like any other, and must name a stored blob (`store.logic`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec
from attrs import evolve, frozen

from sidecar.core.errors import StorageCorrupt
from sidecar.core.jsontext import Json, dumpb, loads
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Assistant, Audio, Block, Entry, File, Image, Media, Tool, User

BLOB_CHARS = 256 * 1024
"""Longest base64 text that stays inside a body."""

_HASH_CHARS = 64
Place: TypeAlias = tuple[int, str]
"""Where a reference stands in a body: the offset of its key, and the hash."""


@frozen
class Blob:
    """One large string: `data` is what its base64 text decodes to, or the text's own bytes where `coded` is false."""

    hash: str
    data: bytes
    coded: bool

    @property
    def text(self) -> bytes:
        """The inside of the JSON string that a body shows."""
        return base64.b64encode(self.data) if self.coded else dumpb(self.data.decode("utf-8", "surrogatepass"))[1:-1]


@frozen
class Encoded:
    """A body as stored, the places of its references, and the blobs that it brings."""

    body: bytes
    places: tuple[Place, ...] = ()
    blobs: tuple[Blob, ...] = ()


_write = msgspec.json.Encoder().encode
_parse = msgspec.json.Decoder().decode


def parse_quickly(body: bytes) -> Json:
    """Parse a body like `loads`, three times as fast; only for one that this release wrote."""
    try:
        return _parse(body)
    except (msgspec.MsgspecError, RecursionError):
        return loads(body)


def quick_body(value: Json) -> bytes:
    """Write JSON like `dumpb`, four times as fast; only for values that came from JSON text.

    What msgspec refuses (lone surrogates) is written by `dumpb`; `NaN`, which it would write as null, is in no JSON.
    """
    try:
        return _write(value)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, TypeError, RecursionError):
        return dumpb(value)


def encode(entry: Entry, write: Callable[[Json], bytes] = dumpb) -> Encoded:
    """Write the stored body of an entry."""
    if not any(_wanted(block) for block in _blocks(entry)):
        return Encoded(write(entry_to_json(entry)))
    message = entry.message
    assert isinstance(message, User | Tool | Assistant) and isinstance(message.content, tuple)
    # A stand-in of the same length that no client can know finds the place of each reference.
    hashes: dict[str, str] = {}
    blobs: list[Blob] = []
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, Image | File | Audio) and _wanted(block):
            stand_in = secrets.token_hex(_HASH_CHARS // 2)
            if block.data is not None:
                blob = _blob(block.data)
                blobs.append(blob)
                hashes[stand_in] = blob.hash
            else:
                assert block.blob is not None
                hashes[stand_in] = block.blob
            content.append(evolve(block, data=None, blob=stand_in))
        else:
            content.append(block)
    body = write(entry_to_json(evolve(entry, message=evolve(message, content=tuple(content)))))
    places = []
    for stand_in, digest in hashes.items():
        offset = body.index(_reference(stand_in))
        body = body.replace(stand_in.encode(), digest.encode("utf-8", "surrogatepass"))  # refused later if no hash
        places.append((offset, digest))
    return Encoded(body, tuple(places), tuple(blobs))


def restore(body: bytes, places: Sequence[Place], find: Callable[[str], Blob | None]) -> bytes:
    """Put the strings back in place of their references."""
    pieces: list[bytes] = []
    at = 0
    for offset, digest in places:
        blob = find(digest)
        if blob is None:
            raise StorageCorrupt("a history has lost a blob", detail="blob")
        pieces += (body[at:offset], b'"data":"', blob.text, b'"')
        at = offset + len(_reference(digest))
    return b"".join((*pieces, body[at:]))


def pack(places: Sequence[Place]) -> str | None:
    """Write places for storing; `None` for none."""
    return dumpb(list(places)).decode() if places else None


def unpack(text: str) -> list[Place]:
    """Read what `pack` wrote."""
    return [(offset, digest) for offset, digest in loads(text)]


def references(entry: Entry) -> Iterator[tuple[int, str]]:
    """Yield (block index, hash) for each reference that the entry itself holds."""
    for index, block in enumerate(_blocks(entry)):
        if isinstance(block, Image | File | Audio) and block.blob is not None:
            yield index, block.blob


def is_hash(text: str) -> bool:
    """Say whether a text has the form of a blob's hash."""
    return len(text) == _HASH_CHARS and set(text) <= set("0123456789abcdef")


def _blocks(entry: Entry) -> tuple[Block, ...]:
    message = entry.message
    if isinstance(message, User | Tool):
        return message.content
    return message.blocks if isinstance(message, Assistant) else ()


def _wanted(block: Block) -> bool:
    return isinstance(block, Media) and (
        block.blob is not None or (block.data is not None and len(block.data) > BLOB_CHARS)
    )


def _blob(text: str) -> Blob:
    try:
        data = base64.b64decode(text, validate=True)
        if base64.b64encode(data).decode() == text:
            return Blob(hashlib.sha256(data).hexdigest(), data, True)
    except (ValueError, binascii.Error):
        pass
    raw = text.encode("utf-8", "surrogatepass")
    return Blob(hashlib.sha256(b"text:" + raw).hexdigest(), raw, False)


def _reference(digest: str) -> bytes:
    return b'"blob":"' + digest.encode() + b'"'
