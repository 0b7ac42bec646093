"""Every error a client can be told about, one class per `kind`.

Rules: a message is one lower-case sentence without a full stop; it names the history and the versions, never
conversation text and never a path. A class says when it is raised and what the client should do. Only
`sidecar.server` turns these into JSON-RPC errors; the codes are kept here so that the table is in one place
(`protocol.md` §4). `ERRORS` is filled by the subclasses themselves, so code and class cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

ERRORS: dict[str, type[SidecarError]] = {}


class SidecarError(Exception):
    """Base of all domain errors; never raised itself.

    `data` holds the extra members of `error.data` in wire names, beside `kind` and `retryable`.
    """

    kind: ClassVar[str] = ""
    code: ClassVar[int] = 0
    retryable: ClassVar[bool] = False

    def __init_subclass__(cls, *, kind: str, code: int, retryable: bool = False) -> None:
        super().__init_subclass__()
        cls.kind, cls.code, cls.retryable = kind, code, retryable
        ERRORS[kind] = cls

    def __init__(self, message: str, /, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = data

    def to_data(self) -> dict[str, Any]:
        """Return the `error.data` object."""
        return {"kind": self.kind, "retryable": self.retryable, **self.data}


class InvalidParams(SidecarError, kind="invalidParams", code=-32602):
    """Shape or range is wrong. The client must correct the call; `errors` says where, by JSON Pointer."""

    @classmethod
    def at(cls, path: str, problem: str) -> InvalidParams:
        """Build the error for one place; `path` is a JSON Pointer in wire names, `""` for the whole params."""
        where = f"{path} " if path else ""  # many clients show the message only
        return cls(f"invalid params: {where}{problem}", errors=[{"path": path, "message": problem}])

    @classmethod
    def of(cls, problems: Sequence[tuple[str, str]]) -> InvalidParams:
        """Build the error for several `(path, problem)`; the message names the first three."""
        summary = "; ".join(f"{path or 'params'} {problem}" for path, problem in problems[:3])
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        errors = [{"path": path, "message": problem} for path, problem in problems]
        return cls(f"invalid params: {summary}{more}", errors=errors)


class HistoryNotFound(SidecarError, kind="historyNotFound", code=1001):
    """No live history has this name. The client may create it by appending."""

    def __init__(self, history: str) -> None:
        super().__init__(f"history {history!r} does not exist", history=history)


class HistoryExists(SidecarError, kind="historyExists", code=1002):
    """Create, fork or rename onto a name that is taken. The client picks another name."""

    def __init__(self, history: str, version: int) -> None:
        super().__init__(f"history {history!r} already exists at version {version}", history=history, version=version)


class VersionMismatch(SidecarError, kind="versionMismatch", code=1003, retryable=True):
    """`ifVersion` or `ifPrefix` did not hold; nothing changed. The client re-reads and tries again."""

    def __init__(self, history: str, expected: int, actual: int) -> None:
        super().__init__(
            f"history {history!r} is at version {actual}, not {expected}",
            history=history,
            expected=expected,
            actual=actual,
        )


class InvalidName(SidecarError, kind="invalidName", code=1004):
    """The name breaks the grammar of `core.names`."""

    def __init__(self, history: str) -> None:
        super().__init__("history name is not valid", history=history)


class OperationReused(SidecarError, kind="operationReused", code=1005):
    """The operation id was used before with other params. The client makes a new id."""

    def __init__(self, operation_id: str) -> None:
        super().__init__("operation id was used with other params", operationId=operation_id)


class EntryNotFound(SidecarError, kind="entryNotFound", code=1006):
    """No entry of the history (at the version asked for) has this id."""

    def __init__(self, history: str, entry_id: str) -> None:
        super().__init__(f"history {history!r} has no such entry", history=history, entryId=entry_id)


class LimitExceeded(SidecarError, kind="limitExceeded", code=1007):
    """A size, depth or count is over its limit (see `sidecar/info`). The client sends less."""

    def __init__(self, limit: str, value: int, maximum: int) -> None:
        super().__init__(f"{limit} is {value}, the limit is {maximum}", limit=limit, value=value, max=maximum)


class VersionUnavailable(SidecarError, kind="versionUnavailable", code=1008):
    """The version never was, or was pruned; `oldest` is the oldest that can be read."""

    def __init__(self, history: str, version: int, oldest: int) -> None:
        super().__init__(
            f"version {version} of history {history!r} is not available, the oldest is {oldest}",
            history=history,
            version=version,
            oldest=oldest,
        )


class EntryExists(SidecarError, kind="entryExists", code=1009):
    """The history already holds an entry with this id. The client makes a new id or drops the duplicate."""

    def __init__(self, history: str, entry_id: str) -> None:
        super().__init__(f"history {history!r} already has an entry with this id", history=history, entryId=entry_id)


class UnknownVendor(SidecarError, kind="unknownVendor", code=1010):
    """No vendor module has this id; `known` lists those that exist."""

    def __init__(self, vendor: str, known: list[str]) -> None:
        near = get_close_matches(vendor, known, 1)
        meant = f", did you mean {near[0]!r}" if near else ""
        super().__init__(f"vendor {vendor[:64]!r} is not known{meant}", vendor=vendor, known=known)


class Unprojectable(SidecarError, kind="unprojectable", code=1011):
    """`onLoss: "error"` and something would be lost, or no rule can repair the list."""

    def __init__(self, message: str, violations: list[dict[str, Any]]) -> None:
        super().__init__(message, violations=violations)


class Unparsable(SidecarError, kind="unparsable", code=1012):
    """`wire/parse` or `history/import` was given something that is nothing like the format."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"cannot be parsed: {problem}", path=path, message=problem)


class StorageUnavailable(SidecarError, kind="storageUnavailable", code=1020, retryable=True):
    """The lock timed out, or the database is down. The client retries with the same operation id."""

    def __init__(self, message: str, engine: str, **data: Any) -> None:
        super().__init__(message, engine=engine, **data)


class StorageCorrupt(SidecarError, kind="storageCorrupt", code=1021):
    """Stored bytes do not read back. Other histories keep working; `store check` and `store recover` help."""

    def __init__(self, message: str, history: str | None = None, detail: str = "") -> None:
        super().__init__(message, history=history, detail=detail)


class StorageReadOnly(SidecarError, kind="storageReadOnly", code=1022):
    """The disk is full or the medium read-only; nothing was changed."""


class Overloaded(SidecarError, kind="overloaded", code=1023, retryable=True):
    """A bounded queue is full. The client waits `retryAfterMs` and tries again."""

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__("too many requests are waiting", retryAfterMs=retry_after_ms)


class CursorInvalid(SidecarError, kind="cursorInvalid", code=1031):
    """The cursor was not made by this method with these params. The client starts from the beginning."""

    def __init__(self) -> None:
        super().__init__("cursor is not valid here")
