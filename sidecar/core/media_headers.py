"""What a picture, document or sound costs is decided by its size, not by its bytes: read the size from its header.

Rules:
- Only the first 64 kB of the base64 are decoded for a picture or a sound, so that no estimate ever touches the rest.
- A document's pages are counted where they are written in the clear; where they are not, the size stands for them.
- A client that knows better says so in the block: `width`, `height`, `pages`, `durationMs`, `detail`.
- Nothing here raises for bytes that are not what they claim to be: an unknown size is 0.
"""

from __future__ import annotations

import binascii
import re
import struct
from typing import Final, Literal, TypeAlias

from attrs import frozen

from sidecar.core.messages import Audio, Extra, File, Image, Media

Kind: TypeAlias = Literal["image", "file", "audio"]

HEADER_CHARACTERS: Final = 87_384
"""Base64 characters of 64 kB: enough for the frame header of a JPEG behind its EXIF data and colour profile."""

_BYTES_PER_PAGE: Final = 60_000
"""Stands for a page where a PDF hides its page objects in compressed streams."""
_BYTES_PER_SECOND: Final = 16_000
"""128 kbit/s, the usual rate of compressed sound."""
_MAX_DOCUMENT: Final = 48 * 1024 * 1024


@frozen(kw_only=True)
class Medium:
    """What an estimate needs to know of one picture, document or sound; 0 where it is not known."""

    kind: Kind
    mime_type: str = ""
    width: int = 0
    height: int = 0
    """Pixels."""
    pages: int = 0
    milliseconds: int = 0
    size: int = 0
    """Decoded bytes."""
    detail: str = ""
    """How finely the caller asks the vendor to look at a picture: `low`, `high`, `original`, `auto`."""


def describe(block: Media) -> Medium:
    """Describe one media block."""
    data, mime_type = block.data, block.mime_type or ""
    if data is None and block.url is not None and block.url.startswith("data:"):
        head, _, data = block.url.partition(",")
        mime_type = mime_type or head[5:].partition(";")[0]
    kind: Kind = "image" if isinstance(block, Image) else "audio" if isinstance(block, Audio) else "file"
    if kind == "file" and mime_type.startswith("image/"):
        kind = "image"
    return _described(kind, mime_type, data, block.extra)


def describe_data(data: str) -> Medium | None:
    """Describe a long base64 string found inside a structured value; `None` where its bytes are no known medium."""
    head = _decoded(data, 64)
    if head.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8")) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return _described("image", "", data, {})
    if head.startswith(b"%PDF"):
        return _described("file", "application/pdf", data, {})
    if head.startswith((b"ID3", b"OggS", b"fLaC")) or (head[:4] == b"RIFF" and head[8:12] == b"WAVE"):
        return _described("audio", "", data, {})
    return None


def text_of_file(block: File) -> bytes | None:
    """Return the decoded bytes of a document that is plain text, which vendors read as text; else `None`."""
    mime_type = block.mime_type or ""
    if block.data is None or not mime_type.startswith(("text/", "application/json", "application/xml")):
        return None
    return _decoded(block.data, _MAX_DOCUMENT)


def image_size(head: bytes) -> tuple[int, int]:
    """Return width and height in pixels from the first bytes of a PNG, JPEG, GIF or WebP; (0, 0) for anything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        width, height = struct.unpack_from(">II", head, 16)
        return width, height
    if head[:4] == b"GIF8" and len(head) >= 10:
        width, height = struct.unpack_from("<HH", head, 6)
        return width, height
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head)
    if head.startswith(b"\xff\xd8"):
        return _jpeg_size(head)
    return 0, 0


def _described(kind: Kind, mime_type: str, data: str | None, extra: Extra) -> Medium:
    width, height, pages, milliseconds = (_count(extra, key) for key in ("width", "height", "pages", "durationMs"))
    detail = extra.get("detail")
    size = 0
    if data is not None:
        size = len(data) * 3 // 4
        if kind == "image" and not (width and height):
            width, height = image_size(_decoded(data, HEADER_CHARACTERS))
        elif kind == "file" and not pages:
            pages = _pages(data, size, mime_type)
        elif kind == "audio" and not milliseconds:
            milliseconds = _milliseconds(_decoded(data, HEADER_CHARACTERS), size)
    return Medium(
        kind=kind,
        mime_type=mime_type,
        width=width,
        height=height,
        pages=pages,
        milliseconds=milliseconds,
        size=size,
        detail=detail if isinstance(detail, str) else "",
    )


def _count(extra: Extra, key: str) -> int:
    value = extra.get(key)
    return int(value) if isinstance(value, int | float) and 0 < value < 2**31 else 0


def _decoded(data: str, characters: int) -> bytes:
    part = data[:characters]
    try:
        return binascii.a2b_base64(part[: len(part) // 4 * 4])
    except ValueError:
        return b""


def _webp_size(head: bytes) -> tuple[int, int]:
    form = head[12:16]
    if form == b"VP8X" and len(head) >= 30:
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if form == b"VP8L" and len(head) >= 25:
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and len(head) >= 30:
        width, height = struct.unpack_from("<HH", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0


_NO_FRAME = frozenset((0xC4, 0xC8, 0xCC))
"""Markers in the range of frame headers that are none: Huffman tables, an extension, arithmetic conditioning."""


def _jpeg_size(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head):
        if head[at] != 0xFF:
            return 0, 0
        marker = head[at + 1]
        if marker == 0xFF:  # padding before a marker
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # stands alone, without a length
            at += 2
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return 0, 0


_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_PAGE_COUNT = re.compile(rb"/Count\s+(\d{1,6})")


def _pages(data: str, size: int, mime_type: str) -> int:
    if mime_type not in ("application/pdf", ""):
        return 0
    document = _decoded(data, _MAX_DOCUMENT)
    if not document.startswith(b"%PDF"):
        return 0
    pages = len(_PAGE.findall(document))
    if not pages:
        pages = max((int(number) for number in _PAGE_COUNT.findall(document)), default=0)
    return pages or max(1, size // _BYTES_PER_PAGE)


_MP3_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)


def _milliseconds(head: bytes, size: int) -> int:
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE" and len(head) >= 32:
        rate = int.from_bytes(head[28:32], "little")
        return max(0, size - 44) * 1000 // rate if rate else 0
    rate = _BYTES_PER_SECOND
    at = 0
    if head.startswith(b"ID3") and len(head) >= 10:
        at = 10 + sum((head[6 + place] & 0x7F) << 7 * (3 - place) for place in range(4))
    if len(head) >= at + 3 and head[at] == 0xFF and head[at + 1] & 0xFE == 0xFA:  # an MPEG-1 layer III frame
        rate = _MP3_RATES[head[at + 2] >> 4] * 125 or rate
    return size * 1000 // rate
