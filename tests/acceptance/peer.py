"""A client that knows nothing of our code: raw frames to a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from queue import Queue
from typing import Any


class Peer:
    """A sidecar process and a bare JSON-RPC connection to it."""

    def __init__(self, store: str, *, initialize: bool = True) -> None:
        command = [sys.executable, "-m", "sidecar", "--store", store]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.replies: Queue[dict[str, Any]] = Queue()
        self.notes: list[dict[str, Any]] = []
        self.next_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        if initialize:
            self.initialized = self.call("initialize", {"processId": os.getpid(), "capabilities": {}})
            self.tell("initialized", {})

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                header = out.readline()
            message = json.loads(out.read(length))
            if "method" in message and "id" not in message:
                self.notes.append(message)
            else:
                self.replies.put(message)

    def write(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def send(self, method: str, params: Any = None) -> int:
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        return self.next_id

    def tell(self, method: str, params: Any = None) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def reply(self, timeout: float = 20) -> dict[str, Any]:
        return self.replies.get(timeout=timeout)

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        self.send(method, params)
        return self.reply()

    def call(self, method: str, params: Any = None) -> Any:
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def refuse(self, method: str, params: Any = None) -> dict[str, Any]:
        answer = self.ask(method, params)
        assert "error" in answer, answer
        error: dict[str, Any] = answer["error"]
        return error

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": text}, **more}


def said(text: str) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}}


def texts(result: dict[str, Any]) -> list[str]:
    out = []
    for entry in result["entries"]:
        message = entry["message"]
        out.append(message["text"] if "text" in message else "".join(b["text"] for b in message["content"] or []))
    return out


def read(peer: Peer, history: str, **more: Any) -> list[str]:
    return texts(peer.call("history/snapshot", {"history": history, **more}))
