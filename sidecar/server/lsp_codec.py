"""LSP params in, LSP results out, with the error paths that a client can read.

Rules: primitives are strict (cattrs would turn `null` into `"None"`); what pygls has no type for stays plain JSON
(pygls would turn it into named tuples and lose keys); a refusal names JSON Pointers in wire names.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from cattrs import Converter, transform_error
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json
from sidecar.server.lazy_lsp import LazyConverter


def make_converter(*, detailed: bool = False) -> Converter:
    """Build the converter for LSP types; a `detailed` one is slower and says where a value is wrong."""
    converter = LazyConverter(detailed_validation=detailed)
    for kind in (str, bool, float, int):
        converter.register_structure_hook(kind, _strict(kind))
    for envelope in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(envelope, _plain)
    return get_converter(converter)


def params_type(method: str) -> Any:
    """Return the lsprotocol class of a method's params, `None` where it has none or is not of LSP."""
    row = types.METHOD_TO_TYPES.get(method)
    return None if row is None else row[2]


def read_params(converter: Converter, cls: Any, params: Json) -> Any:
    """Structure LSP params, or raise `InvalidParams` with every wrong place."""
    if cls is None:
        return params
    if cls is types.InitializeParams and params.get("capabilities") is None:
        params = {**params, "capabilities": {}}  # scripts leave it out; it says only what the client can show
    try:
        return converter.structure(params, cls)
    except Exception:  # noqa: BLE001 - cattrs and the validators of lsprotocol raise anything
        raise _explain(params, cls) from None


@cache
def _detailed() -> Converter:
    return make_converter(detailed=True)


def _explain(params: Json, cls: Any) -> InvalidParams:
    try:
        _detailed().structure(params, cls)
    except Exception as error:  # noqa: BLE001 - the same failure, told in full
        problems = [text.partition(" @ $") for text in transform_error(error)]
        errors = [{"path": _pointer(path), "message": problem} for problem, _, path in problems]
        return InvalidParams("invalid params", errors=errors)
    return InvalidParams.at("", "shape is wrong")


def _pointer(path: str) -> str:
    """`.text_document.range[0]` -> `/textDocument/range/0`."""
    steps = re.findall(r"[^.\[\]']+", path)
    return "".join("/" + re.sub(r"_([a-z])", lambda match: match[1].upper(), step) for step in steps)


def _strict(kind: type) -> Any:
    def read(value: Any, _: Any) -> Any:
        if type(value) is kind or (kind is float and type(value) is int):
            return value
        if kind is int and type(value) is float and value.is_integer():
            return int(value)  # some Lua encoders write 1 as 1.0
        raise TypeError(f"must be {kind.__name__}")

    return read


def _plain(value: Any, cls: Any) -> Any:
    return cls(**{name: value.get(name) for name in cls.__annotations__})
