"""The data of every error is what the contract says."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sidecar.contract.emit.schema import document
from sidecar.core import errors
from sidecar.core.errors import ERRORS, SidecarError

RAISED: list[SidecarError] = [
    errors.InvalidParams.at("/history", "is required"),
    errors.HistoryNotFound("h"),
    errors.HistoryExists("h", 3),
    errors.VersionMismatch("h", 1, 2),
    errors.InvalidName("../h"),
    errors.OperationReused("op"),
    errors.EntryNotFound("h", "e"),
    errors.LimitExceeded("depth", 129, 128),
    errors.VersionUnavailable("h", 1, 2),
    errors.EntryExists("h", "e"),
    errors.UnknownVendor("v", ["openai-chat"]),
    errors.Unprojectable("message", [{"rule": "X1"}]),
    errors.Unparsable("/messages", "is required"),
    errors.StorageUnavailable("message", "sqlite"),
    errors.StorageCorrupt("message", "h", "detail"),
    errors.StorageCorrupt("message"),
    errors.StorageReadOnly("message"),
    errors.Overloaded(100),
    errors.CursorInvalid(),
]
DOCUMENT = document()


def is_error_data(data: Any) -> bool:
    """Judge by the union `ErrorData`, which knows each kind."""
    return bool(Draft202012Validator({**DOCUMENT, "$ref": "#/$defs/ErrorData"}).is_valid(data))


def test_every_kind_is_raised_here() -> None:
    """A new error must be added to this list, and so to the contract."""
    assert {error.kind for error in RAISED} == set(ERRORS)


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.kind)
def test_data_fits_the_contract(error: SidecarError) -> None:
    """What an error writes is valid, and has no member that the contract does not name."""
    data = error.to_data()
    assert is_error_data(data)
    (definition,) = [
        schema
        for name, schema in DOCUMENT["$defs"].items()
        if name.endswith("Data") and schema.get("properties", {}).get("kind", {}).get("const") == error.kind
    ]
    assert set(data) == set(definition["properties"]) == set(definition["required"])
    assert not is_error_data({**data, "retryable": not error.retryable})
