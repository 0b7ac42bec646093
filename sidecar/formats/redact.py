"""Mask well-known secrets in entries before they leave the machine, or before they are stored where that is asked for.

Rules:
- Every text of an entry is looked at, also tool arguments, JSON and `_meta`; ids and names are not.
- Signatures, encrypted reasoning and media bytes are never touched. Where the text of signed reasoning changed, it is
  marked `cleared`, so that no vendor is sent a signature that no longer fits.
- The answer counts what was masked by kind, and never repeats it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

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
    ToolCall,
    VendorBlock,
)
from sidecar.core.secrets import SECRETS, mask
from sidecar.wire.base import Loss

_OPAQUE_KEYS: Final = frozenset(
    (
        "blob",
        "data",
        "encryptedContent",
        "encrypted_content",
        "reasoningOpaque",
        "signature",
        "thoughtSignature",
        "thought_signature",
    )
)
"""Keys whose strings are bytes that somebody signed or encoded: one changed character makes them worthless."""


class Redactor:
    """Masks secrets and counts them by kind over all entries it is given."""

    def __init__(self, kinds: Collection[str] | None = None) -> None:
        self.found: Counter[str] = Counter()
        self._kinds = kinds
        """Ids of `core.secrets.SECRETS`, `None` for all."""

    def __call__(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries, masked."""
        for entry in entries:
            yield self.entry(entry)

    def entry(self, entry: Entry) -> Entry:
        """Return one entry, masked; the very same object where nothing was found."""
        before = self.found.total()
        masked = evolve(
            entry,
            message=self._message(entry.message),
            meta=None if entry.meta is None else self._json(dict(entry.meta)),
            extra=self._extra(entry.extra),
        )
        return entry if self.found.total() == before else masked

    @property
    def losses(self) -> tuple[Loss, ...]:
        """One loss per kind of secret that was masked."""
        return tuple(
            Loss(
                rule="redacted",
                severity="info",
                entry_id=None,
                message=f"{self.found[secret.id]} {secret.id} {'was' if self.found[secret.id] == 1 else 'were'} masked",
            )
            for secret in SECRETS
            if self.found[secret.id]
        )

    def _text(self, text: str) -> str:
        return mask(text, self.found, self._kinds)

    def _message(self, message: Message) -> Message:
        match message:
            case System() | Note() | Summary():
                return evolve(message, text=self._text(message.text), extra=self._extra(message.extra))
            case Assistant():
                content = message.content
                return evolve(
                    message,
                    content=tuple(map(self._block, content)) if isinstance(content, tuple) else content,
                    reasoning=tuple(map(self._reasoning, message.reasoning)),
                    tool_calls=tuple(map(self._call, message.tool_calls)),
                    extra=self._extra(message.extra),
                )
            case _:
                content = tuple(map(self._block, message.content))
                return evolve(message, content=content, extra=self._extra(message.extra))

    def _block(self, block: Block) -> Block:
        match block:
            case Text() | Refusal():
                return evolve(block, text=self._text(block.text), extra=self._extra(block.extra))
            case Image() | File() | Audio():
                url = block.url
                if url is not None and not url.startswith("data:"):
                    url = self._text(url)
                return evolve(block, url=url, extra=self._extra(block.extra))
            case JsonBlock() | VendorBlock():
                return evolve(block, value=self._json(block.value), extra=self._extra(block.extra))
            case Opaque():
                return evolve(block, raw=self._json(dict(block.raw)))

    def _reasoning(self, part: Reasoning) -> Reasoning:
        text = part.text if part.text is None else self._text(part.text)
        sealed = text != part.text and (part.signature is not None or part.data is not None)
        return evolve(part, text=text, cleared=part.cleared or sealed, extra=self._extra(part.extra))

    def _call(self, call: ToolCall) -> ToolCall:
        return evolve(call, arguments=self._text(call.arguments), extra=self._extra(call.extra))

    def _extra(self, extra: Mapping[str, Json]) -> Mapping[str, Json]:
        return self._json(dict(extra)) if extra else extra

    def _json(self, value: Json) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._json(item) for item in value]
        if isinstance(value, dict):
            return {
                key: item if key in _OPAQUE_KEYS and isinstance(item, str) else self._json(item)
                for key, item in value.items()
            }
        return value
