"""How a process learns of other processes' commits: a doorbell, and a poll as safety net.

Rules: a bell is only a hint, the journal is the truth; a lost bell costs at most one poll. Never inotify on the
write-ahead log: it fires before the commit is visible (measured: half a millisecond for a doorbell, up to a second
for inotify). Sockets live in a private runtime directory, named after the store, and a dead one is unlinked by
whoever rings it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw

from sidecar.core.errors import SidecarError

BUSY_SECONDS, IDLE_SECONDS, BUSY_SPAN = 0.025, 1.0, 5.0
"""Poll interval for `BUSY_SPAN` seconds after a commit was seen, and otherwise."""

_HAS_UNIX = hasattr(socket, "AF_UNIX")


def runtime_directory(store_id: str) -> Path:
    """Return the private directory for the doorbells of one store, making it with mode 0700.

    One directory per store: a commit lists it, so what other stores left behind must not stand in it.
    """
    base = os.environ.get("XDG_RUNTIME_DIR")
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(base or tempfile.gettempdir()) / f"history-sidecar-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or (hasattr(os, "getuid") and status.st_uid != os.getuid()) or status.st_mode & 0o077:
        raise PermissionError("the runtime directory is not private")
    own = folder / store_id
    own.mkdir(mode=0o700, exist_ok=True)
    return own


class Doorbells:
    """The sockets of every process that listens to one store."""

    def __init__(self, store_id: str) -> None:
        self._listed: tuple[int, tuple[str, ...]] = (0, ())
        self._folder: Path | None = None
        self._own: Path | None = None
        self._listening: socket.socket | None = None
        self._ringing: socket.socket | None = None
        if _HAS_UNIX:
            with contextlib.suppress(OSError):
                self._folder = runtime_directory(store_id)
                self._ringing = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self._ringing.setblocking(False)

    def listen(self, loop: asyncio.AbstractEventLoop, heard: Callable[[], object]) -> None:
        """Bind our own bell and call `heard` when it rings."""
        if self._folder is None or self._listening is not None:
            return
        path = self._folder / f"{os.getpid()}.{secrets.token_hex(3)}"
        bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        bell.setblocking(False)
        try:
            bell.bind(str(path))
        except OSError:
            bell.close()
            return  # the poll is enough
        self._listening, self._own = bell, path

        def ring() -> None:
            with contextlib.suppress(OSError):
                while bell.recv(64):
                    pass
            heard()

        loop.add_reader(bell, ring)

    def ring(self) -> None:
        """Ring everybody else's bell; any thread."""
        if self._folder is None or self._ringing is None:
            return
        for name in self._others():
            try:
                self._ringing.sendto(b"!", str(self._folder / name))
            except (ConnectionRefusedError, FileNotFoundError):
                with contextlib.suppress(OSError):
                    (self._folder / name).unlink()
            except OSError:
                continue  # full or not reachable now: its poll will see the commit

    def _others(self) -> list[str]:
        assert self._folder is not None
        try:
            # A directory's time changes with its names; listing it for every commit would cost more than the commit.
            changed = self._folder.stat().st_mtime_ns
            if changed != self._listed[0]:
                self._listed = changed, tuple(os.listdir(self._folder))
        except OSError:
            return []
        own = None if self._own is None else self._own.name
        return [name for name in self._listed[1] if name != own]

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take our bell away."""
        if self._listening is not None and self._own is not None:
            loop.remove_reader(self._listening)
            self._listening.close()
            with contextlib.suppress(OSError):
                self._own.unlink()
                self._own.parent.rmdir()  # the last one to leave; fails, rightly, while others listen
        if self._ringing is not None:
            self._ringing.close()


async def poll(connection: apsw.Connection, changed: Callable[[], Awaitable[bool]]) -> None:
    """Watch `PRAGMA data_version` for ever; `changed` says whether there was something to tell.

    The pragma, not apsw's `data_version()`: that file control does not notice foreign commits before a read.
    """
    seen = None
    busy_until = 0.0
    clock = asyncio.get_running_loop().time
    while True:
        now = connection.execute("PRAGMA data_version").get
        if now != seen:
            with contextlib.suppress(SidecarError):  # not seen yet, so it is tried again
                if await changed():
                    busy_until = clock() + BUSY_SPAN
                seen = now
        await asyncio.sleep(BUSY_SECONDS if clock() < busy_until else IDLE_SECONDS)
