"""A writer's transaction: it gathers what a batch writes and sends it to the database as few statements.

Rules:
- The rows that every change writes (entries, the history's row, its journal row, its remembered operation) wait in
  memory until the batch ends, so that 64 appends are four statements instead of 256. Any other statement sends first
  what waits: nothing here ever sees an older state than it wrote.
- A job that only gathered is taken back by dropping its rows. One that needs the database runs in a savepoint, which
  is opened right before its first statement.
- History rows are kept from one transaction to the next; `begin` is told whether somebody else has committed since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import define, field

from sidecar.store.sql import (
    ADD_CHANGE,
    ADD_ENTRY,
    ADD_OPERATION,
    FORGET_OPERATIONS,
    SAVE_HISTORY,
    SqlTransaction,
    change_values,
    entry_values,
    history_values,
    operation_values,
)
from sidecar.store.transaction import REMEMBERED, EntryRow, HistoryRow, VersionRecord

T = TypeVar("T")

KEPT_HISTORIES = 1024
"""How many history rows are kept between transactions."""

FORGET_EVERY = 256
"""How many remembered operations of one name pass between two looks for old ones."""


@define
class _Gathered:
    """Rows that wait."""

    entries: list[tuple[Any, ...]] = field(factory=list)
    places: dict[tuple[int, str], list[int]] = field(factory=dict)
    """(log, entry id) -> sequence numbers of the waiting entries."""
    histories: dict[int, HistoryRow] = field(factory=dict)
    changes: list[tuple[Any, ...]] = field(factory=list)
    operations: dict[tuple[str, str], tuple[Any, ...]] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.entries or self.histories or self.changes or self.operations)

    def absorb(self, later: _Gathered) -> None:
        """Take over what was gathered after this."""
        self.entries += later.entries
        for key, found in later.places.items():
            self.places.setdefault(key, []).extend(found)
        self.histories |= later.histories
        self.changes += later.changes
        self.operations |= later.operations


class BufferedTransaction(SqlTransaction):
    """See the module. Between `begin` and `finish`, each job is framed by `start_job` and `end_job`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)  # those of the engine's class, which comes behind this one
        self._batch, self._job = _Gathered(), _Gathered()
        self._in_job = self._in_savepoint = False
        self._heads: dict[str, HistoryRow] = {}
        self._job_heads: dict[str, HistoryRow] = {}
        self._remembered: dict[str, int] = {}

    # --- the frame ----------------------------------------------------------------------------------------------------

    def begin(self, *, foreign_commits: bool) -> None:
        """Start a transaction; to be called inside it."""
        if foreign_commits or len(self._heads) > KEPT_HISTORIES:
            self._heads.clear()
        if len(self._remembered) > KEPT_HISTORIES:
            self._remembered.clear()

    def start_job(self) -> None:
        """Frame what follows, so that it can be taken back alone."""
        self._in_job = True

    def end_job(self, *, kept: bool) -> None:
        """Keep or take back what was done since `start_job`."""
        self._in_job = False
        if kept:
            self._batch.absorb(self._job)
            self._heads |= self._job_heads
        elif self._in_savepoint:
            self._heads.clear()  # a rename may have moved rows among them
            self._layouts.clear()
            self._run("ROLLBACK TO SAVEPOINT one")
        self._job, self._job_heads = _Gathered(), {}
        if self._in_savepoint:
            self._in_savepoint = False
            self._run("RELEASE SAVEPOINT one")

    def finish(self) -> None:
        """Send what waits; to be called before the commit."""
        self._send()

    def forget(self) -> None:
        """Drop everything that is kept or waits: the whole transaction was rolled back."""
        super().forget()
        self._batch, self._job = _Gathered(), _Gathered()
        self._in_job = self._in_savepoint = False
        self._heads, self._job_heads = {}, {}

    def run(self, work: Callable[[SqlTransaction], T]) -> T:
        """Run a job that writes in ways of its own."""
        self._send()
        try:
            return work(self)
        finally:
            self._heads, self._job_heads = {}, {}

    # --- sending ------------------------------------------------------------------------------------------------------

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        self._send()
        return self._run(statement, values)

    def many(self, statement: str, values: Sequence[Sequence[Any]]) -> None:
        self._send()
        self._run_many(statement, values)

    def _send(self) -> None:
        if self._batch:
            gathered, self._batch = self._batch, _Gathered()
            self._write(gathered)
        if self._in_job:
            if not self._in_savepoint:
                self._run("SAVEPOINT one")
                self._in_savepoint = True
            gathered, self._job = self._job, _Gathered()
            self._write(gathered)

    def _write(self, gathered: _Gathered) -> None:
        if gathered.entries:
            self._run_many(ADD_ENTRY, gathered.entries)
        if gathered.histories:
            self._run_many(SAVE_HISTORY, [history_values(row) for row in gathered.histories.values()])
        if gathered.changes:
            self._run_many(ADD_CHANGE, gathered.changes)
        if gathered.operations:
            self._run_many(ADD_OPERATION, list(gathered.operations.values()))
            for name, added in Counter(name for name, _ in gathered.operations).items():
                self._forget_old(name, added)

    def _forget_old(self, name: str, added: int) -> None:
        # Also with the first ones of a process, so that many short-lived processes do not pile up results.
        before = self._remembered.get(name)
        after = self._remembered[name] = (before or 0) + added
        if before is None or before // FORGET_EVERY < after // FORGET_EVERY:
            self._run(FORGET_OPERATIONS, (name, name, REMEMBERED))

    # --- primitives that gather, or look at what waits ----------------------------------------------------------------

    def find(self, name: str) -> HistoryRow | None:
        row = self._job_heads.get(name) or self._heads.get(name)
        if row is None:
            row = self._find(name)  # nothing that waits is a new name: those are written at once
            if row is not None:
                self._heads[name] = row
        return row

    def save(self, row: HistoryRow) -> None:
        self._job.histories[row.hid] = row
        self._job_heads[row.name] = row

    def rename(self, row: HistoryRow) -> None:
        self._drop_head(row.hid)
        super().rename(row)

    def remove(self, row: HistoryRow) -> None:
        self._drop_head(row.hid)
        super().remove(row)

    def _drop_head(self, hid: int) -> None:
        for heads in (self._heads, self._job_heads):
            for name in [name for name, row in heads.items() if row.hid == hid]:
                del heads[name]

    def journal(self, record: VersionRecord) -> None:
        self._job.changes.append(change_values(record, self.writer))

    def add_entries(self, hid: int, rows: Sequence[EntryRow]) -> None:
        if any(row.places for row in rows):
            super().add_entries(hid, rows)
            return
        for row in rows:
            self._job.entries.append(entry_values(hid, row))
            self._job.places.setdefault((hid, row.entry_id), []).append(row.seq)

    def lookup(self, log: int, entry_id: str) -> list[int]:
        key = (log, entry_id)
        return [*self._lookup(log, entry_id), *self._batch.places.get(key, ()), *self._job.places.get(key, ())]

    def recall(self, name: str, operation_id: str) -> tuple[bytes, bytes] | None:
        # Two jobs of one batch can be a call and its repeat.
        waiting = self._batch.operations.get((name, operation_id))
        return self._recall(name, operation_id) if waiting is None else (waiting[2], waiting[3])

    def remember(self, name: str, operation_id: str, digest: bytes, result: bytes, at: int) -> None:
        self._job.operations[name, operation_id] = operation_values(name, operation_id, digest, result, at)
