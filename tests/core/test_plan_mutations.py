"""The properties of the planner find mistakes: each of these, made in its source, breaks at least one of them."""

from __future__ import annotations

import sys
from random import Random
from types import ModuleType

import pytest

from sidecar.core import atoms, plan
from tests.core.plan_properties import PROPERTIES, Planner, make_case

MUTATIONS = {
    "reasoning not glued to its successor": ("atoms", "            link(index, index + 1)", "            pass"),
    "results not glued to their calls": ("atoms", "        link(call, result)", "        pass"),
    "orphan not glued to the atom before": ("atoms", "            link(index - 1, index)", "            pass"),
    "open calls ignored": ("atoms", "    if open_calls:\n", "    if False:\n"),
    "cut behind the open call's start": ("atoms", "if start <= open_calls[0])", "if start <= open_calls[0] + 1)"),
    "last open call instead of the first": ("atoms", "start <= open_calls[0]", "start <= open_calls[-1]"),
    "deepest instead of smallest": ("plan", "self.cuts[place] if place", "self.deepest if place"),
    "target missed by one": ("plan", "survey.after(cut) <= target", "survey.after(cut) <= target + 1"),
    "target undershot by one": ("plan", "survey.after(cut) <= target", "survey.after(cut) < target"),
    "summary counted as droppable": ("plan", " or isinstance(entry.message, Summary))", ")"),
    "carry in reverse": ("plan", "for index in carried)", "for index in reversed(carried))"),
    "pins not closed over their atom": ("plan", "for index in range(start, end)})", "for index in own})"),
    "pins of the request ignored": ("plan", "or entries[index].id in pinned", "or False"),
    "stored pins ignored": ("plan", "entries[index].pinned or ", ""),
    "opaque entries dropped": ("plan", 'elif _is_opaque(entries[index]):', "elif False:"),
    "head not kept": ("plan", "    while head < len(entries) and", "    while False and"),
    "carry not paid for": ("plan", "self.costs.overhead + self.kept[cut]", "self.costs.overhead"),
    "summary not paid for": ("plan", " + self.request.summary_tokens", ""),
    "overhead forgotten": ("plan", "return costs.overhead + sum(costs.counts)", "return sum(costs.counts)"),
    "trigger ignored": ("plan", "before <= request.trigger and not request.force", "False"),
    "force ignored": ("plan", " and not request.force", ""),
    "savings not asked for": ("plan", "before - after < request.min_savings", "False"),
    "growth accepted": ("plan", "after >= before or ", ""),
    "one turn too few kept": ("plan", "survey.turns[-keep_turns]", "survey.turns[-max(1, keep_turns - 1)]"),
    "turns not kept": ("plan", "    if not keep_turns:\n", "    if True:\n"),
    "kept tokens ignored": ("plan", ">= survey.request.keep_tokens", ">= 0"),
    "steps without leave": ("plan", "_cuts(survey, steps=False)", "_cuts(survey, steps=True)"),
    "any entry starts a tail": ("plan", "isinstance(survey.entries[start].message, Assistant)", "True"),
    "allow ignored": ("plan", "for relaxation in request.allow:", "for relaxation in RELAXATIONS:"),
    "relaxation not told": ("plan", 'relaxed = (*relaxed, "fewerTurns")', "pass"),
    "best effort shallow": ("plan", "level.deepest > deepest.deepest", "level.deepest < deepest.deepest"),
    "cache border too late": ("plan", "first_changed = dropped[0]", "first_changed = dropped[-1]"),
    "stale reasoning forgotten": ("plan", "if survey.request.binds_reasoning else []", "if False else []"),
    "oldest summary instead of the newest": ("plan", "entries[summaries[-1]]", "entries[summaries[0]]"),
    "elision short of the target": ("plan", "or after > request.target or", "or"),
    "turns of the tail miscounted": ("plan", "if start >= cut]", "if start > cut]"),
}  # fmt: skip
"""A mistake -> module, text to find, text to put there."""

CASES = [make_case(Random(seed)) for seed in range(1500)]


def mutated(name: str) -> Planner:
    """Return a planner whose source has the mistake."""
    where, old, new = MUTATIONS[name]
    sources = {}
    for module in (atoms, plan):
        assert module.__file__
        with open(module.__file__, encoding="utf-8") as file:
            sources[module.__name__.rpartition(".")[2]] = file.read()
    assert sources[where].count(old) == 1, f"the text of mutation {name!r} is there {sources[where].count(old)} times"
    sources[where] = sources[where].replace(old, new)
    made: dict[str, ModuleType] = {}
    try:
        for short, source in sources.items():
            module = made[short] = ModuleType(f"mutated_{short}")
            sys.modules[module.__name__] = module  # attrs looks the module up by name
            source = source.replace("from sidecar.core.atoms import", "from mutated_atoms import")
            exec(compile(source, f"<mutated {short}>", "exec"), module.__dict__)
    finally:
        for short in made:
            del sys.modules[f"mutated_{short}"]
    planner = made["plan"].plan_splice

    def run(entries: object, costs: object, request: object) -> plan.Plan:
        return planner(entries, costs, request)

    return run


def killed_by(planner: Planner) -> str | None:
    """Return the first property that fails for a planner, if any does."""
    for case in CASES:
        for holds in PROPERTIES:
            try:
                holds(planner, case)
            except Exception:
                return str(holds.__name__)
    return None


def test_the_planner_itself_survives() -> None:
    """A planner loaded in the same way, without a mistake, keeps every property."""
    assert len(MUTATIONS) >= 13
    for case in CASES[:150]:
        for holds in PROPERTIES:
            holds(plan.plan_splice, case)


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_mistake_is_found(name: str) -> None:
    """At least one property fails."""
    assert killed_by(mutated(name)) is not None
