"""`SqliteStore`: the embedded store, one file for every editor and agent of a user; `:memory:` for none.

Rules:
- One writer thread holds the write connection; reads use a second connection on the event loop's thread and never
  hold a transaction across an await.
- A batch: take the turn, check that the files are still ours, BEGIN IMMEDIATE, each mutation in a SAVEPOINT, one
  COMMIT (one fsync), checkpoint where the log is large, give the turn back, then answer.
- Where the files were replaced under us, the call that notices is refused, and the file that stands there now is
  opened for the next one, if it is a store. The log of the old file is moved aside first: SQLite would replay it into
  the new one.
- A telling that fails is made up for by the next one; it never turns an answer of a commit into an error.
- A connection that saw an I/O error or corruption is closed and opened again before it is used; the callers of that
  batch are told that the outcome is unknown and retry with their operation ids.
"""

from __future__ import annotations

import asyncio
import ctypes
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from sidecar.core.errors import SidecarError, StorageCorrupt, StorageUnavailable
from sidecar.store import logic
from sidecar.store.base import Applied, Listener, Mutation
from sidecar.store.front import StoreFront
from sidecar.store.sql import WRITER_BITS
from sidecar.store.sqlite import schema
from sidecar.store.sqlite.failures import poisons, storage_error
from sidecar.store.sqlite.feed import Doorbells, poll
from sidecar.store.sqlite.files import Sentinel, Turn, is_replaced, place_of, prepare, replaced
from sidecar.store.sqlite.transaction import SqliteTransaction, SqliteWriting
from sidecar.store.transaction import Reader, Transaction
from sidecar.store.writer import Work, Writer

CHECKPOINT_PAGES = 1024
"""Write-ahead log size, in pages of 4 KiB, above which a batch is followed by a checkpoint inside its turn."""

VACUUM_PAGES = 1000
"""Pages given back to the file system per turn."""

TURN_SECONDS = 0.02
"""How long a batch goes on taking mutations; measured: an importer without a limit made an editor wait 153 ms."""

MEMORY = ":memory:"
T = TypeVar("T")
_ENABLED = ctypes.c_int(1)
_HEADER = b"SQLite format 3\0"


