"""What every transcript format shares: its descriptor, what a reader yields, and how losses are counted.

Rules:
- Pure: a reader gets a `Source` (chunks that can be read again) and yields histories; it opens nothing and asks no
  clock. Line formats stream; formats that are one JSON document are read whole, up to `MAX_DOCUMENT`.
- Never fatal: a torn line (`tornLine`), a record of unknown type (`unknownRecord`) or of broken shape
  (`invalidRecord`) is reported, kept in `_meta` of the entry before it, and reading goes on. Only a text that is
  nothing like the format raises `Unparsable`.
- Nothing is left out silently: what the tool recorded for itself (`bookkeeping`), branches off the live chain
  (`branchLeft`), sub-agents (`sidechainLeft`) and what a compaction took out of view (`compactedAway`) are losses.
- Entry ids are the tool's own ids, or a hash over everything up to the entry, so that a second import of a grown
  file meets the same ids again.
- The records of one model answer become one assistant entry, in whatever pieces the tool wrote them (`assemble`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import evolve, frozen

from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import message_to_json
from sidecar.core.messages import ABSENT, Absent, Assistant, Block, Entry, Note, Origin, Reasoning, Tool, ToolCall
from sidecar.formats.head import Head
from sidecar.formats.source import Source
from sidecar.wire.base import Loss, Severity

MAX_LISTED: Final = 100
"""Losses of one rule that are listed one by one; the rest are counted in one more."""

MAX_ID: Final = 200
"""Longest source id taken over as an entry id, in characters."""

META_KEY: Final = "sidecar/import"
"""The `_meta` key under which an importer keeps fields and records that have no place in an entry."""


@frozen
class Restart:
    """A compaction: from here on the model saw only what follows; the entries before are older versions."""


@frozen(kw_only=True)
class Draft:
    """An entry as read, with the key of the model answer it is a piece of (`None` = whole by itself)."""

    entry: Entry
    answer: str | None = None


Item: TypeAlias = Draft | Restart


@frozen(kw_only=True)
class ImportedHistory:
    """One conversation of a file. `entries` is read once, before the next history is asked for."""

    entries: Iterator[Entry | Restart]
    source_id: str | None = None
    title: Callable[[], str | None] = lambda: None
    metadata: Callable[[], Mapping[str, Json]] = dict
    branch: str | None = None

    def live(self, report: Report) -> list[Entry]:
        """Read all entries that the model still sees; what a compaction took out is reported."""
        entries: list[Entry] = []
        for entry in self.entries:
            if isinstance(entry, Restart):
                report.compacted(len(entries))
                entries = []
            else:
                entries.append(entry)
        return entries


@frozen(kw_only=True)
class ReadOptions:
    """How to read: `all_branches` yields every branch as a history of its own, after the live one."""

    all_branches: bool = False


Reader: TypeAlias = Callable[[Source, "Report", ReadOptions], Iterator[ImportedHistory]]


@frozen(kw_only=True)
class Format:
    """One transcript format. `detect` gives 0 (no) to 100 (certain) for the head of a file.

    `streams` says that a file of any size is read in bounded memory, `passes` how often a file is usually read.
    """

    id: str
    title: str
    extensions: tuple[str, ...]
    detect: Callable[[Head], int]
    read: Reader
    streams: bool = False
    passes: int = 1


class Report:
    """Losses of one import, counted per rule; at most `MAX_LISTED` of a rule are listed one by one."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._listed: list[Loss] = []
        self._more: dict[str, Severity] = {}
        self._bookkeeping: Counter[str] = Counter()
        self._records: list[Json] = []

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses so far, with one line for what was only counted."""
        more = [
            Loss(rule=rule, severity=severity, entry_id=None, message=f"{self.counts[rule] - MAX_LISTED} more of these")
            for rule, severity in self._more.items()
        ]
        kept_back = [
            Loss(
                rule="bookkeeping",
                severity="info",
                entry_id=None,
                message=f"{count} {kind!r} {'record' if count == 1 else 'records'} of the tool's own were left out",
            )
            for kind, count in self._bookkeeping.items()
        ]
        return (*self._listed, *more, *kept_back)

    def add(
        self, rule: str, severity: Severity, message: str, *, entry_id: str | None = None, path: str | None = None
    ) -> None:
        """Report one loss."""
        self.counts[rule] += 1
        if self.counts[rule] <= MAX_LISTED:
            self._listed.append(Loss(rule=rule, severity=severity, entry_id=entry_id, message=message, path=path))
        else:
            self._more[rule] = severity

    def torn(self, number: int, problem: str = "is not JSON") -> None:
        """Report a line that could not be read; it was skipped."""
        self.add("tornLine", "warning", f"line {number} {problem} and was skipped", path=f"line {number}")

    def unknown(self, record: Json, kind: object, where: str) -> None:
        """Report a record of unknown type and keep it for the `_meta` of an entry beside it."""
        name = f"of unknown type {kind[:64]!r}" if isinstance(kind, str) else "without a known type"
        self.add("unknownRecord", "warning", f"{where} is a record {name}, kept in _meta", path=where)
        self._records.append(record)

    def invalid(self, record: Json, problem: str, where: str) -> None:
        """Report a record of a known type whose shape is broken, and keep it like an unknown one."""
        self.add("invalidRecord", "warning", f"{where} {problem}, kept in _meta", path=where)
        self._records.append(record)

    def bookkeeping(self, kind: str, count: int = 1) -> None:
        """Count a record that is no part of the conversation."""
        self.counts["bookkeeping"] += count
        self._bookkeeping[kind[:64]] += count

    def compacted(self, count: int) -> None:
        """Report entries that a compaction took out of the model's view."""
        if count:
            self.add("compactedAway", "info", f"{count} entries before a compaction are not in the live view")

    def join(self, other: Report) -> None:
        """Take over the losses of a part that was read with a report of its own."""
        for loss in other._listed:
            self.add(loss.rule, loss.severity, loss.message, entry_id=loss.entry_id, path=loss.path)
        for rule, severity in other._more.items():
            self.counts[rule] += other.counts[rule] - MAX_LISTED
            self._more[rule] = severity
        for kind, count in other._bookkeeping.items():
            self.bookkeeping(kind, count)

    @property
    def has_records(self) -> bool:
        """Whether `take_records` would return any."""
        return bool(self._records)

    def take_records(self) -> list[Json]:
        """Hand over the records kept since the last call."""
        records, self._records = self._records, []
        return records


