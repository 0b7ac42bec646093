"""The fixes of `wire/check` through a real process: a client sends a fix as it came, and what it cures is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecar.client import Sidecar
from sidecar.core.message_json import entry_to_json
from tests.wire.neutral import items_of
from tests.wire.strategies import VENDORS

LINES = (Path(__file__).parent / "cases" / "reports.jsonl").read_text().splitlines()
REPORTS = [json.loads(line) for line in LINES]


@pytest.fixture(scope="module")
def sidecar() -> Iterator[Sidecar]:
    """One process with a store in memory for all reports."""
    with Sidecar.spawn(store=":memory:") as running:
        yield running


@pytest.mark.parametrize("report", REPORTS, ids=[report["id"] for report in REPORTS])
def test_fixes_are_applied_as_they_came(sidecar: Sidecar, report: dict[str, Any]) -> None:
    """`history/applyEdits` takes each first fix unchanged until no error has one; no call fails on the way, and the
    history is never left without a message.
    """
    history = f"report/{report['id']}"
    entries = [entry_to_json(item.entry) for item in items_of(report["messages"])]
    version = sidecar.append(history, entries)["version"]
    for _ in range(60):
        found = sidecar.call("wire/check", history=history, vendors=list(VENDORS))["violations"]
        fixable = [one for one in found if one["severity"] == "error" and one["fixes"]]
        if not fixable:
            break
        fix = fixable[0]["fixes"][0]
        before = sum(one["rule"] == fixable[0]["rule"] and one["vendor"] == fixable[0]["vendor"] for one in found)
        version = sidecar.call("history/applyEdits", history=history, ifVersion=version, **fix)["version"]
        after = sidecar.call("wire/check", history=history, vendors=[fixable[0]["vendor"]])["violations"]
        assert sum(one["rule"] == fixable[0]["rule"] for one in after) < before
    else:
        pytest.fail("fixes do not come to an end")
    assert sidecar.snapshot(history)["entries"]
