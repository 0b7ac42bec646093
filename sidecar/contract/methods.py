"""`METHODS`: every method of the protocol beside those of LSP. Server, documents and tests walk this one table.

Rules: a row names its params and result class; its reference text is the docstring of the params class. `errors` are
the kinds (`core.errors`) that this method can answer beside `invalidParams`, `overloaded` and the storage errors,
which every method can.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final, Literal

from attrs import frozen

COMMON_ERRORS: Final = (
    "invalidParams",
    "limitExceeded",
    "storageUnavailable",
    "storageCorrupt",
    "storageReadOnly",
    "overloaded",
)
"""Kinds that every request can be answered with."""


@frozen(kw_only=True)
class Method:
    """One method. `direction` is who sends it; `mutation` takes `operationId` and is answered after its commit."""

    name: str
    params_path: str
    result_path: str | None = None
    kind: Literal["request", "notification"] = "request"
    direction: Literal["clientToServer", "serverToClient"] = "clientToServer"
    errors: tuple[str, ...] = ()
    mutation: bool = False
    cancellable: bool = True
    since: str = "1"
    stability: Literal["stable", "experimental"] = "stable"

    @property
    def params(self) -> type:
        """The params class; its module is imported on first use, because starting must stay fast."""
        kind: type = _load(self.params_path)
        return kind

    @property
    def result(self) -> Any:
        """The result class or tagged union; `None` for notifications."""
        return None if self.result_path is None else _load(self.result_path)

    @property
    def noun(self) -> str:
        """What it is about: `history`, `wire`, `sidecar` or `rpc`."""
        return self.name.replace(".", "/").partition("/")[0]

    @property
    def verb(self) -> str:
        """What it does, in wire spelling."""
        return self.name.replace(".", "/").partition("/")[2]


@cache
def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(f"sidecar.contract.{module}"), name)


def _mutation(name: str, stem: str, *errors: str) -> Method:
    kinds = ("invalidName", "versionMismatch", "operationReused", *errors)
    return Method(name=name, params_path=f"{stem}Params", result_path=f"{stem}Result", errors=kinds, mutation=True)


def _read(name: str, stem: str, *errors: str) -> Method:
    return Method(name=name, params_path=f"{stem}Params", result_path=f"{stem}Result", errors=errors)


def _notification(name: str, stem: str) -> Method:
    path = f"{stem}Notification"
    return Method(name=name, params_path=path, kind="notification", direction="serverToClient", cancellable=False)


_NAMED: Final = ("invalidName", "historyNotFound")
_VERSIONED: Final = (*_NAMED, "versionUnavailable")

METHODS: Final[tuple[Method, ...]] = (
    _read("sidecar/info", "lifecycle:SidecarInfo"),
    _read("rpc.discover", "lifecycle:Discover"),
    _mutation("history/append", "mutations:Append", "historyNotFound", "entryExists"),
    _read("history/clearInjected", "mutations:ClearInjected", "invalidName"),
    _read("history/snapshot", "reading:Snapshot", *_VERSIONED),
    _mutation(
        "history/splicePrefix",
        "mutations:SplicePrefix",
        "historyNotFound",
        "entryNotFound",
        "entryExists",
        "versionUnavailable",
    ),
    _mutation("history/replace", "mutations:Replace", "historyNotFound", "entryExists"),
    _mutation("history/truncate", "mutations:Truncate", "historyNotFound", "entryNotFound"),
    _read("history/len", "reading:Len", "invalidName"),
    _read(
        "history/recordInputTokens",
        "tokens:RecordInputTokens",
        *_VERSIONED,
        "unknownVendor",
        "unparsable",
    ),
    _read(
        "history/tokenEstimate",
        "tokens:TokenEstimate",
        "invalidName",
        "unknownVendor",
    ),
    _read("history/list", "reading:List", "cursorInvalid"),
    Method(
        name="history/info",
        params_path="reading:HistoryInfoParams",
        result_path="reading:HistoryInfo",
        errors=_NAMED,
    ),
    Method(
        name="history/setMetadata",
        params_path="mutations:SetMetadataParams",
        result_path="mutations:SetMetadataResult",
        errors=(*_NAMED, "operationReused"),
        mutation=True,
    ),
    _mutation("history/delete", "mutations:Delete"),
    _mutation("history/rename", "mutations:Rename", "historyNotFound", "historyExists"),
    Method(
        name="history/fork",
        params_path="mutations:ForkParams",
        result_path="mutations:ForkResult",
        errors=(*_VERSIONED, "historyExists", "operationReused"),
        mutation=True,
    ),
    _mutation(
        "history/applyEdits",
        "mutations:ApplyEdits",
        "historyNotFound",
        "entryNotFound",
        "entryExists",
    ),
    _mutation("history/elide", "mutations:Elide", "historyNotFound", "entryNotFound"),
    _mutation("history/unelide", "mutations:Unelide", "historyNotFound", "entryNotFound"),
    _read("history/outline", "transfer:Outline", *_VERSIONED),
    _read("history/render", "transfer:Render", *_VERSIONED),
    _read("history/versions", "reading:Versions", *_NAMED, "cursorInvalid"),
    _mutation("history/revert", "mutations:Revert", "historyNotFound", "versionUnavailable"),
    _read("history/prune", "reading:Prune", *_NAMED),
    _read("history/search", "reading:Search", "cursorInvalid"),
    _read(
        "history/planSplice",
        "tokens:PlanSplice",
        *_NAMED,
        "versionMismatch",
        "unknownVendor",
    ),
    _read("history/subscribe", "reading:Subscribe", "invalidName"),
    _read("history/unsubscribe", "reading:Unsubscribe"),
    _mutation(
        "history/import",
        "transfer:Import",
        "historyNotFound",
        "entryExists",
        "unparsable",
    ),
    _read("history/export", "transfer:Export", *_VERSIONED),
    _read(
        "wire/project",
        "projection:Project",
        *_VERSIONED,
        "unknownVendor",
        "unprojectable",
    ),
    _read("wire/check", "projection:Check", *_VERSIONED, "unknownVendor"),
    _read("wire/parse", "projection:Parse", "unknownVendor", "unparsable"),
    _read("wire/vendors", "projection:Vendors"),
    _notification("history/didChange", "reading:DidChange"),
    _notification("history/didDelete", "reading:DidDelete"),
)

BY_NAME: Final[dict[str, Method]] = {method.name: method for method in METHODS}
"""The same rows by name."""
