"""What every wire family reads with: typed access with JSON Pointers, the entries built so far, the marks read back."""

from __future__ import annotations

import base64
import hashlib
import html
import mimetypes
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import Factory, define, evolve

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumpb, dumps
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    Message,
    Note,
    Origin,
    Reasoning,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.wire.base import Loss, Severity

NOTE_MARK = "[note] "
SUMMARY_MARK = "[summary of the earlier conversation]\n"

_GUEST = re.compile(r'<from agent="([^"<>]+)">\n(.*)\n</from>', re.DOTALL)
_DATA_URL = re.compile(r"data:([^;,]+);base64,([A-Za-z0-9+/=_-]*)")


@define(kw_only=True)
class Reader:
    """One parse: who made the body, and what was read so far."""

    vendor: str
    model: str | None
    response: bool
    entries: list[Entry] = Factory(list)
    losses: list[Loss] = Factory(list)
    usage: Mapping[str, Json] | None = None
    _open: list[ToolCall] = Factory(list)

    # --- entries ------------------------------------------------------------------------------------------------------

    def system(self, text: str, extra: Mapping[str, Json] | None = None) -> None:
        """Add system text; the mark of a note is read back."""
        if text.startswith(NOTE_MARK):
            self.add(Note(text[len(NOTE_MARK) :], extra or {}))
        else:
            self.add(System(text, extra or {}))

    def user(
        self, content: Sequence[Block], extra: Mapping[str, Json] | None = None, meta: Mapping[str, Json] | None = None
    ) -> None:
        """Add user content; a first text under the summary line becomes a summary of its own."""
        blocks = tuple(content)
        first = blocks[0] if blocks else None
        if isinstance(first, Text) and first.text.startswith(SUMMARY_MARK) and not first.extra:
            self.add(Summary(first.text[len(SUMMARY_MARK) :]))
            blocks = blocks[1:]
            if not blocks:
                return
        self.add(User(blocks, extra or {}), meta)

    def assistant(self, message: Assistant, meta: Mapping[str, Json] | None = None) -> None:
        """Add a reply with its origin; a guest's text is unwrapped."""
        signed = any(call.signature for call in message.tool_calls)
        if self.response or signed or any(part.vendor for part in message.reasoning):
            message = evolve(message, origin=Origin(vendor=self.vendor, model=self.model))
        message, agent = _unwrapped(message)
        self.add(message, meta, agent)
        self._open = list(message.tool_calls)

    def tool(
        self,
        call_id: str | None,
        name: str | None,
        content: Sequence[Block],
        is_error: bool = False,
        extra: Mapping[str, Json] | None = None,
        meta: Mapping[str, Json] | None = None,
    ) -> None:
        """Add a result; without an id it answers the first open call of its name, in call order."""
        if call_id is None:
            call_id = self.answered(name)
        else:
            self._open = [call for call in self._open if call.id != call_id]
        message = Tool(call_id=call_id, name=name, content=tuple(content), is_error=is_error, extra=extra or {})
        self.add(message, meta)

    def answered(self, name: str | None) -> str:
        """Return the id of the open call that a result without an id answers."""
        for number, call in enumerate(self._open):
            if name is None or call.name == name:
                del self._open[number]
                return call.id
        self.loss("X2", "warning", "a result answers no call before it")
        return self.made_id(name or "", len(self.entries))

    def add(self, message: Message, meta: Mapping[str, Json] | None = None, agent: str = "") -> None:
        """Add one entry; `meta` holds the vendor's own fields."""
        self.entries.append(Entry(message=message, agent=agent, meta=dict(meta) if meta else None))

    def loss(self, rule: str, severity: Severity, message: str, path: str | None = None) -> None:
        """Say what the entries do not hold."""
        self.losses.append(Loss(rule=rule, severity=severity, entry_id=None, message=message, path=path))

    def made_id(self, name: str, number: int, body: Json = None) -> str:
        """Make an id for a call of a wire without ids: from the body of a response, else from the place."""
        seed = dumpb(body) if self.response and body is not None else b""
        place = f"{len(self.entries)}/{number}/{name}".encode("utf-8", "backslashreplace")
        return "call_" + hashlib.sha256(place + seed).hexdigest()[:16]

    # --- vendor's own -------------------------------------------------------------------------------------------------

    def part(self, value: Json) -> VendorBlock:
        """Keep a part that the neutral blocks have no name for."""
        return VendorBlock(self.vendor, value)

    def thought(self, text: str | None, **more: Any) -> Reasoning:
        """Build reasoning of this vendor."""
        return Reasoning(text=text, vendor=self.vendor, model=self.model, **more)

    def own(self, raw: Mapping[str, Json], known: Collection[str], place: str = "message") -> dict[str, Json]:
        """Return the fields that the entry has no place for, under a `_meta` key of this vendor."""
        rest = {key: value for key, value in raw.items() if key not in known and value is not None}
        return {f"{self.vendor}/{place}": rest} if rest else {}

    def left_out(self, body: Mapping[str, Json], known: Collection[str]) -> None:
        """Report the request fields that are the caller's and not the history's."""
        rest = [key for key in body if key not in known and key != "model"]
        if rest:
            names = ", ".join(sorted(shown(key) for key in rest)[:20])
            self.loss("X22", "info", f"fields of the request that are not history are left out: {names}", "")


