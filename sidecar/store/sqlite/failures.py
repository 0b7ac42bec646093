"""apsw's exceptions in the words of the protocol."""

from __future__ import annotations

import apsw

from sidecar.core.errors import SidecarError, StorageCorrupt, StorageReadOnly, StorageUnavailable


def storage_error(error: apsw.Error) -> SidecarError:
    """Return the domain error for an error of SQLite; never its text, which may name paths."""
    match error:
        case apsw.FullError():
            return StorageReadOnly("the disk is full, nothing was changed")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StorageReadOnly("the store cannot be written")
        case apsw.CorruptError() | apsw.NotADBError():
            return StorageCorrupt("the store is damaged", detail=type(error).__name__)
        case apsw.BusyError() | apsw.LockedError():
            return StorageUnavailable("another process holds the store", "sqlite", detail="busy")
        case apsw.CantOpenError():
            return StorageUnavailable("the store cannot be opened", "sqlite", detail="cannotOpen")
        case apsw.IOError():
            return StorageUnavailable("the store's medium failed, the outcome is unknown", "sqlite", detail="io")
    return StorageUnavailable("the store failed", "sqlite", detail=type(error).__name__)


def poisons(error: apsw.Error) -> bool:
    """Say whether the connection must be closed and opened again before it is trusted."""
    return isinstance(error, apsw.IOError | apsw.CorruptError | apsw.NotADBError | apsw.ConnectionClosedError)
