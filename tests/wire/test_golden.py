"""Each neutral transcript under `cases/` as every vendor gets it: payload, losses and repairs, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict

from sidecar.wire import project
from sidecar.wire.registry import vendor_ids
from tests.wire.neutral import items_of, options_of

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.json"))


def rendered(case: dict[str, Any], vendor: str) -> str:
    """Return what a golden file holds."""
    projected = project(items_of(case["messages"]), vendor, options_of(case.get("context", {})))
    found = {
        "body": projected.body,
        "losses": [asdict(loss) for loss in projected.losses],
        "repairs": [asdict(repair) for repair in projected.repairs],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_golden(path: Path, update_golden: bool) -> None:
    """A transcript is sent to each vendor exactly as the reviewed golden file says."""
    case = json.loads(path.read_text(encoding="utf-8"))
    assert case["shows"]
    for vendor in vendor_ids():
        golden = HERE / "golden" / vendor / path.name
        text = rendered(case, vendor)
        if update_golden:
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_text(text, encoding="utf-8")
        assert golden.read_text(encoding="utf-8") == text, f"run: pytest tests/wire --update-golden ({vendor})"


def test_no_golden_without_its_case() -> None:
    """Every golden file belongs to a case and a vendor."""
    names = {path.name for path in CASES}
    for path in (HERE / "golden").glob("*/*"):
        assert path.name in names and path.parent.name in vendor_ids()
