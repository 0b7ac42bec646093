"""The tree of records in a Claude Code session: which chain is live, and what its branches are.

Rules:
- Records name their parents by `parentUuid`; the live chain ends at the last record and is followed upwards. A parent
  that is not in the file counts as the record before it, and so do all missing parents where no record has one (old
  logs).
- Parallel tool calls make side arms: pieces of a live answer and results of live calls belong to the chain.
- Memory holds ids of records, never their contents. The file is read once, and once more where the tree branches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec
from attrs import field, frozen

from sidecar.formats.parts import dict_of, id_of, list_of, tag, text_of
from sidecar.formats.source import Source, parse


class _Record(msgspec.Struct):
    """The few fields that decide where a record stands; everything else is skipped without being built."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    sessionId: str | None = None  # noqa: N815


_head = msgspec.json.Decoder(_Record).decode


class Tree:
    """Ids and parents of all records, and the chains they form."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.parents: dict[str, str | None] = {}
        self.side_parents: dict[str, str | None] = {}
        self.session: str | None = None
        self.recognized = False
        self.sides = 0
        self._linear = True
        self._resolved = False
        self._roots: list[str] = []
        last: str | None = None
        for _, line in source.lines():
            try:
                record = _head(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                # A summary, a torn line or a field of an odd type: the second pass reports it.
                record = _odd(line)
            kind, uuid = record.type, record.uuid
            self.session = self.session or record.sessionId
            if kind in ("user", "assistant", "summary", "system"):
                self.recognized = True
            if record.isSidechain:
                self.sides += 1
                if uuid:
                    self.side_parents.setdefault(uuid, record.parentUuid)
                continue
            if not uuid or uuid in self.parents:
                continue
            parent = record.parentUuid
            if parent is not None and parent in self.parents:
                self._resolved = True
                if parent != last:
                    self._linear = False
            elif parent is None and last is not None and not _restarts(record):
                self._roots.append(uuid)
                parent = last
            else:
                parent = last
            self.parents[uuid] = parent
            last = uuid
        self._last = last
        if self._resolved:
            # Some records name their parents, so those that name none are roots of their own.
            for uuid in self._roots:
                self.parents[uuid] = None
            self._linear = self._linear and not self._roots

    def live(self) -> frozenset[str] | None:
        """Return the uuids of the live chain; `None` = all records."""
        if self._linear or self._last is None:
            return None
        return self._with_side_arms(self._chain(self._last))

    def dead(self, live: frozenset[str] | None) -> int:
        """Count records off the live chain."""
        return 0 if live is None else sum(uuid not in live for uuid in self.parents)

    def branches(self, live: frozenset[str] | None) -> Iterator[frozenset[str]]:
        """Yield the whole chain of every other leaf, and of every sub-agent's leaf."""
        if live is not None:
            inner = {parent for parent in self.parents.values() if parent is not None}
            for uuid in self.parents:
                if uuid not in live and uuid not in inner:
                    yield self._with_side_arms(self._chain(uuid))
        inner = {parent for parent in self.side_parents.values() if parent is not None}
        for uuid in self.side_parents:
            if uuid not in inner:
                yield frozenset(_up(uuid, self.side_parents))

    def _chain(self, leaf: str) -> set[str]:
        return set(_up(leaf, self.parents))

    def _with_side_arms(self, chain: set[str]) -> frozenset[str]:
        """Add the pieces of live answers and the results of live calls, which stand on side arms of the tree."""
        links = self._links
        answers = {links.answers[uuid] for uuid in chain if uuid in links.answers}
        chain |= {uuid for uuid, answer in links.answers.items() if answer in answers}
        calls = {call for uuid in chain for call in links.calls.get(uuid, ())}
        chain |= {uuid for uuid, results in links.results.items() if any(call in calls for call in results)}
        return frozenset(chain)

    @cached_property
    def _links(self) -> _Links:
        links = _Links()
        for _, line in self._source.lines():
            try:
                record = dict_of(parse(line))
            except ValueError:
                continue
            uuid, message = record.get("uuid"), dict_of(record.get("message"))
            if not isinstance(uuid, str) or record.get("isSidechain"):
                continue
            if tag(record, "type") == "assistant" and isinstance(message.get("id"), str):
                links.answers[uuid] = message["id"]
            for block in map(dict_of, list_of(message.get("content"))):
                if tag(block, "type") == "tool_use":
                    links.calls.setdefault(uuid, []).append(id_of(block.get("id")))
                elif tag(block, "type") == "tool_result":
                    links.results.setdefault(uuid, []).append(id_of(block.get("tool_use_id")))
        return links


@frozen
class _Links:
    """For each record by its uuid: the answer it is a piece of, the calls it makes, the calls it answers."""

    answers: dict[str, str] = field(factory=dict)
    calls: dict[str, list[str]] = field(factory=dict)
    results: dict[str, list[str]] = field(factory=dict)


def _up(leaf: str, parents: dict[str, str | None]) -> Iterator[str]:
    seen: set[str] = set()
    at: str | None = leaf
    while at is not None and at not in seen and at in parents:
        seen.add(at)
        yield at
        at = parents[at]


def _restarts(record: _Record) -> bool:
    return record.subtype == "compact_boundary" or bool(record.isCompactSummary)


def _odd(line: bytes) -> _Record:
    try:
        value = dict_of(parse(line))
    except ValueError:
        return _Record()
    kind, subtype, uuid, parent = (text_of(value.get(key)) for key in ("type", "subtype", "uuid", "parentUuid"))
    side = value.get("isSidechain") is True
    return _Record(type=kind, subtype=subtype, uuid=uuid, parentUuid=parent, isSidechain=side)
