"""The fold from a list to a payload, at once or going on from where an earlier one stopped.

A shaper only appends, so its state behind the closed part of a list serves every longer list. `Cache` keeps that
state per vendor and way of asking; a call forks it, feeds what is new, and asks the fork for its body.

Invariant: the cache never changes an answer (guard: `tests/wire/test_project_cache.py`). It goes on only where the
entries are the very same objects, where no late result answers a call that was sent as unanswered, and where no new
tool name takes the place that an unclean one was given; else it starts anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from operator import attrgetter, is_
from typing import Final

from attrs import define, evolve, field

from sidecar.core.messages import Assistant, Entry, Tool
from sidecar.core.turns import Pairing
from sidecar.wire.base import Item, Options, Projected
from sidecar.wire.passes.layout import closed_end, lay_out
from sidecar.wire.projection import Context, Report, Shaper

MAX_STATES: Final = 4
"""Folds kept per cache: an editor and an agent rarely ask for more vendors than this."""

_ENTRY = attrgetter("entry")
_FLAGS = attrgetter("elided", "prefix_changed")


def fold(items: Sequence[Item], context: Context) -> Projected:
    """Return the payload of a list, all at once."""
    entries = list(map(_ENTRY, items))
    pairing = Pairing()
    pairing.extend(entries)
    shaper = context.projection.shape(context, names_of(entries))
    for unit in lay_out(items, pairing, context.report):
        shaper.add(unit)
    return _projected(shaper, context)


def names_of(entries: Sequence[Entry]) -> frozenset[str]:
    """Return every tool name that a call of the list uses."""
    return frozenset(
        [call.name for entry in entries if type(entry.message) is Assistant for call in entry.message.tool_calls]
    )


@define
class _State:
    """A fold that stopped at `end`; `entries` and `flags` are what it was made from."""

    context: Context
    shaper: Shaper
    pairing: Pairing = field(factory=Pairing)
    entries: list[Entry] = field(factory=list)
    flags: list[tuple[bool, bool]] = field(factory=list)
    names: frozenset[str] = frozenset()
    end: int = 0

    def fits(self, entries: list[Entry], flags: list[tuple[bool, bool]]) -> bool:
        """Say whether the list begins with what this fold was made from, and nothing behind it changes it."""
        seen = len(self.entries)
        if len(entries) < seen or not all(map(is_, self.entries, entries)):
            return False
        if flags[:seen] != self.flags:
            return False
        new = entries[seen:]
        for entry in new:
            message = entry.message
            if type(message) is Tool:
                place = self.pairing.awaited(message.call_id)
                if place is not None and place[0] < self.end:
                    return False
        return names_of(new) <= self.names

    def go_on(self, items: Sequence[Item], entries: list[Entry], flags: list[tuple[bool, bool]]) -> None:
        """Feed the closed part of what is new."""
        seen = len(self.entries)
        self.pairing.extend(entries[seen:], seen)
        self.entries = entries
        self.flags = flags
        end = max(self.end, closed_end(items, self.pairing))
        for unit in lay_out(items, self.pairing, self.context.report, self.end, end):
            self.shaper.add(unit)
        self.end = end

    def finish(self, items: Sequence[Item], context: Context) -> Projected:
        """Return the payload: a fork takes what is still open, and the end."""
        report = Report(list(self.context.report.losses), list(self.context.report.repairs))
        context = evolve(context, report=report)
        shaper = self.shaper.fork(context)
        for unit in lay_out(items, self.pairing, report, self.end):
            shaper.add(unit)
        return _projected(shaper, context)


@define
class Cache:
    """What projections of one history have in common; whoever serves that history owns it.

    Not for several threads at once.
    """

    _states: OrderedDict[tuple[str, str], _State] = field(factory=OrderedDict)

    def fold(self, items: Sequence[Item], context: Context) -> Projected:
        """Return what `fold` returns, from what is known where that is possible."""
        key = (context.vendor, _way(context.options))
        entries = list(map(_ENTRY, items))
        flags = list(map(_FLAGS, items))
        state = self._states.pop(key, None)
        if state is None or not state.fits(entries, flags):
            names = names_of(entries)
            state = _State(context, context.projection.shape(context, names), names=names)
        self._states[key] = state
        if len(self._states) > MAX_STATES:
            self._states.popitem(last=False)
        state.go_on(items, entries, flags)
        return state.finish(items, context)

    def clear(self) -> None:
        """Forget everything."""
        self._states.clear()


def _way(options: Options) -> str:
    """Return what of the options shapes messages; the rest acts on the end only."""
    capabilities = sorted(options.capabilities.items())
    placeholder = sorted(options.placeholder.items())
    return repr(
        (options.model, options.scope, capabilities, options.reasoning, options.guests, options.images, placeholder)
    )


def _projected(shaper: Shaper, context: Context) -> Projected:
    body = shaper.body()
    report = context.report
    return Projected(vendor=context.vendor, body=body, losses=tuple(report.losses), repairs=tuple(report.repairs))
