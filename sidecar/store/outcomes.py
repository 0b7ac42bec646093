"""The JSON form of `Applied`, in which a store remembers the result of an operation id.

Rule: what has its default value is left out, since every change of a client that retries is remembered in this form.
"""

from __future__ import annotations

from typing import Any

from attrs import asdict

from sidecar.core.jsontext import Json
from sidecar.store.base import Applied, Baseline, Head, Warning


def applied_to_json(applied: Applied) -> Json:
    """Write a result."""
    head = applied.head
    # By hand: attrs' recursive `asdict` costs as much as measuring an entry.
    shown = {
        "history": head.history,
        "version": head.version,
        "len": head.len,
        "estimate": head.estimate,
        "created_at": head.created_at,
        "updated_at": head.updated_at,
        "title": head.title,
        "tags": head.tags,
        "metadata": head.metadata,
        "baseline": head.baseline and asdict(head.baseline),
        "calibration": head.calibration,
        "content": head.content,
        "marks": head.marks or None,
    }
    written: dict[str, Json] = {
        "head": {key: value for key, value in shown.items() if value or isinstance(value, int)},
        "previous_version": applied.previous_version,
    }
    if not applied.changed:
        written["changed"] = False
    if not applied.existed:
        written["existed"] = False
    if applied.dropped:
        written["dropped"] = applied.dropped
    if applied.entry_ids:
        written["entry_ids"] = applied.entry_ids
    if applied.warnings:
        written["warnings"] = [asdict(warning) for warning in applied.warnings]
    return written


def applied_from_json(value: Any) -> Applied:
    """Read what `applied_to_json` wrote, after a trip through JSON."""
    head = dict(value["head"])
    if baseline := head.get("baseline"):
        head["baseline"] = Baseline(**baseline)
    for name in ("tags", "content"):
        if name in head:
            head[name] = tuple(head[name])
    rest = {**value, "head": Head(**head)}
    rest["entry_ids"] = tuple(value.get("entry_ids", ()))
    rest["warnings"] = tuple(Warning(**warning) for warning in value.get("warnings", ()))
    return Applied(**rest)