class SqliteStore(StoreFront):
    """A store in one SQLite file."""

    def __init__(self, path: str) -> None:
        self.path = None if path == MEMORY else place_of(path)
        self.engine = "memory" if self.path is None else "sqlite"
        self.shared = self.path is not None
        super().__init__()
        self._identity = secrets.randbits(WRITER_BITS)
        self._data_version = 0
        self._poll: asyncio.Task[None] | None = None
        self._empty_log = False
        self._renewal: asyncio.Task[None] | None = None
        self._stopped = False

    # --- life cycle ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        schema.require_safe_library(apsw.sqlite_lib_version())
        with _translated():
            if self.path is None:
                # Memory is private to this process: one connection, one thread, no fsync to batch.
                self._writer_connection = apsw.Connection(MEMORY)
                schema.migrate(self._writer_connection)
                self._tx = SqliteWriting(self._writer_connection, self._identity)
            else:
                prepare(self.path)
                self._turn = Turn(self.path)
                with self._turn.take():
                    self._connect()
                self._read_connection = self._connection(writer=False)
                self._bells = Doorbells(
                    str(self._read_connection.execute("SELECT v FROM meta WHERE k = 'store_id'").get)
                )
                self._writer: Writer[Mutation | Work, Any] = Writer(self._commit)

    async def close(self) -> None:
        if self._renewal is not None:
            await asyncio.wait([self._renewal])
        if not self._stopped:
            await self._let_go()

    async def _let_go(self) -> None:
        if self.path is not None:
            if self._poll is not None:
                self._poll.cancel()
                self._poll = None
            await self._writer.close()
            self._bells.close(asyncio.get_running_loop())
            self._read_connection.close()
            self._turn.close()
        self._writer_connection.close()

    async def _begin_anew(self) -> None:
        """Open what stands in place of our files now, once for all calls that noticed."""
        if self._renewal is None:
            self._renewal = self._loop.create_task(self._renew())
        if asyncio.current_task() is not self._renewal:
            await asyncio.shield(self._renewal)

    async def _ready(self) -> None:
        """Wait for what is being opened anew. Raises StorageUnavailable where it could not be opened."""
        if self._renewal is not None and asyncio.current_task() is not self._renewal:
            await asyncio.shield(self._renewal)
        if self._stopped and asyncio.current_task() is not self._renewal:
            await self._begin_anew()
            if self._stopped:
                raise replaced()

    async def _renew(self) -> None:
        assert self.path is not None
        try:
            # A log that went without its database is no reason to go on: what was acknowledged may be in it alone.
            if not self._sentinel.is_another_database():
                return
            if not await self._loop.run_in_executor(None, _is_store, self.path):
                return
            if not self._stopped:
                with self._turn.take():
                    self._sentinel.move_old_log_aside()
                await self._let_go()
                self._stopped = True
            await self.open()
            self._stopped = False
            self.generation += 1
            if self._listeners:
                self._start_feed()
            await self._tell_all_to_read_again()
        except (SidecarError, apsw.Error, OSError):
            return  # the next call notices again
        finally:
            self._renewal = None

    def _connect(self) -> None:
        assert self.path is not None
        self._writer_connection = self._connection(writer=True)
        schema.migrate(self._writer_connection)
        self._writer_connection.execute(
            "SELECT count(*) FROM history"
        )  # makes the log exist, so that the sentinel sees it
        self._sentinel = Sentinel.of(self.path)
        self._tx = SqliteWriting(self._writer_connection, self._identity)

    def _connection(self, *, writer: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(str(self.path), flags=flags)
        schema.configure(connection, writer=writer)
        # The log of a live store must never be unlinked by a process that believes it is the last one.
        connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(_ENABLED))
        return connection

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _apply(self, mutation: Mutation) -> Applied:
        applied: Applied = await self._submit(mutation)
        with suppress(SidecarError):
            await self._tell()
        return applied

    async def _writing(self, work: Callable[[Transaction], T]) -> T:
        result: T = await self._submit(Work(work))
        return result

    async def _submit(self, job: Mutation | Work) -> Any:
        if self.path is not None:
            if self._renewal is not None or self._stopped:
                await self._ready()
            try:
                return await self._writer.submit(job).result()
            except StorageUnavailable as error:
                if is_replaced(error):
                    await self._begin_anew()
                raise
        (result,) = self._batch([job])
        if isinstance(result, BaseException):
            raise result
        return result

    def _commit(self, mutations: Sequence[Mutation | Work]) -> Sequence[Any]:
        """What queued on the writer thread, in turns of at most `TURN_SECONDS`."""
        results: list[Any] = []
        while len(results) < len(mutations):
            rest = mutations[len(results) :]
            try:
                with self._turn.take():
                    self._sentinel.check()
                    _check_header(self._writer_connection)
                    results += self._batch(rest)
                    self._checkpoint()
            except apsw.Error as error:
                # A checkpoint that fails comes after the commit: what is in `results` by then is done and durable.
                results += [storage_error(error)] * (len(mutations) - len(results))
                if poisons(error):
                    self._reopen()
            except Exception as error:  # noqa: BLE001 - a defect must fail its batch, not end the writer thread
                results += [error] * (len(mutations) - len(results))
        self._bells.ring()
        return results

    def _batch(self, jobs: Sequence[Mutation | Work]) -> list[Any]:
        """One transaction; it ends early, so that other processes get their turn."""
        results: list[Any] = []
        ends = time.monotonic() + TURN_SECONDS
        tx, execute = self._tx, self._writer_connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            seen, self._data_version = self._data_version, execute("PRAGMA data_version").get
            tx.begin(foreign_commits=seen != self._data_version)
            for job in jobs:
                results.append(_run(tx, job))
                if time.monotonic() > ends:
                    break
            tx.finish()
            execute("COMMIT")
        except BaseException:
            tx.forget()
            if self._writer_connection.in_transaction:
                execute("ROLLBACK")
            raise
        return results

    async def _reclaim(self, *, thoroughly: bool) -> None:
        if thoroughly:
            await self._writing(lambda _: self._writer_connection.execute(schema.MERGE_WORDS))
        while await self._writing(lambda _: self._vacuum_piece()):
            pass
        if thoroughly and self.path is not None:
            # Deleted content is overwritten in the database (`secure_delete`); here it leaves the log as well.
            self._empty_log = True
            await self._writing(lambda _: None)

    def _vacuum_piece(self) -> bool:
        execute = self._writer_connection.execute
        for _ in execute(f"PRAGMA incremental_vacuum({VACUUM_PAGES})"):
            pass
        return bool(execute("PRAGMA freelist_count").get)

    def _checkpoint(self) -> None:
        if self._empty_log:
            self._empty_log = False
            self._writer_connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            return
        pages, _ = self._writer_connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        if pages > CHECKPOINT_PAGES:
            self._writer_connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _reopen(self) -> None:
        try:
            self._writer_connection.close(True)
            with self._turn.take():
                self._connect()
        except (apsw.Error, SidecarError, OSError):
            return  # the next batch fails on the closed connection and tries again

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _reading(self, work: Callable[[Reader], T]) -> T:
        if self._renewal is not None or self._stopped:
            await self._ready()
        with _translated():
            if self.path is None:
                return work(self._tx)
            try:
                self._sentinel.check()
            except StorageUnavailable:
                await self._begin_anew()
                raise
            _check_header(self._read_connection)
            # Short, and never across an await: a reader that stays open pins the write-ahead log.
            self._read_connection.execute("BEGIN")
            try:
                return work(SqliteTransaction(self._read_connection, self._identity))
            finally:
                self._read_connection.execute("COMMIT")

    # --- the feed -----------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        if not self._listeners:
            self._start_feed()
        return super().subscribe(listener)

    def _start_feed(self) -> None:
        with _translated():
            connection = self._writer_connection if self.path is None else self._read_connection
            self._told = SqliteTransaction(connection, self._identity).last_change()
        if self.path is not None and self._poll is None:
            loop = self._loop
            self._bells.listen(loop, lambda: loop.create_task(self._hear()))
            self._poll = loop.create_task(poll(self._read_connection, self._tell))

    async def _hear(self) -> None:
        with suppress(SidecarError):  # the poll comes after it
            await self._tell()


