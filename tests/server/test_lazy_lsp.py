"""lsprotocol's types come in lazily and are still lsprotocol's types."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Each script runs in its own interpreter: lsprotocol can be imported once per process.
DESCRIBE = """
import attrs, json, sys
if {lazy}:
    import sidecar.server
from lsprotocol import types
if {lazy}:
    assert isinstance(vars(types.CodeAction)["__init__"], sidecar.server.lazy_lsp._Mark), "not deferred"
from lsprotocol.converters import get_converter
from sidecar.server.lazy_lsp import LazyConverter
converter = get_converter(LazyConverter()) if {lazy} else get_converter()
def describe(cls):
    fields = [(f.name, str(f.type), f.default is attrs.NOTHING, f.alias, f.kw_only) for f in attrs.fields(cls)]
    return [fields, cls.__eq__ is object.__eq__, cls.__hash__ is None, cls.__doc__, list(cls.__match_args__)]
classes = {{n: c for n, c in vars(types).items() if isinstance(c, type) and attrs.has(c)}}
diagnostic = {{"range": {{"start": {{"line": 1, "character": 2}}, "end": {{"line": 3, "character": 4}}}},
              "message": "m", "severity": 2, "code": 5, "relatedInformation": [], "data": {{"x": [None, 1.5]}}}}
capabilities = {{"workspace": {{"applyEdit": True, "symbol": {{"symbolKind": {{"valueSet": [1, 2]}}}}}},
                 "textDocument": {{"synchronization": {{}}, "hover": {{"contentFormat": ["markdown"]}}}},
                 "general": {{}}}}
cases = [(types.Diagnostic, diagnostic), (types.ClientCapabilities, capabilities),
         (types.ServerCapabilities, {{"hoverProvider": True, "textDocumentSync": {{"openClose": True}}}}),
         (types.CodeActionParams, {{"textDocument": {{"uri": "u"}}, "range": diagnostic["range"],
                                    "context": {{"diagnostics": [diagnostic]}}}})]
round_trips = []
for cls, value in cases:
    structured = converter.structure(value, cls)
    assert structured == converter.structure(value, cls)
    round_trips.append([repr(structured), converter.unstructure(structured)])
json.dump([{{n: describe(c) for n, c in classes.items()}}, round_trips], sys.stdout)
"""


def _run(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60, check=True
    ).stdout.decode()


def test_deferred_classes_are_the_same_classes() -> None:
    """Every class has the same fields, and values convert to the same values and back."""
    lazy, stock = (json.loads(_run(DESCRIBE.format(lazy=lazy))) for lazy in (True, False))
    assert len(stock[0]) > 500
    assert lazy == stock


def test_only_what_is_used_is_generated() -> None:
    """An initialize generates a small part of the classes."""
    script = """
import sidecar.server
from lsprotocol import types
from sidecar.server.lsp_codec import make_converter
converter = make_converter()
converter.structure({"capabilities": {"workspace": {"applyEdit": True}}}, types.InitializeParams)
classes = [value for value in vars(types).values() if isinstance(value, type)]
print(sum(isinstance(vars(cls).get("__init__"), sidecar.server.lazy_lsp._Mark) for cls in classes))
"""
    assert int(_run(script)) > 500


@pytest.mark.parametrize("first", ["lsprotocol.types", "pygls.lsp.server"])
def test_stock_types_serve_as_well(first: str) -> None:
    """Where lsprotocol is there already, as in a test session, nothing is deferred and all works."""
    script = f"""
import {first}
from sidecar.server.lsp_codec import make_converter
from lsprotocol import types
print(make_converter().structure({{"capabilities": {{}}, "processId": 3}}, types.InitializeParams).process_id)
"""
    assert _run(script) == "3\n"


def test_our_own_classes_may_be_deferred_as_well() -> None:
    """Frozen, with options and defaults, equal as before, through a subclass too."""
    script = """
from sidecar.server.lazy_lsp import deferred_classes, _Mark
with deferred_classes():
    from sidecar.core import message_json, messages
    from sidecar.contract import types
assert isinstance(vars(messages.Entry)["__init__"], _Mark)
class Sub(messages.Text):
    pass
assert Sub("x").text == "x"
entry = messages.Entry.user("x", sender="s")
assert entry == messages.Entry.user("x")
for change in (lambda: setattr(entry, "id", "y"), lambda: messages.Entry(messages.Text("x"))):
    try:
        change()
    except (AttributeError, TypeError):
        continue
    raise AssertionError("neither frozen nor keyword-only")
assert message_json.entry_from_json(message_json.entry_to_json(entry)) == entry
"""
    _run(script)
