"""Bytes in: chunks to lines and JSON values, with bounded memory.

Rules: a `Source` can be read more than once (a reader may scan for the live chain first), it holds no file itself, and
it never keeps more than one line. A line over `MAX_LINE` is given up as torn; a whole document over `MAX_DOCUMENT`
raises `LimitExceeded` before it is parsed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Final, Protocol

import msgspec

from sidecar.core.errors import LimitExceeded, Unparsable
from sidecar.core.jsontext import Json, dumps

CHUNK: Final = 1 << 20
MAX_LINE: Final = 256 << 20
MAX_DOCUMENT: Final = 512 << 20
HEAD: Final = 256 << 10

_BOM: Final = b"\xef\xbb\xbf"
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class TornLines(Protocol):
    """Who wants to know about lines that could not be read."""

    def torn(self, number: int, problem: str = ...) -> None:
        """Take note of line `number`."""


class Source:
    """A transcript's bytes, readable more than once. `name` is a hint for a title, such as the file's stem."""

    def __init__(
        self,
        chunks: Callable[[], Iterable[bytes]],
        *,
        name: str | None = None,
        size: int = 0,
        file: Callable[[], AbstractContextManager[IO[bytes]]] | None = None,
    ) -> None:
        self._chunks = chunks
        self.name = name
        self.size = size
        """How many bytes there are, 0 where that is not known."""
        self.file = file
        """Lends the open file that the bytes are in, for reading beside this process; `None` where there is none."""

    @classmethod
    def of(cls, text: str | bytes, *, name: str | None = None) -> Source:
        """Wrap text that is in memory."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        return cls(lambda: (data[at : at + CHUNK] for at in range(0, len(data), CHUNK)), name=name, size=len(data))

    def watched(self, told: Callable[[int, int], None]) -> Source:
        """Return the same source; `told` hears how often it was read whole, and how many bytes were read since."""
        times = 0

        def chunks() -> Iterator[bytes]:
            nonlocal times
            read = 0
            for chunk in self._chunks():
                read += len(chunk)
                told(times, read)
                yield chunk
            times += 1

        return Source(chunks, name=self.name, size=self.size, file=self.file)

    def chunks(self) -> Iterator[bytes]:
        """Read from the start, without a byte order mark."""
        first = True
        for chunk in self._chunks():
            if first and chunk:
                first = False
                chunk = chunk.removeprefix(_BOM)
            yield chunk

    def head(self, size: int = HEAD) -> tuple[bytes, bool]:
        """Return the first bytes, and whether they are all there is."""
        parts: list[bytes] = []
        length = 0
        for chunk in self.chunks():
            parts.append(chunk)
            length += len(chunk)
            if length > size:
                return b"".join(parts)[:size], False
        return b"".join(parts), True

    def lines(self, torn: TornLines | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield (number from 1, line) of every line that is not blank."""
        pending: list[bytes] = []
        length = 0
        number = 0
        for chunk in self.chunks():
            lines = chunk.split(b"\n")
            last = lines.pop()
            if lines:
                if pending:
                    pending.append(lines[0])
                    lines[0] = b"".join(pending)
                    pending, length = [], 0
                for line in lines:
                    number += 1
                    if len(line) > MAX_LINE:
                        if torn:
                            torn.torn(number, "is longer than the limit")
                    elif line and not line.isspace():
                        yield number, line
            if last:
                length += len(last)
                # Past the limit only the fact that it is too long is kept.
                if length <= MAX_LINE + CHUNK:
                    pending.append(last)
        if pending:
            line = b"".join(pending)
            if len(line) > MAX_LINE:
                if torn:
                    torn.torn(number + 1, "is longer than the limit")
            elif not line.isspace():
                yield number + 1, line

    def records(self, torn: TornLines) -> Iterator[tuple[int, Json]]:
        """Yield (line number, value) of every line that is JSON; others are reported to `torn`."""
        for number, line in self.lines(torn):
            try:
                value = parse(line)
            except ValueError:
                torn.torn(number)
                continue
            yield number, value

    def read(self, limit: int = MAX_DOCUMENT) -> bytes:
        """Return everything, or raise `LimitExceeded`."""
        parts: list[bytes] = []
        length = 0
        for chunk in self.chunks():
            parts.append(chunk)
            length += len(chunk)
            if length > limit:
                raise LimitExceeded("documentBytes", length, limit)
        return b"".join(parts)

    def text(self, torn: TornLines | None = None) -> str:
        """Return everything as text; bytes that are not UTF-8 become U+FFFD and are reported."""
        data = self.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            if torn:
                torn.torn(data.count(b"\n", 0, error.start) + 1, "is not UTF-8, bytes were replaced,")
            text = data.decode("utf-8", "replace")
        return text.replace("\r\n", "\n")

    def document(self) -> Json:
        """Return the whole text as one JSON value, or raise `Unparsable`."""
        try:
            return parse(self.read())
        except ValueError:
            raise Unparsable("", "the text is not one JSON document") from None


def parse(data: bytes) -> Json:
    """Parse one JSON text quickly; raise `ValueError` where it is none.

    msgspec reads three to four times as fast as `json` and keeps integers of any size. What it refuses (lone
    surrogates, `NaN` of Python tools, numbers past a double) is read again slowly; a number that JSON has no form for
    becomes its text, since an importer may not stop there.
    """
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8"), parse_constant=str, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def compact(value: Json) -> str:
    """Write a value that `parse` read as compact JSON text, quickly."""
    try:
        return _encode(value).decode("utf-8")
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError, RecursionError):
        return dumps(value)


def _finite(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text
