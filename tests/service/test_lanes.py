"""The order of requests per history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.service.lanes import Lanes

OPERATION = st.tuples(
    st.sampled_from(["read", "write", "alone"]),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
    st.integers(0, 3),
    st.booleans(),
)


@settings(max_examples=100)
@given(st.lists(OPERATION, max_size=12))
def test_no_operation_overlaps_one_of_the_other_kind(operations: list) -> None:
    """What overlaps in one lane is of one kind, and nothing is beside what runs alone; the order is that of arrival.

    An operation may name a history twice, and does not wait for itself; a cancelled one never starts.
    """

    async def scenario() -> None:
        lanes = Lanes()
        running: dict[str, list[str]] = {name: [] for name in "abc"}
        started: dict[str, list[int]] = {name: [] for name in "abc"}
        finished: set[int] = set()

        def groups(numbers: list[int]) -> list[tuple[str, set[int]]]:
            def kind_of(number: int) -> str:
                kind = operations[number][0]
                return f"alone {number}" if kind == "alone" else kind

            return [(kind, set(group)) for kind, group in groupby(numbers, kind_of)]

        async def operate(number: int, kind: str, names: list[str], steps: int) -> None:
            async with lanes.turn(kind, *names):
                for name in set(names):
                    assert set(running[name]) <= {kind} and not (kind == "alone" and running[name])
                    running[name].append(kind)
                    started[name].append(number)
                for _ in range(steps):
                    await asyncio.sleep(0)
                for name in set(names):
                    running[name].remove(kind)
                finished.add(number)

        tasks = [
            asyncio.create_task(operate(number, kind, names, steps))
            for number, (kind, names, steps, _) in enumerate(operations)
        ]
        await asyncio.sleep(0)
        cancelled = set()
        for number, (task, (*_, cancel)) in enumerate(zip(tasks, operations, strict=True)):
            if cancel and not any(number in numbers for numbers in started.values()):
                task.cancel()
                cancelled.add(number)
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 3)
        assert finished == set(range(len(operations))) - cancelled
        for name, numbers in started.items():
            expected = [n for n in range(len(operations)) if name in operations[n][1] and n not in cancelled]
            assert sorted(numbers) == expected
            # Only neighbours of one kind may have changed places, when one of them waited in another lane.
            assert groups(numbers) == groups(expected)
        assert not lanes._lanes, "a finished lane was kept"

    asyncio.run(scenario())


def test_a_free_lane_does_not_suspend() -> None:
    """Operations that are started in order reach the store in order, before anything else runs."""

    async def scenario() -> list[int]:
        lanes, order = Lanes(), []

        async def operate(number: int) -> None:
            async with lanes.turn("write", "h"):
                order.append(number)
                await asyncio.sleep(0)

        coroutines = [operate(number) for number in range(3)]
        for coroutine in coroutines:
            coroutine.send(None)
        for coroutine in coroutines:
            coroutine.close()
        return order

    assert asyncio.run(scenario()) == [0, 1, 2]


def test_a_read_of_everything_waits_for_what_is_under_way_only() -> None:
    """It does not hold up histories that came later."""

    async def scenario() -> list[str]:
        lanes, order = Lanes(), []
        release = asyncio.Event()

        async def operate(name: str, turn: Callable, wait: bool) -> None:
            async with turn:
                if wait:
                    await release.wait()
                order.append(name)

        async def everything() -> None:
            async with lanes.turn_behind_all():
                order.append("all")

        tasks = [asyncio.create_task(operate("a", lanes.turn("write", "a"), True))]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(everything()))
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(operate("b", lanes.turn("write", "b"), False)))
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(scenario()) == ["b", "a", "all"]
