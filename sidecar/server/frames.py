"""LSP base protocol frames: bytes in, message bodies out; and back.

Rules: sans-IO. Header names are case-insensitive, blanks around the colon optional, other headers ignored, a line ends
in LF or CRLF: clients exist for each. A header block is at most `MAX_HEADER` bytes. A body over the limit is skipped,
not buffered, and reported in its place (`Oversized`), so that one huge message does not cost the connection.
`FrameReader.lost` is final: without a length nobody can tell where the next message starts.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from attrs import frozen

MAX_HEADER = 8 * 1024
"""Longest header block in bytes; real ones are under 100."""

MAX_BODY = 256 * 1024 * 1024
"""Longest message body in bytes (the store's own limits on entries are far below)."""

_USUAL = re.compile(rb"Content-Length: (\d{1,10})\r\n\r\n")


@frozen
class Oversized:
    """Stands for a body that was longer than the limit and was skipped."""

    length: int


Body: TypeAlias = bytes | Oversized


def frame(body: bytes) -> bytes:
    """Put the header in front of one body."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameReader:
    """Cuts a byte stream into bodies, whatever the chunks it comes in."""

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._length: int | None = None  # of the body that is being received
        self._skipping = 0  # bytes of an oversized body still to come
        self.lost: str | None = None
        """Why the stream cannot be cut into messages any more."""

    def feed(self, data: bytes) -> list[Body]:
        """Take a chunk; return the bodies that are complete now. Look at `lost` afterwards."""
        bodies: list[Body] = []
        if self.lost is not None:
            return bodies
        if self._skipping:
            skipped = min(self._skipping, len(data))
            self._skipping -= skipped
            data = data[skipped:]
        buffer = self._buffer
        buffer += data
        position = 0
        while True:
            if self._length is None:
                try:
                    found = self._header(buffer, position)
                except _Lost as lost:
                    self.lost = str(lost)
                    break
                if found is None:
                    break
                self._length, position = found
            length = self._length
            if length > self._max_body:
                bodies.append(Oversized(length))
                received = min(length, len(buffer) - position)
                self._skipping, position, self._length = length - received, position + received, None
                continue
            if len(buffer) - position < length:
                break
            bodies.append(bytes(memoryview(buffer)[position : position + length]))
            position, self._length = position + length, None
        if position:
            del buffer[:position]
        return bodies

    @property
    def wanted(self) -> int:
        """How many bytes the body being received still lacks; a hint for the size of the next read."""
        return max(0, (self._length or 0) - len(self._buffer))

    @staticmethod
    def _header(buffer: bytearray, position: int) -> tuple[int, int] | None:
        """Return the body's length and where it starts, or `None` while the header block is incomplete."""
        usual = _USUAL.match(buffer, position)
        if usual is not None:
            return int(usual[1]), usual.end()
        start, length = position, None
        while True:
            end = buffer.find(b"\n", position)
            if (len(buffer) if end < 0 else end) - start > MAX_HEADER:
                raise _Lost(f"header block is longer than {MAX_HEADER} bytes")
            if end < 0:
                return None
            line = bytes(buffer[position:end]).strip()
            position = end + 1
            if line:
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length":
                    length = _length(value.strip())
            elif length is not None:
                return length, position
            elif position - start > 2:  # an empty line alone, between frames, is harmless
                raise _Lost("header block has no Content-Length")
            else:
                start = position


class _Lost(Exception):
    pass


def _length(value: bytes) -> int:
    if not value.isdigit() or len(value) > 10:
        raise _Lost("Content-Length is not a number")
    return int(value)
