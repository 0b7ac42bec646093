"""`SqliteStore`: the embedded store, one file for every editor and agent of a user; `:memory:` for none.

Rules:
- One writer thread holds the write connection; reads use a second connection on the event loop's thread and never
  hold a transaction across an await.
- A batch: take the turn, check that the files are still ours, BEGIN IMMEDIATE, each mutation in a SAVEPOINT, one
  COMMIT (one fsync), checkpoint where the log is large, give the turn back, then answer.
- A connection that saw an I/O error or corruption is closed and opened again before it is used; the callers of that
  batch are told that the outcome is unknown and retry with their operation ids.
"""

from __future__ import annotations

import asyncio
import base64
import ctypes
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from sidecar.core.errors import CursorInvalid, SidecarError
from sidecar.core.jsontext import dumps, loads
from sidecar.core.layouts import length
from sidecar.store import logic
from sidecar.store.base import Applied, Delta, Head, Listener, Mutation, Page, Pruned, Slice, VersionRow
from sidecar.store.sqlite import schema
from sidecar.store.sqlite.events import events_since
from sidecar.store.sqlite.failures import poisons, storage_error
from sidecar.store.sqlite.feed import Doorbells, poll
from sidecar.store.sqlite.files import Sentinel, Turn, prepare
from sidecar.store.sqlite.transaction import HISTORY_COLUMNS, SqliteTransaction, history_row
from sidecar.store.views import edits_between, existing, rows_of, view_of
from sidecar.store.writer import Writer

CHECKPOINT_PAGES = 1024
"""Write-ahead log size, in pages of 4 KiB, above which a batch is followed by a checkpoint inside its turn."""

MEMORY = ":memory:"
_ENABLED = ctypes.c_int(1)


