"""`wire/*`: params to a projection, a check or a parse, and back. One method per method, named after its verb."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from sidecar import wire
from sidecar.contract import types as t
from sidecar.contract.codec import given, to_json
from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.server.history import Served
from sidecar.server.protocol import Spliced
from sidecar.service import Projections, compute
from sidecar.wire.base import Item, Loss, Options, Violation
from sidecar.wire.registry import vendor_ids


class WireHandlers:
    """The handlers of `wire/*`."""

    def __init__(self, server: Served) -> None:
        self._server = server

    async def project(self, params: t.ProjectParams) -> Spliced:
        wire.get_vendor(params.vendor)  # an unknown vendor is told before a history is read
        if params.since_prefix_of is not None and params.history is None:
            raise InvalidParams.at("/sincePrefixOf", "needs a history")
        version, items = await self._items(params)
        older: list[Item] | None = None
        if params.since_prefix_of is not None and params.history is not None:
            _, older = await self._server.session.items(params.history, params.since_prefix_of)
        with self._server.session.projections(params.history or "") as caches:
            return await compute(len(items), _project, params, version, items, older, caches)

    async def check(self, params: t.CheckParams) -> t.CheckResult:
        from sidecar.wire.check import check
        from sidecar.wire.constraints import CONSTRAINTS

        if params.vendors is None:
            vendors = [vendor for vendor in vendor_ids() if vendor in CONSTRAINTS]
        else:
            vendors = [wire.get_vendor(vendor).id for vendor in params.vendors]
        version, items = await self._items(params)
        options = Options(model=params.model, capabilities=_capabilities(params))
        found = await compute(len(items) * len(vendors), check, items, vendors, options)
        return t.CheckResult(version=version, violations=[_violation(violation) for violation in found])

    async def parse(self, params: t.ParseParams) -> t.ParseResult:
        from sidecar.wire.parse import parse

        parsed = parse(params.vendor, params.kind, params.body)
        entries = [entry_to_json(entry) for entry in parsed.entries]
        return t.ParseResult(entries=entries, losses=losses(parsed.losses), usage=parsed.usage)

    async def vendors(self, params: t.VendorsParams) -> t.VendorsResult:
        return t.VendorsResult(
            data=[
                t.VendorInfo(id=row.id, title=row.title, api=row.api, rules=row.rules, aliases=row.aliases)
                for row in wire.vendors()
            ]
        )

    async def _items(self, params: t.ProjectParams | t.CheckParams) -> tuple[int | None, list[Item]]:
        if params.history is not None:
            return await self._server.session.items(params.history, params.at_version)
        entries = [entry_from_json(value, f"/entries/{index}") for index, value in enumerate(params.entries or ())]
        return None, [Item(entry=entry, index=index) for index, entry in enumerate(entries)]


def _project(
    params: t.ProjectParams,
    version: int | None,
    items: list[Item],
    older: list[Item] | None,
    caches: Projections | None,
) -> Spliced:
    options = _options(params)
    newest = caches.newest if caches is not None and params.at_version is None else None
    projected = wire.project(items, params.vendor, options, newest)
    stable: int | None = None
    if older is not None:
        options = evolve(options, on_loss="report")
        before = wire.project(older, params.vendor, options, None if caches is None else caches.older)
        stable = wire.stable_messages(before, projected)
    repairs = [
        t.Repair(rule=repair.rule, entry_id=repair.entry_id, action=repair.action, message=repair.message)
        for repair in projected.repairs
    ]
    result = t.ProjectResult(
        vendor=projected.vendor,
        version=version,
        body=projected.body,
        losses=losses(projected.losses),
        repairs=repairs,
        stable_messages=stable,
    )
    return Spliced(dumpb(to_json(result)))


def losses(found: Sequence[Loss]) -> list[t.Loss]:
    """Return losses as results say them."""
    return [
        t.Loss(rule=loss.rule, severity=loss.severity, entry_id=loss.entry_id, path=loss.path, message=loss.message)
        for loss in found
    ]


def _options(params: t.ProjectParams) -> Options:
    chosen = params.options or t.ProjectOptions()
    return Options(
        model=params.model,
        scope=params.scope,
        capabilities=_capabilities(params),
        reasoning=chosen.reasoning,
        guests=chosen.guests,
        images=chosen.images,
        on_loss=chosen.on_loss,
        cache_markers=chosen.cache_markers,
        placeholder=chosen.placeholder or {},
    )


def _capabilities(params: t.ProjectParams | t.CheckParams) -> dict[str, Json]:
    return {} if params.capabilities is None else given(params.capabilities)


def _violation(found: Violation) -> t.Violation:
    return t.Violation(
        vendor=found.vendor,
        rule=found.rule,
        severity=found.severity,
        entry_id=found.entry_id,
        index=found.index,
        message=found.message,
        fixes=[t.Fix(title=fix["title"], edits=fix["edits"]) for fix in found.fixes],
    )
