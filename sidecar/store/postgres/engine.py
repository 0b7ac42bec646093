"""`PostgresStore`: the same store in a PostgreSQL database.

Rules:
- One writer thread with one connection. The plain appends of a batch are one statement (`appending`), what is left is
  one transaction. Both lock histories in name order, so that two processes cannot wait for each other.
- Reads run on a pool of connections in worker threads, each in one REPEATABLE READ transaction.
- After a commit one NOTIFY without payload, at most one per `NOTIFY_SECONDS` and process: NOTIFY inside the
  transaction takes a database-wide lock and costs up to four fifths of the rate (storage evidence). A listener thread
  on a connection of its own wakes the feed; its time-out is the poll behind it.
- A serialisation failure, a deadlock or a lost race for a new name is tried again; a lost connection is answered as
  `storageUnavailable`, since the outcome is unknown, and the next batch connects anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from sidecar.core.errors import SidecarError, StorageCorrupt, StorageReadOnly, StorageUnavailable
from sidecar.store import logic
from sidecar.store.base import Applied, Listener, Mutation
from sidecar.store.front import StoreFront
from sidecar.store.postgres.appending import Appender, names_of
from sidecar.store.postgres.schema import migrate
from sidecar.store.postgres.transaction import PostgresTransaction, PostgresWriting
from sidecar.store.sql import WRITER_BITS
from sidecar.store.transaction import Reader, Transaction
from sidecar.store.writer import Work, Writer

ENGINE = "postgresql"
CHANNEL = "history_sidecar"
NOTIFY_SECONDS = 0.01
POLL_SECONDS = 1.0
CONNECT_SECONDS = 10
TRIES = 5
READERS = 4

T = TypeVar("T")


class PostgresStore(StoreFront):
    """A store in one PostgreSQL database."""

    engine = ENGINE
    shared = True

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self._dsn = dsn
        self._identity = secrets.randbits(WRITER_BITS)
        self._appender = Appender(self._identity)
        self._stopping = threading.Event()
        self._listener: threading.Thread | None = None
        self._bell: asyncio.TimerHandle | None = None
        self._connection: psycopg.Connection[Any] | None = None

    # --- life cycle ---------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        await self._run(self._open)
        self._writer: Writer[Mutation | Work, Any] = Writer(self._commit)

    def _open(self) -> None:
        with translated():
            migrate(self._connect_writer())
            self._pool = ConnectionPool(
                self._dsn,
                min_size=1,
                max_size=READERS,
                timeout=CONNECT_SECONDS,
                kwargs={**_SETTINGS, "autocommit": True},
                check=ConnectionPool.check_connection,
                open=True,
            )

    async def close(self) -> None:
        self._stopping.set()
        if self._bell is not None:
            self._bell.cancel()
        await self._writer.close()
        await self._run(self._close)
        self._threads.shutdown(wait=True)

    def _close(self) -> None:
        if self._listener is not None:
            self._listener.join(POLL_SECONDS * 3)
        self._pool.close()
        if self._connection is not None:
            self._connection.close()

    def _connect_writer(self) -> psycopg.Connection[Any]:
        self._connection = connect(self._dsn)
        self._tx = PostgresWriting(self._connection, self._identity)
        return self._connection

    async def _run(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._threads, work)

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _apply(self, mutation: Mutation) -> Applied:
        applied: Applied = await self._writer.submit(mutation).result()
        self._ring_soon()
        await self._hear()
        return applied

    async def _hear(self) -> None:
        with contextlib.suppress(SidecarError):  # the next telling makes up for it; the commit is done
            await self._tell()

    async def _writing(self, work: Callable[[Transaction], T]) -> T:
        result: T = await self._writer.submit(Work(work)).result()
        return result

    async def _reclaim(self, *, thoroughly: bool) -> None:
        """Leave it to the database's own vacuum, which the operator tunes."""

    def _commit(self, mutations: Sequence[Mutation | Work]) -> Sequence[Any]:
        """One batch on the writer thread."""
        done: dict[int, Any] = {}
        left = list(range(len(mutations)))
        error: BaseException | None = None
        for attempt in range(TRIES):
            try:
                with translated():
                    connection = self._connection
                    if connection is None or connection.closed:
                        connection = self._connect_writer()
                    if not attempt:
                        done |= self._appender.run(connection, mutations)
                        left = [number for number in left if number not in done]
                    if left:
                        done |= zip(left, self._batch(connection, [mutations[n] for n in left]), strict=True)
                    break
            except _TryAgain:
                error = StorageUnavailable("the database is busy", ENGINE, detail="busy")
            except SidecarError as failure:
                error = failure
                break
            except Exception as defect:  # noqa: BLE001 - a defect must fail its batch, not end the writer thread
                error = defect
                break
        return [done.get(number, error) for number in range(len(mutations))]

    def _batch(self, connection: psycopg.Connection[Any], jobs: Sequence[Mutation | Work]) -> list[Any]:
        """What the function does not do, in one transaction."""
        tx = self._tx
        try:
            with connection.transaction():
                tx.begin(foreign_commits=True)
                if len(jobs) > 1:
                    mutations = [job for job in jobs if isinstance(job, Mutation)]
                    for name in sorted(set[str]().union(*map(names_of, mutations))):
                        tx.find(name)
                results = [self._run_job(job) for job in jobs]
                tx.finish()
        except BaseException:
            tx.forget()
            raise
        return results

    def _run_job(self, job: Mutation | Work) -> Any:
        """Carry out one job inside the batch, or take it back and return why."""
        tx = self._tx
        tx.start_job()
        try:
            if isinstance(job, Work):
                result = tx.run(job.run)
            else:
                result = logic.apply(tx, job)
                self._appender.learn(tx, job, result)
        except SidecarError as error:
            tx.end_job(kept=False)
            return error
        tx.end_job(kept=True)
        return result

    # --- reading ------------------------------------------------------------------------------------------------------

    async def _reading(self, work: Callable[[Reader], T]) -> T:
        def run() -> T:
            with translated(), self._pool.connection() as connection:
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                connection.read_only = True
                with connection.transaction():
                    return work(PostgresTransaction(connection, self._identity))

        return await self._run(run)

    # --- the feed -----------------------------------------------------------------------------------------------------

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        if not self._listeners:
            # Blocking once, on first use: the cursor must stand before the caller reads the version it starts from.
            with translated(), self._pool.connection() as connection:
                self._told = PostgresTransaction(connection, self._identity).last_change()
            if self._listener is None:
                self._listener = threading.Thread(target=self._listen, name="store-listener", daemon=True)
                self._listener.start()
        return super().subscribe(listener)

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                with connect(self._dsn) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    while not self._stopping.is_set():
                        for _ in connection.notifies(timeout=POLL_SECONDS, stop_after=1):
                            pass
                        self._wake()
            except psycopg.Error:
                self._stopping.wait(POLL_SECONDS)

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._hear()))

    def _ring_soon(self) -> None:
        if self._bell is None:
            self._bell = self._loop.call_later(NOTIFY_SECONDS, self._ring)

    def _ring(self) -> None:
        self._bell = None

        def notify() -> None:
            with contextlib.suppress(psycopg.Error, PoolTimeout), self._pool.connection() as connection:
                connection.execute(f"NOTIFY {CHANNEL}")

        if not self._stopping.is_set():
            self._threads.submit(notify)


_SETTINGS: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "application_name": "history-sidecar",
    # A server that stopped answering must not hold a sidecar for ever.
    "options": "-c statement_timeout=60000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000",
    "keepalives_idle": 10,
}


def connect(dsn: str, *, autocommit: bool = True) -> psycopg.Connection[Any]:
    """Open one connection with our settings."""
    return psycopg.connect(dsn, autocommit=autocommit, **_SETTINGS)


class _TryAgain(Exception):
    pass


@contextlib.contextmanager
def translated() -> Any:
    """Turn the driver's errors into those of the store."""
    try:
        yield
    except (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation):
        raise _TryAgain from None
    except errors.DiskFull:
        raise StorageReadOnly("the database's disk is full, nothing was changed") from None
    except (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege):
        raise StorageReadOnly("the database cannot be written") from None
    except (errors.DataCorrupted, errors.IndexCorrupted):
        raise StorageCorrupt("the database is damaged", detail="postgresql") from None
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout):
        raise StorageUnavailable("the database is not reachable", ENGINE, detail="unreachable") from None
    except psycopg.Error as error:
        raise StorageUnavailable("the database failed", ENGINE, detail=type(error).__name__) from None
