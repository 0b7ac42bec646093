"""What client and server tell each other about themselves: `initialize`, `sidecar/info`, `rpc.discover`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from attrs import frozen

from sidecar.contract.constraints import Count, Open

PROTOCOL_VERSION = 1
"""Raised only for breaking changes."""


@frozen(kw_only=True)
class ClientInfo:
    """Who is speaking."""

    name: str
    """A short name, such as `neovim`; its first 128 characters are kept with every change."""
    version: str | None = None
    """Its version."""


@frozen(kw_only=True)
class InitializeOptions:
    """`initializationOptions.sidecar` of `initialize`; everything may be left out."""

    protocol_version: int | None = None
    """The protocol version the client speaks."""
    client: ClientInfo | None = None
    """Who is speaking; shown to others as the origin of changes."""
    store: str | None = None
    """A SQLite file, `:memory:` or `postgresql://…`, where no `--store` was given."""
    defaults: Mapping[str, Any] | None = None
    """What a person configures for transcripts as documents: `{"vendors": […], "codeLens": …, "inlayHints": …}`."""


@frozen(kw_only=True)
class StoreInfo:
    """Where histories are kept."""

    engine: Annotated[str, Open(("memory", "sqlite", "postgresql"))]
    """The engine."""
    shared: bool
    """Whether other processes may open the same store."""


@frozen(kw_only=True)
class Limits:
    """Bounds, by the name that `limitExceeded` gives."""

    header_bytes: Count
    """Length of the header of a frame."""
    message_bytes: Count
    """Length of the body of a frame."""
    depth: Count
    """Nesting of arrays and objects in a frame."""
    entries_per_call: Count
    """Entries in one call."""
    page_size: Count
    """Items on one page."""
    pending_requests: Count
    """Requests of one connection that wait for their answer."""


@frozen(kw_only=True)
class ServerInfo:
    """The server."""

    name: str
    """`history-sidecar`."""
    version: str
    """Its version."""


@frozen(kw_only=True)
class WireCapability:
    """What projection can do."""

    vendors: Sequence[str]
    """Ids of the vendors."""


@frozen(kw_only=True)
class SidecarCapabilities:
    """`capabilities.experimental.sidecar` in the answer to `initialize`."""

    protocol_version: int
    """The protocol version the server speaks."""
    history: Mapping[str, Any]
    """One key per `history/*` method, without the noun; `{}` means supported."""
    wire: WireCapability
    """What projection can do."""
    store: StoreInfo
    """Where histories are kept."""
    limits: Limits
    """Bounds."""


@frozen(kw_only=True)
class SidecarInfoParams:
    """Ask what `initialize` told, at any time."""

    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class SidecarInfoResult:
    """The server, its store, its vendors, its estimators, its limits."""

    protocol_version: int
    """The protocol version the server speaks."""
    server: ServerInfo
    """The server."""
    store: StoreInfo
    """Where histories are kept."""
    vendors: Sequence[str]
    """Ids of the vendors; `wire/vendors` says more."""
    estimators: Sequence[str]
    """Ids for `history/tokenEstimate`."""
    formats: Sequence[str]
    """Ids for `history/import` and `history/export`."""
    limits: Limits
    """Bounds."""


@frozen(kw_only=True)
class DiscoverParams:
    """Ask for the OpenRPC document of the server."""

    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class DiscoverResult:
    """An OpenRPC document."""

    openrpc: str
    """The version of OpenRPC."""
    info: Mapping[str, Any]
    """Title, version, licence."""
    methods: Sequence[Mapping[str, Any]]
    """The methods."""
    components: Mapping[str, Any]
    """Schemas and errors."""
