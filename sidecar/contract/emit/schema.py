"""JSON Schema 2020-12: every type in `$defs`. Unknown members are legal everywhere, so nothing forbids them."""

from __future__ import annotations

from typing import Any

from sidecar.contract.emit.model import (
    Anything,
    Array,
    Choice,
    Constant,
    Definition,
    Field,
    Kind,
    Map,
    Primitive,
    Record,
    Ref,
    Tagged,
    definitions,
)
from sidecar.contract.emit.text import json_text, one_line
from sidecar.contract.lifecycle import PROTOCOL_VERSION

Schema = dict[str, Any]
DEFS = "#/$defs/"


def emit() -> str:
    """Return `schema.json`."""
    return json_text(document())


def document() -> Schema:
    """Return the whole schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "History Sidecar protocol",
        "description": "Every type of the protocol. Generated; the source is `sidecar/contract`.",
        "protocolVersion": PROTOCOL_VERSION,
        "$defs": schemas(DEFS),
    }


def schemas(prefix: str) -> dict[str, Schema]:
    """Return the schema of every definition; references start with `prefix`."""
    return {name: _definition(definition, prefix) for name, definition in definitions().items()}


def schema_of(kind: Kind, prefix: str) -> Schema:
    """Return the schema of one kind."""
    match kind:
        case Primitive():
            return _primitive(kind)
        case Constant(values):
            return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
        case Array():
            found: Schema = {"type": "array", "items": schema_of(kind.item, prefix)}
            return {**found, "minItems": kind.min_items} if kind.min_items else found
        case Map(value):
            return {"type": "object"} if isinstance(value, Anything) else _typed_map(value, prefix)
        case Ref(name):
            return {"$ref": prefix + name}
        case Anything():
            return {}


def field_schema(field: Field, prefix: str) -> Schema:
    """Return the schema of one member, with its text."""
    found = schema_of(field.kind, prefix)
    if field.nullable and found:
        found = _nullable(found)
    found = {**found, "description": one_line(field.doc)}
    return {**found, "default": field.default} if field.default is not None else found


def _definition(definition: Definition, prefix: str) -> Schema:
    match definition:
        case Record():
            return _record(definition, prefix)
        case Tagged():
            return {
                "description": definition.doc,
                "type": "object",
                "required": [definition.tag],
                "oneOf": [{"$ref": prefix + member} for member in definition.members],
            }
        case Choice():
            return {
                "description": definition.doc,
                "anyOf": [schema_of(member, prefix) for member in definition.members],
            }


def _record(record: Record, prefix: str) -> Schema:
    found: Schema = {"description": record.doc, "type": "object"}
    required = [field.name for field in record.fields if field.required]
    if required:
        found["required"] = required
    found["properties"] = {field.name: field_schema(field, prefix) for field in record.fields}
    if record.one_of:
        found["oneOf"] = [_given(name) for name in record.one_of]
    if record.any_of:
        found["anyOf"] = [_given(name) for name in record.any_of]
    if record.needs:
        found["allOf"] = [{"if": _given(name), "then": _given(other)} for name, other in record.needs]
    return found


def _given(name: str) -> Schema:
    # `null` is left out, so being there is not enough.
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def _nullable(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _typed_map(value: Kind, prefix: str) -> Schema:
    return {"type": "object", "additionalProperties": schema_of(value, prefix)}


def _primitive(kind: Primitive) -> Schema:
    found: Schema = {"type": kind.name}
    if kind.minimum is not None:
        found["minimum"] = kind.minimum
    if kind.maximum is not None:
        found["maximum"] = kind.maximum
    if kind.min_length:
        found["minLength"] = kind.min_length
    if kind.max_length is not None:
        found["maxLength"] = kind.max_length
    if kind.pattern is not None:
        found["pattern"] = kind.pattern
        found["maxLength"] = 255
    if kind.known:
        found["examples"] = list(kind.known)
    if kind.other_than:
        found["not"] = {"enum": list(kind.other_than)}
    return found
