"""What a plan leaves behind, carried out in a real store, before the judges of every vendor."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sidecar.core.elision import ElisionRules
from sidecar.core.estimators import counter
from sidecar.core.messages import Entry, Text, Tool
from sidecar.core.plan import Plan, Request
from sidecar.service import HistoryService, Question, open_store
from sidecar.wire import project
from sidecar.wire.base import Item, Options
from tests.core.plan_properties import make_case
from tests.wire import strategies
from tests.wire.judges import FACTS, HOSTILE, MODELS, found
from tests.wire.strategies import VENDORS

H = "h"
LATE = "appended while the client summarised"


async def carried_out(entries: list[Entry], request: Request) -> tuple[Plan, list[Item], list[Item]]:
    """Store a history, plan, append to it, carry the plan out as the protocol says; return before and after."""
    async with HistoryService(open_store(":memory:"), now=lambda: 1000) as service:
        session = service.session("planner")
        await session.append(H, entries)
        _, before = await session.items(H)
        version, plan, _ = await session.plan_splice(H, Question(counter=counter()), request)
        await session.append(H, [Entry.user(LATE)])
        if plan.action == "elide":
            await session.elide(H, plan.elide)
        elif plan.action in ("splice", "vendorCompaction"):
            await session.splice_prefix(
                H, plan.drop_count, Entry.summary("what was"), carry=(*plan.head, *plan.carry), if_prefix=version
            )
        _, after = await session.items(H)
        return plan, before, after


def planned(entries: list[Entry], dice: Random) -> tuple[Plan, list[Item], list[Item]]:
    request = Request(
        trigger=0,
        target=dice.choice((0, 30, 200, 900)),
        keep_turns=dice.randrange(3),
        summary_tokens=0,
        force=True,
        allow=tuple(dice.sample(("elide", "step", "fewerTurns"), dice.randrange(4))),
        elision=ElisionRules(keep_results=0, keep_turns=0, clear_at_least=1),
        binds_reasoning=dice.random() < 0.5,
    )
    return asyncio.run(carried_out(entries, request))


def refusals(items: list[Item], dice: Random) -> list[tuple[Any, ...]]:
    """Project for every vendor, each with one of its models; return what the judges have against it."""
    refused: list[tuple[Any, ...]] = []
    for vendor in VENDORS:
        model = dice.choice((None, *MODELS.get(vendor, ())))
        body = project(items, vendor, Options(model=model)).body
        refused += [
            (vendor, model, problem) for problem in found(vendor, body, {**FACTS.get(model or "", {}), "model": model})
        ]
    return refused


def torn(items: list[Item]) -> set[tuple[str, str | None]]:
    """Return the entries whose calls or results a projection has to mend, and how."""
    projected = project(items, "openai-chat", Options())
    return {(one.rule, one.entry_id) for one in (*projected.repairs, *projected.losses) if one.rule in ("X1", "X2")}


def conversation(dice: Random) -> list[Entry]:
    """Make a conversation as agents leave them, with some long results that are worth an elision."""
    long = (Text("a line of output\n" * 120),)
    return [
        evolve(entry, ts=1000, message=evolve(entry.message, content=long))
        if isinstance(entry.message, Tool) and dice.random() < 0.5
        else evolve(entry, ts=1000)
        for entry in make_case(dice).entries
    ]


def check_planned(seed: int) -> None:
    dice = Random(seed)
    entries = conversation(dice)
    plan, before, after = planned(entries, dice)
    assert [item.entry.text for item in after][-1] == LATE
    assert refusals(after, dice) == []
    assert torn(after) <= torn([*before, after[-1]])
    if plan.drop_count:
        shown = [item.entry.id for item in after]
        assert not set(shown) & set(plan.drop)
        assert [each for each in shown if each in {*plan.head, *plan.carry}] == [*plan.head, *plan.carry]


@settings(HOSTILE, max_examples=25)
@given(seed=st.integers(0, 2**48))
def test_what_a_plan_leaves_is_clean_everywhere(seed: int) -> None:
    """After a plan and its splice every vendor takes the history, and no call is parted that was not parted before."""
    check_planned(seed)


@settings(HOSTILE, max_examples=10)
@given(history=strategies.histories, seed=st.integers(0, 2**48))
def test_what_a_plan_leaves_of_a_hostile_history_is_clean(history: list[Entry], seed: int) -> None:
    """The same for histories that no vendor would take as they are."""
    assume(history)
    dice = Random(seed)
    entries = [evolve(entry, id=f"e{index}", ts=1000 + index) for index, entry in enumerate(history)]
    _, _, after = planned(entries, dice)
    assert refusals(after, dice) == []


def test_the_cases_reach_every_plan() -> None:
    """Splices that carry, splices without, elisions: none of the properties is vacuous."""
    actions = set()
    for seed in range(60):
        dice = Random(seed)
        plan, _, _ = planned(conversation(dice), dice)
        actions.add((plan.action, bool(plan.carry)))
    assert {("splice", False), ("splice", True), ("elide", False)} <= actions


@pytest.mark.slow
@settings(HOSTILE, max_examples=1000)
@given(seed=st.integers(0, 2**48))
def test_what_many_plans_leave_is_clean_everywhere(seed: int) -> None:
    """The long form."""
    check_planned(seed)
