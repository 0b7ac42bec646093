"""`error.data` of every domain error, tagged by `kind`. Codes and meanings are in `core.errors`, the one table.

Guard: `tests/contract/test_faults.py` compares these with what the errors themselves write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from attrs import frozen

from sidecar.contract.constraints import Count


@frozen(kw_only=True)
class Problem:
    """One thing that is wrong with params."""

    path: str
    """JSON Pointer in wire names; `""` is the params object."""
    message: str
    """What is wrong, such as `is required`."""


@frozen(kw_only=True)
class InvalidParamsData:
    """Shape or range is wrong: correct the call."""

    kind: Literal["invalidParams"] = "invalidParams"
    retryable: Literal[False] = False
    errors: Sequence[Problem]
    """Every problem."""


@frozen(kw_only=True)
class HistoryNotFoundData:
    """No live history has this name: append to it to make it."""

    kind: Literal["historyNotFound"] = "historyNotFound"
    retryable: Literal[False] = False
    history: str
    """The name."""


@frozen(kw_only=True)
class HistoryExistsData:
    """The name is taken: pick another."""

    kind: Literal["historyExists"] = "historyExists"
    retryable: Literal[False] = False
    history: str
    """The name."""
    version: Count


@frozen(kw_only=True)
class VersionMismatchData:
    """`ifVersion` or `ifPrefix` did not hold and nothing changed: read again, then try again."""

    kind: Literal["versionMismatch"] = "versionMismatch"
    retryable: Literal[True] = True
    history: str
    """The name."""
    expected: Count
    """What the client asked for."""
    actual: Count
    """What it is."""


@frozen(kw_only=True)
class InvalidNameData:
    """The name breaks the grammar."""

    kind: Literal["invalidName"] = "invalidName"
    retryable: Literal[False] = False
    history: str
    """The name, at most its first 255 characters."""


@frozen(kw_only=True)
class OperationReusedData:
    """The operation id was used with other params: make a new id."""

    kind: Literal["operationReused"] = "operationReused"
    retryable: Literal[False] = False
    operation_id: str
    """The id."""


@frozen(kw_only=True)
class EntryNotFoundData:
    """The history has no such entry at that version."""

    kind: Literal["entryNotFound"] = "entryNotFound"
    retryable: Literal[False] = False
    history: str
    """The name."""
    entry_id: str
    """The id."""


@frozen(kw_only=True)
class LimitExceededData:
    """A size, depth or count is over its limit (`sidecar/info`): send less."""

    kind: Literal["limitExceeded"] = "limitExceeded"
    retryable: Literal[False] = False
    limit: str
    """Which limit."""
    value: int
    """What was sent."""
    max: int
    """What is allowed."""


@frozen(kw_only=True)
class VersionUnavailableData:
    """The version never was, or was pruned."""

    kind: Literal["versionUnavailable"] = "versionUnavailable"
    retryable: Literal[False] = False
    history: str
    """The name."""
    version: int
    """What was asked for."""
    oldest: int
    """The oldest version that can be read."""


@frozen(kw_only=True)
class EntryExistsData:
    """The history already holds an entry with this id: make a new id, or drop the duplicate."""

    kind: Literal["entryExists"] = "entryExists"
    retryable: Literal[False] = False
    history: str
    """The name."""
    entry_id: str
    """The id."""


@frozen(kw_only=True)
class UnknownVendorData:
    """No vendor has this id."""

    kind: Literal["unknownVendor"] = "unknownVendor"
    retryable: Literal[False] = False
    vendor: str
    """The id."""
    known: Sequence[str]
    """The ids there are."""


@frozen(kw_only=True)
class UnprojectableData:
    """Something would be lost and `onLoss` is `error`, or no rule can repair the list."""

    kind: Literal["unprojectable"] = "unprojectable"
    retryable: Literal[False] = False
    violations: Sequence[Mapping[str, Any]]
    """What stands in the way."""


@frozen(kw_only=True)
class UnparsableData:
    """The text or body is nothing like the format."""

    kind: Literal["unparsable"] = "unparsable"
    retryable: Literal[False] = False
    path: str
    """JSON Pointer or line."""
    message: str
    """What is wrong."""


@frozen(kw_only=True)
class StorageUnavailableData:
    """The lock timed out, or the database is down: try again with the same operation id."""

    kind: Literal["storageUnavailable"] = "storageUnavailable"
    retryable: Literal[True] = True
    engine: str
    """The engine."""


@frozen(kw_only=True)
class StorageCorruptData:
    """Stored bytes do not read back; other histories keep working."""

    kind: Literal["storageCorrupt"] = "storageCorrupt"
    retryable: Literal[False] = False
    history: str | None
    """The history, where it is one."""
    detail: str
    """What was found."""


@frozen(kw_only=True)
class StorageReadOnlyData:
    """The disk is full or the medium read-only; nothing was changed."""

    kind: Literal["storageReadOnly"] = "storageReadOnly"
    retryable: Literal[False] = False


@frozen(kw_only=True)
class OverloadedData:
    """A bounded queue is full: wait, then try again."""

    kind: Literal["overloaded"] = "overloaded"
    retryable: Literal[True] = True
    retry_after_ms: Count
    """How long to wait."""


@frozen(kw_only=True)
class CursorInvalidData:
    """The cursor was not made by this method with these params: start from the beginning."""

    kind: Literal["cursorInvalid"] = "cursorInvalid"
    retryable: Literal[False] = False


ErrorData: TypeAlias = (
    InvalidParamsData
    | HistoryNotFoundData
    | HistoryExistsData
    | VersionMismatchData
    | InvalidNameData
    | OperationReusedData
    | EntryNotFoundData
    | LimitExceededData
    | VersionUnavailableData
    | EntryExistsData
    | UnknownVendorData
    | UnprojectableData
    | UnparsableData
    | StorageUnavailableData
    | StorageCorruptData
    | StorageReadOnlyData
    | OverloadedData
    | CursorInvalidData
)
"""`error.data`, tagged by `kind`; a kind that a client does not know is treated by `retryable`."""
