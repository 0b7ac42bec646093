"""Projections to vendors: `project`, `check`, `parse`, `vendors`. Sans-IO; imports `sidecar.core` only.

`project` is one left fold: `layout` yields units, the vendor's shaper takes them one by one. A shaper only appends,
so the state after the closed units of a list serves every longer list; `Cache` keeps it, and projecting after an
append costs what was appended.

Invariants:
- Deterministic: no clock, no randomness, no state but an explicit `Cache`, which never changes the answer.
- Bad data never raises: it is repaired or reported. Only `options.on_loss == "error"` turns losses into
  `Unprojectable`, and an unknown vendor or a capability of the wrong type is the caller's error.
(Guards: `tests/wire/test_properties.py`.)
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sidecar.core.errors import Unprojectable
from sidecar.wire.base import Item, Options, Projected
from sidecar.wire.cache import Cache, fold
from sidecar.wire.models import capabilities_of, overridden
from sidecar.wire.projection import Capabilities, Context, Report, Rules
from sidecar.wire.registry import VendorInfo, get_vendor, vendors

__all__ = ["Cache", "VendorInfo", "get_vendor", "project", "stable_messages", "vendors"]


def project(items: Sequence[Item], vendor: str, options: Options, cache: Cache | None = None) -> Projected:
    """Return the payload for one vendor, with everything that differs from the entries reported.

    With a `cache`, what an earlier call shaped is used again where the list only grew; the payload is the same, but
    its messages are shared with other payloads, so they must not be changed.

    Raises `UnknownVendor`, `InvalidParams` for capabilities of a wrong type, and `Unprojectable` where
    `options.on_loss` is `"error"` and something would be lost.
    """
    projection = get_vendor(vendor)
    capabilities = overridden(
        capabilities_of(projection.id, projection.capabilities, options.model), options.capabilities
    )
    context = Context(
        projection=projection,
        rules=_effective(projection.rules, capabilities),
        capabilities=capabilities,
        options=options,
        report=Report(),
    )
    projected = fold(items, context) if cache is None else cache.fold(items, context)
    if options.on_loss == "error":
        _refuse_losses(projected, items)
    return projected


def stable_messages(before: Projected, after: Projected) -> int:
    """Return how many leading wire messages of `after` are equal to those of `before`."""
    first, second = wire_messages(before), wire_messages(after)
    count = 0
    for old, new in zip(first, second, strict=False):
        if old != new:
            break
        count += 1
    return count


def wire_messages(projected: Projected) -> list[object]:
    """Return the list of messages, items or contents of a payload."""
    body = projected.body
    for key in ("messages", "input", "contents"):
        if key in body:
            messages = body[key]
            return messages if isinstance(messages, list) else []
    return []


def _effective(rules: Rules, capabilities: Capabilities) -> Rules:
    if capabilities.strict_template and rules.system in ("anywhere", "leading", "front"):
        rules = evolve(rules, system="leading", alternate=True, first="user")
    if capabilities.call_id_format is not None:
        rules = evolve(rules, call_ids=capabilities.call_id_format)
    return rules


def _refuse_losses(projected: Projected, items: Sequence[Item]) -> None:
    lost = [loss for loss in projected.losses if loss.severity != "info"]
    if not lost:
        return
    places = {item.entry.id: item.index for item in items}
    raise Unprojectable(
        f"{len(lost)} things would be lost in the projection to {projected.vendor}",
        [
            {
                "vendor": projected.vendor,
                "rule": loss.rule,
                "severity": loss.severity,
                "entryId": loss.entry_id,
                "index": places.get(loss.entry_id) if loss.entry_id else None,
                "message": loss.message,
            }
            for loss in lost
        ],
    )
