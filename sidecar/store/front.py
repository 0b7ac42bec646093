"""What every engine's store does alike: reads over a `Reader`, cursors, and the feed to listeners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TypeVar

from sidecar.core.layouts import cut
from sidecar.store import logic, retention, searching
from sidecar.store.base import Applied, Bodies, Delete, Delta, Head, Listener, Mutation, Page, Pruned, Slice, VersionRow
from sidecar.store.bodies import naming
from sidecar.store.cursors import make_cursor, open_cursor
from sidecar.store.events import events_since, replaced_event
from sidecar.store.transaction import ORDERS, HistoryRow, Reader, Transaction
from sidecar.store.views import STEP, bodies_of, edits_between, existing, rows_of, view_of
from sidecar.store.words import parse_query

T = TypeVar("T")


class StoreFront(ABC):
    """The reading half of a store. An engine says how a `Reader` is run (`_reading`)."""

    engine: str

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._told: tuple[int, int] = (0, 0)
        self.generation = 0

    @abstractmethod
    async def open(self) -> None:
        """Open, creating or migrating as needed."""

    @abstractmethod
    async def close(self) -> None:
        """Finish commits under way and let go."""

    @abstractmethod
    async def _reading(self, work: Callable[[Reader], T]) -> T:
        """Run `work` in one read transaction, off the event loop where the engine waits for a network."""

    @abstractmethod
    async def _writing(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in its turn among the mutations, in one transaction with them."""

    @abstractmethod
    async def _apply(self, mutation: Mutation) -> Applied:
        """Carry out one mutation."""

    @abstractmethod
    async def _reclaim(self, *, thoroughly: bool) -> None:
        """Give space back to the system; `thoroughly` leaves no trace of what was destroyed."""

    async def apply(self, mutation: Mutation) -> Applied:
        """Carry out one mutation; return after it is durable."""
        with naming(mutation.history):
            return await self._apply(mutation)

    async def _reading_of(self, history: str, work: Callable[[Reader], T]) -> T:
        with naming(history):
            return await self._reading(work)

    async def head(self, history: str) -> Head | None:
        """Return the live history of this name, or `None`."""
        row = await self._reading_of(history, lambda tx: tx.find(history))
        return None if row is None else logic.head_of(row)

    async def read(
        self,
        history: str,
        *,
        version: int | None = None,
        start: int = 0,
        stop: int | None = None,
        max_bytes: int | None = None,
        references: bool = False,
    ) -> Slice:
        """Read entries of a version."""

        def work(tx: Reader) -> Slice:
            row = existing(tx, history)
            view = view_of(tx, row, version)
            first, last = min(start, view.len), view.len if stop is None else min(stop, view.len)
            rows = rows_of(tx, row, view, first, last, max_bytes, references=references)
            content = (row.hid, view.layout)
            return Slice(history=history, version=view.version, len=view.len, start=first, rows=rows, content=content)

        return await self._reading_of(history, work)

    async def bodies(
        self,
        history: str,
        *,
        version: int | None = None,
        start: int = 0,
        stop: int | None = None,
        max_bytes: int | None = None,
        references: bool = False,
    ) -> Bodies:
        """Read entries of a version as bodies only."""

        def work(tx: Reader) -> Bodies:
            view = view_of(tx, existing(tx, history), version)
            first, last = min(start, view.len), view.len if stop is None else min(stop, view.len)
            bodies = bodies_of(tx, view, first, last, max_bytes, references=references)
            return Bodies(version=view.version, len=view.len, start=first, bodies=bodies)

        return await self._reading_of(history, work)

    async def recall(self, history: str, operation_id: str) -> bytes | None:
        """Return the digest of a remembered operation, or `None`."""
        kept = await self._reading_of(history, lambda tx: tx.recall(history, operation_id))
        return None if kept is None else kept[0]

    async def estimate(self, history: str, start: int, stop: int, version: int | None = None) -> int:
        """Return the token sum of a part of a version, from running sums."""

        def work(tx: Reader) -> int:
            view = view_of(tx, existing(tx, history), version)
            first, last = min(start, view.len), min(stop, view.len)
            parts = cut(view.ranges, first, last)
            return sum(tx.estimate(part.log, part.lo, part.lo + part.size) for part in parts)

        return await self._reading_of(history, work)

    async def positions(self, history: str, entry_ids: Sequence[str], version: int | None = None) -> dict[str, int]:
        """Return the index of each entry id that the version holds."""

        def work(tx: Reader) -> dict[str, int]:
            ranges = view_of(tx, existing(tx, history), version).ranges
            return logic.indices(tx, ranges, entry_ids)

        return await self._reading_of(history, work)

    async def delta(self, history: str, since: int, *, references: bool = False) -> Delta:
        """Return the edits from version `since` to the newest."""

        def work(tx: Reader) -> Delta:
            row = existing(tx, history)
            old, new = view_of(tx, row, since).ranges, view_of(tx, row, None).ranges
            edits = edits_between(tx, old, new, references=references)
            return Delta(history=history, from_version=since, version=row.version, len=row.len, edits=edits)

        return await self._reading_of(history, work)

    async def versions(self, history: str, *, cursor: str | None, limit: int) -> Page:
        """Return VersionRow, newest first."""
        below = 1 << 53 if cursor is None else open_cursor("versions", cursor, (int,))[0]

        def work(tx: Reader) -> Page:
            found = tx.records_below(existing(tx, history).hid, below, limit + 1)
            rows = tuple(
                VersionRow(
                    version=record.version,
                    kind=record.kind,
                    at=record.at,
                    len=record.len,
                    actor=record.actor,
                    local=local,
                )
                for record, local in found[:limit]
            )
            return Page(rows=rows, cursor=make_cursor("versions", rows[-1].version) if len(found) > limit else None)

        return await self._reading_of(history, work)

    async def list(self, *, prefix: str, cursor: str | None, limit: int, order_by: str) -> Page:
        """Return Head rows."""
        listing = f"list:{order_by}:{prefix}"
        kinds: tuple[type, ...] = (str,) if order_by == "name" else (int, str)
        after = None if cursor is None else open_cursor(listing, cursor, kinds)

        def work(tx: Reader) -> Page:
            found = tx.histories(prefix, order_by, after, limit + 1)
            rows = tuple(logic.head_of(row) for row in found[:limit])
            if len(found) <= limit:
                return Page(rows=rows, cursor=None)
            last, column = rows[-1], ORDERS[order_by]
            key = (last.history,) if order_by == "name" else (getattr(last, column), last.history)
            return Page(rows=rows, cursor=make_cursor(listing, *key))

        return await self._reading(work)

    async def search(self, query: str, *, prefix: str, cursor: str | None, limit: int) -> Page:
        """Return Hit rows, best first."""
        if parse_query(query):
            while await self._reading(lambda tx: tx.unindexed() is not None):
                await self._writing(searching.index_piece)
        return await self._reading(lambda tx: searching.find(tx, query, prefix, cursor, limit))

    # --- destroying ---------------------------------------------------------------------------------------------------

    async def prune(
        self, history: str | None, *, keep_versions: int | None, before: int | None, dry_run: bool
    ) -> Pruned:
        """Destroy old versions and what only they hold."""
        rule = retention.Rule(keep_versions=keep_versions, before=before)
        with naming(history) if history is not None else nullcontext():
            plan = await self._reading(lambda tx: retention.plan(tx, history, rule))
        if not dry_run:
            await self._carry_out(plan)
            await self._reclaim(thoroughly=False)
        return plan.pruned

    async def purge(self, history: str, *, at: int) -> Pruned:
        """Delete a history and destroy everything that only it holds, without a trace; forks keep what they show."""
        if await self.head(history) is not None:
            await self.apply(Mutation(history=history, operation=Delete(), at=at))
        plan = await self._reading_of(history, lambda tx: retention.plan(tx, history, retention.Rule()))
        await self._carry_out(plan)
        await self._writing(lambda tx: tx.forget_operations(history))
        await self._reclaim(thoroughly=True)
        return plan.pruned

    async def _carry_out(self, plan: retention.Plan) -> None:
        for hid, first in plan.firsts.items():
            await self._writing(partial(retention.drop_versions, hid=hid, first=first))
        for log in plan.logs:
            while await self._writing(partial(retention.drop_piece, log=log)):
                pass

    # --- the feed -----------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every change of every history from now on; call the result to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def _tell(self) -> bool:
        """Tell the listeners of every change since the last telling, own and foreign alike, in commit order."""
        if not self._listeners:
            return False
        before = self._told
        events, told = await self._reading(lambda tx: events_since(tx, before))
        if self._told != before:
            return True  # another telling overtook this one while it read
        self._told = told
        for event in events:
            for listener in list(self._listeners):
                listener(event)
        return bool(events)

    async def _tell_all_to_read_again(self) -> None:
        """Tell the listeners that any history may be another one now."""
        after: tuple[str] | None = None
        while self._listeners:
            rows = await self._reading(partial(_page, after))
            for row in rows:
                for listener in list(self._listeners):
                    listener(replaced_event(row))
            if len(rows) < STEP:
                return
            after = (rows[-1].name,)


def _page(after: tuple[str] | None, tx: Reader) -> Sequence[HistoryRow]:
    return tx.histories("", "name", after, STEP)
