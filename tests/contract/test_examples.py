"""The examples of every type, judged by the published schema and by the readers of the server: both must agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import attrs
import pytest
from jsonschema import Draft202012Validator

from sidecar.contract import types as t
from sidecar.contract.codec import read, resolved, union_members
from sidecar.contract.constraints import Pattern, Shape
from sidecar.contract.emit.model import name_of
from sidecar.contract.emit.schema import document
from sidecar.contract.methods import METHODS
from sidecar.core.errors import SidecarError
from sidecar.core.message_json import entry_from_json, message_from_json
from sidecar.core.names import check_name

EXAMPLES = Path(__file__).parents[2] / "protocol" / "examples"
FILES = sorted(EXAMPLES.glob("*/*/*.json"))
DOCUMENT = document()


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the judge of one type."""
    return Draft202012Validator({**DOCUMENT, "$ref": f"#/$defs/{name}"})


def is_read(name: str, value: Any) -> bool:
    """Say whether the server would take `value`."""
    try:
        if name in ("EntryInput", "Entry"):
            entry_from_json(value)
        else:
            deep(getattr(t, name), read(getattr(t, name), value))
    except SidecarError:
        return False
    return True


def deep(kind: Any, value: Any) -> None:
    """Judge what the codec leaves to others: names and entries."""
    if value is None or kind is Any:
        return
    if get_origin(kind) is Annotated:
        base, *markers = get_args(kind)
        for marker in markers:
            if isinstance(marker, Pattern):
                check_name(value)
            elif isinstance(marker, Shape):
                shaped(marker.name, value)
        deep(base, value)
    elif (members := union_members(kind)) is not None:
        deep(members[0] if len(members) == 1 else type(value), value)
    elif attrs.has(kind):
        for field in resolved(kind):
            deep(field.type, getattr(value, field.name))
    elif isinstance(value, list):
        for item in value:
            deep(get_args(kind)[0], item)


def shaped(name: str, value: Any) -> None:
    """Judge a value that the codec passes through."""
    if name == "HistoryEdits":
        for edit in value:
            read_edit = read(t.HistoryEdit, edit)
            deep(type(read_edit), read_edit)
    elif name in ("EntryInput", "Entry"):
        entry_from_json(value)
    elif name == "SummaryInput" and not isinstance(value, str):
        message_from_json(value) if isinstance(value, dict) and "message" not in value else entry_from_json(value)


def wanted() -> Iterator[str]:
    """Yield every type that a method sends or answers."""
    for method in METHODS:
        yield name_of(method.params)
        if method.result is not None:
            yield name_of(method.result)


@pytest.mark.parametrize("name", sorted({*wanted(), "Entry", "EntryInput", "InitializeOptions", "SidecarCapabilities"}))
def test_every_type_has_examples(name: str) -> None:
    """A new type comes with an example that is valid and one that is not."""
    for verdict in ("valid", "invalid"):
        assert list((EXAMPLES / name / verdict).glob("*.json")), f"{name} has no {verdict} example"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_both_judges_agree(path: Path) -> None:
    """Schema and reader give the verdict that the folder's name says."""
    name, verdict = path.parts[-3:-1]
    value = json.loads(path.read_text(encoding="utf-8"))
    errors = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]
    assert (not errors, is_read(name, value)) == (verdict == "valid",) * 2, errors
