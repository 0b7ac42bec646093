"""The beginning of a transcript, as the detectors see it.

Rules: built once per file and shared by all detectors; a document that was cut off is closed by force, so that a
detector can look at its first records all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from sidecar.core.jsontext import Json
from sidecar.formats.source import Source, parse

MAX_RECORDS = 40


class Head:
    """The first bytes of a file; `complete` says that they are the whole file."""

    def __init__(self, data: bytes, *, complete: bool = True) -> None:
        self.data = data
        self.complete = complete

    @classmethod
    def of(cls, source: Source) -> Head:
        """Read the head of a source."""
        data, complete = source.head()
        return cls(data, complete=complete)

    @cached_property
    def text(self) -> str:
        """The head as text."""
        return self.data.decode("utf-8", "replace").replace("\r\n", "\n")

    @cached_property
    def records(self) -> tuple[Json, ...]:
        """The values of the first lines that are JSON by themselves."""
        found: list[Json] = []
        for line in self.data.split(b"\n")[: 4 * MAX_RECORDS]:
            if not line or line.isspace():
                continue
            try:
                found.append(parse(line))
            except ValueError:
                continue
            if len(found) >= MAX_RECORDS:
                break
        return tuple(found)

    @cached_property
    def objects(self) -> tuple[Mapping[str, Json], ...]:
        """Those of `records` that are objects, when the file is JSON lines and not one document."""
        if not self.is_lines:
            return ()
        return tuple(record for record in self.records if isinstance(record, dict))

    @cached_property
    def is_lines(self) -> bool:
        """Whether the first line that is not blank stands for itself, as in JSON lines."""
        for line in self.data.split(b"\n"):
            if line and not line.isspace():
                try:
                    parse(line)
                except ValueError:
                    return self.document is None and bool(self.records)
                return True
        return False

    @cached_property
    def document(self) -> Json:
        """The whole file as one JSON value, closed by force where the head was cut; `None` where it is none."""
        start = self.data.lstrip()[:1]
        if start not in (b"{", b"["):
            return None
        try:
            return parse(self.data)
        except ValueError:
            return None if self.complete else _closed(self.data)

    @cached_property
    def conversation(self) -> Json:
        """The document, or the first element of a document that is a list."""
        document = self.document
        if isinstance(document, list):
            return document[0] if document else None
        return document


def _closed(data: bytes) -> Json:
    """Parse the longest beginning of a cut document that can be closed."""
    stack: list[int] = []
    points: list[tuple[int, bytes]] = []
    in_string = escaped = False
    for at, byte in enumerate(data):
        if in_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte in b"[{":
            stack.append(byte)
        elif byte in b"]}":
            if not stack:
                return None
            stack.pop()
            points.append((at + 1, bytes(0x7D if open_ == 0x7B else 0x5D for open_ in reversed(stack))))
    for end, closing in reversed(points[-64:]):
        try:
            return parse(data[:end] + closing)
        except ValueError:
            continue
    return None