def assemble(items: Iterable[Item], report: Report, salt: str) -> Iterator[Entry | Restart]:
    """Join answers, give ids, name tool results after their calls, attach kept records; one turn of look-ahead.

    `salt` makes hashed ids of different formats differ.
    """
    finish = _Finisher(salt)
    # The entry that is open with the pieces of its answer, and the results and notes that stand behind it.
    pieces: list[Entry] = []
    behind: list[Entry] = []
    key: str | None = None
    early: list[Json] = []

    def close() -> Iterator[Entry]:
        if pieces:
            yield finish(pieces[0] if len(pieces) == 1 else _joined(pieces))
            yield from map(finish, behind)
            pieces.clear()
            behind.clear()

    for item in items:
        if report.has_records:
            last = behind or pieces
            if last:
                last[-1] = keep(last[-1], records=report.take_records())
            else:
                early += report.take_records()
        if isinstance(item, Restart):
            yield from close()
            yield item
            continue
        entry = item.entry
        if early:
            entry, early = keep(entry, records=early), []
        if pieces:
            message = entry.message
            if isinstance(pieces[0].message, Assistant):
                if key is not None and item.answer == key and isinstance(message, Assistant):
                    pieces.append(entry)
                    continue
                if isinstance(message, Tool | Note):
                    behind.append(entry)
                    continue
            yield from close()
        pieces.append(entry)
        key = item.answer
    last = behind or pieces
    if last and report.has_records:
        last[-1] = keep(last[-1], records=report.take_records())
    yield from close()


def kept(fields: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return the `_meta` of an entry that keeps these source fields."""
    return {META_KEY: {"fields": fields}} if fields else None


def keep(entry: Entry, *, fields: Mapping[str, Json] | None = None, records: list[Json] | None = None) -> Entry:
    """Return the entry with source fields or records kept in its `_meta`."""
    if not fields and not records:
        return entry
    meta = entry.meta or {}
    own = dict(meta.get(META_KEY) or {})
    if fields:
        own["fields"] = {**(own.get("fields") or {}), **fields}
    if records:
        own["records"] = [*(own.get("records") or []), *records]
    return evolve(entry, meta={**meta, META_KEY: own})


def rest(record: Mapping[str, Json], known: frozenset[str]) -> dict[str, Json]:
    """Return the fields of a record that have no place in an entry; nulls and empty containers say nothing."""
    if record.keys() <= known:
        return {}
    # `value == 0` is true of `False` as well: both say something.
    return {key: value for key, value in record.items() if key not in known and (value or value == 0)}


def _joined(pieces: list[Entry]) -> Entry:
    """Return one assistant entry made of the pieces of one answer, under the id of the first."""
    content: list[Block] = []
    first: tuple[Block, ...] | None | Absent = ABSENT
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    origin: Origin | None = None
    fields: dict[str, Json] = {}
    records: list[Json] = []
    for piece in pieces:
        message = piece.message
        assert isinstance(message, Assistant)
        if isinstance(message.content, tuple):
            content += message.content
            first = ()
        elif first is ABSENT:
            first = message.content
        reasoning += message.reasoning
        calls += message.tool_calls
        origin = origin or message.origin
        found = (piece.meta or {}).get(META_KEY) or {}
        fields.update(found.get("fields") or {})
        records += found.get("records") or ()
    head = pieces[0]
    message = Assistant(
        content=tuple(content) if content or first == () else first,
        reasoning=tuple(reasoning),
        tool_calls=tuple(calls),
        origin=origin,
    )
    joined = Entry(message=message, id=head.id, ts=head.ts, meta=kept(fields))
    return keep(joined, records=records) if records else joined


class _Finisher:
    """Gives each entry its id and each tool result the name of its call."""

    def __init__(self, salt: str) -> None:
        self._chain = hashlib.sha256(salt.encode()).digest()
        self._ids: set[str] = set()
        self._names: dict[str, str] = {}

    def __call__(self, entry: Entry) -> Entry:
        message = entry.message
        if isinstance(message, Assistant):
            for call in message.tool_calls:
                self._names[call.id] = call.name
        elif isinstance(message, Tool) and message.name is None and message.call_id in self._names:
            named = Tool(
                call_id=message.call_id,
                content=message.content,
                name=self._names[message.call_id],
                is_error=message.is_error,
                extra=message.extra,
            )
            entry = Entry(message=named, id=entry.id, ts=entry.ts, meta=entry.meta)
        given = entry.id
        if not given:
            self._chain = hashlib.sha256(self._chain + dumpb(message_to_json(entry.message))).digest()
            given = self._chain.hex()[:32]
        elif len(given) > MAX_ID:
            given = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        unique, count = given, 1
        while unique in self._ids:
            count += 1
            unique = f"{given}~{count}"
        self._ids.add(unique)
        return entry if unique == entry.id else evolve(entry, id=unique)
