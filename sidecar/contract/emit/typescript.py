"""TypeScript: one interface per object type, one map from method to params and result."""

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
from sidecar.contract.emit.text import lines
from sidecar.contract.lifecycle import PROTOCOL_VERSION
from sidecar.contract.methods import METHODS, Method
from sidecar.core.errors import ERRORS

_NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def emit() -> str:
    """Return `types.ts`."""
    out = [
        "// Types of the History Sidecar protocol. Generated; the source is `sidecar/contract`.",
        "// A trailing `(string & {})` marks an open string: other values are legal, and a reader must expect them.",
        "",
        f"export const PROTOCOL_VERSION = {PROTOCOL_VERSION};",
        "",
    ]
    for definition in definitions().values():
        out += [*_doc(definition.doc, ""), *_definition(definition), ""]
    out += [
        "/** The code of every `error.data.kind`. */",
        "export const ERROR_CODES = {",
        *(f"  {kind}: {error.code}," for kind, error in ERRORS.items()),
        "} as const;",
        "",
        "/** Requests to the server. */",
        "export interface Requests {",
        *(_request(method) for method in METHODS if method.kind == "request"),
        "}",
        "",
        "/** Notifications to the client. */",
        "export interface Notifications {",
        *(f"  {json.dumps(method.name)}: {name_of(method.params)};" for method in METHODS if method.result is None),
        "}",
    ]
    return lines(out)


def _request(method: Method) -> str:
    return f"  {json.dumps(method.name)}: {{ params: {name_of(method.params)}; result: {name_of(method.result)} }};"


def _definition(definition: Definition) -> list[str]:
    match definition:
        case Record():
            return _record(definition)
        case Tagged():
            return [f"export type {definition.name} = {' | '.join(definition.members)};"]
        case Choice():
            return [f"export type {definition.name} = {' | '.join(map(_type, definition.members))};"]


def _record(record: Record) -> list[str]:
    out = [f"export interface {record.name} {{"]
    for field in record.fields:
        mark = "" if field.required else "?"
        null = " | null" if field.nullable and not isinstance(field.kind, Anything) else ""
        out += [*_doc(field.doc, "  "), f"  {field.name}{mark}: {_type(field.kind)}{null};"]
    return [*out, "}"]


def _type(kind: Kind) -> str:
    match kind:
        case Primitive():
            known = [json.dumps(value) for value in kind.known]
            return " | ".join([*known, "(string & {})"]) if known else _NAMES[kind.name]
        case Constant(values):
            return " | ".join(json.dumps(value) for value in values)
        case Array():
            inner = _type(kind.item)
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case Map(value):
            return f"Record<string, {_type(value)}>"
        case Ref(name):
            return name
        case Anything():
            return "unknown"


def _doc(text: str, indent: str) -> list[str]:
    rows = text.replace("*/", "* /").splitlines()
    if len(rows) == 1:
        return [f"{indent}/** {rows[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {row}".rstrip() for row in rows), f"{indent} */"]
