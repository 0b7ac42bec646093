"""A client that says which editor features it has, on a real sidecar process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from frames import SIDECAR, Process, notification

RICH = {
    "workspace": {
        "textDocumentContent": {"dynamicRegistration": True},
        "diagnostics": {"refreshSupport": True},
        "symbol": {"resolveSupport": {"properties": ["location.range"]}},
    },
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "diagnostic": {},
    },
    "window": {"showDocument": {"support": True}},
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
}
"""An editor that pulls diagnostics, takes refreshes and shows documents."""


class Editor(Process):
    """Answers what the server asks of a client and keeps every notification."""

    def __init__(self, capabilities: dict[str, Any], store: str = ":memory:", **defaults: Any) -> None:
        super().__init__((*SIDECAR, "--store", store), initialize=False)
        self.asked: list[tuple[str, Any]] = []
        self.told: list[tuple[str, Any]] = []
        options = {"sidecar": {"protocolVersion": 1, "client": {"name": "editor"}, "defaults": defaults}}
        self.initialized = self.call("initialize", capabilities=capabilities, initializationOptions=options)
        self.send(notification("initialized"))

    def recv(self, timeout: float = 20.0) -> Any:
        """Return the next reply; what is not one is kept, and answered where it wants an answer."""
        while (message := super().recv(timeout)) is not None and "method" in message:
            if "id" in message:
                self.asked.append((message["method"], message.get("params")))
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            else:
                self.told.append((message["method"], message.get("params")))
        return message

    def until(self, condition: Callable[[], Any]) -> float:
        """Read until the condition holds; return the seconds it took."""
        started = time.monotonic()
        while not condition():
            assert time.monotonic() - started < 10, (self.asked, self.told)
            try:
                self.recv(0.05)
            except TimeoutError:
                continue
        return time.monotonic() - started

    def text(self, uri: str) -> str:
        """The text of a virtual document."""
        return self.result("workspace/textDocumentContent", uri=uri)["text"]

    def open(self, uri: str, text: str | None = None) -> str:
        """Show a document, as an editor does."""
        shown = self.text(uri) if text is None else text
        item = {"uri": uri, "languageId": "markdown", "version": 1, "text": shown}
        self.send(notification("textDocument/didOpen", textDocument=item))
        return shown

    def document(self, feature: str, uri: str, **params: Any) -> Any:
        """Ask a `textDocument/…` feature."""
        return self.result(f"textDocument/{feature}", textDocument={"uri": uri}, **params)

    def at(self, feature: str, uri: str, line: int, **params: Any) -> Any:
        """Ask a feature at the start of a line."""
        return self.document(feature, uri, position={"line": line, "character": 0}, **params)

    def command(self, name: str, **arguments: Any) -> Any:
        """Run a command."""
        return self.result("workspace/executeCommand", command=name, arguments=[arguments])

    def append(self, history: str, *entries: dict[str, Any]) -> Any:
        """Append entries."""
        return self.result("history/append", history=history, entries=list(entries))


def message(entry_id: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """An entry."""
    return {"id": entry_id, "ts": 1_700_000_000_000, "message": {"role": role, "content": content, **more}}


def talk(call_answered: bool = True) -> list[dict[str, Any]]:
    """Two turns, the first with a tool call."""
    call = {"id": "c1", "name": "read", "arguments": "{}"}
    result = [message("r", "tool", "🙂 done", callId="c1")] if call_answered else []
    return [
        message("q", "user", "read it"),
        message("a", "assistant", None, toolCalls=[call], reasoning=[{"text": "hm"}]),
        *result,
        message("b", "assistant", "fine"),
        message("q2", "user", "thanks 🙂"),
        message("b2", "assistant", "bye"),
    ]