class SqliteStore:
    """A store in one SQLite file."""

    def __init__(self, path: str) -> None:
        self.path = None if path == MEMORY else Path(path).expanduser().absolute()
        self.engine = "memory" if self.path is None else "sqlite"
        self.shared = self.path is not None
        self._identity = secrets.randbits(62)
        self._listeners: list[Listener] = []
        self._told = 0
        self._poll: asyncio.Task[None] | None = None

    # --- life cycle ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        with _translated():
            if self.path is None:
                # Memory is private to this process: one connection, one thread, no fsync to batch.
                self._writing = self._reading = apsw.Connection(MEMORY)
                schema.migrate(self._writing)
            else:
                prepare(self.path)
                self._turn = Turn(self.path)
                with self._turn.take():
                    self._connect()
                self._reading = self._connection(writer=False)
                self._bells = Doorbells(str(self._reading.execute("SELECT v FROM meta WHERE k = 'store_id'").get))
                self._writer: Writer[Mutation, Applied] = Writer(self._commit)
        self._loop = asyncio.get_running_loop()
        self._told = self._last_change()

    async def close(self) -> None:
        if self.path is not None:
            if self._poll is not None:
                self._poll.cancel()
            await self._writer.close()
            self._bells.close(self._loop)
            self._reading.close()
            self._turn.close()
        self._writing.close()

    def _connect(self) -> None:
        assert self.path is not None
        self._writing = self._connection(writer=True)
        schema.migrate(self._writing)
        self._writing.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(_ENABLED))
        self._writing.execute("SELECT count(*) FROM history")  # makes the log exist, so that the sentinel sees it
        self._sentinel = Sentinel.of(self.path)
        self._tx = SqliteTransaction(self._writing, self._identity)

    def _connection(self, *, writer: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(str(self.path), flags=flags)
        schema.configure(connection, writer=writer)
        return connection

    # --- writing ------------------------------------------------------------------------------------------------------

    async def apply(self, mutation: Mutation) -> Applied:
        if self.path is None:
            (result,) = self._batch([mutation], SqliteTransaction(self._writing, self._identity))
            if isinstance(result, BaseException):
                raise result
        else:
            result = await self._writer.submit(mutation).result()
        self._tell()
        return result

    def _commit(self, mutations: Sequence[Mutation]) -> Sequence[Applied | BaseException]:
        """One batch on the writer thread."""
        try:
            with self._turn.take():
                self._sentinel.check()
                results = self._batch(mutations, self._tx)
                self._checkpoint()
            self._bells.ring()
            return results
        except SidecarError as error:
            return [error] * len(mutations)
        except apsw.Error as error:
            if poisons(error):
                self._reopen()
            return [storage_error(error)] * len(mutations)

    def _batch(self, mutations: Sequence[Mutation], tx: SqliteTransaction) -> list[Applied | BaseException]:
        results: list[Applied | BaseException] = []
        execute = tx.connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            for mutation in mutations:
                execute("SAVEPOINT one")
                try:
                    results.append(logic.apply(tx, mutation))
                except SidecarError as error:
                    execute("ROLLBACK TO one")
                    results.append(error)
                execute("RELEASE one")
            execute("COMMIT")
        except BaseException:
            if tx.connection.in_transaction:
                execute("ROLLBACK")
            raise
        return results

    def _checkpoint(self) -> None:
        pages, _ = self._writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if pages > CHECKPOINT_PAGES:
            self._writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _reopen(self) -> None:
        try:
            self._writing.close(True)
            with self._turn.take():
                self._connect()
        except (apsw.Error, SidecarError):
            return  # the next batch fails on the closed connection and tries again

    # --- reading ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _reads(self) -> Iterator[SqliteTransaction]:
        with _translated():
            if self.path is None:
                yield SqliteTransaction(self._reading, self._identity)
                return
            self._reading.execute("BEGIN")
            try:
                yield SqliteTransaction(self._reading, self._identity)
            finally:
                self._reading.execute("COMMIT")

    async def head(self, history: str) -> Head | None:
        with self._reads() as tx:
            row = tx.find(history)
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
        with self._reads() as tx:
            row = existing(tx, history)
            view = view_of(tx, row, version)
            size = length(view.ranges)
            first, last = min(start, size), size if stop is None else min(stop, size)
            rows = rows_of(tx, row, view, first, last, max_bytes)
        return Slice(
            history=history, version=view.version, len=size, start=first, rows=rows, content=(row.hid, view.layout)
        )

    async def positions(self, history: str, entry_ids: Sequence[str], version: int | None = None) -> dict[str, int]:
        with self._reads() as tx:
            view = view_of(tx, existing(tx, history), version)
            found = {entry_id: logic.positions(tx, view.ranges, entry_id) for entry_id in entry_ids}
        return {entry_id: indices[0] for entry_id, indices in found.items() if indices}

    async def delta(self, history: str, since: int) -> Delta:
        with self._reads() as tx:
            row = existing(tx, history)
            old, new = view_of(tx, row, since), view_of(tx, row, None)
            return Delta(
                history=history,
                from_version=since,
                version=row.version,
                len=row.len,
                edits=edits_between(tx, old.ranges, new.ranges),
            )

    async def versions(self, history: str, *, cursor: str | None, limit: int) -> Page:
        (below,) = _open_cursor("versions", cursor, (1 << 62,))
        with self._reads() as tx:
            row = existing(tx, history)
            found = tx.execute(
                "SELECT version, kind, at, len, actor, writer FROM change WHERE hid = ? AND version < ?"
                " ORDER BY version DESC LIMIT ?",
                (row.hid, below, limit + 1),
            ).fetchall()
        rows = tuple(
            VersionRow(version=version, kind=kind, at=at, len=size, actor=actor, local=writer == self._identity)
            for version, kind, at, size, actor, writer in found[:limit]
        )
        return Page(rows=rows, cursor=_cursor("versions", rows[-1].version) if len(found) > limit else None)

    async def list(self, *, prefix: str, cursor: str | None, limit: int, order_by: str) -> Page:
        column = {"name": "name", "updatedAt": "updated_at", "createdAt": "created_at"}[order_by]
        where, after = "name >= ? AND name < ?", ()
        values: list[Any] = [prefix, prefix + "\U0010ffff"]
        if cursor is not None:
            after = _open_cursor(f"list:{order_by}:{prefix}", cursor, ())
            where += " AND (name > ?)" if column == "name" else f" AND ({column}, name) < (?, ?)"
            values += after
        order = "name" if column == "name" else f"{column} DESC, name DESC"
        with self._reads() as tx:
            found = tx.execute(
                f"SELECT {HISTORY_COLUMNS} FROM history WHERE live = 1 AND {where} ORDER BY {order} LIMIT ?",
                (*values, limit + 1),
            ).fetchall()
        rows = tuple(logic.head_of(history_row(each)) for each in found[:limit])
        if len(found) <= limit:
            return Page(rows=rows, cursor=None)
        last = rows[-1]
        key = (last.history,) if column == "name" else (getattr(last, column), last.history)
        return Page(rows=rows, cursor=_cursor(f"list:{order_by}:{prefix}", *key))

    async def search(self, query: str, *, prefix: str, cursor: str | None, limit: int) -> Page:
        raise NotImplementedError

    async def prune(
        self, history: str | None, *, keep_versions: int | None, before: int | None, dry_run: bool
    ) -> Pruned:
        raise NotImplementedError

    # --- the feed -----------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        if not self._listeners:
            self._told = self._last_change()
            if self.path is not None and self._poll is None:
                self._bells.listen(self._loop, self._tell)
                self._poll = self._loop.create_task(poll(self._reading, self._tell))
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _last_change(self) -> int:
        return int(self._reading.execute("SELECT max(id) FROM change").get or 0)

    def _tell(self) -> bool:
        """Tell the listeners of every change since the last telling, own and foreign alike, in commit order."""
        if not self._listeners:
            return False
        with self._reads() as tx:
            events, self._told = events_since(tx, self._told)
        for event in events:
            for listener in list(self._listeners):
                listener(event)
        return bool(events)


def _cursor(kind: str, *key: Any) -> str:
    return base64.urlsafe_b64encode(dumps([kind, *key]).encode()).decode()


def _open_cursor(kind: str, cursor: str | None, first: tuple[Any, ...]) -> tuple[Any, ...]:
    if cursor is None:
        return first
    try:
        found = loads(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError:
        raise CursorInvalid from None
    if not isinstance(found, list) or not found or found[0] != kind:
        raise CursorInvalid
    return tuple(found[1:])


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise storage_error(error) from None
