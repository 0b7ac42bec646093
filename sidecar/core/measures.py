"""What is measured of an entry, once, when it is appended: everything that an estimate will ever need.

Rules:
- An estimate is arithmetic over measures and never looks at text again; a measure never holds text.
- The four estimators of the source documents are integers per entry (seeds.md §2), because they round per block.
- For weighted estimators the UTF-8 bytes are counted by class (`core/features.py`, tokens.md §2.4). Counts of several
  entries simply add up.
- Reasoning is counted apart from the rest, since some vendors never see it again.
- Strings over 64 kB are sampled in 32 windows of 2 kB for the class counts; the source documents' integers are exact.
- A measure packs into a few dozen bytes (`pack`, `unpack`); the first byte is the format's number.

Guard: `tests/core/test_measures.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import compress
from operator import add
from typing import Final

from attrs import define, field, frozen

from sidecar.core.features import FEATURES, Counts, count_features
from sidecar.core.jsontext import Json, dumps, loads
from sidecar.core.media_headers import Kind, Medium, describe, describe_data, text_of_file
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Note,
    Opaque,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)

SAMPLE_OVER: Final = 65_536
_WINDOW: Final = 2_048
_WINDOWS: Final = 32

IMAGE_BYTES4: Final = 2_000
"""The flat price of a picture outside tool results in `bytes4`."""


@frozen(kw_only=True)
class Measure:
    """The measure of one entry, or the sum of several."""

    messages: int = 0
    calls: int = 0
    bytes4: int = 0
    bytes4_min1: int = 0
    chars4_plus4: int = 0
    cjk: int = 0
    text_bytes: int = 0
    """UTF-8 bytes of everything that is text to a model, reasoning included."""
    sealed_bytes: int = 0
    """Bytes of opaque reasoning that a vendor opens and reads again."""
    text: Counts = ()
    thought: Counts = ()
    """Counts of plain reasoning, which `text` leaves out."""
    media: tuple[Medium, ...] = ()

    def __add__(self, other: Measure) -> Measure:
        return total((self, other))

    def pack(self) -> bytes:
        """Return the measure as a few bytes; `unpack` is the inverse."""
        numbers = (self.messages, self.calls, self.bytes4, self.bytes4_min1, self.chars4_plus4, self.cjk,
                   self.text_bytes, self.sealed_bytes)  # fmt: skip
        out = [_FORMAT]
        _write(out, numbers)
        out.append(bool(self.thought) | bool(self.media) << 1)
        _write_counts(out, self.text)
        if self.thought:
            _write_counts(out, self.thought)
        if self.media:
            _write(out, (len(self.media),))
            for medium in self.media:
                _write_medium(out, medium)
        return bytes(out)

    @staticmethod
    def unpack(data: bytes) -> Measure:
        """Read a packed measure. Raises `ValueError` for bytes that are none or are of a newer format."""
        if not data or data[0] != _FORMAT:
            raise ValueError("not a packed measure of this release")
        try:
            return _unpack(_Reader(data, 1))
        except IndexError:
            raise ValueError("a packed measure is cut off") from None


def measure(entry: Entry) -> Measure:
    """Measure one entry."""
    message = entry.message
    if isinstance(message, _ONLY_TEXT):
        return _measure_plain(message.text)
    if not isinstance(message, Assistant):
        content = message.content
        if len(content) == 1 and type(content[0]) is Text:
            return _measure_plain(content[0].text, message.call_id if isinstance(message, Tool) else "")
    elif not message.reasoning and not message.tool_calls:
        blocks = message.blocks
        if len(blocks) == 1 and type(blocks[0]) is Text:
            return _measure_plain(blocks[0].text)
    return _Measuring().entry(entry)


def measure_text(text: str) -> Measure:
    """Measure a text that stands for one message, such as a summary that does not exist yet."""
    return measure(Entry.system(text))


def strings_of(entry: Entry) -> tuple[list[bytes], list[bytes]]:
    """Return what is text to a model in an entry as UTF-8: first what is said, second the plain reasoning."""
    measuring = _Measuring()
    measuring.entry(entry)
    return measuring.texts, measuring.thoughts


def total(measures: Iterable[Measure]) -> Measure:
    """Add measures up."""
    numbers = [0] * 8
    text: Counts = ()
    thought: Counts = ()
    media: list[Medium] = []
    for each in measures:
        for place, number in enumerate((each.messages, each.calls, each.bytes4, each.bytes4_min1, each.chars4_plus4,
                                        each.cjk, each.text_bytes, each.sealed_bytes)):  # fmt: skip
            numbers[place] += number
        text = _added(text, each.text)
        thought = _added(thought, each.thought)
        media.extend(each.media)
    return _measure_of(numbers, text, thought, tuple(media))


def _measure_plain(text: str, call_id: str = "") -> Measure:
    # Most entries are one text: what `_Measuring` would find for it, at half the fixed cost.
    encoded = text.encode("utf-8", "surrogatepass")
    size = len(encoded)
    return Measure(
        messages=1,
        bytes4=size // 4,
        bytes4_min1=max(1, (size + _size(call_id)) // 4),
        chars4_plus4=(len(text) + 3) // 4 + 4,
        cjk=_cjk(text),
        text_bytes=size,
        text=_counted([encoded]) if size else (),
    )


# --- measuring --------------------------------------------------------------------------------------------------------


@define
class _Measuring:
    """Collects what one entry consists of; strings are encoded once and counted in one pass."""

    texts: list[bytes] = field(factory=list)
    thoughts: list[bytes] = field(factory=list)
    media: list[Medium] = field(factory=list)
    text_bytes: int = 0

    def entry(self, entry: Entry) -> Measure:
        message = entry.message
        calls = 0
        sealed = 0
        if isinstance(message, User):
            seeds = self.user(message)
        elif isinstance(message, Tool):
            seeds = self.tool(message)
        elif isinstance(message, Assistant):
            calls = len(message.tool_calls)
            seeds = self.assistant(message)
            sealed = sum(max(0, len(part.data) * 3 // 4 - _SEALED_FRAME) for part in message.reasoning if part.data)
        else:
            size = self.take_text(message.text)
            seeds = (size // 4, max(1, size // 4), _chars4(message.text) + 4, _cjk(message.text))
        return Measure(
            messages=1,
            calls=calls,
            bytes4=seeds[0],
            bytes4_min1=seeds[1],
            chars4_plus4=seeds[2],
            cjk=seeds[3],
            text_bytes=self.text_bytes,
            sealed_bytes=sealed,
            text=_counted(self.texts),
            thought=_counted(self.thoughts),
            media=tuple(self.media),
        )

    def user(self, message: User) -> tuple[int, int, int, int]:
        bytes4 = text_bytes = cjk = 0
        joined: list[str] = []
        only_text = True
        for block in message.content:
            size = self.take_block(block)
            if isinstance(block, Text):
                bytes4 += size // 4
                text_bytes += size
                cjk += _cjk(block.text)
                joined.append(block.text)
            else:
                only_text = False
                bytes4 += _block_bytes4(block, size)
        return bytes4, max(1, text_bytes // 4 if only_text else 0), _chars4("".join(joined)) + 4, cjk

    def tool(self, message: Tool) -> tuple[int, int, int, int]:
        body = text_bytes = 0
        joined: list[str] = []
        only_text = True
        chars4 = 0
        for block in message.content:
            size = self.take_block(block)
            if isinstance(block, Text):
                text_bytes += size
                joined.append(block.text)
            else:
                only_text = False
                if isinstance(block, JsonBlock):
                    compact = dumps(block.value)
                    size = _size(compact)
                    chars4 += _value4(block.value, compact)
                    joined.append(compact)
                elif isinstance(block, _MEDIA):
                    # The source counts what stands in the string here, unlike at the top level (seeds.md §2.1).
                    size = len(block.data or block.url or block.blob or "")
            body += size
        text = "".join(block.text for block in message.content if isinstance(block, Text))
        counted = (text_bytes if only_text else 0) + _size(message.call_id)
        if text or not chars4:
            chars4 += _chars4(text)
        return body // 4, max(1, counted // 4), chars4 + 4, _cjk("".join(joined))

    def assistant(self, message: Assistant) -> tuple[int, int, int, int]:
        bytes4 = text_bytes = thought_bytes = 0
        joined: list[str] = []
        only_text = True
        for block in message.blocks:
            size = self.take_block(block)
            if isinstance(block, Text):
                bytes4 += size // 4
                text_bytes += size
                joined.append(block.text)
            else:
                only_text = False
                bytes4 += _block_bytes4(block, size)
        text = "".join(joined)
        thoughts: list[str] = []
        for part in message.reasoning:
            size = self.take_thought(part.text) if part.text else 0
            bytes4 += (size + len(part.signature or "")) // 4
            thought_bytes += size
            thoughts.append(part.text or "")
        counted = (text_bytes if only_text else 0) + thought_bytes
        chars4 = _chars4(text) + 4
        cjk = _cjk(text) + _cjk("".join(thoughts))
        for call in message.tool_calls:
            name = self.take_text(call.name)
            arguments = self.take_text(call.arguments)
            counted += name + arguments
            cjk += _cjk(call.arguments)
            compact_bytes, value4 = _arguments(call, arguments)
            bytes4 += (name + compact_bytes) // 4
            chars4 += _chars4(call.name) + value4
        return bytes4, max(1, counted // 4), chars4, cjk

    def take_block(self, block: Block) -> int:
        """Take one content block into account; return the bytes of its text."""
        if isinstance(block, _TEXTS):
            return self.take_text(block.text)
        if isinstance(block, File):
            plain = text_of_file(block)
            if plain is not None:
                self.take_bytes(plain)
                return 0
        if isinstance(block, _MEDIA):
            self.media.append(describe(block))
            return 0
        value: Json = dict(block.raw) if isinstance(block, Opaque) else block.value
        return self.take_text(dumps(self.without_data(value)))

    def without_data(self, value: Json) -> Json:
        """Take encoded pictures out of a structured value: they are priced as pictures (codegraff#260)."""
        if isinstance(value, str):
            if len(value) < _LONG_DATA or not _BASE64(value[:_LONG_DATA]):
                return value
            data = value.partition(",")[2] if value.startswith("data:") else value
            medium = describe_data(data)
            if medium is None:
                return value
            self.media.append(medium)
            return ""
        if isinstance(value, dict):
            return {key: self.without_data(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.without_data(each) for each in value]
        return value

    def take_text(self, text: str) -> int:
        encoded = text.encode("utf-8", "surrogatepass")
        self.take_bytes(encoded)
        return len(encoded)

    def take_bytes(self, encoded: bytes) -> None:
        self.text_bytes += len(encoded)
        if encoded:
            self.texts.append(encoded)

    def take_thought(self, text: str) -> int:
        encoded = text.encode("utf-8", "surrogatepass")
        self.text_bytes += len(encoded)
        self.thoughts.append(encoded)
        return len(encoded)


_ONLY_TEXT: Final = (System, Note, Summary)
_TEXTS: Final = (Text, Refusal)
_MEDIA: Final = (Image, File, Audio)
_FOREIGN: Final = (VendorBlock, Opaque)
_LONG_DATA: Final = 1_024
_SEALED_FRAME: Final = 650
"""What encrypted reasoning adds to its text: Codex subtracts it before it divides (tokens.md §2.1)."""
_BASE64 = re.compile(r"(?:data:[\w/+.;=-]+,)?[A-Za-z0-9+/]+={0,2}").fullmatch


def _block_bytes4(block: Block, size: int) -> int:
    if isinstance(block, _MEDIA):
        return IMAGE_BYTES4
    if isinstance(block, _FOREIGN):
        return 0
    return size // 4


def _counted(strings: list[bytes]) -> Counts:
    if len(strings) == 1 and len(strings[0]) <= SAMPLE_OVER:
        return count_features(strings[0])
    short = [string for string in strings if len(string) <= SAMPLE_OVER]
    counts = count_features(b"\xff".join(short)) if short else ()
    for string in strings:
        if len(string) > SAMPLE_OVER:
            counts = _added(counts, _sampled(string))
    return counts


def _sampled(encoded: bytes) -> Counts:
    last = len(encoded) - _WINDOW
    windows = [encoded[at : at + _WINDOW] for at in (last * place // (_WINDOWS - 1) for place in range(_WINDOWS))]
    size = len(encoded)
    return tuple([count * size // (_WINDOW * _WINDOWS) for count in count_features(b"\xff".join(windows))])


# --- the estimators of the source documents ---------------------------------------------------------------------------


def _chars4(text: str) -> int:
    return (len(text) + 3) // 4


def _value4(value: Json, compact: str) -> int:
    if isinstance(value, str):
        return _chars4(value)
    return 1 if value is None else _chars4(compact)


_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]+")
_IDEOGRAPH_ROWS: Final = bytes((*range(0x34, 0x4D), *range(0x4E, 0xA0), 0xF9, 0xFA))
"""Upper bytes of UTF-16 units that are ideographs whatever the lower byte is."""
_CLEAR_ROWS: Final = bytes(row for row in range(256) if row != 0x4D and not 0xD8 <= row <= 0xDF)
"""Upper bytes that need no second look: U+4DC0 to U+4DFF are hexagrams, and surrogates may be emoji."""


def _cjk(text: str) -> int:
    if text.isascii():
        return (len(text) + 3) // 4
    # A pattern looks at each character by itself, which would cost as much as all other counting.
    rows = text.encode("utf-16-le", "surrogatepass")[1::2]
    others = rows.translate(None, _IDEOGRAPH_ROWS)
    if others.translate(None, _CLEAR_ROWS):
        ideographs = sum(map(len, _IDEOGRAPHS.findall(text)))
    else:
        ideographs = len(rows) - len(others)
    return ideographs + (len(text) - ideographs + 3) // 4


def _arguments(call: ToolCall, size: int) -> tuple[int, int]:
    """Return the bytes of the arguments as compact JSON, and their `chars4` value."""
    raw = call.arguments
    if raw.startswith(("{", "[")) and not _LOOSE(raw):
        return size, _chars4(raw)
    try:
        value = loads(raw)
    except ValueError:
        return size, _chars4(raw)
    compact = dumps(value)
    return _size(compact), _value4(value, compact)


_LOOSE = re.compile(r"[\s\\]").search
"""JSON text without white space and escapes is compact as it stands."""


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _added(left: Counts, right: Counts) -> Counts:
    if not left or not right:
        return left or right
    return tuple(map(add, left, right))


# --- packing ----------------------------------------------------------------------------------------------------------

_FORMAT: Final = 1
_BITS: Final = tuple(1 << place for place in range(len(FEATURES)))
_KINDS: Final[tuple[Kind, ...]] = ("image", "file", "audio")


def _measure_of(numbers: list[int], text: Counts, thought: Counts, media: tuple[Medium, ...]) -> Measure:
    messages, calls, bytes4, bytes4_min1, chars4_plus4, cjk, text_bytes, sealed_bytes = numbers
    return Measure(
        messages=messages,
        calls=calls,
        bytes4=bytes4,
        bytes4_min1=bytes4_min1,
        chars4_plus4=chars4_plus4,
        cjk=cjk,
        text_bytes=text_bytes,
        sealed_bytes=sealed_bytes,
        text=text,
        thought=thought,
        media=media,
    )


def _write(out: list[int], numbers: Iterable[int]) -> None:
    for number in numbers:
        while number > 0x7F:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)


def _write_counts(out: list[int], counts: Counts) -> None:
    # The bit map says which counts follow, so that what a text does not have costs nothing; it ends at its last bit.
    bits = sum(compress(_BITS, counts))
    size = (bits.bit_length() + 7) // 8
    out.append(size)
    out += bits.to_bytes(size, "little")
    _write(out, filter(None, counts))


def _write_medium(out: list[int], medium: Medium) -> None:
    out.append(_KINDS.index(medium.kind))
    _write(out, (medium.width, medium.height, medium.pages, medium.milliseconds, medium.size))
    for text in (medium.mime_type, medium.detail):
        encoded = text.encode("utf-8", "surrogatepass")[:255]
        out.append(len(encoded))
        out += encoded


@define
class _Reader:
    """A place in packed bytes."""

    data: bytes
    at: int

    def number(self) -> int:
        data, at = self.data, self.at
        byte = data[at]
        at += 1
        value = byte & 0x7F
        shift = 7
        while byte > 0x7F:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
        self.at = at
        return value

    def take(self, size: int) -> bytes:
        part = self.data[self.at : self.at + size]
        if len(part) < size:
            raise IndexError
        self.at += size
        return part

    def counts(self) -> Counts:
        bitmap = int.from_bytes(self.take(self.number()), "little")
        if not bitmap:
            return ()
        out = [0] * len(FEATURES)
        data, at = self.data, self.at
        for place in _places(bitmap):
            byte = data[at]
            at += 1
            if byte > 0x7F:
                value = byte & 0x7F
                shift = 7
                while byte > 0x7F:
                    byte = data[at]
                    at += 1
                    value |= (byte & 0x7F) << shift
                    shift += 7
                out[place] = value
            else:
                out[place] = byte
        self.at = at
        return tuple(out)

    def text(self) -> str:
        return self.take(self.number()).decode("utf-8", "replace")


def _places(bitmap: int) -> Iterator[int]:
    while bitmap:
        low = bitmap & -bitmap
        yield low.bit_length() - 1
        bitmap ^= low


def _unpack(reader: _Reader) -> Measure:
    numbers = [reader.number() for _ in range(8)]
    flags = reader.number()
    text = reader.counts()
    thought = reader.counts() if flags & 1 else ()
    media = tuple([_read_medium(reader) for _ in range(reader.number())]) if flags & 2 else ()
    return _measure_of(numbers, text, thought, media)


def _read_medium(reader: _Reader) -> Medium:
    kind = _KINDS[reader.number()]
    width, height, pages, milliseconds, size = (reader.number() for _ in range(5))
    return Medium(
        kind=kind,
        width=width,
        height=height,
        pages=pages,
        milliseconds=milliseconds,
        size=size,
        mime_type=reader.text(),
        detail=reader.text(),
    )
