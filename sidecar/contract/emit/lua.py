"""LuaCATS annotations for Lua clients: `lua-language-server` reads them, Lua itself only sees an empty module."""

from __future__ import annotations

import json

from sidecar.contract.emit.model import (
    Anything,
    Array,
    Choice,
    Constant,
    Definition,
    Kind,
    Map,
    Primitive,
    Record,
    Ref,
    Tagged,
    definitions,
    name_of,
)
from sidecar.contract.emit.text import lines, one_line
from sidecar.contract.lifecycle import PROTOCOL_VERSION
from sidecar.contract.methods import METHODS
from sidecar.core.errors import ERRORS

_NAMES = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def emit() -> str:
    """Return `types.lua`."""
    out = ["---@meta", "-- Types of the History Sidecar protocol. Generated; the source is `sidecar/contract`.", ""]
    for definition in definitions().values():
        out += [*(f"--- {row}".rstrip() for row in definition.doc.splitlines()), *_definition(definition), ""]
    out += [
        "local M = {}",
        "",
        f"M.protocol_version = {PROTOCOL_VERSION}",
        "",
        "--- The code of every `error.data.kind`.",
        "M.error_codes = {",
        *(f"  {kind} = {error.code}," for kind, error in ERRORS.items()),
        "}",
        "",
        "--- Method name to the names of its params and result.",
        "M.methods = {",
    ]
    for method in METHODS:
        result = "" if method.result is None else f', result = "{_name(name_of(method.result))}"'
        out.append(f'  ["{method.name}"] = {{ params = "{_name(name_of(method.params))}"{result} }},')
    return lines([*out, "}", "", "return M"])


def _name(name: str) -> str:
    return f"history_sidecar.{name}"


def _definition(definition: Definition) -> list[str]:
    name = _name(definition.name)
    match definition:
        case Record():
            return [f"---@class {name}", *(_field_line(definition, index) for index in range(len(definition.fields)))]
        case Tagged():
            return [f"---@alias {name} {'|'.join(map(_name, definition.members))}"]
        case Choice():
            return [f"---@alias {name} {'|'.join(map(_type, definition.members))}"]


def _field_line(record: Record, index: int) -> str:
    field = record.fields[index]
    mark = "" if field.required else "?"
    # A JSON null arrives as a userdata such as `vim.NIL`, which `nil` stands for here.
    null = "|nil" if field.nullable and field.required else ""
    return f"---@field {field.name}{mark} {_type(field.kind)}{null} {one_line(field.doc)}"


def _type(kind: Kind) -> str:
    match kind:
        case Primitive():
            return "|".join([*(json.dumps(value) for value in kind.known), _NAMES[kind.name]])
        case Constant(values):
            return "|".join(json.dumps(value) for value in values)
        case Array():
            inner = _type(kind.item)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case Map(value):
            return f"table<string, {_type(value)}>"
        case Ref(name):
            return _name(name)
        case Anything():
            return "any"
