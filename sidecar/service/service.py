"""`HistoryService`: one open store and the sessions that use it.

Rules: no JSON-RPC and no pygls; the clock and the ids come from here, so that everything below is deterministic. One
event loop. Whoever uses histories does it through a `Session` (`service.session`), which is what a connection has of
its own: a name, runtime-only entries, subscriptions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from sidecar.core.messages import Entry
from sidecar.service.counted import Counted
from sidecar.service.ids import EntryIds
from sidecar.service.lanes import Lanes
from sidecar.service.limits import DEFAULT_LIMITS, Limits
from sidecar.service.parsed import ParsedEntries
from sidecar.service.session import Session
from sidecar.service.subscriptions import Sink
from sidecar.store.base import ChangeEvent, Store

Filter: TypeAlias = Callable[[Entry], Entry]


class HistoryService:
    """Use `async with`, then `session`."""

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        limits: Limits = DEFAULT_LIMITS,
        filters: Sequence[Filter] = (),
    ) -> None:
        self.store = store
        self.limits = limits
        self.now = now
        """Unix milliseconds."""
        self.filters = tuple(filters)
        """Applied to every entry before it is stored, in order; for masking secrets."""
        self.ids = EntryIds()
        self.lanes = Lanes()
        self.parsed = ParsedEntries(store)
        self.counted = Counted(store)
        self._sessions: list[Session] = []
        self._stop_listening: Callable[[], None] | None = None

    async def open(self) -> None:
        """Open the store. Raises the storage errors."""
        await self.store.open()

    async def close(self) -> None:
        """Finish commits under way and let go of the store."""
        if self._stop_listening is not None:
            self._stop_listening()
        await self.store.close()

    async def __aenter__(self) -> HistoryService:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def session(self, client: str | None = None, sink: Sink | None = None) -> Session:
        """Return a new session; `client` is the name that others see, `sink` takes its notifications."""
        session = Session(self, client, sink)
        self._sessions.append(session)
        return session

    def end(self, session: Session) -> None:
        """Forget a session and its runtime-only state."""
        self._sessions.remove(session)

    def listen(self) -> None:
        """Hear of changes from now on; without subscribers, nobody pays for reading them."""
        if self._stop_listening is None:
            self._stop_listening = self.store.subscribe(self._changed)

    def _changed(self, event: ChangeEvent) -> None:
        for session in self._sessions:
            session.hear(event)
