"""Notice that a process is gone, so that a sidecar does not outlive its client.

Why: the end of stdin usually says it, but not where a sibling process inherited the pipe.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
"""How often a process is looked for where the kernel cannot tell us."""


def watch_process(pid: int, on_gone: Callable[[], None]) -> Callable[[], None]:
    """Call `on_gone` once, on the running loop, when process `pid` has ended; return a function that stops watching."""
    loop = asyncio.get_running_loop()
    if os.getppid() == 0:
        # Our parent lives in another pid namespace (a container's first process), so its number says nothing here.
        log.info("the client's process id is of another pid namespace, only the end of stdin is watched")
        return lambda: None
    if hasattr(os, "pidfd_open"):
        try:
            return _watch_descriptor(loop, os.pidfd_open(pid), on_gone)
        except ProcessLookupError:
            loop.call_soon(on_gone)
            return lambda: None
        except OSError:
            log.debug("no pidfd on this kernel, polling instead")
    return _poll(loop, pid, on_gone)


def _watch_descriptor(loop: asyncio.AbstractEventLoop, fd: int, on_gone: Callable[[], None]) -> Callable[[], None]:
    def stop() -> None:
        nonlocal fd
        if fd >= 0:
            loop.remove_reader(fd)
            os.close(fd)
            fd = -1

    def gone() -> None:
        stop()
        on_gone()

    loop.add_reader(fd, gone)
    return stop


def _poll(loop: asyncio.AbstractEventLoop, pid: int, on_gone: Callable[[], None]) -> Callable[[], None]:
    async def look() -> None:
        while _alive(pid):
            await asyncio.sleep(POLL_SECONDS)
        on_gone()

    task = loop.create_task(look())

    def stop() -> None:
        task.cancel()

    return stop


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        import ctypes

        synchronize, timed_out = 0x00100000, 0x102
        handle = ctypes.windll.kernel32.OpenProcess(synchronize, False, pid)
        if not handle:
            return False
        alive = ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == timed_out
        ctypes.windll.kernel32.CloseHandle(handle)
        return bool(alive)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it lives and is not ours
    return True
