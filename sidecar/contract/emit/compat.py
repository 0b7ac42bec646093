"""Compatibility: what a released contract promised must still hold (`protocol/README.md`, versioning).

Rules, by who reads a type. What clients send (params) may only become wider: no new required member, no narrower
value. What they receive (results) may only become narrower: no member taken away, none that may be missing or null
where it was not. A type that is both must stay as it is, but for new optional members. Texts and well-known values of
open strings are free.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sidecar.contract.emit import schema
from sidecar.contract.emit.model import name_of
from sidecar.contract.emit.text import json_text
from sidecar.contract.lifecycle import PROTOCOL_VERSION
from sidecar.contract.methods import METHODS

Schema = dict[str, Any]

_FREE = ("description", "default", "examples")
_LOWER, _UPPER = ("minimum", "minLength", "minItems"), ("maximum", "maxLength")


def snapshot() -> dict[str, Any]:
    """Return what a release promises."""
    methods = {
        method.name: {
            "params": name_of(method.params),
            "result": None if method.result is None else name_of(method.result),
            "kind": method.kind,
            "mutation": method.mutation,
        }
        for method in METHODS
        if method.stability == "stable"
    }
    return {"protocolVersion": PROTOCOL_VERSION, "methods": methods, "schemas": schema.schemas(schema.DEFS)}


def breaks(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return one sentence for each promise of `old` that `new` does not keep."""
    found = []
    for name, method in old["methods"].items():
        if name not in new["methods"]:
            found.append(f"{name}: the method is gone")
        elif method != {key: new["methods"][name].get(key) for key in method}:
            found.append(f"{name}: the method is another one")
    sent, received = _reach(old, "params"), _reach(old, "result")
    for name, was in old["schemas"].items():
        if name not in new["schemas"]:
            found.append(f"{name}: the type is gone")
        else:
            found += _compare(name, was, new["schemas"][name], sent=name in sent, received=name in received)
    return found


def _compare(path: str, old: Schema, new: Schema, *, sent: bool, received: bool) -> Iterator[str]:
    was, now = old.get("properties", {}), new.get("properties", {})
    for name in was:
        if name not in now:
            yield f"{path}/{name}: the member is gone"
        else:
            yield from _compare(f"{path}/{name}", was[name], now[name], sent=sent, received=received)
    needed, needs = set(old.get("required", ())), set(new.get("required", ()))
    if sent and needs - needed:
        yield f"{path}: {', '.join(sorted(needs - needed))} must be given now"
    if received and needed - needs:
        yield f"{path}: {', '.join(sorted(needed - needs))} may be missing now"
    if "items" in old and "items" in new:
        yield from _compare(f"{path}/items", old["items"], new["items"], sent=sent, received=received)
    yield from _values(path, old, new, sent=sent, received=received)


def _values(path: str, old: Schema, new: Schema, *, sent: bool, received: bool) -> Iterator[str]:
    types, now = _types(old), _types(new)
    if (sent and types - now) or (received and now - types):
        yield f"{path}: the type was {'|'.join(sorted(types))} and is {'|'.join(sorted(now))}"
    for key in (*_LOWER, *_UPPER):
        before, after = old.get(key), new.get(key)
        lower = key in _LOWER
        narrower = after is not None and (before is None or (after > before if lower else after < before))
        wider = before is not None and (after is None or (after < before if lower else after > before))
        if (sent and narrower) or (received and wider and not sent):
            yield f"{path}: {key} was {before} and is {after}"
    ignored = {*_FREE, *_LOWER, *_UPPER, "properties", "required", "type", "items"}
    rest, rest_now = ({key: part for key, part in each.items() if key not in ignored} for each in (old, new))
    if rest != rest_now:
        yield f"{path}: the choices are other ones"


def _types(one: Schema) -> set[str]:
    kind = one.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def _reach(contract: dict[str, Any], side: str) -> set[str]:
    """Return the types that clients send (`params`) or receive (`result`, and params of notifications)."""
    pending = [
        method["params"] if side == "params" or method["kind"] == "notification" else method["result"]
        for method in contract["methods"].values()
        if (side == "params") == (method["kind"] == "request") or side == "result"
    ]
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached and name in contract["schemas"]:
            reached.add(name)
            pending += _references(contract["schemas"][name])
    return reached


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


if __name__ == "__main__":
    target = Path(sys.argv[1]) / f"{PROTOCOL_VERSION}.json"
    target.write_text(json_text(snapshot()), encoding="utf-8", newline="\n")
