"""Give one text of one entry a new value (`setText` of `history/applyEdits`)."""

from __future__ import annotations

from attrs import evolve

from sidecar.core.errors import InvalidParams
from sidecar.core.messages import Assistant, Block, Entry, Message, Note, Refusal, Summary, System, Text


def set_text(entry: Entry, text: str, block: int | None, path: str = "") -> Entry:
    """Return the entry with `text` in content block `block`, or in its only text block where `block` is `None`.

    An assistant message without content gets one text block. Everything else stays as it is. `path` is the JSON
    Pointer of the edit. Raises `InvalidParams` where there is no such block or it holds no text.
    """
    message = entry.message
    if isinstance(message, System | Note | Summary):
        if block:
            raise InvalidParams.at(f"{path}/block", f"a {message.ROLE} message has one text only")
        return evolve(entry, message=evolve(message, text=text))
    blocks = message.blocks if isinstance(message, Assistant) else message.content
    changed: Message = evolve(message, content=_with_text(blocks, text, block, path))
    return evolve(entry, message=changed)


def _with_text(blocks: tuple[Block, ...], text: str, block: int | None, path: str) -> tuple[Block, ...]:
    if not blocks and not block:
        return (Text(text),)
    if block is None:
        texts = [index for index, each in enumerate(blocks) if isinstance(each, Text)]
        if len(texts) != 1:
            raise InvalidParams.at(f"{path}/block", f"is required, the entry has {len(texts)} text blocks")
        block = texts[0]
    if block >= len(blocks):
        raise InvalidParams.at(f"{path}/block", f"the entry has {len(blocks)} blocks")
    old = blocks[block]
    if not isinstance(old, Text | Refusal):
        raise InvalidParams.at(f"{path}/block", "the block holds no text")
    return (*blocks[:block], evolve(old, text=text), *blocks[block + 1 :])
