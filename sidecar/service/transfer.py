"""Import as a use-case: a transcript goes into a history once, and again only with what is new.

Rules:
- Idempotent by entry ids, which importers take from the source. The history's metadata remember what was imported
  last (`sidecar/import`), so that entries which people have since removed or summed up do not come back.
- One change where the limit of one call allows it; a longer transcript is appended in batches, each of them whole, and
  what an interruption left out comes with the next import.
- Reading runs in a thread, so that other histories are served meanwhile; between batches it can be cancelled.
- A file with several conversations fills `name`, `name/2`, `name/3`, …; branches go to `name/branch-1`, ….
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final, TypeVar

from attrs import evolve, frozen

from sidecar.core.jsontext import Json, dumpb
from sidecar.core.messages import Entry
from sidecar.formats.base import ImportedHistory, ReadOptions, Report, Restart
from sidecar.formats.increment import increment
from sidecar.formats.registry import format_of
from sidecar.formats.source import Source
from sidecar.service.session import ANYWAY, Conditions, Session
from sidecar.store.base import Applied, Head, Splice
from sidecar.wire.base import Loss

T = TypeVar("T")

IMPORT_KEY: Final = "sidecar/import"
"""Under this key the metadata of a history say where it came from."""

_MAX_FACTS: Final = 64 * 1024
_BATCH_BYTES: Final = 8 * 1024 * 1024


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
    ) -> None:
        self._session = session
        self._history = history
        self._source = source
        self._conditions = conditions
        self._params = params
        """What the caller asked for, by which a repeat of its operation id is recognised."""
        self._report = Report()
        self._options = ReadOptions(all_branches=all_branches)
        self._form = form
        self.format = form
        """The format that was read; after `auto` was resolved, its id."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was lost so far."""
        return self._report.losses

    async def plan(self) -> AsyncIterator[ImportPlan]:
        """Read everything and say what an import would do, without doing it."""
        async for name, found in self._conversations():
            entries = await asyncio.to_thread(found.live, self._report)
            head = await self._session.find(name)
            new = len(entries)
            if head is not None:
                parsed = await self._session.entries(name)
                new = len(increment(parsed.entries, entries, *_mark(head)).add)
            yield ImportPlan(
                history=name,
                format=self.format,
                entries=len(entries),
                new=new,
                title=found.title(),
                branch=found.branch,
            )

    async def __aiter__(self) -> AsyncIterator[ImportOutcome]:
        conditions = self._conditions
        async for name, found in self._conversations():
            yield await self._store(name, found, conditions)
            # A condition is about the history that was named; what else the file holds goes where it belongs.
            conditions = ANYWAY

    async def _conversations(self) -> AsyncIterator[tuple[str, ImportedHistory]]:
        form = await asyncio.to_thread(format_of, self._form, self._source)
        self.format = form.id
        histories = form.read(self._source, self._report, self._options)
        names = _names(self._history)
        while (found := await asyncio.to_thread(next, histories, None)) is not None:
            yield names(found), found

    async def _store(self, name: str, found: ImportedHistory, conditions: Conditions) -> ImportOutcome:
        head = await self._session.find(name)
        last, _ = _mark(head)
        if head is not None and (last is not None or conditions.operation_id is not None):
            return await self._add_new(name, found, head, conditions)
        return await self._add_all(name, found, head, conditions)

    async def _add_new(self, name: str, found: ImportedHistory, head: Head, conditions: Conditions) -> ImportOutcome:
        """Into a history that was imported before: compare, then add what is new."""
        last, run = _mark(head)
        fresh = await asyncio.to_thread(found.live, self._report)
        parsed = await self._session.entries(name)
        change = increment(parsed.entries, fresh, last, run)
        if change.diverged:
            self._report.add("branchLeft", "info", "the tool went another way than the history; both are kept")
        outcome = ImportOutcome(history=name, format=self.format, head=head, title=found.title(), branch=found.branch)
        outcome = evolve(outcome, skipped=len(fresh) - len(change.add))
        if change.drop:
            edit = Splice(start=len(parsed.entries) - change.drop, delete_count=change.drop, entries=change.add)
            wanted = conditions if conditions.if_version is not None else evolve(conditions, if_version=parsed.version)
            applied = await self._session.apply_edits(name, [edit], wanted)
            outcome = evolve(outcome, dropped=change.drop, entry_ids=applied.entry_ids, replayed=applied.replayed)
        else:
            ids: list[str] = []
            batches = list(self._batches(change.add)) or [()]
            for number, batch in enumerate(batches):
                if not batch and conditions == ANYWAY:
                    break
                applied = await self._session.add_imported(name, batch, conditions, params=self._params)
                conditions = ANYWAY
                ids += applied.entry_ids
                if applied.replayed and batch:
                    # The first batch of that import is there; what came after it may have been interrupted.
                    outcome = evolve(outcome, replayed=True)
                    parsed = await self._session.entries(name)
                    rest = increment(parsed.entries, fresh, last if last is not None else applied.entry_ids[-1]).add
                    batches[number + 1 :] = list(self._batches(rest))
                outcome = evolve(outcome, replayed=outcome.replayed or applied.replayed)
            outcome = evolve(outcome, entry_ids=tuple(ids))
        if fresh and outcome.entry_ids:
            goes_on = bool(parsed.entries) and parsed.entries[-1].id == last
            run = len(outcome.entry_ids) + (run - change.drop if goes_on else 0)
            await self._remember(name, found, head, fresh[-1].id, run)
        return evolve(outcome, head=await self._session.find(name))

    async def _add_all(
        self, name: str, found: ImportedHistory, head: Head | None, conditions: Conditions
    ) -> ImportOutcome:
        """Into a history that never saw this transcript: stream it in batches."""
        ids: list[str] = []
        skipped = 0
        last: str | None = None
        applied: Applied | None = None
        async for batch in _ahead(self._streamed(found)):
            if isinstance(batch, Restart):
                # What was appended already becomes an older version: the model saw only what follows.
                if applied is not None:
                    self._report.compacted(len(ids))
                    applied = await self._session.truncate(name, len=head.len if head is not None else 0)
                ids, skipped = [], 0
                continue
            last = batch[-1].id
            if head is not None:
                known = await self._session.positions(name, [entry.id for entry in batch])
                skipped += len(known)
                batch = [entry for entry in batch if entry.id not in known]
                if not batch:
                    continue
            applied = await self._session.add_imported(name, batch, conditions, params=self._params)
            conditions = ANYWAY
            ids += applied.entry_ids
        if applied is not None and last is not None:
            await self._remember(name, found, head, last, len(ids))
        return ImportOutcome(
            history=name,
            format=self.format,
            head=await self._session.find(name),
            entry_ids=tuple(ids),
            skipped=skipped,
            replayed=applied is not None and applied.replayed,
            title=found.title(),
            branch=found.branch,
        )

    def _streamed(self, found: ImportedHistory) -> Iterator[list[Entry] | Restart]:
        """Yield batches; a restart before the first batch is settled here, with the entries it takes out of view."""
        limit = self._session.entries_per_call
        batch: list[Entry] = []
        size = 0
        for entry in found.entries:
            if isinstance(entry, Restart):
                self._report.compacted(len(batch))
                batch, size = [], 0
                yield entry
                continue
            batch.append(entry)
            size += _size(entry)
            if len(batch) >= limit or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _batches(self, entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
        limit = self._session.entries_per_call
        for at in range(0, len(entries), limit):
            yield entries[at : at + limit]

    async def _remember(self, name: str, found: ImportedHistory, head: Head | None, last: str, run: int) -> None:
        mark: dict[str, Json] = {"format": self.format, "last": last, "run": run}
        if found.source_id:
            mark["source"] = found.source_id
        facts = dict(found.metadata())
        if facts and len(dumpb(facts)) <= _MAX_FACTS:
            mark["facts"] = facts
        title = found.title()
        if title and (head is None or head.title is None):
            await self._session.set_metadata(name, title=title[:1000], metadata={IMPORT_KEY: mark})
        else:
            await self._session.set_metadata(name, metadata={IMPORT_KEY: mark})


async def _ahead(stream: Iterator[T]) -> AsyncIterator[T]:
    """Yield from a generator that runs in a thread, one item ahead, so that reading goes on while a store writes."""
    coming = asyncio.ensure_future(asyncio.to_thread(next, stream, None))
    try:
        while (item := await coming) is not None:
            coming = asyncio.ensure_future(asyncio.to_thread(next, stream, None))
            yield item
    finally:
        # A generator cannot be stopped while it runs; what is cancelled waits for the piece under way.
        await asyncio.wait([coming])


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


def _mark(head: Head | None) -> tuple[str | None, int]:
    """Return the last entry that was imported, and how many imported ones stand together up to it."""
    mark = head.metadata.get(IMPORT_KEY) if head is not None else None
    last, run = (mark.get("last"), mark.get("run")) if isinstance(mark, dict) else (None, 0)
    return last if isinstance(last, str) else None, run if isinstance(run, int) else 0


def _size(entry: Entry) -> int:
    """Return roughly how many bytes an entry takes; texts are what is large."""
    message = entry.message
    content = getattr(message, "content", None)
    size = 200 + len(getattr(message, "text", ""))
    for block in content if isinstance(content, tuple) else ():
        size += 50 + len(getattr(block, "text", None) or getattr(block, "data", None) or "")
    return size * (2 if entry.meta else 1)
