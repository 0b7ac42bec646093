"""Within one protocol version the contract only grows: it is compared with what was released last.

A release writes `protocol/released/N.json` anew by `python -m sidecar.contract.emit.compat protocol/released`.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.contract.emit.compat import breaks, snapshot
from sidecar.contract.lifecycle import PROTOCOL_VERSION

NOW = snapshot()
RELEASED = Path(__file__).parents[2] / "protocol" / "released" / f"{PROTOCOL_VERSION}.json"


def test_nothing_released_is_broken() -> None:
    """A removed field or method, a new required param, or a narrower type needs a new `protocolVersion`."""
    assert breaks(json.loads(RELEASED.read_text(encoding="utf-8")), NOW) == []


def change(path: str, value: Any) -> dict[str, Any]:
    """Return the contract with one place set, or taken out where `value` is `None`."""
    changed = copy.deepcopy(NOW)
    *parents, last = path.split(" ")
    at: Any = changed
    for part in parents:
        at = at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return changed


BROKEN: list[tuple[str, Any]] = [
    ("methods history/len", None),
    ("schemas LenResult", None),
    ("schemas LenResult properties isEmpty", None),
    ("schemas LenResult required", ["len", "version"]),
    ("schemas LenParams required", ["history", "_meta"]),
    ("schemas LenParams properties history type", "integer"),
    ("schemas SnapshotParams properties count type", "integer"),
    ("schemas SnapshotParams properties count minimum", 1),
    ("schemas HistoryInfo properties title type", ["string", "null", "integer"]),
    ("schemas AppendParams properties entries minItems", 2),
    ("schemas SplicePrefixParams properties align anyOf", [{"enum": ["exact"]}, {"type": "null"}]),
    ("schemas HistoryEdit oneOf", [{"$ref": "#/$defs/SpliceEdit"}]),
    ("methods history/len result", "HistoryInfo"),
    ("methods history/len mutation", True),
]

FINE: list[tuple[str, Any]] = [
    ("methods history/brandNew", {"params": "LenParams", "result": "LenResult", "mutation": False, "errors": []}),
    ("schemas BrandNew", {"type": "object"}),
    ("schemas LenResult properties more", {"type": "string"}),
    ("schemas LenResult required", ["len", "version", "isEmpty", "more"]),
    ("schemas LenParams properties more", {"type": "string"}),
    ("schemas LenParams description", "Said otherwise."),
    ("schemas SnapshotParams properties count minimum", -1),
    ("schemas VersionInfo properties kind examples", ["append", "brandNew"]),
]


@pytest.mark.parametrize(("path", "value"), BROKEN)
def test_a_break_is_noticed(path: str, value: Any) -> None:
    """Each kind of break is found, and named by its place."""
    found = breaks(NOW, change(path, value))
    assert len(found) == 1, found
    assert path.split(" ")[1] in found[0]


@pytest.mark.parametrize(("path", "value"), FINE)
def test_growth_is_no_break(path: str, value: Any) -> None:
    """What only adds is fine."""
    assert breaks(NOW, change(path, value)) == []


def test_same_contract_has_no_break() -> None:
    """The contract is compatible with itself."""
    assert breaks(NOW, NOW) == []
