"""Import as a use-case: a transcript goes into a history once, and again only with what is new.

Rules:
- Idempotent by entry ids, which importers take from the source. The history's metadata remember what was imported
  last (`sidecar/import`), so that entries which people have since removed or summed up do not come back. They are
  written with the entries in one transaction: what an interruption left out comes with the next import.
- One change where the limit of one call allows it; a longer transcript is appended in batches, each of them whole.
- What a compaction of the tool took out of its view is a version of its own: it is appended, then the compacted list
  takes its place, so that it can still be read.
- Reading runs beside the event loop, so that other histories are served meanwhile; between batches it can be cancelled.
- A file with several conversations fills `name`, `name/2`, `name/3`, …; branches go to `name/branch-1`, ….
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Final

from attrs import define, evolve, field, frozen

from sidecar.core.jsontext import Json, dumpb
from sidecar.core.messages import Entry
from sidecar.formats.base import Format, ImportedHistory, ReadOptions, Report, Restart
from sidecar.formats.increment import Increment
from sidecar.formats.registry import format_of
from sidecar.formats.source import Source
from sidecar.service.apart import LARGE, ReaderFailed, ReaderProcess
from sidecar.service.reading import Conversation, InProcess, Row, prepared
from sidecar.service.session import ANYWAY, Conditions, Session
from sidecar.store.base import Applied, Head, Import, Prepared
from sidecar.wire.base import Loss

IMPORT_KEY: Final = "sidecar/import"
"""Under this key the metadata of a history say where it came from."""

BATCH_BYTES: Final = 8 * 1024 * 1024
"""How many bytes of entries one change brings at most: enough that a commit costs little."""

_MAX_FACTS: Final = 64 * 1024
_MAX_TITLE: Final = 1000


@frozen(kw_only=True)
class ImportOutcome:
    """What one conversation of a file became."""

    history: str
    format: str
    head: Head | None
    """The history afterwards; `None` where there was nothing to import and no history."""
    entry_ids: tuple[str, ...] = ()
    """The entries that are new in the history, in order."""
    skipped: int = 0
    """Entries of the transcript that the history had already."""
    dropped: int = 0
    """Entries that the tool took back since the last import."""
    replayed: bool = False
    title: str | None = None
    branch: str | None = None


@frozen(kw_only=True)
class ImportPlan:
    """What an import would do; nothing was changed."""

    history: str
    format: str
    entries: int
    new: int
    title: str | None = None
    branch: str | None = None


class Importing:
    """One import under way: iterate it for an outcome per conversation; `losses` grow meanwhile.

    `on_progress` is told how much is read, from 0 to 1 and never less than before, perhaps from another thread; it
    needs a source that knows its size.

    Raises `InvalidParams` for an unknown format, `Unparsable` where the text is nothing like the format, and what a
    mutation raises.
    """

    def __init__(
        self,
        session: Session,
        history: str,
        form: str,
        source: Source,
        conditions: Conditions = ANYWAY,
        *,
        all_branches: bool = False,
        params: Json = None,
        on_progress: Callable[[float], None] | None = None,
    ) -> None:
        self._session = session
        self._history = history
        self._original = source
        self._source = source.watched(self._read_on)
        self._conditions = conditions
        """What the next change has to meet."""
        self.params = params
        """What the caller asked for, by which a repeat of its operation id is recognised."""
        self._report = Report()
        self._options = ReadOptions(all_branches=all_branches)
        self._form = form
        self._passes = 1
        self._on_progress = on_progress
        self._done = 0.0
        self.format = form
        """The format that was read; after `auto` was resolved, its id."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was lost so far."""
        return self._report.losses

    async def plan(self) -> AsyncIterator[ImportPlan]:
        """Read everything and say what an import would do, without doing it."""
        form = await self._recognized()
        async for name, found in self._histories(form):
            steps = await _Steps.of(self._session, name, self._report)
            new = 0
            async with aclosing(steps.of_pieces(found)) as each:
                async for step in each:
                    new = 0 if isinstance(step, Restart) else new + len(step)
            yield ImportPlan(
                history=name,
                format=self.format,
                entries=steps.read,
                new=new,
                title=found.title(),
                branch=found.branch,
            )

    async def __aiter__(self) -> AsyncIterator[ImportOutcome]:
        form = await self._recognized()
        ids: list[str] = []
        first, more = await self._read_apart(form, ids)
        if first is not None:
            yield first
        if more:
            async for name, found in self._histories(form, 0 if first is None else 1):
                yield await self._store(name, found, ids)
                ids = []

    async def _recognized(self) -> Format:
        form = await asyncio.to_thread(format_of, self._form, self._original)
        self.format = form.id
        self._passes = form.passes
        return form

    async def _read_apart(self, form: Format, ids: list[str]) -> tuple[ImportOutcome | None, bool]:
        """Bring in the first conversation of a large file by a process of its own; say whether there is more to read.

        What it brought before it failed is in `ids`, and stored with how far it came: reading here goes on from there.
        """
        size, lend = self._original.size, self._original.file
        if lend is None or size < LARGE or not form.streams or self._session.filters:
            return None, True
        if _mark(await self._session.find(self._history)) is not None:
            return None, True  # most of it is known, and what is known need not be made ready
        limit, now = self._session.entries_per_call, self._session.now()
        try:
            with lend() as file, ReaderProcess(file, form.id, self._options, limit, now, self._read_on) as apart:
                outcome = await self._store(self._history, apart, ids)
                self._report.join(apart.report)
                ids.clear()
                return outcome, apart.more
        except ReaderFailed:
            return None, True

    async def _histories(self, form: Format, skip: int = 0) -> AsyncIterator[tuple[str, Conversation]]:
        histories = form.read(self._source, self._report, self._options)
        names = _names(self._history)
        number = 0
        while (found := await asyncio.to_thread(next, histories, None)) is not None:
            name = names(found)
            number += 1
            if number > skip:
                yield name, InProcess(found, self._session.entries_per_call)

    async def _store(self, name: str, found: Conversation, ids: list[str]) -> ImportOutcome:
        """Bring a conversation into a history; `ids` are those that an attempt before this one brought."""
        steps = await _Steps.of(self._session, name, self._report)
        writing = _Writing(self, self._session, name, found, steps, ids)
        async with aclosing(steps.of_pieces(found)) as each:
            async for step in each:
                if isinstance(step, Restart):
                    await writing.compact()
                else:
                    await writing.put(step)
                if writing.stopped:
                    break
        outcome = await writing.finish()
        # A condition is about the history that was named; what else the file holds goes where it belongs.
        self._conditions = ANYWAY
        return outcome

    @property
    def has_conditions(self) -> bool:
        """Whether the next change has to meet anything."""
        return self._conditions != ANYWAY

    def take_conditions(self) -> Conditions:
        """Return what the next change has to meet; the ones behind it have to meet nothing."""
        conditions, self._conditions = self._conditions, ANYWAY
        return conditions

    def _read_on(self, times: int, read: int) -> None:
        if self._on_progress is None or not self._original.size:
            return
        # How often a file is read is not certain: a pass more than usual must not take the progress back.
        done = min((times + min(1.0, read / self._original.size)) / self._passes, 1.0)
        if done > self._done:
            self._done = done
            self._on_progress(done)


