"""The least client that measures: blocking reads and writes on pipes, no JSON-RPC library, no threads."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
FLOOR = [sys.executable, str(HERE / "transport_floor.py")]
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
)


def sidecar(store: str) -> list[str]:
    """The command of our server."""
    return [sys.executable, "-m", "sidecar", "--store", store]


def frame(body: bytes) -> bytes:
    """One frame."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def request(method: str, params: str, number: int = 1) -> bytes:
    """One request as a frame; `params` is JSON text."""
    return frame(b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}' % (number, method.encode(), params.encode()))


class Client:
    """A spawned server; everything is sent and received as frames."""

    def __init__(self, command: Sequence[str], *, initialize: bool = True) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._rest = b""
        if initialize:
            assert b'"result"' in self.ask(frame(INITIALIZE))

    def send(self, data: bytes) -> None:
        """Write everything."""
        while data:
            data = data[os.write(self._in, data) :]

    def receive(self) -> bytes:
        """Return the next body."""
        data = self._rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += os.read(self._out, 1 << 20)
        length = int(data[16:end].partition(b"\r\n")[0])  # stock pygls adds a Content-Type
        pieces, have = [data[end + 4 :]], len(data) - end - 4
        while have < length:
            pieces.append(os.read(self._out, 1 << 20))
            have += len(pieces[-1])
        data = b"".join(pieces)
        self._rest = data[length:]
        return data[:length]

    def ask(self, data: bytes) -> bytes:
        """Send one frame and return the body of the reply."""
        self.send(data)
        return self.receive()

    def result(self, method: str, params: str) -> bytes:
        """Ask and insist on success."""
        body = self.ask(request(method, params))
        assert b'"error":{' not in body[:80], body[:300]
        return body

    def resident(self) -> int:
        """Resident memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()


def timed(function: Callable[[], Any]) -> float:
    """Seconds that one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def median(values: Iterable[float]) -> float:
    """The middle value."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def report(rows: Sequence[tuple[str, float, str, float, float]]) -> None:
    """Print name, seconds, what it is compared with, the ratio and the target."""
    for name, seconds, floor, ratio, target in rows:
        mark = "" if ratio <= target else "   MISSED"
        print(f"{name:42} {seconds * 1000:10.3f} ms   {ratio:6.2f} x {floor:34} target {target:4.2f}{mark}")
