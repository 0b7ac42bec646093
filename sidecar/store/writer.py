"""The one writer thread of a store, with natural group commit.

Rules: mutations are carried out in the order they were queued. No timed gathering: a batch is what arrived while the
last one was being synced, up to `MAX_BATCH` mutations. A caller is answered after the
commit of its batch. A mutation that was cancelled while queued is skipped; once taken it runs to its true result.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from sidecar.core.errors import Overloaded

MAX_BATCH = 200
QUEUE_LIMIT = 10_000
"""How many mutations may wait before a store answers `overloaded`."""
RETRY_AFTER_MS = 250


@frozen
class Work:
    """A job that is not a mutation: a piece of indexing or pruning, run on a transaction in its turn."""

    run: Callable[[Any], Any]


Job = TypeVar("Job")
Result = TypeVar("Result")


@frozen(eq=False)
class Queued(Generic[Job, Result]):
    """One waiting mutation. Whoever claims it first, writer or canceller, decides what becomes of it."""

    job: Job
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Result]
    _claimed: threading.Lock = field(factory=threading.Lock, alias="claimed")

    def claim(self) -> bool:
        """Take the mutation; True for the first caller only, from any thread."""
        return self._claimed.acquire(blocking=False)

    async def result(self) -> Result:
        """Wait for the result; a cancellation counts only while the mutation is queued."""
        try:
            return await asyncio.shield(self.future)
        except asyncio.CancelledError:
            if self.future.cancelled() or self.claim():
                raise
            return await self.future


class Writer(Generic[Job, Result]):
    """Runs `commit(jobs)` on its own thread; it returns one result or exception per job."""

    def __init__(self, commit: Callable[[Sequence[Job]], Sequence[Result | BaseException]]) -> None:
        self._commit = commit
        self._queue: queue.SimpleQueue[Queued[Job, Result] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Queued[Job, Result]:
        """Queue one mutation of the running loop. Raises `Overloaded` where too many wait."""
        if self._queue.qsize() >= QUEUE_LIMIT:
            raise Overloaded(RETRY_AFTER_MS)
        loop = asyncio.get_running_loop()
        queued: Queued[Job, Result] = Queued(job, loop, loop.create_future())
        self._queue.put(queued)
        return queued

    async def close(self) -> None:
        """Finish what is queued, then end the thread."""
        self._queue.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            ending = False
            while len(batch) < MAX_BATCH and not ending:
                try:
                    more = self._queue.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    ending = True
                else:
                    batch.append(more)
            batch = [each for each in batch if each.claim()]
            if batch:
                results = self._commit([each.job for each in batch])
                _answer(batch, results)
            if ending:
                return


def _answer(batch: Sequence[Queued[Job, Result]], results: Sequence[Result | BaseException]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Result], Result | BaseException]]] = {}
    for each, result in zip(batch, results, strict=True):
        by_loop.setdefault(each.loop, []).append((each.future, result))
    for loop, pairs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve, pairs)


def _resolve(pairs: Sequence[tuple[asyncio.Future[Result], Result | BaseException]]) -> None:
    for future, result in pairs:
        if future.cancelled():
            continue
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
