"""Calls and results laid out as every wire wants them: the calls, all their results in call order, then the rest.

Rules (X1, X2, X3, and wire recipe steps 1 to 3):
- Results are found by id over the whole list, not by adjacency in the store.
- What was recorded between a call and its last result moves behind the results.
- A result without a call is not sent; a second result for one call is not sent.
- A call without a result is answered by the projection, never in the store.
- Neighbouring assistant entries that each only add calls are one response that was stored in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from sidecar.core.messages import Assistant, Tool
from sidecar.core.turns import Pairing
from sidecar.wire.base import Item
from sidecar.wire.projection import Report


class Round(NamedTuple):
    """One assistant message with calls, perhaps stored in pieces, and what answers each call, in call order."""

    items: tuple[Item, ...]
    results: list[Item | None]


Unit: TypeAlias = Item | Round
"""What a shaper takes: one entry that stands for itself, or one round."""


def lay_out(
    items: Sequence[Item], pairing: Pairing, report: Report, start: int = 0, end: int | None = None
) -> Iterator[Unit]:
    """Yield the units of `items` that begin from `start` on and before `end`.

    Results may stand at or behind `end`; an `end` inside a run of calls that belong together splits it.
    """
    index = start
    end = len(items) if end is None else end
    call_of = pairing.call_of
    duplicates = pairing.duplicates
    while index < end:
        item = items[index]
        message = item.entry.message
        kind = type(message)
        if kind is Tool:
            if index not in call_of:
                _report_stray(item, index in duplicates, report)
            index += 1
        elif kind is Assistant and message.tool_calls:  # type: ignore[union-attr]
            stop = index + 1
            while (
                stop < end and type(items[stop].entry.message) is Assistant and _continues(items[stop - 1], items[stop])
            ):
                stop += 1
            yield _round(items, index, stop, pairing, report)
            index = stop
        else:
            index += 1
            yield item


def _round(items: Sequence[Item], start: int, stop: int, pairing: Pairing, report: Report) -> Round:
    results: list[Item | None] = []
    result_of = pairing.result_of
    in_place = True
    behind = stop
    for index in range(start, stop):
        item = items[index]
        for position in range(len(item.entry.message.tool_calls)):  # type: ignore[union-attr]
            place = result_of.get((index, position))
            if place is None:
                results.append(None)
                report.repair("X1", item, "synthesized", "a tool call has no result; the model is told so")
            else:
                results.append(items[place])
                in_place = in_place and place == behind
                behind += 1
    if stop - start > 1:
        for item in items[start + 1 : stop]:
            report.repair("X1", item, "merged", "calls of one response that were stored apart are sent as one message")
    if not in_place:
        _report_moves(items, start, stop, pairing, report)
    return Round(tuple(items[start:stop]), results)


def _report_moves(items: Sequence[Item], start: int, stop: int, pairing: Pairing, report: Report) -> None:
    asked = [(index, number) for index in range(start, stop) for number in range(len(items[index].entry.tool_calls))]
    places = [pairing.result_of[place] for place in asked if place in pairing.result_of]
    own = set(places)
    for index in range(stop, max(places)):
        if index not in own:
            item = items[index]
            if not isinstance(item.entry.message, Tool):
                report.repair(
                    "X1", item, "moved", "the entry stood between a tool call and its result; it is sent behind"
                )
    if places != sorted(places):
        for earlier, later in zip(places, places[1:], strict=False):
            if later < earlier:
                report.repair("X1", items[later], "moved", "the tool result is sent in the order of the calls")


def _continues(before: Item, item: Item) -> bool:
    """Say whether `item` goes on with the response that `before` started."""
    first, second = before.entry.message, item.entry.message
    return (
        isinstance(first, Assistant)
        and isinstance(second, Assistant)
        and bool(second.tool_calls)
        and not second.reasoning
        and first.origin == second.origin
        and before.entry.agent == item.entry.agent
    )


def closed_end(items: Sequence[Item], pairing: Pairing) -> int:
    """Return up to where the layout of `items` stays as it is when entries are appended, late results apart.

    What stays open is a last run of calls with nothing but results behind it: a result, or another piece of the same
    response, may still come.
    """
    last = len(items)
    while last and type(items[last - 1].entry.message) is Tool:
        last -= 1
    start = last
    while start and items[start - 1].entry.tool_calls:
        start -= 1
    result_of = pairing.result_of
    for index in range(start, last):
        for position in range(len(items[index].entry.tool_calls)):
            if (index, position) not in result_of:
                return start
    return len(items)


def _report_stray(item: Item, duplicate: bool, report: Report) -> None:
    if duplicate:
        report.loss("X3", "warning", item, "a second result for the same tool call is not sent")
    else:
        report.loss("X2", "warning", item, "a tool result whose call is not in the list is not sent")
