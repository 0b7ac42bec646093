"""A process of its own that reads one large transcript and makes its entries ready to be stored.

Rules:
- The parent hands over the open file as stdin, so that nothing is looked up twice, and says in one argument how to
  read it. What is read comes back on stdout as pickled tuples, each behind its length; nobody but the two has the pipe.
- It reads the first conversation of the file as new: what a history has already, and what else a file holds, is the
  parent's own work. Whatever goes wrong here, the parent reads for itself, and tells the error if there is one.
- It ends with its parent: it keeps telling how far it came, and a pipe that nobody reads ends it. The pipe holds it
  back while the store writes, so that there are never more than a few pieces in memory.
- It imports nothing of `service`, whose modules would be most of its start.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import queue
import sys
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from sidecar.core.messages import Entry
from sidecar.formats.base import ReadOptions, Report, Restart
from sidecar.formats.pieces import cut, stamped
from sidecar.formats.registry import FORMATS
from sidecar.formats.source import CHUNK, Source
from sidecar.store.base import Prepared
from sidecar.store.blobs import encode, quick_body
from sidecar.store.measuring import prepare

LENGTH_BYTES: Final = 8
"""How many bytes say how long the message behind them is."""


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
                left = memoryview(len(data).to_bytes(LENGTH_BYTES) + data)
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
