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
from sidecar.core.messages import ABSENT, Assistant, Entry, Note, Tool, message_to_json
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
    """One transcript format. `detect` gives 0 (no) to 100 (certain) for the head of a file."""

    id: str
    title: str
    extensions: tuple[str, ...]
    detect: Callable[[Head], int]
    read: Reader


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

    def take_records(self) -> list[Json]:
        """Hand over the records kept since the last call."""
        records, self._records = self._records, []
        return records


def assemble(items: Iterable[Item], report: Report, salt: str) -> Iterator[Entry | Restart]:
    """Join answers, give ids, name tool results after their calls, attach kept records; one turn of look-ahead.

    `salt` makes hashed ids of different formats differ.
    """
    finish = _Finisher(salt)
    group: list[Entry] = []
    key: str | None = None
    early: list[Json] = []
    for item in items:
        records = report.take_records()
        if records:
            if group:
                group[-1] = keep(group[-1], records=records)
            else:
                early += records
        if isinstance(item, Restart):
            yield from map(finish, group)
            group, key = [], None
            yield item
            continue
        entry = item.entry
        if early:
            entry, early = keep(entry, records=early), []
        if group and isinstance(group[0].message, Assistant):
            if isinstance(entry.message, Assistant) and key is not None and item.answer == key:
                group[0] = _join(group[0], entry)
                continue
            if isinstance(entry.message, Tool | Note):
                group.append(entry)
                continue
        yield from map(finish, group)
        group, key = [entry], item.answer
    records = report.take_records()
    if records and group:
        group[-1] = keep(group[-1], records=records)
    yield from map(finish, group)


def keep(entry: Entry, *, fields: Mapping[str, Json] | None = None, records: list[Json] | None = None) -> Entry:
    """Return the entry with source fields or records kept in its `_meta`."""
    if not fields and not records:
        return entry
    meta = dict(entry.meta or {})
    kept = dict(meta.get(META_KEY) or {})
    if fields:
        kept["fields"] = {**(kept.get("fields") or {}), **fields}
    if records:
        kept["records"] = [*(kept.get("records") or []), *records]
    meta[META_KEY] = kept
    return evolve(entry, meta=meta)


def rest(record: Mapping[str, Json], known: frozenset[str]) -> dict[str, Json]:
    """Return the fields of a record that have no place in an entry; nulls and empty containers say nothing."""
    if record.keys() <= known:
        return {}
    return {key: value for key, value in record.items() if key not in known and value not in (None, [], {}, "")}


def _join(first: Entry, second: Entry) -> Entry:
    one, two = first.message, second.message
    assert isinstance(one, Assistant) and isinstance(two, Assistant)
    content = two.content if one.content is ABSENT or one.content is None else one.content
    if one.blocks and two.blocks:
        content = (*one.blocks, *two.blocks)
    message = evolve(
        one,
        content=content,
        reasoning=(*one.reasoning, *two.reasoning),
        tool_calls=(*one.tool_calls, *two.tool_calls),
        origin=one.origin or two.origin,
    )
    joined = evolve(first, message=message)
    kept = (second.meta or {}).get(META_KEY) or {}
    return keep(joined, fields=kept.get("fields"), records=kept.get("records"))


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
            entry = evolve(entry, message=evolve(message, name=self._names[message.call_id]))
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
