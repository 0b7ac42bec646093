"""The two ends of stdio on one asyncio loop, with back-pressure in both directions.

Rules:
- `take_stdio` first: the protocol's pipes move to private descriptors, 0 reads `/dev/null` and 1 writes to stderr, so
  that a stray `print` or a child process can neither corrupt the stream nor hold it open.
- Pipes, sockets and FIFOs are polled by the loop. Regular files, terminals and Windows pipes cannot be, so a thread
  reads or writes them; the rest of the server does not see the difference.
- Output never blocks the loop: what the pipe does not take now waits in a queue whose size is `pending`. Whoever
  produces output looks at `pending` and pauses the input (guarded by `tests/server/test_backpressure.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Protocol

log = logging.getLogger(__name__)

CHUNK = 64 * 1024
LARGE_CHUNK = 1024 * 1024
_MAX_VECTOR = 64
_F_SETPIPE_SZ = 1031


def take_stdio() -> tuple[int, int]:
    """Move stdin and stdout to private descriptors and return them."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without a stderr
        os.dup2(null, 1)
    os.close(null)
    if sys.platform == "linux":
        import fcntl

        for fd in (source, sink):
            with contextlib.suppress(OSError):  # not a pipe, or over the user's quota: only speed is lost
                fcntl.fcntl(fd, _F_SETPIPE_SZ, LARGE_CHUNK)
    return source, sink


class Input(Protocol):
    """Delivers bytes to a callback until the end of the stream."""

    wanted: int
    """How much of a large message is still missing; the next read may be as large."""

    def pause(self) -> None:
        """Stop reading: the client's writes will block once the pipe is full."""

    def resume(self) -> None:
        """Read again."""

    def close(self) -> None:
        """Stop for good."""


class Output(Protocol):
    """Takes bytes without ever blocking."""

    pending: int
    """Bytes accepted and not yet taken by the pipe."""

    def write(self, *chunks: bytes) -> None:
        """Queue chunks in order; may be called from any thread."""

    def flush(self) -> None:
        """Hand the queue to the pipe now instead of at the end of this turn of the loop."""

    async def drain(self) -> None:
        """Wait until everything was taken, or the reader is gone."""

    def close(self) -> None:
        """Stop for good."""