# --- typed access -----------------------------------------------------------------------------------------------------


def shown(key: str) -> str:
    """Return a key as it may stand in a sentence."""
    return re.sub(r"[^\w.-]", "?", key)[:40]


def an_object(value: Json, path: str) -> dict[str, Json]:
    """Return an object or refuse."""
    if not isinstance(value, dict):
        raise Unparsable(path, "must be an object")
    return value


def a_list(value: Json, path: str) -> list[Json]:
    """Return a list or refuse."""
    if not isinstance(value, list):
        raise Unparsable(path, "must be an array")
    return value


def a_string(value: Json, path: str) -> str:
    """Return a string or refuse."""
    if not isinstance(value, str):
        raise Unparsable(path, "must be a string")
    return value


def optional_string(raw: Mapping[str, Json], key: str, path: str) -> str | None:
    """Return a string, or `None` where it is absent or null."""
    value = raw.get(key)
    return None if value is None else a_string(value, f"{path}/{key}")


def optional_list(raw: Mapping[str, Json], key: str, path: str) -> list[Json]:
    """Return a list, or an empty one where it is absent or null."""
    value = raw.get(key)
    return [] if value is None else a_list(value, f"{path}/{key}")


def usage_of(value: Json) -> Mapping[str, Json] | None:
    """Return the vendor's usage object, or nothing where it is not one."""
    return value if isinstance(value, dict) else None


def arguments_of(value: Json) -> str:
    """Return arguments as JSON text: text as it is, anything else written compactly."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value)


def media(url: str, kind: type[Image] | type[File] | type[Audio], **more: Any) -> Image | File | Audio:
    """Build a media block from a data URL or an address."""
    match = _DATA_URL.fullmatch(url)
    if match:
        return kind(mime_type=match[1], data=match[2], **more)
    return kind(url=url, **more)


def by_type(mime_type: str) -> type[Image] | type[File] | type[Audio]:
    """Return the block class for a media type."""
    if mime_type.startswith("image/"):
        return Image
    return Audio if mime_type.startswith("audio/") else File


def guessed_type(url: str) -> str:
    """Guess the media type of an address by how it ends."""
    return mimetypes.guess_type(url.split("?", 1)[0], strict=False)[0] or "application/octet-stream"


def encoded(text: str) -> str:
    """Return text as base64 of its UTF-8 form."""
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def marked(raw: Mapping[str, Json], keys: Collection[str] = ("cache_control",)) -> dict[str, Json]:
    """Return the extra keys of a block that are worth keeping on it."""
    return {key: raw[key] for key in keys if raw.get(key) is not None}


def behind(content: Sequence[Block], calls: Sequence[ToolCall]) -> dict[str, Json]:
    """Keep the place of interleaved reasoning: how many blocks of the reply stand in front of it, if any do."""
    ahead = len(content) + len(calls)
    return {"before": ahead} if ahead else {}


def _unwrapped(message: Assistant) -> tuple[Assistant, str]:
    """Take the guest's wrapper off, where every text block has one of the same agent."""
    texts = [block for block in message.blocks if isinstance(block, Text)]
    matches = [_GUEST.fullmatch(block.text) for block in texts]
    names = {match[1] for match in matches if match}
    if not texts or None in matches or len(names) != 1:
        return message, ""
    agent = html.unescape(names.pop())
    content = []
    for block in message.blocks:
        match = _GUEST.fullmatch(block.text) if isinstance(block, Text) else None
        content.append(evolve(block, text=match[2]) if match and isinstance(block, Text) else block)
    return evolve(message, content=tuple(content)), agent
