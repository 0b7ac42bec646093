"""Take secrets out of a transcript before it leaves the machine.

Rules: what counts as a secret is data (`core/secrets.py`). Every text that is shown is masked, the same for the same
input, so that a preview is honest.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Message,
    Note,
    Opaque,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.core.secrets import mask


def redact_secrets(text: str) -> str:
    """Return the text with secrets replaced."""
    return mask(text)


def redact_entry(entry: Entry, redact: Callable[[str], str] = redact_secrets) -> Entry:
    """Return the entry with `redact` applied to every text, argument and JSON string in it.

    Signed and opaque reasoning is left out where its text changed, since it may repeat what was taken out. Inline
    media are kept: their bytes are not text.
    """
    return evolve(entry, message=_message(entry.message, redact))


def _message(message: Message, redact: Callable[[str], str]) -> Message:
    match message:
        case System(text=text) | Note(text=text) | Summary(text=text):
            return evolve(message, text=redact(text))
        case User(content=blocks) | Tool(content=blocks):
            return evolve(message, content=_blocks(blocks, redact))
        case Assistant(content=content):
            return evolve(
                message,
                content=_blocks(content, redact) if isinstance(content, tuple) else content,
                reasoning=tuple([_reasoning(part, redact) for part in message.reasoning]),
                tool_calls=tuple([_call(call, redact) for call in message.tool_calls]),
            )


def _blocks(blocks: tuple[Block, ...], redact: Callable[[str], str]) -> tuple[Block, ...]:
    return tuple([_block(block, redact) for block in blocks])


def _block(block: Block, redact: Callable[[str], str]) -> Block:
    match block:
        case Text(text=text) | Refusal(text=text):
            return evolve(block, text=redact(text))
        case Image(url=url) | File(url=url) | Audio(url=url):
            return evolve(block, url=redact(url)) if url is not None else block
        case JsonBlock(value=value) | VendorBlock(value=value):
            return evolve(block, value=_json(value, redact))
        case Opaque(raw=raw):
            return evolve(block, raw=_json(dict(raw), redact))


def _call(call: ToolCall, redact: Callable[[str], str]) -> ToolCall:
    return evolve(call, arguments=redact(call.arguments))


def _reasoning(part: Reasoning, redact: Callable[[str], str]) -> Reasoning:
    if part.text is None:
        return part
    text = redact(part.text)
    return part if text == part.text else evolve(part, text=text, signature=None, data=None)


def _json(value: Json, redact: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_json(item, redact) for item in value]
    if isinstance(value, dict):
        return {key: _json(item, redact) for key, item in value.items()}
    return value
