"""`initialize`, `sidecar/info` and `rpc.discover`: what the two sides tell each other about themselves."""

from __future__ import annotations

from typing import Any, Protocol

from sidecar import __version__
from sidecar.contract import types as t
from sidecar.contract.codec import read
from sidecar.contract.methods import METHODS
from sidecar.core.errors import InvalidParams
from sidecar.core.estimators import estimator_ids
from sidecar.core.jsontext import MAX_DEPTH, Json, dumpb
from sidecar.server.frames import MAX_BODY, MAX_HEADER
from sidecar.server.protocol import Spliced
from sidecar.server.stdio import MAX_RUNNING
from sidecar.service import HistoryService
from sidecar.wire.registry import vendor_ids


class Described(Protocol):
    """What a server knows of itself."""

    service: HistoryService
    served: tuple[str, ...]
    """Names of the methods it answers."""


class LifecycleHandlers:
    """The handlers of `sidecar/*` and `rpc.*`."""

    def __init__(self, server: Described) -> None:
        self._server = server

    async def discover(self, params: t.DiscoverParams) -> Spliced:
        from sidecar.contract.emit.openrpc import document

        return Spliced(dumpb(document(self._server.served)))

    async def info(self, params: t.SidecarInfoParams) -> t.SidecarInfoResult:
        return t.SidecarInfoResult(
            protocol_version=t.PROTOCOL_VERSION,
            server=t.ServerInfo(name="history-sidecar", version=__version__),
            store=_store(self._server.service),
            vendors=vendor_ids(),
            estimators=estimator_ids(),
            formats=_formats(),
            limits=_limits(self._server.service),
        )


def options_of(initialization_options: Any) -> t.InitializeOptions:
    """Read `initializationOptions.sidecar`; an editor that sends none gets the defaults."""
    given = initialization_options.get("sidecar") if isinstance(initialization_options, dict) else None
    try:
        return read(t.InitializeOptions, {} if given is None else given)
    except InvalidParams as error:
        prefix = "/initializationOptions/sidecar"
        raise InvalidParams.of(
            [(prefix + problem["path"], problem["message"]) for problem in error.data["errors"]]
        ) from None


def capabilities(server: Described) -> t.SidecarCapabilities:
    """Return `capabilities.experimental.sidecar`; a method that is not served is not in it."""
    verbs = [method.verb for method in METHODS if method.noun == "history" and method.name in server.served]
    return t.SidecarCapabilities(
        protocol_version=t.PROTOCOL_VERSION,
        history={verb: dict[str, Json]() for verb in verbs},
        wire=t.WireCapability(vendors=vendor_ids()),
        store=_store(server.service),
        limits=_limits(server.service),
    )


def _formats() -> list[str]:
    from sidecar.formats.registry import FORMATS
    from sidecar.formats.transfer import exportable

    return sorted({*FORMATS, *exportable()})


def _store(service: HistoryService) -> t.StoreInfo:
    return t.StoreInfo(engine=service.store.engine, shared=service.store.shared)


def _limits(service: HistoryService) -> t.Limits:
    return t.Limits(
        header_bytes=MAX_HEADER,
        message_bytes=MAX_BODY,
        depth=MAX_DEPTH,
        entries_per_call=service.limits.entries_per_call,
        page_size=service.limits.page_size,
        pending_requests=MAX_RUNNING,
    )
