"""A cache makes projections of a growing history cheap and changes none of them."""

from __future__ import annotations

import copy
import json

from attrs import evolve
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from sidecar.core.messages import Entry, ToolCall
from sidecar.wire import Cache, project
from sidecar.wire.base import Item, Options
from sidecar.wire.passes import chat
from tests.wire.strategies import VENDORS, items


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(items, st.lists(st.integers(0, 12), max_size=4), st.booleans())
def test_the_cache_never_changes_an_answer(history: list[Item], cuts: list[int], twice: bool) -> None:
    """Whatever was projected before with the same cache, the answer is that of a fresh projection."""
    for vendor in VENDORS:
        note(vendor)
        cache = Cache()
        for cut in [*cuts, len(history), *([len(history)] if twice else [])]:
            part = history[:cut]
            markers = Options(cache_markers=cut)
            assert project(part, vendor, markers, cache) == project(part, vendor, markers)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(items)
def test_an_earlier_payload_is_not_changed_by_a_later_one(history: list[Item]) -> None:
    """A payload that was handed out stays as it was while the history goes on."""
    for vendor in VENDORS:
        note(vendor)
        cache = Cache()
        handed = []
        for cut in range(len(history) + 1):
            projected = project(history[:cut], vendor, Options(cache_markers=2), cache)
            handed.append((projected, copy.deepcopy(projected.body)))
        assert all(projected.body == body for projected, body in handed)


def test_only_what_is_new_is_shaped() -> None:
    """After one append on a long history one message is written, not all of them."""
    history = _long(400)
    cache = Cache()
    project(history[:-1], "openai-chat", Options(), cache)
    written = []
    real = chat.ChatShaper.add

    def counted(self: chat.ChatShaper, unit: Item) -> None:
        written.append(unit.index)
        real(self, unit)

    chat.ChatShaper.add = counted  # type: ignore[method-assign,assignment]
    try:
        warm = project(history, "openai-chat", Options(), cache)
    finally:
        chat.ChatShaper.add = real  # type: ignore[method-assign]
    assert written == [len(history) - 1]
    assert warm == project(history, "openai-chat", Options())


def test_a_late_result_a_changed_flag_and_a_new_name_start_anew() -> None:
    """What changes messages that were shaped already is seen."""
    call = Entry.assistant(tool_calls=[ToolCall(id="c", name="a.b", arguments="{}")])
    clean = Entry.assistant(tool_calls=[ToolCall(id="d", name="a_b", arguments="{}")])
    start = [_item(0, Entry.user("q")), _item(1, call), _item(2, Entry.user("well?"))]
    lists = [
        start,
        [*start, _item(3, Entry.tool("late", "c"))],
        [*start, _item(3, clean)],
        [evolve(start[0], elided=True), *start[1:]],
        start,
        [],
    ]
    for vendor in VENDORS:
        cache = Cache()
        for each in lists:
            cached = project(each, vendor, Options(), cache)
            assert json.dumps(cached.body) == json.dumps(project(each, vendor, Options()).body)
            assert cached == project(each, vendor, Options())


def _item(index: int, entry: Entry) -> Item:
    return Item(entry=evolve(entry, id=f"e{index}"), index=index)


def _long(count: int) -> list[Item]:
    pairs = (Entry.user(f"question {index}") if index % 2 == 0 else Entry.assistant("a") for index in range(count))
    return [_item(index, entry) for index, entry in enumerate([*pairs, Entry.user("the last one")])]
