"""Every projection before the judges: our case files, the public reports and hostile histories, for every vendor.

The rule judge reads the vendors' rules, the shape judge the vendors' own SDK types; neither knows the projector.
What is known of the model is told to both sides in the same words (`tests/wire/judges.py`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.wire import project
from sidecar.wire.base import Item, Options
from sidecar.wire.check import check
from tests.wire import strategies
from tests.wire.judges import FACTS, HOSTILE, MODELS, found
from tests.wire.neutral import VENDORS as NAMES
from tests.wire.neutral import items_of, options_of
from tests.wire.strategies import VENDORS
from tests.wire.validators import rules, shapes

CASES = Path(__file__).parent / "cases"
REPORTS = [json.loads(line) for line in (CASES / "reports.jsonl").read_text().splitlines()]
FILES = sorted(CASES.glob("*.json"))


def test_the_official_types_are_installed() -> None:
    """The judges below leave a missing SDK out; this test says so out loud."""
    missing = set()
    for vendor in filter(shapes.covered, VENDORS):
        try:
            shapes.problems(vendor, project([], vendor, Options()).body)
        except shapes.Missing as problem:
            missing.add(str(problem))
    if missing:
        # The extra `test` brings them all; a person with less may go on without.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("; ".join(sorted(missing)))


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_case_is_clean(path: Path, vendor: str) -> None:
    """Each case file gives a payload that the vendor takes."""
    case = json.loads(path.read_text())
    context = case.get("context", {})
    options = options_of(context)
    body = project(items_of(case["messages"]), vendor, options).body
    assert found(vendor, body, {**options.capabilities, "model": options.model}) == []


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_every_report_is_clean_everywhere(report: dict[str, Any]) -> None:
    """What one vendor refused in a report is sent legally to that vendor, and to every other one."""
    history = items_of(report["messages"])
    at_home = NAMES.get(report["vendor"], report["vendor"])
    for vendor in VENDORS:
        options = options_of(report["context"]) if vendor == at_home else Options()
        body = project(history, vendor, options).body
        assert (vendor, found(vendor, body, {**options.capabilities, "model": options.model})) == (vendor, [])


facts_of_caller = st.fixed_dictionaries(
    {},
    optional={
        name: st.booleans()
        for name in ("thinking", "prefill", "systemInTurns", "toolResultImages", "strictTemplate", "stored")
    },
)


@HOSTILE
@given(history=strategies.items)
def test_hostile_histories_are_clean(history: list[Item]) -> None:
    """Whatever a history holds, every vendor takes what is projected of it."""
    for vendor in VENDORS:
        body = project(history, vendor, Options()).body
        assert (vendor, found(vendor, body, {})) == (vendor, [])


@HOSTILE
@given(
    history=strategies.items,
    capabilities=facts_of_caller,
    pick=st.integers(0, 5),
    images=st.sampled_from(["keep", "elide"]),
    cache_markers=st.integers(0, 6),
)
def test_hostile_histories_are_clean_whatever_is_known_of_the_model(
    history: list[Item], capabilities: dict[str, bool], pick: int, images: Any, cache_markers: int
) -> None:
    """The caller's model, capabilities and options never lead to a payload that is refused."""
    for vendor in VENDORS:
        models = (None, *MODELS.get(vendor, ()))
        model = models[pick % len(models)]
        options = Options(
            model=model, scope="org-A", capabilities=capabilities, images=images, cache_markers=cache_markers
        )
        body = project(history, vendor, options).body
        facts = {**FACTS.get(model or "", {}), **capabilities, "model": model}
        assert (vendor, model, found(vendor, body, facts)) == (vendor, model, [])


@pytest.mark.slow
@settings(HOSTILE, max_examples=1500)
@given(history=strategies.items, capabilities=facts_of_caller, pick=st.integers(0, 5))
def test_many_hostile_histories_are_clean(history: list[Item], capabilities: dict[str, bool], pick: int) -> None:
    """The long form of the two tests above, by the rule judge."""
    for vendor in VENDORS:
        models = (None, *MODELS.get(vendor, ()))
        model = models[pick % len(models)]
        body = project(history, vendor, Options(model=model, capabilities=capabilities)).body
        facts = {**FACTS.get(model or "", {}), **capabilities, "model": model}
        assert (vendor, model, rules.judge(vendor, body, **facts)) == (vendor, model, [])


# --- the checker and the projector judge each other -------------------------------------------------------------------


@HOSTILE
@given(history=strategies.items)
def test_what_the_checker_sees_the_projector_mends(history: list[Item]) -> None:
    """Orphans and broken arguments are errors of the checker exactly where the projector reports a repair or a loss
    under the same rule; a missing or torn pair that the checker sees is mended, while the projector may tell of more.
    """
    violations = check(history, VENDORS)
    for vendor in VENDORS:
        projected = project(history, vendor, Options())
        mended = {one.rule for one in (*projected.repairs, *projected.losses)}
        seen = {one.rule for one in violations if one.vendor == vendor and one.severity == "error"}
        assert (vendor, seen & {"X2", "X7"} - mended) == (vendor, set())
        assert (vendor, mended & {"X2", "X7"} - seen) == (vendor, set())
        assert "X1" not in seen or "X1" in mended


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_the_checker_stays_silent_where_nothing_is_mended(report: dict[str, Any]) -> None:
    """For every vendor: where the projector changes nothing, the checker has no error; where the checker has an
    error, the projector reports something.
    """
    history = items_of(report["messages"])
    for vendor in VENDORS:
        projected = project(history, vendor, Options())
        errors = [one for one in check(history, [vendor]) if one.severity == "error"]
        if errors:
            assert (vendor, bool(projected.repairs or projected.losses)) == (vendor, True), errors


# Reports whose stored entries are in order; only a careless way of sending them was refused.
IN_ORDER = {
    "W022", "W024", "W040", "W046", "W048", "W055", "W060", "W061", "W062", "W063", "W075", "W076",
    "W103", "W105", "W109", "W116", "W117", "W123", "W125",
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_the_checker_names_the_fault_of_each_report(report: dict[str, Any]) -> None:
    """Where a report's entries themselves are what the vendor refused, the checker says so under a rule of it."""
    vendor = NAMES.get(report["vendor"], report["vendor"])
    vendor = vendor if vendor in VENDORS else "openai-chat"
    named = {one.rule for one in check(items_of(report["messages"]), [vendor], options_of(report["context"]))}
    assert bool(named & set(report["rules"])) == (report["id"] not in IN_ORDER), sorted(named)


def test_two_participants_in_a_row_alternate_where_they_must() -> None:
    """Strict alternation joins what two named participants said, and says that the names are lost."""
    history = items_of(
        [
            {"role": "user", "content": "a", "name": "ann"},
            {"role": "user", "content": "b"},
            {"role": "user", "content": "c"},
        ]
    )
    projected = project(history, "openai-chat", Options(capabilities={"strictTemplate": True}))
    assert projected.body["messages"] == [{"role": "user", "content": "a\n\nb\n\nc"}]
    assert [loss.rule for loss in projected.losses] == ["X19"]
