"""A history as an LSP document: its address, its text, and where its entries stand in it.

Rules: values only, no IO. A document is a snapshot; requests are answered against the text that the client has, never
against a newer one. Addresses (`protocol.md` §10):

    history:///<name>.md                 transcript      #<entryId> jumps, ?atVersion=N, ?start=N or ?end=N
    history:///<name>.jsonl              stored entries, one a line
    history:///<name>.<vendor>.json      live projection
    file:///….history.md                 a rendered transcript with marks; it says itself which history it shows

A history name holds only characters that need no escape in a URI, and no empty segment, so `history:/name.md`, as
VS Code spells it, is the same address.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, quote, unquote, urlsplit

from attrs import field, frozen
from lsprotocol import types

from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry, ToolCall
from sidecar.core.names import is_name
from sidecar.core.turns import pair
from sidecar.render import Part, Span
from sidecar.render.marked import read_marked

SCHEME = "history"
FILE_SUFFIX = ".history.md"
PAGE = 500
"""Entries that one transcript document shows at most; a longer history shows its newest, and says so."""

PAGE_TOKENS = 64_000
"""Tokens that one transcript document shows at most, beside a first entry: some 256 KB of text."""

Form: TypeAlias = Literal["transcript", "raw", "projection"]


@frozen(kw_only=True)
class Address:
    """What a `history:` URI names."""

    history: str
    form: Form = "transcript"
    vendor: str | None = None
    at_version: int | None = None
    start: int | None = None
    end: int | None = None
    """The page that ends before this index; `start` goes before it, and without both it is the newest page."""


def parse_uri(uri: str, vendors: Collection[str]) -> Address | None:
    """Read a `history:` URI; `None` where it names nothing that could exist."""
    parts = urlsplit(uri)
    if parts.scheme != SCHEME or parts.netloc:
        return None
    path = unquote(parts.path).removeprefix("/")
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    form: Form
    vendor = None
    if path.endswith(".md"):
        name, form = path.removesuffix(".md"), "transcript"
    elif path.endswith(".jsonl"):
        name, form = path.removesuffix(".jsonl"), "raw"
    elif path.endswith(".json"):
        name, _, vendor = path.removesuffix(".json").rpartition(".")
        form = "projection"
        if vendor not in vendors:
            return None
    else:
        return None
    if not is_name(name):
        return None
    return Address(
        history=name,
        form=form,
        vendor=vendor,
        at_version=_number(query.get("atVersion")),
        start=_number(query.get("start")),
        end=_number(query.get("end")),
    )


def history_uri(history: str, *, entry_id: str | None = None, at_version: int | None = None) -> str:
    """Return the address of a transcript, at an entry where one is given."""
    query = "" if at_version is None else f"?atVersion={at_version}"
    fragment = "" if entry_id is None else f"#{quote(entry_id, safe='', errors='surrogatepass')}"
    return f"{SCHEME}:///{history}.md{query}{fragment}"


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 16 else None


@frozen(kw_only=True)
class Document:
    """One text that a client shows.

    `rows` are outline rows (`history/outline`) of the entries in `spans`, in the same order; `version` is 0 where the
    history does not exist.
    """

    uri: str
    history: str
    form: Form
    version: int
    text: str
    spans: tuple[Span, ...] = ()
    parts: tuple[Part, ...] = ()
    rows: tuple[Mapping[str, Json], ...] = ()
    vendor: str | None = None
    live: bool = True
    is_whole: bool = True
    """Whether it shows every entry of its version, not a page of a longer one."""
    lines: tuple[str, ...] = field(init=False, eq=False, repr=False)

    @lines.default
    def _split(self) -> tuple[str, ...]:
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    @functools.cached_property
    def partner_of(self) -> Mapping[Part, Part]:
        """For each call its result, for each result its call."""
        shown = [part for part in self.parts if part.kind != "reasoning"]
        groups = [list(group) for _, group in itertools.groupby(shown, key=lambda part: (part.entry_id, part.kind))]
        pairing = pair([_entry_of(group) for group in groups])
        found: dict[Part, Part] = {}
        for result, (caller, position) in (pairing.call_of | pairing.duplicates).items():
            found[groups[result][0]] = groups[caller][position]
        for (caller, position), result in pairing.result_of.items():
            found[groups[caller][position]] = groups[result][0]
        return found

    def at(self, line: int) -> int | None:
        """Return the position in `spans` of the entry that the line belongs to."""
        found = bisect.bisect_right(self.spans, line, key=lambda span: span.start_line) - 1
        return found if found >= 0 and line < self.spans[found].end_line else None

    def place(self, entry_id: str | None) -> int | None:
        """Return the position in `spans` of an entry."""
        return next((at for at, span in enumerate(self.spans) if span.entry_id == entry_id), None)

    def part_at(self, line: int) -> Part | None:
        """Return the part that the line belongs to; the heading of a result counts as the result."""
        for part in self.parts:
            if part.start_line <= line < part.end_line:
                return part
        at = self.at(line)
        if at is not None and line == self.spans[at].start_line:
            entry_id = self.spans[at].entry_id
            return next((part for part in self.parts if part.entry_id == entry_id and part.kind == "result"), None)
        return None


def _entry_of(parts: Sequence[Part]) -> Entry:
    """Return what pairing needs to know of the entry with these parts."""
    if parts[0].kind == "result":
        return Entry.tool("", parts[0].call_id)
    return Entry.assistant(tool_calls=[ToolCall(id=part.call_id, name=part.name) for part in parts])


def file_document(uri: str, text: str) -> Document | None:
    """Read a rendered file; `None` where it does not say which history it shows."""
    marked = read_marked(text)
    if marked.history is None or not is_name(marked.history):
        return None
    return Document(
        uri=uri,
        history=marked.history,
        form="transcript",
        version=marked.version or 0,
        text=text,
        spans=marked.map,
        parts=marked.parts,
        rows=tuple([_row(fact) for fact in marked.facts]),
        live=False,
    )


def _row(fact: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "id": fact["id"],
        "index": fact["index"],
        "role": fact["role"],
        "kind": "text",
        "line": "",
        "tokens": None,
        "ts": fact.get("ts"),
        "callIds": [fact["callId"]] if "callId" in fact else [],
        "elided": False,
        "pinned": bool(fact.get("pinned")),
        "agent": fact.get("agent", ""),
    }


@frozen
class Ruler:
    """Makes LSP positions of a document in the encoding that was negotiated."""

    encoding: str

    def width(self, line: str) -> int:
        """Return the length of the line in code units."""
        if self.encoding == types.PositionEncodingKind.Utf8:
            return len(line.encode("utf-8", "surrogatepass"))
        if self.encoding == types.PositionEncodingKind.Utf32 or line.isascii():
            return len(line)
        return len(line.encode("utf-16-le", "surrogatepass")) // 2

    def line(self, document: Document, number: int) -> types.Range:
        """Return the range of one whole line."""
        number = max(0, min(number, len(document.lines) - 1))
        end = types.Position(line=number, character=self.width(document.lines[number]))
        return types.Range(start=types.Position(line=number, character=0), end=end)

    def lines(self, document: Document, start: int, end: int) -> types.Range:
        """Return the range of lines `start` to `end`, without the blank lines at its end."""
        end = max(start + 1, min(end, len(document.lines)))
        while end > start + 1 and not document.lines[end - 1].strip():
            end -= 1
        return types.Range(start=types.Position(line=start, character=0), end=self.line(document, end - 1).end)
