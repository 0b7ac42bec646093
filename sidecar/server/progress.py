"""`$/progress` of one request, as LSP's client-initiated work done progress: begin, reports, end.

Rules: only where the client gave a `workDoneToken`. The percentage never falls; the end comes before the reply,
whatever the reply is. `window/workDoneProgress/cancel` of the token cancels the request as `$/cancelRequest` does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, dumpb
from sidecar.server.protocol import SidecarProtocol

REPORT_EVERY: Final = 0.1
"""Seconds between two reports at least."""


class Progress:
    """Tells the client how far one request is."""

    def __init__(self, protocol: SidecarProtocol, token: int | str | None) -> None:
        self._protocol = protocol
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._percentage = 0
        self._told = 0.0
        self._ended = token is None

    def report(self, share: float) -> None:
        """Say how much is done, from 0 to 1; from any thread."""
        percentage = int(share * 100)
        if not self._ended and percentage > self._percentage and time.monotonic() - self._told >= REPORT_EVERY:
            self._percentage, self._told = percentage, time.monotonic()
            self._loop.call_soon_threadsafe(self._tell, {"kind": "report", "percentage": percentage})

    def begin(self, title: str) -> None:
        """Say what is being done."""
        self._tell({"kind": "begin", "title": title, "cancellable": True, "percentage": 0})

    def end(self) -> None:
        """Say that there is nothing more to come."""
        self._tell({"kind": "end"})
        self._ended = True

    def _tell(self, value: Json) -> None:
        if not self._ended:
            self._protocol.notify_json("$/progress", dumpb({"token": self._token, "value": value}))


@contextmanager
def progress(protocol: SidecarProtocol, token: Json, title: str) -> Iterator[Progress]:
    """Tell of the request that the current task is working on; raise `InvalidParams` for what is no token."""
    if token is not None and type(token) not in (int, str):
        raise InvalidParams.at("/workDoneToken", "must be an integer or a string")
    # Whatever stands here is cancelled by `window/workDoneProgress/cancel`; pygls declares it for its own futures.
    tokens = cast("dict[Json, asyncio.Task[Any] | None]", protocol.progress.tokens)
    told = Progress(protocol, token)
    told.begin(title)
    if token is not None:
        tokens[token] = asyncio.current_task()
    try:
        yield told
    finally:
        tokens.pop(token, None)
        told.end()
