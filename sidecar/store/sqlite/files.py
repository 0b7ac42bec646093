"""The files beside a SQLite store: who may read them, whose turn it is to write, and whether they are still ours.

Rules: the database, `-wal` and `-shm` are never opened here, only `stat`ed and created (a stray `close()` on them
drops SQLite's POSIX locks). Directory 0700, files 0600. `<store>.lock` is ours and safe to open.
"""

from __future__ import annotations

import os
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import frozen

from sidecar.core.errors import StorageReadOnly, StorageUnavailable

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locks and busy handler keep writers apart, without fairness
    fcntl = None  # type: ignore[assignment]

ENGINE = "sqlite"
LOCK_SECONDS = 10.0
_REPLACED = "replaced"
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "lustre", "gpfs", "afs", "ceph", "glusterfs",
    "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph", "fuse.davfs", "prl_fs",
    "vboxsf", "drvfs",
)  # fmt: skip


def place_of(location: str) -> Path:
    """Return the path that a location names. Raises StorageUnavailable where no file can have such a name."""
    try:
        os.fsencode(location)
        path = Path(location).expanduser().absolute()
    except (ValueError, RuntimeError):  # a lone surrogate; `~nobody` without such a user
        path = None
    if path is None or "\0" in location or "://" in location:  # `file:///x` would become a folder named `file:`
        raise StorageUnavailable("the store has no possible file name", ENGINE, detail="cannotOpen")
    return path


def prepare(path: Path) -> None:
    """Make the directory and the empty file with the right modes, and refuse places where SQLite is not safe."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = _lstat(path)
        if found is None:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            _sync_directory(path.parent)
            found = path.lstat()
    except FileExistsError:
        found = path.lstat()
    except PermissionError:
        raise StorageReadOnly("the store's folder cannot be written") from None
    except OSError as error:
        if error.errno in _READ_ONLY:
            raise StorageReadOnly("the store's folder cannot be written") from None
        raise StorageUnavailable("the store cannot be created", ENGINE, detail="cannotOpen") from None
    if not stat.S_ISREG(found.st_mode):
        raise StorageUnavailable("the store is not a regular file", ENGINE, detail="cannotOpen")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise StorageUnavailable("the store belongs to another user", ENGINE, detail="cannotOpen")
    if found.st_mode & 0o077:
        path.chmod(0o600)
    if _file_system(path) in _NETWORK:
        raise StorageUnavailable("the store is on a network file system", ENGINE, detail="unsupportedFileSystem")


@frozen
class Sentinel:
    """The identity of the files we opened; an append to an unlinked database would succeed silently."""

    path: Path
    identities: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of(cls, path: Path) -> Sentinel:
        """Remember the files as they are now."""
        return cls(path, _identities(path))

    def check(self) -> None:
        """Raise where the database or its log is not the file that was opened."""
        if _identities(self.path) != self.identities:
            raise replaced()

    def is_another_database(self) -> bool:
        """Say whether the database itself is not the file that was opened."""
        return _identities(self.path)[0] != self.identities[0]

    def move_old_log_aside(self) -> None:
        """Keep the log of a database that was replaced from the one that took its place; call it inside the turn.

        Nothing is lost: what only the log holds stays in it, beside the store.
        """
        now = _identities(self.path)
        if now[0] == self.identities[0] or now[1] is None or now[1] != self.identities[1]:
            return
        for name in ("-wal", "-shm"):
            old = self.path.with_name(self.path.name + name)
            with suppress(FileNotFoundError):
                old.rename(old.with_name(f"{old.name}.replaced-{secrets.token_hex(4)}"))


def replaced() -> StorageUnavailable:
    """Return the error of whoever notices that the files are not ours any more."""
    return StorageUnavailable("the store's files were replaced", ENGINE, detail=_REPLACED)


def is_replaced(error: StorageUnavailable) -> bool:
    """Say whether the sentinel raised it."""
    return error.data.get("detail") == _REPLACED


class Turn:
    """Whose turn it is to write: one `flock` for all processes.

    The kernel queues blocked lockers fairly, where SQLite's busy handler starves all but one process (measured: 1
    against 6,823 appends). A blocked `flock` cannot time out, so a contended one waits on a thread of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._fd = self._open()

    @contextmanager
    def take(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the turn; raise `StorageUnavailable` where it does not come within `seconds`."""
        if fcntl is None:
            yield
            return
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fd = self._queue(seconds)
            try:
                yield
            finally:
                os.close(fd)
        else:
            try:
                yield
            finally:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the lock file."""
        os.close(self._fd)

    def _open(self) -> int:
        return os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)

    def _queue(self, seconds: float) -> int:
        """Wait in the kernel's queue; return the descriptor that holds the lock."""
        fd = self._open()
        granted, abandoned = threading.Event(), threading.Lock()

        def wait() -> None:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if abandoned.acquire(blocking=False):
                granted.set()
            else:
                os.close(fd)

        threading.Thread(target=wait, name="store-turn", daemon=True).start()
        if not granted.wait(seconds) and abandoned.acquire(blocking=False):
            raise StorageUnavailable("another process holds the store", ENGINE, detail="busy")
        granted.wait()
        return fd


_READ_ONLY = (30, 28)  # EROFS, ENOSPC


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _identities(path: Path) -> tuple[tuple[int, int] | None, ...]:
    found = []
    for name in (path, path.with_name(path.name + "-wal")):
        status = _lstat(name)
        found.append(None if status is None else (status.st_dev, status.st_ino))
    return tuple(found)


def _sync_directory(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _file_system(path: Path) -> str:
    """Name the file system type on Linux; `""` elsewhere."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            rows = [line.split() for line in mounts]
    except OSError:
        return ""
    real = str(path.resolve())
    best, kind = "", ""
    for row in rows:
        point = row[4].replace("\\040", " ")
        if (real + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, row[row.index("-") + 1]
    return kind
