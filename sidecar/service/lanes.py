"""The order of requests: per history as they arrive, different histories side by side.

Rules:
- Every operation names the histories it touches and whether it reads or writes. In the lane of a history, a read
  waits for the writes before it and a write for the reads before it. Writes run side by side, because the store takes
  them in the order in which they are submitted and commits what has queued up together; reads run side by side too.
- What runs `alone` waits for everything before it and holds everything behind it back.
- An operation that touches several histories enters all their lanes at once, so nothing can wait in a circle.
- Entering a free lane does not suspend, so operations that are started in order reach the store in order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["read", "write", "alone"]


class Lanes:
    """The lanes of all histories that have something running or waiting."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    def turn(self, kind: Kind, *histories: str) -> Turn:
        """Return the turn of one operation, for `async with`."""
        return Turn(self._lanes, kind, histories if len(histories) == 1 else tuple(dict.fromkeys(histories)))

    def turn_behind_all(self) -> Turn:
        """Return the turn of a read that concerns every history: behind what is under way now."""
        return Turn(self._lanes, "read", tuple(self._lanes))


class Turn:
    """`async with` waits until the operation may run, and lets the next ones run afterwards."""

    __slots__ = ("_histories", "_lanes", "_ready", "blocked", "kind")

    def __init__(self, lanes: dict[str, _Lane], kind: Kind, histories: Iterable[str]) -> None:
        self.kind = kind
        self.blocked = 0
        self._lanes, self._histories = lanes, histories
        self._ready: asyncio.Future[None] | None = None

    async def __aenter__(self) -> None:
        for name in self._histories:
            lane = self._lanes.get(name)
            if lane is None:
                lane = self._lanes[name] = _Lane()
            lane.enter(self)
        if self.blocked:
            self._ready = asyncio.get_running_loop().create_future()
            try:
                await self._ready
            except asyncio.CancelledError:
                self._leave()
                raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def unblock(self) -> None:
        """One of the lanes is free for this operation now."""
        self.blocked -= 1
        if not self.blocked and self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def _leave(self) -> None:
        for name in self._histories:
            lane = self._lanes[name]
            lane.leave(self)
            if not lane.running:
                del self._lanes[name]


class _Lane:
    __slots__ = ("kind", "running", "waiting")

    def __init__(self) -> None:
        self.kind: Kind = "read"
        self.running = 0
        self.waiting: deque[Turn] = deque()

    def enter(self, turn: Turn) -> None:
        if self.running and (self.waiting or not self.admits(turn)):
            self.waiting.append(turn)
            turn.blocked += 1
        else:
            self.kind = turn.kind
            self.running += 1

    def admits(self, turn: Turn) -> bool:
        return self.kind == turn.kind and turn.kind != "alone"

    def leave(self, turn: Turn) -> None:
        if turn.blocked and turn in self.waiting:  # cancelled while it waited here
            self.waiting.remove(turn)
        else:
            self.running -= 1
        while self.waiting and (not self.running or self.admits(self.waiting[0])):
            following = self.waiting.popleft()
            self.kind = following.kind
            self.running += 1
            following.unblock()
