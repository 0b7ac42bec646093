"""The JSON form of `Applied`, in which a store remembers the result of an operation id."""

from __future__ import annotations

from typing import Any

from attrs import asdict

from sidecar.core.jsontext import Json
from sidecar.store.base import Applied, Baseline, Head, Warning


def applied_to_json(applied: Applied) -> Json:
    """Write a result."""
    return asdict(applied, recurse=True)


def applied_from_json(value: Any) -> Applied:
    """Read what `applied_to_json` wrote, after a trip through JSON."""
    head = dict(value["head"])
    baseline = head["baseline"]
    head["baseline"] = None if baseline is None else Baseline(**baseline)
    head["tags"] = tuple(head["tags"])
    head["content"] = tuple(head["content"])
    rest = {**value, "head": Head(**head)}
    rest["entry_ids"] = tuple(value["entry_ids"])
    rest["warnings"] = tuple(Warning(**warning) for warning in value["warnings"])
    return Applied(**rest)
