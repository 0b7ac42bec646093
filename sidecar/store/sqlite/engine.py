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
import ctypes
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from sidecar.core.errors import SidecarError
from sidecar.store import logic
from sidecar.store.base import Applied, Listener, Mutation, Page, Pruned
from sidecar.store.front import StoreFront
from sidecar.store.sqlite import schema
from sidecar.store.sqlite.failures import poisons, storage_error
from sidecar.store.sqlite.feed import Doorbells, poll
from sidecar.store.sqlite.files import Sentinel, Turn, prepare
from sidecar.store.sqlite.transaction import SqliteTransaction
from sidecar.store.transaction import Reader
from sidecar.store.writer import Writer

CHECKPOINT_PAGES = 1024
"""Write-ahead log size, in pages of 4 KiB, above which a batch is followed by a checkpoint inside its turn."""

MEMORY = ":memory:"
T = TypeVar("T")
_ENABLED = ctypes.c_int(1)


class SqliteStore(StoreFront):
    """A store in one SQLite file."""

    def __init__(self, path: str) -> None:
        self.path = None if path == MEMORY else Path(path).expanduser().absolute()
        self.engine = "memory" if self.path is None else "sqlite"
        self.shared = self.path is not None
        super().__init__()
        self._identity = secrets.randbits(62)
        self._poll: asyncio.Task[None] | None = None

    # --- life cycle ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        with _translated():
            if self.path is None:
                # Memory is private to this process: one connection, one thread, no fsync to batch.
                self._writing = apsw.Connection(MEMORY)
                schema.migrate(self._writing)
                self._tx = SqliteTransaction(self._writing, self._identity)
            else:
                prepare(self.path)
                self._turn = Turn(self.path)
                with self._turn.take():
                    self._connect()
                self._read_connection = self._connection(writer=False)
                self._bells = Doorbells(
                    str(self._read_connection.execute("SELECT v FROM meta WHERE k = 'store_id'").get)
                )
                self._writer: Writer[Mutation, Applied] = Writer(self._commit)

    async def close(self) -> None:
        if self.path is not None:
            if self._poll is not None:
                self._poll.cancel()
            await self._writer.close()
            self._bells.close(asyncio.get_running_loop())
            self._read_connection.close()
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
            (result,) = self._batch([mutation])
            if isinstance(result, BaseException):
                raise result
        else:
            result = await self._writer.submit(mutation).result()
        await self._tell()
        return result

    def _commit(self, mutations: Sequence[Mutation]) -> Sequence[Applied | BaseException]:
        """One batch on the writer thread."""
        try:
            with self._turn.take():
                self._sentinel.check()
                results = self._batch(mutations)
                self._checkpoint()
            self._bells.ring()
            return results
        except SidecarError as error:
            return [error] * len(mutations)
        except apsw.Error as error:
            if poisons(error):
                self._reopen()
            return [storage_error(error)] * len(mutations)
        except Exception as error:  # noqa: BLE001 - a defect must fail its batch, not end the writer thread
            return [error] * len(mutations)

    def _batch(self, mutations: Sequence[Mutation]) -> list[Applied | BaseException]:
        results: list[Applied | BaseException] = []
        tx, execute = self._tx, self._writing.execute
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
            if self._writing.in_transaction:
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

    async def _reading(self, work: Callable[[Reader], T]) -> T:
        with _translated():
            if self.path is None:
                return work(self._tx)
            # Short, and never across an await: a reader that stays open pins the write-ahead log.
            self._read_connection.execute("BEGIN")
            try:
                return work(SqliteTransaction(self._read_connection, self._identity))
            finally:
                self._read_connection.execute("COMMIT")

    async def search(self, query: str, *, prefix: str, cursor: str | None, limit: int) -> Page:
        raise NotImplementedError

    async def prune(
        self, history: str | None, *, keep_versions: int | None, before: int | None, dry_run: bool
    ) -> Pruned:
        raise NotImplementedError

    # --- the feed -----------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        if not self._listeners:
            with _translated():
                connection = self._writing if self.path is None else self._read_connection
                self._told = SqliteTransaction(connection, self._identity).last_change()
            if self.path is not None and self._poll is None:
                loop = self._loop
                self._bells.listen(loop, lambda: loop.create_task(self._tell()))
                self._poll = loop.create_task(poll(self._read_connection, self._tell))
        return super().subscribe(listener)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise storage_error(error) from None
