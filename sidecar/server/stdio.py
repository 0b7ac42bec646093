"""Serve one client over stdio until it goes: the loop around the protocol.

Rules: it ends on `exit`, at the end of stdin, when the client's process is gone, and on SIGTERM, SIGINT and SIGHUP.
Requests under way finish first and their replies are written, within `GRACE_SECONDS`; then the server closes its
store. The exit code is 0 after `shutdown`, else 1. Reading pauses while the client does not read its replies or
while too many requests are being worked on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sidecar.server.frames import FrameReader
from sidecar.server.pipes import Input, open_input, open_output, take_stdio
from sidecar.server.protocol import AnyFuture
from sidecar.server.watch import watch_process

if TYPE_CHECKING:
    from sidecar.server.app import SidecarServer

log = logging.getLogger(__name__)

MAX_PENDING_OUTPUT = 16 * 1024 * 1024
"""Reading pauses while more bytes than this wait for the client to read them."""

MAX_RUNNING = 1000
"""Reading pauses while this many requests are being worked on."""

GRACE_SECONDS = 30.0
"""How long requests under way may take to finish once the client is gone."""

DRAIN_SECONDS = 5.0
"""How long a client that is still there may take to read its last replies."""


def serve_stdio(server: SidecarServer) -> int:
    """Serve until the client goes; return the exit code."""
    return asyncio.run(_serve(server, *take_stdio()))


async def _serve(server: SidecarServer, source: int, sink: int) -> int:
    connection = _Connection(server, source, sink)
    _on_signals(connection.end)
    await connection.ended
    await connection.finish()
    return 0 if server.protocol.is_shut_down else 1


class _Connection:
    def __init__(self, server: SidecarServer, source: int, sink: int) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._server, self._protocol = server, server.protocol
        self._reader = FrameReader()
        self._output = open_output(sink, self._took_more)
        self._protocol.set_writer(self._output)
        self._protocol.on_exit = self.end
        self._protocol.on_settled = self._settled
        self._paused = False
        self._watched: int | None = None
        self._stop_watching: Callable[[], None] = lambda: None
        self._input: Input = open_input(source, self._take, self.end)

    def end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    async def finish(self) -> None:
        self._input.close()
        self._stop_watching()
        deadline = time.monotonic() + GRACE_SECONDS
        while self._protocol.running and (rest := deadline - time.monotonic()) > 0:
            await asyncio.wait([_awaitable(future) for future in self._protocol.running.values()], timeout=rest)
            await asyncio.sleep(0)  # their done-callbacks write the replies
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._output.drain(), DRAIN_SECONDS)
        self._output.close()
        await self._server.close()

    def _take(self, data: bytes) -> None:
        if self.ended.done():
            return
        if bodies := self._reader.feed(data):
            self._protocol.handle_bodies(bodies)
        if self._reader.lost is not None:
            log.error("framing is lost: %s", self._reader.lost)
            self._protocol.refuse_stream(self._reader.lost)
            self.end()
        self._output.flush()
        self._watch_client()
        self._balance()
        self._input.wanted = self._reader.wanted

    def _settled(self) -> None:
        if self._paused:
            self._balance()

    def _balance(self) -> None:
        busy = self._output.pending > MAX_PENDING_OUTPUT or len(self._protocol.running) >= MAX_RUNNING
        if busy and not self._paused:
            self._paused = True
            self._input.pause()
        elif self._paused and not busy:
            self._paused = False
            self._input.resume()

    def _took_more(self) -> None:
        self._balance()
        self._server.catch_up()

    def _watch_client(self) -> None:
        if self._watched is None and (pid := self._server.process_id) is not None:
            self._watched = pid
            self._stop_watching = watch_process(pid, self.end)


def _on_signals(end: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if (number := getattr(signal, name, None)) is None:
            continue
        try:
            loop.add_signal_handler(number, end)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))


def _awaitable(future: AnyFuture) -> asyncio.Future[Any]:
    return future if isinstance(future, asyncio.Future) else asyncio.wrap_future(future)
