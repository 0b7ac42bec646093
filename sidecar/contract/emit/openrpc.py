"""The OpenRPC 1.4 document: what `rpc.discover` answers and `protocol/openrpc.json` holds.

OpenRPC has no word for notifications to the client; they stand under `x-notifications`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sidecar.contract.emit import schema
from sidecar.contract.emit.model import Record, definitions, name_of
from sidecar.contract.emit.text import first_sentence, json_text, one_line
from sidecar.contract.lifecycle import PROTOCOL_VERSION
from sidecar.contract.methods import COMMON_ERRORS, METHODS, Method
from sidecar.core.errors import ERRORS

PREFIX = "#/components/schemas/"


def emit() -> str:
    """Return `openrpc.json`."""
    return json_text(document())


def document(names: Collection[str] | None = None) -> dict[str, Any]:
    """Return the document; `names` limits it to the methods that a server has."""
    wanted = [method for method in METHODS if names is None or method.name in names]
    return {
        "openrpc": "1.4.0",
        "info": {
            "title": "History Sidecar",
            "version": f"{PROTOCOL_VERSION}.0.0",
            "description": "Named agent histories over JSON-RPC; framing and life cycle are those of LSP.",
            "license": {"name": "MIT"},
        },
        "methods": [_method(method) for method in wanted if method.kind == "request"],
        "components": {
            "schemas": schema.schemas(PREFIX),
            "errors": {kind: _error(kind) for kind in ERRORS},
        },
        "x-notifications": [_notification(method) for method in METHODS if method.kind == "notification"],
    }


def _method(method: Method) -> dict[str, Any]:
    params = definitions()[name_of(method.params)]
    assert isinstance(params, Record)
    result = name_of(method.result)
    return {
        "name": method.name,
        "summary": first_sentence(params.doc),
        "description": one_line(params.doc),
        "tags": [{"name": method.noun}],
        "paramStructure": "by-name",
        "params": [
            {
                "name": field.name,
                "description": one_line(field.doc),
                "required": field.required,
                "schema": schema.field_schema(field, PREFIX),
            }
            for field in params.fields
        ],
        "result": {"name": result, "schema": {"$ref": PREFIX + result}},
        "errors": [{"$ref": f"#/components/errors/{kind}"} for kind in errors_of(method)],
        "x-mutation": method.mutation,
        "x-cancellable": method.cancellable,
        "x-since": method.since,
        "x-stability": method.stability,
    }


def errors_of(method: Method) -> list[str]:
    """Return the kinds that a method can answer, in the order of the error table."""
    return [kind for kind in ERRORS if kind in method.errors or kind in COMMON_ERRORS]


def _notification(method: Method) -> dict[str, Any]:
    name = name_of(method.params)
    return {
        "name": method.name,
        "summary": first_sentence(definitions()[name].doc),
        "params": {"$ref": PREFIX + name},
    }


def _error(kind: str) -> dict[str, Any]:
    error = ERRORS[kind]
    data = {"kind": error.kind, "retryable": error.retryable}
    return {"code": error.code, "message": one_line(error.__doc__ or kind), "data": data}
