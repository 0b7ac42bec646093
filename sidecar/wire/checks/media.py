"""X8, X15: images, files and sounds where the vendor takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import evolve

from sidecar.core.messages import Assistant, Audio, Entry, File, Image, Message, Text, Tool, User
from sidecar.wire import fixes as cure
from sidecar.wire.checks.judge import Judge, article
from sidecar.wire.fixes import Fixes
from sidecar.wire.survey import is_blank

_DOCUMENT = re.compile(r"[a-zA-Z0-9_()\[\]-]+(?: [a-zA-Z0-9_()\[\]-]+)*")
_DOCUMENTS_MAX = 5


def media(judge: Judge) -> None:
    limits = judge.limits
    documents: dict[str, int] = {}
    count = 0
    for position, number, block in judge.facts.media:
        message = judge.message(position)
        if isinstance(message, Tool) and message.is_error and limits.error_media is not None:
            judge.add(
                "X8",
                limits.error_media,
                position,
                f"an error result may hold text only, and block {number} is {article(block.TAG)}",
                _move_media(judge, position),
            )
            continue
        if block.TAG not in _allowed_media(judge, message):
            judge.add(
                "X15",
                "error",
                position,
                f"{limits.vendor} takes no {block.TAG} in {article(message.ROLE)} message",
                _move_media(judge, position),
            )
            continue
        for words in _refused_source(judge, block):
            judge.add("X15", "error", position, words)
        if limits.plain_documents and isinstance(block, File):
            count += 1
            _document(judge, position, number, block, documents, count)


def _refused_source(judge: Judge, block: Image | File | Audio) -> Iterator[str]:
    """Yield what is wrong with the type or the source of a media block, wherever it stands."""
    limits = judge.limits
    if block.TAG == "image" and limits.image_types and (block.mime_type or "image/png") not in limits.image_types:
        yield f"{limits.vendor} takes no image of this type"
    if limits.media_bytes_only and block.url is not None and not block.url.startswith(("s3://", "data:")):
        yield f"{limits.vendor} takes media as bytes, not by address"


def _allowed_media(judge: Judge, message: Message) -> frozenset[str]:
    limits = judge.limits
    if isinstance(message, Tool):
        return limits.result_media
    return limits.assistant_media if isinstance(message, Assistant) else limits.user_media


def _user_may_show(judge: Judge, block: Image | File | Audio) -> bool:
    if judge.limits.plain_documents and isinstance(block, File):
        return False
    return block.TAG in judge.limits.user_media and not list(_refused_source(judge, block))


def _document(judge: Judge, position: int, number: int, block: File, seen: dict[str, int], count: int) -> None:
    message = judge.message(position)
    item = judge.items[position]
    name = block.name or ""
    plain = _DOCUMENT.fullmatch(name) is not None and len(name) <= 200
    if not plain or name in seen:
        what = "is used twice" if plain else "has characters or a length that are refused"
        base = re.sub(r"[^a-zA-Z0-9_-]+", "-", name).strip("-")[:180] or "document"
        made = base if base not in seen and not plain else f"{base}-{item.index}-{number}"
        content = (*message.content[:number], evolve(block, name=made), *message.content[number + 1 :])
        judge.add(
            "X15",
            "error",
            position,
            f"the document name of block {number} {what}",
            cure.fix("Rename the document", cure.replace(item, evolve(message, content=content))),
        )
    seen[name] = position
    if not any(isinstance(other, Text) and not is_blank(other.text) for other in message.content):
        content = (*message.content, Text("(see the document)"))
        judge.add(
            "X15",
            "error",
            position,
            "a message with a document needs a text beside it",
            cure.fix("Add a text", cure.replace(item, evolve(message, content=content))),
        )
    if count == _DOCUMENTS_MAX + 1:
        judge.add("X15", "error", position, f"there are more than {_DOCUMENTS_MAX} documents in the request")


def _move_media(judge: Judge, position: int) -> Fixes:
    """Move the media of an assistant turn or a result into a user message behind it, if they are legal there."""
    item = judge.items[position]
    message = judge.message(position)
    moved = tuple(block for block in message.content if isinstance(block, Image | File | Audio))
    if isinstance(message, User) or not all(_user_may_show(judge, block) for block in moved):
        return ()
    kept = tuple(block for block in message.content if block not in moved)
    if not any(isinstance(block, Text) and not is_blank(block.text) for block in kept):
        kept = (*kept, Text("(shown in the next user message)"))
    end = position
    while end + 1 < len(judge.items) and isinstance(judge.message(end + 1), Tool):
        end += 1
    if judge.items[end].entry.auto_injected:
        return ()
    return cure.fix(
        "Move the media into a user message",
        cure.replace(item, evolve(message, content=kept)),
        cure.insert(judge.items[end].index + 1, Entry.user(moved)),
    )