@define
class _Steps:
    """What is to be done with a conversation, given the history that it goes into."""

    session: Session
    name: str
    report: Report
    head: Head | None
    increment: Increment[Row]
    tail: Entry | None
    """The history's last entry, where it is the one imported last."""
    read: int = 0
    """Entries that the tool's model still sees."""
    last: str | None = None
    """The last of them."""

    @classmethod
    async def of(cls, session: Session, name: str, report: Report) -> _Steps:
        head = await session.find(name)
        last, run = _mark(head) or (None, 0)
        tail = None
        if head is not None and head.len and last is not None:
            (tail,) = (await session.part(name, start=-1)).entries
        at_end = last is None or (tail is not None and tail.id == last)
        increment: Increment[Row] = Increment(
            last=last, run=run, length=head.len if head is not None else 0, at_end=at_end
        )
        return cls(session, name, report, head, increment, tail if at_end else None)

    async def of_pieces(self, found: Conversation) -> AsyncGenerator[Sequence[Row] | Restart, None]:
        """Yield what is to be added, and where what was added before leaves the view."""
        async with aclosing(found.pieces()) as pieces:
            async for piece in pieces:
                if isinstance(piece, Restart):
                    self.report.compacted(self.read)
                    self.read = 0
                    yield piece
                    self.increment.restart()
                    continue
                self.read += len(piece)
                self.last = piece[-1].id
                places = {}
                if self.head is not None:
                    places = await self.session.positions(self.name, [entry.id for entry in piece])
                new, met = self.increment.take(piece, places)
                if met is not None and self.tail is not None and not _same(self.tail, met):
                    # The last answer was still being written when it was imported.
                    new = [met, *new] if self.increment.replace_last() else new
                    places.pop(met.id, None)
                if new := [entry for entry in new if entry.id not in places]:
                    yield new
        rest = self.increment.end()
        if self.increment.diverged:
            self.report.add("branchLeft", "info", "the tool went another way than the history; both are kept")
        for start in range(0, len(rest), self.session.entries_per_call):
            yield rest[start : start + self.session.entries_per_call]


