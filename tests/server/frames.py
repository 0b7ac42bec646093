"""A raw-frame client: bytes to a real server process and replies back, with no JSON-RPC library in between."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROBE = (sys.executable, str(Path(__file__).with_name("probe_server.py")))
SIDECAR = (sys.executable, "-m", "sidecar")
WAIT = 20.0


def frame(message: Any) -> bytes:
    """One message, or body bytes, as a frame."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def request(message_id: Any, method: str, /, **params: Any) -> dict[str, Any]:
    """A request message."""
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}


def notification(method: str, /, **params: Any) -> dict[str, Any]:
    """A notification message."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


class Process:
    """One spawned server; `recv` returns `None` at the end of its output and raises when nothing comes in time."""

    def __init__(
        self, command: Sequence[str] = PROBE, *, env: Mapping[str, str] | None = None, initialize: bool = True
    ) -> None:
        environment = {**os.environ, **(env or {})}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment)
        self._buffer = b""
        self._ids = iter(range(1000, 10**9))
        if initialize:
            self.initialized = self.call("initialize", capabilities={})
            self.send(notification("initialized"))

    def send(self, *messages: Any) -> None:
        """Write messages (objects, or body bytes) in one write."""
        self.send_raw(b"".join(map(frame, messages)))

    def send_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def recv(self, timeout: float = WAIT) -> Any:
        """Return the next message."""
        end = time.monotonic() + timeout
        while True:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if found:
                name, _, length = head.partition(b": ")
                assert name == b"Content-Length", self._buffer[:200]
                if len(rest) >= int(length):
                    self._buffer = rest[int(length) :]
                    return json.loads(rest[: int(length)])
            ready = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]
            if not ready:
                raise TimeoutError(f"nothing more came; so far {self._buffer[:200]!r}")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                return None
            self._buffer += data

    def ask(self, message_id: Any, method: str, /, **params: Any) -> Any:
        """Send a request and return the next message, whatever it is."""
        self.send(request(message_id, method, **params))
        return self.recv()

    def call(self, method: str, /, **params: Any) -> Any:
        """Send a request and return its reply, passing notifications by."""
        message_id = next(self._ids)
        self.send(request(message_id, method, **params))
        while (reply := self.recv()) is not None and reply.get("id") != message_id:
            pass
        assert reply is not None, "the server ended"
        return reply

    def result(self, method: str, /, **params: Any) -> Any:
        """Call and expect success."""
        reply = self.call(method, **params)
        assert "result" in reply, reply
        return reply["result"]

    def error(self, method: str, /, **params: Any) -> Any:
        """Call and expect an error."""
        reply = self.call(method, **params)
        assert "error" in reply, reply
        return reply["error"]

    def quiet(self, seconds: float = 0.2) -> bool:
        """Say whether nothing comes for a while."""
        try:
            self.recv(seconds)
        except TimeoutError:
            return True
        return False

    def wait(self, timeout: float = WAIT) -> int:
        """Wait for the exit code."""
        return self.process.wait(timeout)

    def end(self) -> int:
        """Close stdin and wait for the exit code."""
        self.process.stdin.close()
        return self.wait()

    @property
    def stderr(self) -> str:
        """What it wrote on stderr; only after it ended."""
        return self.process.stderr.read().decode()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
