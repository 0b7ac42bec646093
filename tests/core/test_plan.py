"""The planner keeps its 27 promises on conversations as agents leave them."""

from __future__ import annotations

from random import Random

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.errors import InvalidParams
from sidecar.core.messages import Assistant, Entry, Reasoning, ToolCall
from sidecar.core.plan import Costs, Request, plan_splice, thresholds
from tests.core.plan_properties import PROPERTIES, Case, make_case

CASES = st.integers(0, 2**48).map(lambda seed: make_case(Random(seed)))


def test_there_are_27_properties() -> None:
    """Each of the specification's properties has its function."""
    assert [name.__name__[:3] for name in PROPERTIES] == [f"p{number:02}" for number in range(1, 28)]


@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
@settings(max_examples=80, deadline=None)
@given(case=CASES)
def test_property(holds: object, case: Case) -> None:
    """The property holds for every case."""
    holds(plan_splice, case)  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)
@settings(max_examples=3000, deadline=None)
@given(case=CASES)
def test_property_at_length(holds: object, case: Case) -> None:
    """The same, long."""
    holds(plan_splice, case)  # type: ignore[operator]


def test_cases_reach_every_answer() -> None:
    """The generator leads to every action and reason that the planner has, so that no property is vacuous."""
    plans = [make_case(Random(seed)).plan(plan_splice) for seed in range(3000)]
    assert {(plan.action, plan.reason) for plan in plans} == {
        ("none", "under_trigger"),
        ("none", "savings_too_small"),
        ("splice", "fits"),
        ("splice", "best_effort"),
        ("vendorCompaction", "fits"),
        ("vendorCompaction", "best_effort"),
        ("elide", "fits"),
        ("impossible", "no_cut_point"),
        ("impossible", "nothing_droppable"),
        ("impossible", "open_call_blocks"),
    }
    assert {relaxed for plan in plans for relaxed in plan.relaxed} == {"elide", "step", "fewerTurns"}


@settings(max_examples=300, deadline=None)
@given(case=CASES)
def test_a_vendor_compacts_where_a_splice_would_cost_reasoning(case: Case) -> None:
    """The plan is that of the splice, by another name exactly where signed reasoning would be lost."""
    own = case.plan(plan_splice, vendor_compacts=False)
    by_vendor = case.plan(plan_splice, vendor_compacts=True)
    changed = set(own.stale_reasoning if case.request.binds_reasoning else own.drop)
    signed = {
        entry.id
        for entry in case.entries
        if isinstance(entry.message, Assistant) and any(part.signature for part in entry.message.reasoning)
    }
    if own.action != "splice" or not changed & signed:
        assert by_vendor == own
        return
    warnings = ("pins_into_instructions",) if own.carry else ()
    assert by_vendor == evolve(own, action="vendorCompaction", warnings=warnings)


def test_a_cut_in_a_live_tool_loop_warns() -> None:
    """Where the vendor binds reasoning to its prefix, a cut inside the open turn says what is lost."""
    entries = [Entry.user("go")]
    for number in range(6):
        call = ToolCall(id=f"c{number}", name="t", arguments="{}")
        entries.append(Entry(message=Assistant(reasoning=(Reasoning(text="x", signature="s"),), tool_calls=(call,))))
        entries.append(Entry.tool("r" * 40, call.id))
    costs = Costs(counts=[100] * len(entries))
    plan = plan_splice(entries, costs, Request(trigger=1000, target=700, summary_tokens=10, binds_reasoning=True))
    assert (plan.action, plan.relaxed, plan.warnings) == (
        "splice",
        ("step", "fewerTurns"),
        ("reasoning_lost_in_open_turn",),
    )


def test_shares_are_of_the_usable_window() -> None:
    """Up to 1 a share of window less reserve, above 1 tokens; the least saving is a share of the window."""
    found = thresholds(window=200_000, reserve_output=16_000, trigger=None, target=0.25, min_savings=None)
    assert found == (147_200, 46_000, 20_000)
    assert thresholds(window=None, reserve_output=None, trigger=900, target=2000, min_savings=0) == (900, 900, 0)
    with pytest.raises(InvalidParams, match="guess"):
        thresholds(window=None, reserve_output=None, trigger=None, target=10, min_savings=None)