@define
class _Writing:
    """Carries the steps out in batches; title and facts go in with the last one."""

    importing: Importing
    session: Session
    name: str
    found: Conversation
    steps: _Steps
    ids: list[str]
    stopped: bool = False
    """The operation was done before, and the history is gone since: nothing of it comes back."""
    _head: Head | None = None
    _dropped: int = 0
    _added: int = 0
    _replayed: bool = False
    _compacting: bool = False
    _waiting: list[Prepared] = field(factory=list)
    _size: int = 0

    async def put(self, new: Sequence[Row]) -> None:
        """Let entries wait to be written; write what waits where both are more than one change may bring."""
        ready = await asyncio.to_thread(prepared, new, self.session.now(), self.session.filters)
        size = sum(len(row.body) for row in ready)
        if len(self._waiting) + len(ready) > self.session.entries_per_call or self._size + size > BATCH_BYTES:
            await self._flush()
        self._waiting += ready
        self._size += size

    async def compact(self) -> None:
        """Write what waits: what comes next takes its place."""
        await self._flush()
        self._compacting, self._added = True, 0

    async def finish(self) -> ImportOutcome:
        """Write what waits with what the transcript says about itself; a condition is met in any case."""
        title, mark = self.found.title(), self._mark(self.steps.last)
        facts = dict(self.found.facts())
        if facts and len(dumpb(facts)) <= _MAX_FACTS:
            mark["facts"] = facts
        there = self._head or self.steps.head
        unmarked = self.steps.read and there is not None and _mark(there) is None
        asked = there is not None and self.importing.has_conditions
        if not self.stopped and (self._waiting or self._head or self.steps.increment.drop or unmarked or asked):
            await self._write(mark, title[:_MAX_TITLE] if title else None)
        return ImportOutcome(
            history=self.name,
            format=self.importing.format,
            head=self._head or self.steps.head,
            entry_ids=tuple(self.ids),
            skipped=self.steps.read - self._added,
            dropped=self._dropped,
            replayed=self._replayed,
            title=title,
            branch=self.found.branch,
        )

    async def _flush(self) -> None:
        if not self._waiting:
            return
        await self._write(self._mark(self._waiting[-1].id), None)
        # What was begun takes effect even where it was cancelled meanwhile; what follows is not begun.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError

    async def _write(self, mark: dict[str, Json], title: str | None) -> None:
        ready, self._waiting, self._size = tuple(self._waiting), [], 0
        drop = self.steps.increment.drop
        there = self._head or self.steps.head
        everything = self._compacting and there is not None and drop == there.len
        operation = Import(
            rows=ready,
            drop=drop,
            title=title,
            metadata={IMPORT_KEY: mark},
            # The tool put a summary in place of everything, which is what `splicePrefix` does.
            kind="splicePrefix" if everything else "import",
        )
        conditions = self.importing.take_conditions()
        applied = await self._apply(operation, conditions, there)
        if applied.replayed:
            self._replayed = True
            self.ids += applied.entry_ids
            if self.steps.head is None:
                self.stopped, self._head = True, applied.head
                return
            last, _ = _mark(self.steps.head) or (None, 0)
            self._head = applied.head if applied.entry_ids[-1:] == (last,) else self.steps.head
            if not ready and not drop:
                return
            # The first batch of that import is there; what came after it was interrupted.
            applied = await self._apply(operation, ANYWAY, there)
        own = min(applied.dropped, len(self.ids))
        del self.ids[len(self.ids) - own :]
        self.ids += applied.entry_ids
        self._dropped += applied.dropped - own
        self._added += len(applied.entry_ids)
        self._head, self._compacting = applied.head, False
        self.steps.increment.added(len(applied.entry_ids))

    async def _apply(self, operation: Import, conditions: Conditions, there: Head | None) -> Applied:
        if operation.drop and conditions.if_version is None and there is not None:
            # What is taken off the end must be what was looked at.
            conditions = evolve(conditions, if_version=there.version)
        return await self.session.import_prepared(self.name, operation, conditions, params=self.importing.params)

    def _mark(self, last: str | None) -> dict[str, Json]:
        before = self.steps.head.metadata.get(IMPORT_KEY) if self.steps.head is not None else None
        mark = dict(before) if isinstance(before, dict) else {}
        run = self.steps.increment.run + len(self._waiting)
        mark |= {"format": self.importing.format, "last": last, "run": run}
        if self.found.source_id:
            mark["source"] = self.found.source_id
        return mark


def _names(history: str) -> Callable[[ImportedHistory], str]:
    count = 0
    taken = history

    def name(found: ImportedHistory) -> str:
        nonlocal count, taken
        if found.branch is not None:
            return f"{taken}/{found.branch}"
        count += 1
        taken = history if count == 1 else f"{history}/{count}"
        return taken

    return name


def _mark(head: Head | None) -> tuple[str, int] | None:
    """Return the last entry that was imported, and how many imported ones stand together up to it."""
    mark = head.metadata.get(IMPORT_KEY) if head is not None else None
    last, run = (mark.get("last"), mark.get("run")) if isinstance(mark, dict) else (None, 0)
    return (last, run if isinstance(run, int) else 0) if isinstance(last, str) else None


def _same(stored: Entry, fresh: Row) -> bool:
    """Compare what a transcript says; a time that the transcript does not know was stamped by the store."""
    assert isinstance(fresh, Entry)  # where a history is compared, the transcript is read in this process
    return evolve(stored, ts=None) == evolve(fresh, ts=None)
