"""Mask well-known secrets in entries before they leave the machine, or before they are stored where that is asked for.

Rules:
- Every text of an entry is looked at, also tool arguments, JSON with its keys, `_meta` and unknown keys; the ids and
  names by which entries refer to each other, tools and people are not.
- Signatures, encrypted reasoning and media bytes are never touched. Where the text of signed reasoning changed, it is
  marked `cleared`, so that no vendor is sent a signature that no longer fits.
- Tool arguments that are JSON stay JSON; without a secret in them they stay the model's own text.
- Masking twice changes nothing. The count by kind is of what was masked, and never repeats it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from attrs import evolve

from sidecar.core.jsontext import Json, dumps, loads
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
    Origin,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    ToolCall,
    VendorBlock,
)
from sidecar.core.secrets import is_secret, mask, mask_named

_SEALED_KEYS: Final = frozenset(
    (
        "encryptedContent",
        "encrypted_content",
        "encrypted_index",
        "reasoningEncryptedContent",
        "reasoningOpaque",
        "reasoning_opaque",
        "redactedContent",
        "redactedData",
        "signature",
        "thoughtSignature",
        "thought_signature",
    )
)
"""Keys whose strings somebody signed or sealed: one changed character makes them worthless."""

_BYTES_KEYS: Final = frozenset(("b64_json", "blob", "bytes", "data", "file_data", "result"))
"""Keys that hold media bytes in some vendors' shapes, and anything at all in others."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\r\n-]+=*\s*")
_DATA_URL: Final = re.compile(r"data:[^,\s]{0,200};base64,[A-Za-z0-9+/=]*")


class Redactor:
    """Masks secrets and counts them by kind over all entries it is given."""

    def __init__(self, kinds: Collection[str] | None = None) -> None:
        self.found: Counter[str] = Counter()
        """How often each `Secret.id` was masked."""
        self._kinds = kinds
        """Ids of `core.secrets.SECRETS`, `None` for all."""

    def entries(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Return the entries, masked."""
        return tuple(map(self.entry, entries))

    def entry(self, entry: Entry) -> Entry:
        """Return one entry, masked; the very same object where nothing was found."""
        before = self.found.total()
        masked = evolve(
            entry,
            message=self._message(entry.message),
            meta=None if entry.meta is None else self._object(entry.meta),
            extra=self._object(entry.extra),
        )
        return entry if self.found.total() == before else masked

    def _message(self, message: Message) -> Message:
        extra = self._object(message.extra)
        match message:
            case System() | Note() | Summary():
                return evolve(message, text=self._text(message.text), extra=extra)
            case Assistant():
                content = message.content
                return evolve(
                    message,
                    content=tuple(map(self._block, content)) if isinstance(content, tuple) else content,
                    reasoning=tuple(map(self._reasoning, message.reasoning)),
                    tool_calls=tuple(map(self._call, message.tool_calls)),
                    origin=None if message.origin is None else self._origin(message.origin),
                    extra=extra,
                )
            case _:
                return evolve(message, content=tuple(map(self._block, message.content)), extra=extra)

    def _block(self, block: Block) -> Block:
        match block:
            case Text() | Refusal():
                return evolve(block, text=self._text(block.text), extra=self._object(block.extra))
            case File():
                name = None if block.name is None else self._text(block.name)
                return evolve(block, name=name, url=self._url(block.url), extra=self._object(block.extra))
            case Image() | Audio():
                return evolve(block, url=self._url(block.url), extra=self._object(block.extra))
            case JsonBlock() | VendorBlock():
                return evolve(block, value=self._json(block.value), extra=self._object(block.extra))
            case Opaque():
                return evolve(block, raw={**self._object(block.raw), "type": block.type})

    def _reasoning(self, part: Reasoning) -> Reasoning:
        text = None if part.text is None else self._text(part.text)
        sealed = part.signature is not None or part.data is not None
        cleared = part.cleared or (sealed and text != part.text)
        return evolve(part, text=text, cleared=cleared, extra=self._object(part.extra))

    def _call(self, call: ToolCall) -> ToolCall:
        return evolve(call, arguments=self._arguments(call.arguments), extra=self._object(call.extra))

    def _origin(self, origin: Origin) -> Origin:
        return evolve(origin, extra=self._object(origin.extra))

    def _arguments(self, text: str) -> str:
        try:
            value = loads(text)
        except ValueError:
            # Unfinished or broken, as the model left it.
            return self._text(text)
        before = self.found.total()
        masked = self._json(value)
        return text if self.found.total() == before else dumps(masked)

    def _url(self, url: str | None) -> str | None:
        return None if url is None else self._text(url)

    def _text(self, text: str) -> str:
        return text if _DATA_URL.fullmatch(text) else mask(text, self.found, self._kinds)

    def _json(self, value: Json) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._json(item) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _object(self, value: Mapping[str, Json]) -> Mapping[str, Json]:
        if not value:
            return value
        out: dict[str, Json] = {}
        for key, item in value.items():
            name = shown = self._text(key)
            count = 1
            while shown in out:
                # Two secrets of one kind were keys of one object; neither value may get lost.
                count += 1
                shown = f"{name} {count}"
            out[shown] = self._member(key, item)
        return out

    def _member(self, key: str, value: Json) -> Json:
        if isinstance(value, str):
            if key in _SEALED_KEYS and " " not in value:
                return value
            if _DATA_URL.fullmatch(value) or (key in _BYTES_KEYS and _BASE64.fullmatch(value) and not is_secret(value)):
                return value
            return mask_named(key, value, self.found, self._kinds)
        if isinstance(value, int | float) and not isinstance(value, bool):
            shown = str(value)
            masked = mask_named(key, shown, self.found, self._kinds)
            return value if masked == shown else masked
        return self._json(value)