def _run(tx: SqliteWriting, job: Mutation | Work) -> Any:
    """Carry out one job inside the batch, or take it back and return why."""
    tx.start_job()
    try:
        result = tx.run(job.run) if isinstance(job, Work) else logic.apply(tx, job)
    except (SidecarError, apsw.CorruptError) as error:
        # A damaged page is the end of the histories on it, not of the others in this batch.
        tx.end_job(kept=False)
        return storage_error(error) if isinstance(error, apsw.Error) else error
    tx.end_job(kept=True)
    return result


def _is_store(path: Path) -> bool:
    """Say whether a sound store is there, which nobody but SQLite may look at; a missing or empty file is none."""
    if not path.is_file():
        return False
    # The log that lies there may still be the old file's, so nothing but the file itself is read.
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    probe = apsw.Connection(f"{path.as_uri()}?immutable=1", flags=flags)
    try:
        return schema.is_ours(probe)
    finally:
        probe.close()


def _check_header(connection: apsw.Connection) -> None:
    """Raise where the file was overwritten in place: its pages are cached, so a commit would not notice.

    Through SQLite's own descriptor: opening and closing the file would drop its locks.
    """
    _, header = connection.read("main", 0, 0, len(_HEADER))
    if header != _HEADER:
        raise StorageCorrupt("the store is damaged", detail="header")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise storage_error(error) from None
