"""The parent's side of the process that reads a large transcript (`sidecar.reader`)."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from types import TracebackType
from typing import IO, Final

from sidecar.core.jsontext import Json
from sidecar.formats.base import ReadOptions, Report, Restart
from sidecar.reader import LENGTH_BYTES
from sidecar.service.reading import Piece, Written, ahead

LARGE: Final = 8 * 1024 * 1024
"""Bytes of a file that is worth a process: starting one costs as much as reading one or two megabytes."""


PIPE_BYTES: Final = 1024 * 1024
"""Where the system allows it: after each read of a pipe a thread waits its turn for the interpreter."""


class ReaderFailed(Exception):
    """The process did not read to the end; what it told until then is right."""


class ReaderProcess:
    """The first conversation of a file, read beside this process; a `service.reading.Conversation`."""

    branch: str | None = None

    def __init__(
        self, file: IO[bytes], form: str, options: ReadOptions, limit: int, now: int, told: Callable[[int, int], None]
    ) -> None:
        asked = {"format": form, "allBranches": options.all_branches, "limit": limit, "now": now}
        self._told = told
        self._title: str | None = None
        self._facts: Mapping[str, Json] = {}
        self.source_id: str | None = None
        self.report = Report()
        """What was lost; complete when the last piece was yielded."""
        self.more = False
        """Whether the file holds other conversations."""
        if not sys.executable or getattr(sys, "frozen", False):
            raise ReaderFailed  # what would be started is not Python, perhaps this very program once more
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sidecar.reader", json.dumps(asked)],
                stdin=file,
                stdout=subprocess.PIPE,
                bufsize=0,
                stderr=subprocess.DEVNULL,
                pipesize=PIPE_BYTES,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError:
            raise ReaderFailed from None

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def pieces(self) -> AsyncGenerator[Piece, None]:
        return ahead(self._received())

    def title(self) -> str | None:
        return self._title

    def facts(self) -> Mapping[str, Json]:
        return self._facts

    def _bytes(self, size: int) -> bytearray:
        """Read so many bytes in as few reads as the pipe allows; see `PIPE_BYTES`."""
        assert isinstance(self._process.stdout, io.RawIOBase)
        found = bytearray(size)
        view, at = memoryview(found), 0
        while at < size:
            count = self._process.stdout.readinto(view[at:])
            if not count:
                raise ReaderFailed
            at += count
        return found

    def _received(self) -> Iterator[Piece]:
        while True:
            try:
                size = int.from_bytes(self._bytes(LENGTH_BYTES))
                kind, *values = pickle.loads(self._bytes(size))
            except (OSError, ValueError, pickle.UnpicklingError):
                raise ReaderFailed from None
            match kind:
                case "read":
                    self._told(*values)
                case "begin":
                    (self.source_id,) = values
                case "entries":
                    yield [Written(*row) if isinstance(row, tuple) else row for row in values[0]]
                case "restart":
                    yield Restart()
                case "end":
                    self._title, self._facts, self.report, self.more = values
                    return