def open_input(source: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> Input:
    """Start reading `source` on the running loop."""
    kind = PolledInput if _pollable(source) else ThreadInput
    return kind(source, on_data, on_end)


def open_output(sink: int, on_progress: Callable[[], None]) -> Output:
    """Prepare to write `sink` from the running loop; `on_progress` is called whenever `pending` has shrunk."""
    return PolledOutput(sink, on_progress) if _pollable(sink) else ThreadOutput(sink, on_progress)


def _pollable(fd: int) -> bool:
    if sys.platform == "win32" or os.isatty(fd):
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class PolledInput:
    """Reads when the loop says that there is something to read."""

    def __init__(self, source: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self.wanted = 0
        self._loop = asyncio.get_running_loop()
        self._source, self._on_data, self._on_end = source, on_data, on_end
        self._reading = self._closed = False
        self.resume()

    def pause(self) -> None:
        """See `Input`."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._source)

    def resume(self) -> None:
        """See `Input`."""
        if not self._reading and not self._closed:
            self._reading = True
            self._loop.add_reader(self._source, self._ready)

    def close(self) -> None:
        """See `Input`."""
        self.pause()
        self._closed = True

    def _ready(self) -> None:
        try:
            data = os.read(self._source, LARGE_CHUNK if self.wanted > CHUNK else CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # the peer of a socket vanished
            data = b""
        if data:
            self._on_data(data)
        else:
            self.close()
            self._on_end()


class ThreadInput:
    """Reads on a thread, one chunk ahead of the loop at most."""

    def __init__(self, source: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self.wanted = 0
        self._loop = asyncio.get_running_loop()
        self._source, self._on_data, self._on_end = source, on_data, on_end
        self._go = threading.Semaphore(1)
        self._paused = self._owed = self._closed = False
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def pause(self) -> None:
        """See `Input`."""
        self._paused = True

    def resume(self) -> None:
        """See `Input`."""
        self._paused = False
        if self._owed:
            self._owed = False
            self._go.release()

    def close(self) -> None:
        """See `Input`."""
        self._closed = True

    def _read(self) -> None:
        while not self._closed:
            self._go.acquire()
            try:
                data = os.read(self._source, LARGE_CHUNK if self.wanted > CHUNK else CHUNK)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._take, data)
            except RuntimeError:  # the loop is closed: the server has ended
                return
            if not data:
                return

    def _take(self, data: bytes) -> None:
        if self._closed:
            return
        if not data:
            self._closed = True
            self._on_end()
            return
        self._on_data(data)
        if self._paused:
            self._owed = True
        else:
            self._go.release()


class PolledOutput:
    """Writes what the pipe takes at once, and the rest when the loop says that it takes more."""

    def __init__(self, sink: int, on_progress: Callable[[], None]) -> None:
        self.pending = 0
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._sink, self._on_progress = sink, on_progress
        self._queue: deque[bytes | memoryview] = deque()
        self._scheduled = self._blocked = self._lost = False
        self._drained: asyncio.Future[None] | None = None
        os.set_blocking(sink, False)

    def write(self, *chunks: bytes) -> None:
        """See `Output`."""
        if threading.get_ident() != self._thread:
            self._loop.call_soon_threadsafe(self.write, *chunks)
            return
        if self._lost:
            return
        self._queue.extend(chunks)
        self.pending += sum(map(len, chunks))
        if not self._scheduled and not self._blocked:
            self._scheduled = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """See `Output`."""
        self._scheduled = False
        if self._blocked:
            return
        try:
            while self._queue:
                self._took(os.writev(self._sink, list(islice(self._queue, _MAX_VECTOR))))
        except (BlockingIOError, InterruptedError):
            self._blocked = True
            self._loop.add_writer(self._sink, self._writable)
        except OSError as error:  # nobody reads any more; the end of the input, or the parent watch, ends the process
            log.warning("the client closed its reading end: %s", error.strerror)
            self._lost = True
            self._queue.clear()
            self.pending = 0
        if self._drained is not None and not self._queue and not self._drained.done():
            self._drained.set_result(None)

    async def drain(self) -> None:
        """See `Output`."""
        self.flush()
        if self._queue:
            self._drained = self._loop.create_future()
            await self._drained

    def close(self) -> None:
        """See `Output`."""
        self._lost = True
        if self._blocked:
            self._loop.remove_writer(self._sink)

    def _writable(self) -> None:
        self._loop.remove_writer(self._sink)
        self._blocked = False
        self.flush()
        self._on_progress()

    def _took(self, count: int) -> None:
        self.pending -= count
        queue = self._queue
        while count:
            head = queue[0]
            if count < len(head):
                queue[0] = memoryview(head)[count:]
                return
            count -= len(head)
            queue.popleft()


class ThreadOutput:
    """Writes on a thread, for sinks that the loop cannot poll."""

    def __init__(self, sink: int, on_progress: Callable[[], None]) -> None:
        self.pending = 0
        self._loop = asyncio.get_running_loop()
        self._sink, self._on_progress = sink, on_progress
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._lost = False
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    def write(self, *chunks: bytes) -> None:
        """See `Output`."""
        with self._changed:
            if self._lost:
                return
            self._queue.extend(chunks)
            self.pending += sum(map(len, chunks))
            self._changed.notify_all()

    def flush(self) -> None:
        """Nothing to do: the thread is always at it."""

    async def drain(self) -> None:
        """See `Output`."""
        while self.pending:
            await asyncio.sleep(0.005)

    def close(self) -> None:
        """See `Output`."""
        with self._changed:
            self._lost = True
            self._queue.clear()
            self.pending = 0
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._lost)
                if self._lost:
                    return
                data = b"".join(self._queue)
                self._queue.clear()
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._sink, view[:LARGE_CHUNK]) :]
            except OSError as error:
                log.warning("the client closed its reading end: %s", error.strerror)
                self.close()
                return
            with self._changed:
                self.pending = max(0, self.pending - len(data))
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                self._loop.call_soon_threadsafe(self._on_progress)
