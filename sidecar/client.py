"""A small client for Python programs: spawns a sidecar, speaks JSON-RPC to it over pipes, raises its errors.

Rules: standard library and `sidecar.core` only, so importing it is cheap; one reader thread; every call has a
time-out. Requests may be made from any thread. What the sidecar refuses arrives as the class of `core.errors` that
has the same `kind`, with the same `data`. Params and results are plain JSON objects in wire names, as
`protocol/README.md` describes them.

    with Sidecar.spawn() as sidecar:
        sidecar.append("work/fix-42", [{"message": {"role": "user", "content": "hello"}}])
        body = sidecar.project("work/fix-42", "anthropic-messages")["body"]
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import IO, Any, TypeAlias

from sidecar.core.errors import ERRORS, SidecarError
from sidecar.core.jsontext import Json, dumpb, loads

Object: TypeAlias = dict[str, Json]
Listener: TypeAlias = Callable[[str, Object], None]

DEFAULT_TIMEOUT = 60.0
"""Seconds that a call waits for its reply."""


class ConnectionLost(Exception):
    """The sidecar ended, or its output stopped being JSON-RPC. What was acknowledged is on disk: spawn another."""


class RequestRefused(Exception):
    """A JSON-RPC error that is no domain error of ours, such as an unknown method; `code` and `data` as sent."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Sidecar:
    """One running sidecar process and the connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], *, timeout: float = DEFAULT_TIMEOUT) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self.timeout = timeout
        self._input: IO[bytes] = process.stdin
        self._output: IO[bytes] = process.stdout
        self._ids = itertools.count(1)
        self._write = threading.Lock()
        self._waiting: dict[int, Future[Json]] = {}
        self._listeners: list[Listener] = []
        self._notifications: queue.SimpleQueue[tuple[str, Object] | None] = queue.SimpleQueue()
        self._lost: ConnectionLost | None = None
        threading.Thread(target=self._read, name="sidecar-reader", daemon=True).start()
        threading.Thread(target=self._notify_listeners, name="sidecar-notifications", daemon=True).start()
        self.server: Object = {}

    @classmethod
    def spawn(
        cls,
        *,
        store: str | None = None,
        command: Sequence[str] = (sys.executable, "-m", "sidecar"),
        name: str = "python",
        timeout: float = DEFAULT_TIMEOUT,
        stderr: int | IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Sidecar:
        """Start `command` on `store` (default: the user's) and initialize it."""
        arguments = [*command, *(["--store", store] if store is not None else [])]
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=None if env is None else dict(env),
        )
        sidecar = cls(process, timeout=timeout)
        options = {"sidecar": {"protocolVersion": 1, "client": {"name": name}}}
        try:
            sidecar.server = sidecar.call(
                "initialize", processId=os.getpid(), capabilities={}, initializationOptions=options
            )
            sidecar.notify("initialized")
        except BaseException:
            process.kill()
            raise
        return sidecar

    # --- any method ---------------------------------------------------------------------------------------------------

    def call(self, method: str, **params: Json) -> Json:
        """Send one request and return its result; `None` params are left out."""
        return self.send(method, **params).result(self.timeout)

    def send(self, method: str, **params: Json) -> Future[Json]:
        """Send one request without waiting, for pipelining; the future holds the result or the error."""
        request_id = next(self._ids)
        future: Future[Json] = Future()
        self._waiting[request_id] = future
        self._frame({"jsonrpc": "2.0", "id": request_id, "method": method, "params": _given(params)})
        return future

    def notify(self, method: str, **params: Json) -> None:
        """Send one notification."""
        self._frame({"jsonrpc": "2.0", "method": method, "params": _given(params)})

    def listen(self, listener: Listener) -> None:
        """Call `listener(method, params)` for every notification, on one background thread, in order."""
        self._listeners.append(listener)

    # --- the main verbs -----------------------------------------------------------------------------------------------

    def append(
        self, history: str, entries: Sequence[Object], *, if_version: int | None = None, operation_id: str | None = None
    ) -> Object:
        """Append entries as one change; return `version`, `len`, `entryIds` and the rest of the mutation result."""
        result: Object = self.call(
            "history/append", history=history, entries=list(entries), ifVersion=if_version, operationId=operation_id
        )
        return result

    def snapshot(self, history: str, **params: Json) -> Object:
        """Read a history: `full`, `delta` or `unchanged` (`protocol/README.md`, reading)."""
        result: Object = self.call("history/snapshot", history=history, **params)
        return result

    def splice_prefix(self, history: str, drop_count: int, summary: Json, **params: Json) -> Object:
        """Put one summary in place of the first `drop_count` entries."""
        result: Object = self.call(
            "history/splicePrefix", history=history, dropCount=drop_count, summary=summary, **params
        )
        return result

    def project(self, history: str, vendor: str, **params: Json) -> Object:
        """Return the payload that `vendor` accepts, with losses and repairs."""
        result: Object = self.call("wire/project", history=history, vendor=vendor, **params)
        return result

    # --- life cycle ---------------------------------------------------------------------------------------------------

    def close(self) -> int:
        """Shut the sidecar down in good order; return its exit code."""
        if self._lost is None and self.process.poll() is None:
            try:
                self.call("shutdown")
                self.notify("exit")
            except (ConnectionLost, TimeoutError):
                pass
        self._close_input()
        try:
            return self.process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def __enter__(self) -> Sidecar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # --- frames -------------------------------------------------------------------------------------------------------

    def _frame(self, message: Object) -> None:
        body = dumpb(message)
        try:
            with self._write:
                if self._lost is not None:
                    raise self._lost
                self._input.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                self._input.flush()
        except (OSError, ValueError):
            raise ConnectionLost("the sidecar closed its input") from None

    def _read(self) -> None:
        reason = "the sidecar closed its output"
        try:
            while (body := _read_frame(self._output)) is not None:
                self._dispatch(loads(body))
        except (OSError, ValueError):
            reason = "the sidecar's output is not JSON-RPC"
        with self._write:
            self._lost = ConnectionLost(reason)
        self._notifications.put(None)
        for future in list(self._waiting.values()):
            if not future.done():
                future.set_exception(self._lost)

    def _dispatch(self, message: Json) -> None:
        if "method" in message:
            if "id" in message:  # we announce no capability, so nothing is asked of us but by mistake
                error = {"code": -32601, "message": "method not found"}
                self._frame({"jsonrpc": "2.0", "id": message["id"], "error": error})
            else:
                self._notifications.put((message["method"], message.get("params") or {}))
            return
        future = self._waiting.pop(message.get("id"), None)
        if future is None or not future.set_running_or_notify_cancel():
            return
        if "error" in message:
            future.set_exception(_error(message["error"]))
        else:
            future.set_result(message.get("result"))

    def _notify_listeners(self) -> None:
        while (notification := self._notifications.get()) is not None:
            for listener in self._listeners:
                listener(*notification)

    def _close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._input.close()


def _given(params: Object) -> Object:
    return {key: value for key, value in params.items() if value is not None}


def _read_frame(stream: IO[bytes]) -> bytes | None:
    length = -1
    while (line := stream.readline()).strip():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    if not line:
        return None
    if length < 0:
        raise ValueError("no content length")
    body = stream.read(length)
    return body if len(body) == length else None


def _error(error: Any) -> Exception:
    data = error.get("data")
    kind = data.get("kind") if isinstance(data, dict) else None
    known = ERRORS.get(kind) if isinstance(kind, str) else None
    if known is None:
        return RequestRefused(error["code"], error["message"], data)
    rest = {key: value for key, value in data.items() if key not in ("kind", "retryable")}
    refused = known.__new__(known)
    SidecarError.__init__(refused, error["message"], **rest)
    return refused
