"""Appends in one round trip: those of a batch are one call of `append_entries`, which commits by itself.

Rules: only what the function can do is given to it (`functions`): appends without blobs to histories whose layout this
process has seen. What it leaves alone is left to `store.logic`, in the order in which it came, which makes a history
or knows the reason for a refusal. Histories are locked in name order, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import define, field, frozen
from psycopg import Connection, errors

from sidecar.store.base import Append, Applied, Fork, Mutation, Rename
from sidecar.store.logic import head_of
from sidecar.store.measuring import entry_row
from sidecar.store.sql import HISTORY_COLUMNS, history_row, id_key, word
from sidecar.store.transaction import EntryRow, Transaction
from sidecar.store.writer import Work

MOST_BYTES = 16 << 20
"""How much one call carries: what is more goes the general way."""

KEPT = 10_000
"""How many histories are kept in mind."""

_CALL = f"SELECT {HISTORY_COLUMNS} FROM append_entries({', '.join(['%t'] * 20)}, %b)".encode()


@frozen
class _Known:
    """A history as this process last saw it; `logs` are those its layout names."""

    hid: int
    layout: int
    logs: tuple[int, ...]


@frozen
class _Call:
    """One append that the function can do; `number` is its place in the batch."""

    number: int
    mutation: Mutation
    known: _Known
    rows: Sequence[EntryRow]

    @property
    def shown(self) -> Sequence[int]:
        """The keys that no entry may have yet."""
        if append_of(self.mutation).fresh:
            return ()
        return [id_key(log, row.entry_id) for log in self.known.logs for row in self.rows]


@define
class Appender:
    """What a writer knows of its histories; `writer` marks its changes."""

    writer: int
    _available: bool = field(default=True, init=False)
    _known: dict[str, _Known] = field(factory=dict, init=False)

    def learn(self, tx: Transaction, mutation: Mutation, applied: Applied) -> None:
        """Keep in mind what an append that went the general way has seen."""
        if isinstance(mutation.operation, Append) and not applied.replayed:
            hid, layout = applied.head.content
            made = applied.previous_version == 0
            logs = (hid,) if made else tuple({part.log for part in tx.layout(hid, layout)})
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[mutation.history] = _Known(hid, layout, logs)

    def run(self, connection: Connection[Any], jobs: Sequence[Mutation | Work]) -> dict[int, Applied]:
        """Carry out what can be done so; return the results by place in the batch."""
        calls = self._calls(jobs) if self._available else []
        if not calls:
            return {}
        cursor = connection.cursor(binary=True)
        try:
            cursor.execute(_CALL, _arguments(self.writer, calls), prepare=True)
        except (errors.UndefinedFunction, errors.InsufficientPrivilege):
            self._available = False  # an older schema that this role may not change
            return {}
        made = [history_row(row) for row in cursor.fetchall()]
        results: dict[int, Applied] = {}
        for call in calls:
            # Of each history the function makes all appends or the first ones.
            if made and made[0].hid == call.known.hid:
                row = made.pop(0)
                ids = tuple(entry.id for entry in append_of(call.mutation).entries)
                results[call.number] = Applied(head=head_of(row), previous_version=row.version - 1, entry_ids=ids)
            else:
                self._known.pop(call.mutation.history, None)
        return results

    def _calls(self, jobs: Sequence[Mutation | Work]) -> list[_Call]:
        calls: list[_Call] = []
        left: set[str] = set()  # a later append must not overtake what goes the general way
        room = MOST_BYTES
        for number, job in enumerate(jobs):
            if isinstance(job, Work):
                continue
            call = None if job.history in left else self._call(number, job)
            size = 0 if call is None else sum(len(row.body) for row in call.rows)
            if call is None or size > room:
                left |= names_of(job)
            else:
                calls.append(call)
                room -= size
        return sorted(calls, key=lambda call: call.mutation.history)

    def _call(self, number: int, mutation: Mutation) -> _Call | None:
        known, operation = self._known.get(mutation.history), mutation.operation
        if known is None or not isinstance(operation, Append):
            return None
        if (
            operation.beside
            or mutation.taken
            or len({entry.id for entry in operation.entries}) < len(operation.entries)
        ):
            return None  # what is injected beside it takes ids as well
        rows: list[EntryRow] = []
        for entry in operation.entries:  # the database knows what they are counted on from
            before = rows[-1].cumulative if rows else 0
            rows.append(entry_row(entry, seq=0, cumulative=before, layout=0, marks=0))
        return None if any(row.places for row in rows) else _Call(number, mutation, known, rows)


def names_of(mutation: Mutation) -> set[str]:
    """Return the names of all histories that a mutation looks up."""
    operation = mutation.operation
    return {mutation.history, operation.to} if isinstance(operation, Fork | Rename) else {mutation.history}


def append_of(mutation: Mutation) -> Append:
    """Return the operation of a mutation that is known to be an append."""
    assert isinstance(mutation.operation, Append)
    return mutation.operation


def _arguments(writer: int, calls: Sequence[_Call]) -> list[Any]:
    mutations, rows = [call.mutation for call in calls], [row for call in calls for row in call.rows]
    shown = [call.shown for call in calls]
    return [
        str(writer),
        _texts(each.history for each in mutations),
        _numbers(call.known.hid for call in calls),
        _numbers(call.known.layout for call in calls),
        _numbers(-1 if each.if_version is None else each.if_version for each in mutations),
        _texts(append_of(each).kind for each in mutations),
        _numbers(each.at for each in mutations),
        _texts(word(each.actor) or "" for each in mutations),
        _texts(word(each.operation_id) or "" for each in mutations),
        _texts("\\x" + each.digest.hex() for each in mutations),
        _texts(json.dumps([row.entry_id for row in call.rows]) for call in calls),
        _numbers(len(call.rows) for call in calls),
        _numbers(call.rows[-1].cumulative for call in calls),
        _numbers(len(keys) for keys in shown),
        _numbers(key for keys in shown for key in keys),
        _numbers(id_key(call.known.hid, row.entry_id) for call in calls for row in call.rows),
        _numbers(row.role for row in rows),
        _numbers(row.estimate for row in rows),
        _numbers(row.cumulative for row in rows),
        _texts("\\x" + row.measure.hex() for row in rows),
        [row.body for row in rows],
    ]


# Array literals, since psycopg takes 10 microseconds and more to write a list (measured).


def _numbers(values: Iterable[int]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def _texts(values: Iterable[str]) -> str:
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return f"{{{','.join(quoted)}}}"
