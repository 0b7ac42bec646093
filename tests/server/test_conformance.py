"""The sessions that every client library can replay, replayed against the real process."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from frames import SIDECAR, Process
from jsonschema import Draft202012Validator
from replay import Mismatch, Replay, match, read, sessions

from sidecar.contract.emit.model import name_of
from sidecar.contract.emit.schema import document
from sidecar.contract.methods import BY_NAME, METHODS

SESSIONS = list(sessions())
SIDECAR_IN_MEMORY = (*SIDECAR, "--store", ":memory:")


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the judge of one type."""
    return Draft202012Validator({**document(), "$ref": f"#/$defs/{name}"})


def judge(method: str, value: dict[str, Any]) -> None:
    """Every result and notification is valid by the published schema, and has every field."""
    if method not in BY_NAME:
        return
    row = BY_NAME[method]
    name = name_of(row.params if row.kind == "notification" else row.result)
    for error in validator(name).iter_errors(value):
        raise Mismatch(f"{name} {error.json_path}: {error.message}")


def test_every_method_is_served() -> None:
    """The server says that it has exactly the requests of the contract."""
    with Process(SIDECAR_IN_MEMORY) as process:
        methods = process.result("rpc.discover")["methods"]
    assert {method["name"] for method in methods} == {row.name for row in METHODS if row.kind == "request"}


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_session(path: Path, tmp_path: Path) -> None:
    """The server answers as the session says, and every result is what the contract says."""
    Replay(path, tmp_path, judge).run()


def test_every_method_has_a_session() -> None:
    """A new method comes with a session."""
    covered = {method for path in SESSIONS for method in read(path)[0]["methods"]}
    assert {method.name for method in METHODS} <= covered


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_header(path: Path) -> None:
    """A header names its file, says what it is about, and lists methods that exist and are used."""
    header, steps = read(path)
    assert header["session"] == path.stem
    assert header["about"].endswith(".")
    assert header["methods"]
    assert set(header["methods"]) <= set(BY_NAME)
    assert set(header) <= {"session", "about", "methods", "lifecycle", "clients", "needs"}
    assert steps
    # Libraries that frame for themselves skip raw sessions; the others must be playable by them.
    assert header.get("lifecycle") == "raw" or not any("sendText" in step for step in steps)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ({"a": 1}, {"a": True}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {}),
        ({"a": {"$absent": True}}, {"a": None}),
        ({"$exact": {"a": 1}}, {"a": 1, "b": 2}),
        ([1], [1, 2]),
        ({"$any": "integer"}, True),
        ({"$any": ["integer", "null"]}, "1"),
        ({"$ref": "bound"}, {"x": 1, "y": 2}),
        ({"$contains": [{"a": 1}, {"a": 2}]}, [{"a": 1}]),
        (None, 0),
    ],
)
def test_matcher_refuses(expected: Any, value: Any) -> None:
    """A pattern that does not fit is noticed."""
    with pytest.raises(Mismatch):
        match(expected, value, {"bound": {"x": 1}}, "")


def test_matcher_takes() -> None:
    """Objects may have more members; binding remembers, the rest is equality."""
    names: dict[str, Any] = {}
    match(
        {"a": {"$bind": "x", "$any": "string"}, "b": [{"c": None}]},
        {"a": "v", "b": [{"c": None, "d": 1}], "e": 2},
        names,
        "",
    )
    assert names == {"x": "v"}
    match({"$ref": "x"}, "v", names, "")
