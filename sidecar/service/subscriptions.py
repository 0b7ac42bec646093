"""Who hears of which changes.

Rules:
- A subscription hears every version after the one it was answered, in order and without a gap. A change that arrives
  between the two is kept until the version is known.
- A gap in the journal (a prune of another process can take versions that were not told yet) becomes one resync from the
  last version that was told; a version is told once.
- A receiver that is slow (`sink.congested`) is not waited for and nothing piles up for it: all it missed of a history
  becomes one resync as soon as it can take it (guarded by `tests/service/test_subscriptions.py`).
- What one connection hears of one change is one notification that names all its subscriptions it answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol

from attrs import define, evolve, field, frozen

from sidecar.store.base import REPLACED, ChangeEvent


@frozen(kw_only=True)
class Notification:
    """One change for one connection; `event.edits` is `None` for a resync."""

    subscription_ids: tuple[str, ...]
    event: ChangeEvent
    with_entries: bool


class Sink(Protocol):
    """Where notifications of a connection go."""

    def notify(self, notification: Notification) -> None:
        """Take one notification; must not block."""

    @property
    def congested(self) -> bool:
        """Whether the receiver is too slow to be told more right now."""


MAX_TOLD = 4096
"""Of how many histories, those that changed last, a subscription remembers what it was told."""


@define
class _Subscription:
    id: str
    history: str | None
    prefix: str
    with_entries: bool
    started: bool = False  # once the subscribe is answered
    told: dict[str, int] = field(factory=dict)
    early: list[ChangeEvent] = field(factory=list)

    def wants(self, event: ChangeEvent) -> bool:
        return event.history == self.history if self.history is not None else event.history.startswith(self.prefix)

    def follow(self, event: ChangeEvent) -> ChangeEvent | None:
        """Return what to tell of the next change: `None` where it is known, a resync where versions are missing."""
        last = self.told.pop(event.history, None)
        if event.kind == REPLACED:
            self.told[event.history] = event.version
            return evolve(event, previous_version=event.previous_version if last is None else last)
        self.told[event.history] = event.version if last is None else max(last, event.version)
        if len(self.told) > MAX_TOLD:
            del self.told[next(iter(self.told))]
        if last is None:
            return event
        if event.version <= last:
            return None
        return event if event.previous_version <= last else evolve(event, edits=None, previous_version=last)


class Subscriptions:
    """The subscriptions of one connection."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._ids = itertools.count(1)
        self._all: dict[str, _Subscription] = {}
        self._missed: dict[str, ChangeEvent] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, history: str | None, prefix: str, *, with_entries: bool) -> str:
        """Start to listen; changes are kept back until `start`."""
        subscription = _Subscription(f"s{next(self._ids)}", history, prefix, with_entries)
        self._all[subscription.id] = subscription
        return subscription.id

    def start(self, subscription_id: str, version: int) -> None:
        """Deliver what came after `version`, and from now on everything."""
        subscription = self._all.get(subscription_id)
        if subscription is None:
            return
        subscription.started = True
        if subscription.history is not None:
            subscription.told[subscription.history] = version
        early, subscription.early = subscription.early, []
        for event in early:
            if (following := subscription.follow(event)) is not None:
                self._send(following, (subscription,))

    def remove(self, subscription_id: str) -> bool:
        """Stop; say whether there was such a subscription."""
        return self._all.pop(subscription_id, None) is not None

    def take(self, event: ChangeEvent) -> None:
        """Hear of a committed change."""
        ready: list[tuple[ChangeEvent, list[_Subscription]]] = []
        for subscription in self._all.values():
            if not subscription.wants(event):
                continue
            if not subscription.started:
                subscription.early.append(event)
            elif (following := subscription.follow(event)) is not None:
                for told, others in ready:
                    if told == following:
                        others.append(subscription)
                        break
                else:
                    ready.append((following, [subscription]))
        for told, subscriptions in ready:
            self._send(told, subscriptions)

    def catch_up(self) -> None:
        """Tell a receiver that can take more again what it missed."""
        while self._missed and not self._sink.congested:
            history = next(iter(self._missed))
            event = self._missed.pop(history)
            self._deliver(event, [item for item in self._all.values() if item.wants(event)])

    def _send(self, event: ChangeEvent, subscriptions: Sequence[_Subscription]) -> None:
        if not subscriptions:
            return
        missed = self._missed.get(event.history)
        if missed is None and not self._sink.congested:
            self._deliver(event, subscriptions)
            return
        previous = event.previous_version if missed is None else missed.previous_version
        self._missed[event.history] = evolve(event, edits=None, previous_version=previous)

    def _deliver(self, event: ChangeEvent, subscriptions: Sequence[_Subscription]) -> None:
        for with_entries in (True, False):
            ids = tuple(item.id for item in subscriptions if item.with_entries == with_entries)
            if ids:
                self._sink.notify(Notification(subscription_ids=ids, event=event, with_entries=with_entries))
