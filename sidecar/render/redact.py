"""Take secrets out of a transcript before it leaves the machine.

Rules: what is taken out is replaced by `[redacted: what]`, the same for the same input, so that a preview is honest.
Only shapes that are secrets by their form are matched (a prefix the issuer documents, a private key's armour, a
password in a URL, a named credential with its value): a guess would hide text that a reader needs. JSON text stays
JSON: a match never holds a quote, a backslash or a line end, but for a private key.
"""

from __future__ import annotations

import re
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

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    ),
    ("JSON web token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*")),
    (
        "API key",
        re.compile(
            r"\b(?:sk-(?:ant-|proj-|or-)?[\w-]{20,}|gsk_\w{20,}|xai-\w{20,}|AIza[\w-]{35}|hf_\w{30,}|r8_\w{30,}"
            r"|gh[pousr]_\w{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|npm_\w{36}|pypi-[\w-]{50,}"
            r"|xox[abeoprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|(?:sk|rk)_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,})"
        ),
    ),
    ("password", re.compile(r"(?<=://)[^\s/:@\"'\\]*:[^\s/@\"'\\]+(?=@)")),
    ("token", re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{16,}")),
    (
        "credential",
        re.compile(
            r"(?i)\b(?P<name>[\w-]*(?:api[_-]?key|secret|passwd|password|access[_-]?token|auth[_-]?token)[\w-]*"
            r"(?:\\?[\"'])?\s*[:=]\s*(?:\\?[\"'])?)(?P<value>[^\s\"'\\,;&<>\[\]{}]{8,})"
        ),
    ),
)


def redact_secrets(text: str) -> str:
    """Return the text with secrets replaced."""
    for what, pattern in _PATTERNS:
        if what == "credential":
            text = pattern.sub(lambda match: f"{match['name']}[redacted: credential]", text)
        else:
            text = pattern.sub(f"[redacted: {what}]", text)
    return text


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
