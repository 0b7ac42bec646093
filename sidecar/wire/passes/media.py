"""Pictures, documents and sounds (X15): kept where the wire has a place, moved behind where it has another, else told.

Rules:
- Sources are normalised first: a data URL becomes data, `image/jpg` becomes `image/jpeg`, base64 loses its blanks.
- Media in a place that does not take them move to a user message behind that place; a short text says so.
- A text document for a vendor without documents is sent as marked text.
- What cannot be sent leaves a short text where it was, and a loss.
"""

from __future__ import annotations

import base64
import binascii
import re

from attrs import evolve

from sidecar.core.messages import Audio, Block, File, Image, Media, Text
from sidecar.wire.base import Item
from sidecar.wire.passes.unicode import scrub
from sidecar.wire.projection import Context, MediaKind, Place

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),(.*)", re.DOTALL)
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BLANK = re.compile(r"\s+")
_SAME_TYPE = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "audio/x-wav": "audio/wav",
    "audio/mp3": "audio/mpeg",
}
_TYPE_OF_NAME = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
}
"""Types that an address tells by its ending, for wires that want one with an address."""
_KINDS: dict[type, MediaKind] = {Image: "image", File: "file", Audio: "audio"}
_NOUNS: dict[MediaKind, str] = {"image": "image", "file": "document", "audio": "sound"}


def place_media(block: Media, item: Item, place: Place, path: str, context: Context, hoisted: list[Block]) -> Block:
    """Return what stands in `place` for `block`; a block that has to move is appended to `hoisted`."""
    kind = _KINDS[type(block)]
    noun = _NOUNS[kind]
    report = context.report
    if kind == "image" and context.options.images == "elide":
        report.loss("X15", "info", item, "images are left out as asked", path)
        return Text("[image left out]")
    rule = context.rules.media.get(kind)
    problem: str | None = None
    legal = _normalise(block)
    if legal is None:
        problem = f"the {noun} has no content that can be read"
    elif rule is None or not rule.places or (kind == "image" and not context.capabilities.images):
        problem = f"the vendor or model takes no {noun}"
    elif legal.url is not None and not rule.urls:
        problem = f"the vendor takes no {noun} by address"
    elif legal.data is not None and not rule.data:
        problem = f"the vendor takes a {noun} by address only"
    elif (
        rule.types is not None and (legal.mime_type or "") not in rule.types and not (legal.url and not legal.mime_type)
    ):
        problem = f"the vendor does not take this type of {noun}"
    if problem is not None:
        text = _as_text(legal) if isinstance(legal, File) else None
        if text is not None:
            report.repair(
                "X15", item, "rewritten", "the text document is sent as text, since the wire has no place for it"
            )
            return Text(text)
        report.loss("X15", "warning", item, problem, path)
        return Text(f"[{noun} not available]")
    assert rule is not None and legal is not None
    if legal is not block and (legal.mime_type != block.mime_type and block.mime_type is not None):
        report.repair("X15", item, "rewritten", f"the media type of the {noun} is written as the vendor knows it")
    allowed = place in rule.places
    if place in ("result", "error") and kind == "image" and allowed and not context.capabilities.tool_result_images:
        allowed = False
    if allowed:
        return legal
    hoisted.append(legal)
    report.repair("X15", item, "moved", f"the {noun} is sent in the user message behind, since it may not stand here")
    return Text(f"[{noun}: see the next user message]")


def data_url(block: Media) -> str:
    """Return the address of the media, a data URL where it is inline."""
    return block.url if block.url is not None else f"data:{block.mime_type};base64,{block.data}"


def _normalise(block: Media) -> Media | None:
    data, mime_type, url = block.data, block.mime_type, block.url
    source = url if url is not None else data
    if source is None:
        return None  # A blob that nobody resolved: the projector has no store.
    if source.startswith("data:"):
        match = _DATA_URL.fullmatch(source)
        if match is None or ";base64" not in match[2].lower():
            return None
        data, url = match[3], None
        mime_type = mime_type or match[1]
    if mime_type is not None:
        mime_type = mime_type.split(";")[0].strip().lower()
        mime_type = _SAME_TYPE.get(mime_type, mime_type) or None
    if mime_type is None and url is not None:
        mime_type = _TYPE_OF_NAME.get(url.split("?")[0].rsplit(".", 1)[-1].lower())
    if data is not None:
        if not data.isascii():
            return None
        if not _is_base64(data) or len(data) % 4:
            data = _BLANK.sub("", data).replace("-", "+").replace("_", "/")
            data += "=" * (-len(data) % 4)
            if not _is_base64(data):
                return None
        if not data or mime_type is None:
            return None
    elif url is not None:
        url = scrub(url)
        if not url.strip():
            return None
    if isinstance(block, File) and block.name is not None and scrub(block.name) is not block.name:
        block = evolve(block, name=scrub(block.name))
    if data == block.data and mime_type == block.mime_type and url == block.url:
        return block
    return evolve(block, data=data, mime_type=mime_type, url=url)


def _is_base64(data: str) -> bool:
    """Say whether ASCII text is of the alphabet with up to two `=` behind; media are long, so no pattern reads them."""
    digits = data.rstrip("=")
    return len(data) - len(digits) <= 2 and not digits.encode().translate(None, _BASE64)


def _as_text(block: File) -> str | None:
    if block.data is None or not (block.mime_type or "").startswith(("text/", "application/json", "application/xml")):
        return None
    try:
        text = base64.b64decode(block.data, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    name = re.sub(r'[<>"&\s]+', " ", scrub(block.name or "untitled")).strip()
    return f'<document name="{name}">\n{text}\n</document>'
