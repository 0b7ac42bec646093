"""A process of its own that reads one large transcript and makes its entries ready to be stored.

Rules:
- The parent hands over the open file as stdin, so that nothing is looked up twice, and says in one argument how to
  read it. What is read comes back on stdout as pickled tuples, each behind its length; nobody but the two has the pipe.
- It reads the first conversation of the file as new: what a history has already, and what else a file holds, is the
  parent's own work. Whatever goes wrong here, the parent reads for itself, and tells the error if there is one.
- It ends with its parent: it keeps telling how far it came, and a pipe that nobody reads ends it. It is ended with the
  import. The pipe holds it back while the store writes, so that there are never more than a few pieces in memory.
"""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import IO, Any, Final

from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry
from sidecar.formats.base import ReadOptions, Report, Restart
from sidecar.formats.registry import FORMATS
from sidecar.formats.source import CHUNK, Source
from sidecar.service.reading import Piece, Written, ahead, cut, stamped
from sidecar.store.base import Prepared
from sidecar.store.blobs import encode, quick_body
from sidecar.store.measuring import prepare

LARGE: Final = 8 * 1024 * 1024
"""Bytes of a file that is worth a process: starting one costs as much as reading one or two megabytes."""


PIPE_BYTES: Final = 1024 * 1024
"""Where the system allows it: after each read of a pipe a thread waits its turn for the interpreter."""


_LENGTH: Final = 8
"""Bytes that say how long the message behind them is."""


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
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sidecar.service.reader", json.dumps(asked)],
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
                size = int.from_bytes(self._bytes(_LENGTH))
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


class _Sender:
    """Writes messages to the parent in a thread, so that reading goes on while the parent is busy."""

    def __init__(self, out: int) -> None:
        self._out = out
        self._waiting: queue.Queue[bytes | None] = queue.Queue(maxsize=4)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_behind(self) -> bool:
        """Whether the parent has not yet taken what was sent."""
        return not self._waiting.empty()

    def tell(self, *message: Any) -> None:
        """Send one message, once there is room for it."""
        self._waiting.put(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))

    def close(self) -> None:
        """Send everything that waits."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                left = memoryview(len(data).to_bytes(_LENGTH) + data)
                while left:
                    left = left[os.write(self._out, left) :]
        except OSError:
            os._exit(1)  # the parent has gone


def main() -> None:
    """Read stdin as the argument says; see the module."""
    asked = json.loads(sys.argv[1])
    sender = _Sender(os.dup(1))
    tell = sender.tell
    os.dup2(2, 1)  # a stray print must not land among the messages
    # Entries hold no cycles, and looking for some among a million short-lived objects costs a tenth of the time.
    gc.disable()

    def chunks() -> Iterator[bytes]:
        file = sys.stdin.buffer
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk

    report = Report()
    options = ReadOptions(all_branches=asked["allBranches"])
    histories = FORMATS[asked["format"]].read(Source(chunks).watched(partial(tell, "read")), report, options)
    found = next(histories)
    tell("begin", found.source_id)
    for piece in cut(found.entries, asked["limit"]):
        if isinstance(piece, Restart):
            tell("restart")
        else:
            # Whoever would have to wait for the other measures: on two processors both are busy to the end.
            tell("entries", [_ready(entry, asked["now"], measured=sender.is_behind) for entry in piece])
    before = pickle.dumps(report)
    more = next(histories, None) is not None
    # Where more follows, the parent reads on by itself and meets those losses again.
    tell("end", found.title(), dict(found.metadata()), pickle.loads(before) if more else report, more)
    sender.close()


def _ready(entry: Entry, now: int, *, measured: bool) -> tuple[str, bytes] | Prepared:
    """Encode an entry, and measure it as well or leave that to the parent."""
    entry = stamped(entry, now)
    encoded = encode(entry, quick_body)
    # What is measured of a medium is in its bytes, which a body with a reference does not have.
    return prepare(entry) if measured or encoded.places else (entry.id, encoded.body)


if __name__ == "__main__":
    main()
