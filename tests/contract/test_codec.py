"""The codec: strict reading of params, whole errors in wire names, and complete results."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sidecar.contract import types as t
from sidecar.contract.codec import given, read, read_params, to_json
from sidecar.contract.methods import BY_NAME, METHODS
from sidecar.core.errors import InvalidParams
from sidecar.core.messages import ABSENT

ENTRY = {"message": {"role": "user", "content": "hi"}}


def problems(kind: type, raw: Any) -> dict[str, str]:
    """Return path -> message of everything that is wrong with `raw`."""
    with pytest.raises(InvalidParams) as caught:
        read_params(kind, raw)
    errors = caught.value.data["errors"]
    assert errors
    return {error["path"]: error["message"] for error in errors}


def test_params_are_read() -> None:
    """Wire names become attributes, entries stay as parsed, unknown keys are ignored."""
    raw = {
        "history": "a/b",
        "entries": [ENTRY],
        "ifVersion": 3,
        "operationId": "op",
        "_meta": {"x.example/y": 1},
        "no": 1,
    }
    expected = t.AppendParams(history="a/b", entries=[ENTRY], if_version=3, operation_id="op", meta={"x.example/y": 1})
    read_as = read_params(t.AppendParams, raw)
    assert read_as == expected
    assert read_as.entries[0] is ENTRY


@pytest.mark.parametrize("raw", [None, [], {}])
def test_missing_params_mean_an_empty_object(raw: Any) -> None:
    """Lua and Emacs clients send `null` or `[]` for no params."""
    assert read_params(t.VendorsParams, raw) == t.VendorsParams()


@pytest.mark.parametrize("raw", [[1], "x", 0, False, True, [[]]])
def test_other_params_are_refused(raw: Any) -> None:
    """Params are an object."""
    assert problems(t.VendorsParams, raw) == {"": "must be an object"}


def test_null_is_omitted() -> None:
    """`null` equals omitted: the default holds, and a required field is missing."""
    raw = {"history": None, "dropCount": 1, "summary": "s", "align": None, "carry": None, "ifVersion": None}
    assert problems(t.SplicePrefixParams, raw) == {"/history": "is required"}
    assert read(t.SplicePrefixParams, {**raw, "history": "h"}) == t.SplicePrefixParams(
        history="h", drop_count=1, summary="s"
    )


def test_patch_has_three_states() -> None:
    """In a patch an omitted field stays, `null` clears, a value sets."""
    patch = read(t.SetMetadataParams, {"history": "h", "patch": {"title": None, "metadata": {"a": None}}}).patch
    assert patch == t.MetadataPatch(title=None, tags=ABSENT, metadata={"a": None})


@pytest.mark.parametrize(
    ("kind", "raw", "expected"),
    [
        (
            t.AppendParams,
            {"history": 7, "entries": [], "ifVersion": True, "operationId": "x" * 65, "_meta": []},
            {
                "/history": "must be a string",
                "/entries": "must not be empty",
                "/ifVersion": "must be an integer",
                "/operationId": "must have at most 64 bytes",
                "/_meta": "must be an object",
            },
        ),
        (t.AppendParams, {}, {"/history": "is required", "/entries": "is required"}),
        (t.AppendParams, {"history": "h", "entries": {}}, {"/entries": "must be an array"}),
        (t.AppendParams, {"history": "h", "entries": "ab"}, {"/entries": "must be an array"}),
        (t.LenParams, {"history": None}, {"/history": "is required"}),
        (t.SnapshotParams, {"history": "h", "count": 1.0}, {"/count": "must be an integer"}),
        (t.SnapshotParams, {"history": "h", "count": "1"}, {"/count": "must be an integer"}),
        (t.SnapshotParams, {"history": "h", "count": -1}, {"/count": "must be at least 0"}),
        (t.SnapshotParams, {"history": "h", "start": 2**53}, {"/start": "must fit in 53 bits"}),
        (t.SnapshotParams, {"history": "h", "start": -(2**53)}, {"/start": "must fit in 53 bits"}),
        (t.SnapshotParams, {"history": "h", "atVersion": 2**53}, {"/atVersion": "must fit in 53 bits"}),
        (t.SubscribeParams, {"history": "h", "entries": 1}, {"/entries": "must be a boolean"}),
        (t.TruncateParams, {"history": "h"}, {"": "must have exactly one of len, afterEntry"}),
        (
            t.TruncateParams,
            {"history": "h", "len": 1, "afterEntry": "e"},
            {"": "must have exactly one of len, afterEntry"},
        ),
        (t.RecordInputTokensParams, {"history": "h", "usage": {}}, {"/vendor": "is required with usage"}),
        (
            t.SplicePrefixParams,
            {"history": "h", "dropCount": 1, "summary": "s", "align": "x"},
            {"/align": "must be one of exact, turn"},
        ),
        (
            t.SetMetadataParams,
            {"history": "h", "patch": {"title": 1, "tags": ["a", 2]}},
            {"/patch/title": "must be a string", "/patch/tags/1": "must be a string"},
        ),
        (
            t.ApplyEditsParams,
            {
                "history": "h",
                "ifVersion": 1,
                "edits": [
                    {"kind": "splice", "start": -1, "deleteCount": 1.5},
                    {"kind": "rotate"},
                    {},
                    7,
                    {"kind": "remove", "entryId": "e"},
                ],
            },
            {
                "/edits/0/start": "must be at least 0",
                "/edits/0/deleteCount": "must be an integer",
                "/edits/0/entries": "is required",
                "/edits/1/kind": "must be one of splice, setText, remove",
                "/edits/2/kind": "is required",
                "/edits/3": "must be an object",
            },
        ),
        (
            t.ProjectParams,
            {
                "vendor": "v",
                "history": "h",
                "options": {"onLoss": "zap", "placeholder": {"a/b": 1}},
                "capabilities": {"thinking": "yes"},
            },
            {
                "/options/onLoss": "must be one of report, error",
                "/options/placeholder/a~1b": "must be a string",
                "/capabilities/thinking": "must be a boolean",
            },
        ),
        (
            t.PlanSpliceParams,
            {"history": "h", "budget": {"window": 0, "trigger": True, "target": -0.5}},
            {
                "/budget/window": "must be at least 1",
                "/budget/trigger": "must be a number",
                "/budget/target": "must be at least 0",
            },
        ),
    ],
)
def test_every_problem_is_named_at_once(kind: type, raw: Any, expected: dict[str, str]) -> None:
    """Nothing is coerced, and an error lists every place by JSON Pointer in wire names."""
    assert problems(kind, raw) == expected


def test_edits_are_a_tagged_union() -> None:
    """Each edit is read as the class of its `kind`."""
    edits = [
        {"kind": "splice", "start": 0, "deleteCount": 1, "entries": [ENTRY]},
        {"kind": "setText", "entryId": "e", "text": "", "block": None},
        {"kind": "remove", "entryId": "e"},
    ]
    assert read(t.ApplyEditsParams, {"history": "h", "ifVersion": 2, "edits": edits}).edits == [
        t.SpliceEdit(kind="splice", start=0, delete_count=1, entries=[ENTRY]),
        t.SetTextEdit(kind="setText", entry_id="e", text=""),
        t.RemoveEdit(kind="remove", entry_id="e"),
    ]


def test_results_write_every_field() -> None:
    """A result has every field, `null` where empty; nested objects too."""
    info = t.HistoryInfo(
        history="h",
        version=1,
        len=2,
        title=None,
        tags=(),
        created_at=3,
        updated_at=4,
        token_estimate=None,
        metadata={"snake_key": 1},
    )
    assert to_json(t.ListResult(data=[info], next_cursor=None)) == {
        "data": [
            {
                "history": "h",
                "version": 1,
                "len": 2,
                "title": None,
                "tags": [],
                "createdAt": 3,
                "updatedAt": 4,
                "tokenEstimate": None,
                "metadata": {"snake_key": 1},
            }
        ],
        "nextCursor": None,
    }


def test_tagged_results_carry_their_tag() -> None:
    """A snapshot and a change name their kind; a field left out on purpose is not written."""
    entry = {"id": "e"}
    change = t.EditsChange(
        edits=[
            t.ChangeEdit(start=0, delete_count=0, entries=[entry]),
            t.ChangeEdit(start=1, delete_count=2, insert_count=3),
        ]
    )
    assert to_json(change) == {
        "kind": "edits",
        "edits": [
            {"start": 0, "deleteCount": 0, "entries": [entry]},
            {"start": 1, "deleteCount": 2, "insertCount": 3},
        ],
    }
    assert to_json(t.SnapshotUnchanged(version=1, len=2)) == {"kind": "unchanged", "version": 1, "len": 2}
    assert to_json(t.UnsubscribeResult()) == {}


def test_given_is_what_was_sent() -> None:
    """`given` gives back the set fields in wire names, for layers that take plain mappings."""
    assert given(read(t.Capabilities, {"systemInTurns": False, "prefill": None})) == {"systemInTurns": False}


def test_methods_load_and_are_named_once() -> None:
    """Every row of METHODS names classes that exist; names do not repeat."""
    assert len(BY_NAME) == len(METHODS)
    for method in METHODS:
        assert method.params.__name__.endswith("Notification" if method.kind == "notification" else "Params")
        assert (method.result is None) == (method.kind == "notification")


def test_the_contract_does_not_import_the_server_frame() -> None:
    """Importing the codec and the method table loads neither pygls nor lsprotocol."""
    imports = "import sys, sidecar.contract.codec, sidecar.contract.methods"
    code = f"{imports}; print('lsprotocol' in sys.modules, 'pygls' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
