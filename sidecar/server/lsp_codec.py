"""LSP params in, LSP results out, with the error paths that a client can read.

Rules: primitives are strict (cattrs would turn `null` into `"None"`); an enumeration arrives as its member, and a value
that this release of LSP does not know stays what it is (a newer client knows more kinds of symbols, an older one sends
the trace `compact`: neither is a reason to refuse `initialize`); what pygls has no type for stays plain JSON (pygls
would turn it into named tuples and lose keys); a refusal names JSON Pointers in wire names.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from cattrs import ClassValidationError, Converter, IterableValidationError
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json
from sidecar.server.lazy_lsp import LazyConverter

_PRIMITIVES = {str: "a string", bool: "a boolean", float: "a number", int: "an integer"}


class _WrongType(ValueError):
    """A value has another JSON type than LSP says; its text may be told to a client."""


def make_converter(*, detailed: bool = False) -> Converter:
    """Build the converter for LSP types; a `detailed` one is slower and says where a value is wrong."""
    converter = LazyConverter(detailed_validation=detailed)
    for kind in _PRIMITIVES:
        converter.register_structure_hook(kind, _strict(kind))
    converter.register_unstructure_hook(enum.Enum, _plain_value)
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
        return InvalidParams.of(list(dict.fromkeys(_problems(error, params, ""))))
    return InvalidParams.at("", "shape is wrong")


def _problems(error: BaseException, value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Walk down the error beside the value that it is about."""
    if isinstance(error, ClassValidationError | IterableValidationError):
        kind, name = (dict, "an object") if isinstance(error, ClassValidationError) else (list, "an array")
        if not isinstance(value, kind):
            yield path, f"must be {name}"
            return
        for part in error.exceptions:
            notes: list[Any] = getattr(part, "__notes__", [])
            step = next((_step(note) for note in notes if hasattr(note, "name") or hasattr(note, "index")), None)
            if step is None:
                yield from _problems(part, value, path)
            else:
                yield from _problems(part, _inner(value, step), f"{path}/{step}")
    elif isinstance(error, KeyError):
        yield path, "is required"
    elif isinstance(error, _WrongType):
        yield path, str(error)
    elif isinstance(error, TypeError) and "not iterable" in str(error):
        yield path, "must be an array"
    elif found := _RANGE.match(str(error)):
        yield f"{path}/{_wire_name(found[1])}", f"must be between {found[2]} and {found[3]}"
    else:
        yield path, "has the wrong shape"


_RANGE = re.compile(r"\w+\.(\w+) should be in range \[(-?\d+):(-?\d+)\]")
"""What the validators of lsprotocol say of a number."""


def _step(note: Any) -> int | str:
    return _wire_name(note.name) if hasattr(note, "name") else int(note.index)


def _inner(value: Json, step: int | str) -> Json:
    if isinstance(value, dict):
        return value.get(step)
    return value[step] if isinstance(step, int) and step < len(value) else None


def _wire_name(name: str) -> str:
    """`text_document` -> `textDocument`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name).rstrip("_")


def _strict(kind: type) -> Any:
    def read(value: Any, cls: Any) -> Any:
        if type(value) is not kind and not (kind is float and type(value) is int):
            if kind is not int or type(value) is not float or not value.is_integer():
                raise _WrongType(f"must be {_PRIMITIVES[kind]}")
            value = int(value)  # some Lua encoders write 1 as 1.0
        # LSP's enumerations are subclasses of `int` and `str`, so that they come here too.
        return value if cls is kind else _member(value, cls)

    return read


def _member(value: Any, cls: Any) -> Any:
    try:
        return cls(value)
    except ValueError:
        return value


def _plain_value(value: Any) -> Json:
    return value.value if isinstance(value, enum.Enum) else value


def _plain(value: Any, cls: Any) -> Any:
    return cls(**{name: value.get(name) for name in cls.__annotations__})
