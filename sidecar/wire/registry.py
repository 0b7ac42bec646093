"""Which vendors there are: one module each in `sidecar.wire.vendors`, and the entry-point group `sidecar.vendors`.

Rules:
- A vendor's id is its file name with `-` for `_`. Files are listed without being imported; a module is imported when
  its vendor is first used.
- An outside package adds a vendor by an entry point whose name is the id and whose object is a `Projection`, or a
  module with one as `PROJECTION`. An outside vendor never replaces one of ours.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from attrs import fields, frozen

from sidecar.core.errors import UnknownVendor
from sidecar.core.jsontext import Json
from sidecar.wire import vendors as _package
from sidecar.wire.projection import Projection, Rules

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "sidecar.vendors"

_ALIASES: Final[dict[str, str]] = {
    "openai": "openai-chat",
    "anthropic": "anthropic-messages",
    "claude": "anthropic-messages",
    "google": "gemini",
    "bedrock": "bedrock-converse",
    "moonshot": "kimi",
    "dashscope": "qwen",
    "zai": "glm",
    "azure": "azure-openai",
    "vllm": "openai-compatible",
}
"""Short names, kept here so that finding a vendor imports one module only; each module repeats its own in `aliases`
(guard: `tests/wire/test_project_registry.py`)."""


@frozen(kw_only=True)
class VendorInfo:
    """One vendor as `wire/vendors` lists it."""

    id: str
    title: str
    api: str
    rules: dict[str, Json]
    aliases: tuple[str, ...]


def vendors() -> list[VendorInfo]:
    """List every vendor, ours first, by id."""
    return [info(get_vendor(vendor_id)) for vendor_id in vendor_ids()]


def vendor_ids() -> list[str]:
    """List the ids without importing a vendor module."""
    own = _own()
    return [*own, *sorted(name for name in _outside() if name not in own)]


def own_ids() -> list[str]:
    """List the ids of the vendors of this package."""
    return list(_own())


def get_vendor(vendor: str) -> Projection:
    """Return the projection for an id or an alias; raise `UnknownVendor`."""
    vendor_id = _ALIASES.get(vendor, vendor)
    if vendor_id in _own():
        return _load(vendor_id)
    point = _outside().get(vendor)
    if point is None:
        raise UnknownVendor(vendor, vendor_ids())
    return _load_outside(point)


def info(projection: Projection) -> VendorInfo:
    """Return what `wire/vendors` says of one vendor."""
    rules: dict[str, Json] = {}
    for attribute in fields(Rules):
        value = getattr(projection.rules, attribute.name)
        if attribute.name == "media":
            value = {
                kind: {"places": sorted(rule.places), "types": sorted(rule.types) if rule.types else None}
                for kind, rule in value.items()
            }
        elif isinstance(value, frozenset):
            value = sorted(value)
        elif attribute.name == "sources":
            value = {rule: list(urls) for rule, urls in value.items()}
        rules[_wire_name(attribute.name)] = value
    return VendorInfo(
        id=projection.id, title=projection.title, api=projection.api, rules=rules, aliases=projection.aliases
    )


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@lru_cache(maxsize=1)
def _own() -> dict[str, str]:
    names = sorted(module.name for module in pkgutil.iter_modules(_package.__path__))
    return {name.replace("_", "-"): name for name in names if not name.startswith("_")}


@lru_cache(maxsize=64)
def _load(vendor_id: str) -> Projection:
    module = importlib.import_module(f"{_package.__name__}.{_own()[vendor_id]}")
    projection = module.PROJECTION
    assert isinstance(projection, Projection) and projection.id == vendor_id
    return projection


def _outside() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # a tenth of the start, and few processes ask for outside vendors

    return {point.name: point for point in entry_points(group=GROUP)}


@lru_cache(maxsize=64)
def _load_outside(point: EntryPoint) -> Projection:
    loaded = point.load()
    projection = getattr(loaded, "PROJECTION", loaded)
    if not isinstance(projection, Projection):
        raise TypeError(f"entry point {point.name} of group {GROUP} is not a Projection")
    return projection
