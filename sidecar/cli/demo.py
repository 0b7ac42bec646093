"""`history-sidecar demo`: a small agent conversation with a real sidecar, every request and reply shown.

It spawns the sidecar as an agent would, over pipes, on a temporary store, and kills it in the middle. Each step says
what is promised and checks it; the exit code is not 0 if anything is otherwise.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.highlighter import JSONHighlighter

from sidecar.client import ConnectionLost, RequestRefused, Sidecar
from sidecar.core.errors import SidecarError

HISTORY = "demo/weather"

QUESTION = {"id": "q1", "message": {"role": "user", "content": "Is it warmer in Oslo or in Rome?"}}
CALLS = {
    "id": "a1",
    "message": {
        "role": "assistant",
        "content": None,
        "toolCalls": [
            {"id": "call_1", "name": "weather", "arguments": '{"city":"Oslo"}'},
            {"id": "call_2", "name": "weather", "arguments": '{"city":"Rome"}'},
        ],
    },
}
RESULTS = [
    {
        "id": "r1",
        "message": {
            "role": "tool",
            "callId": "call_1",
            "name": "weather",
            "content": [{"type": "json", "value": {"celsius": 4}}],
        },
    },
    {"id": "r2", "message": {"role": "tool", "callId": "call_2", "name": "weather", "content": "21 degrees"}},
]
ANSWER = {"id": "a2", "message": {"role": "assistant", "content": "In Rome: 21 °C against 4 °C in Oslo."}}
NEXT = {"id": "q2", "message": {"role": "user", "content": "And tomorrow?"}}


WIDTH = 100
_HIGHLIGHT = JSONHighlighter()


class _Broken(Exception):
    """Something was not as promised."""


@click.command()
def command() -> int:
    """Show an agent conversation with a real sidecar on a temporary store."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="history-sidecar-demo-") as folder:
        try:
            _Demo(console, str(Path(folder) / "store" / "store.db")).run()
        except (_Broken, SidecarError, RequestRefused, ConnectionLost, TimeoutError) as error:
            console.print(f"\n[bold red]not as promised:[/] {error}", markup=True)
            return 1
    console.print("\n[bold green]Everything was as promised.[/]")
    return 0


class _Demo:
    def __init__(self, console: Console, store: str) -> None:
        self._console = console
        self._store = store
        self._step = 0
        self._sidecar: Sidecar | None = None
        self._shown: list[tuple[Any, int]] = []

    def run(self) -> None:
        try:
            self._conversation()
        finally:
            if self._sidecar is not None:
                self._sidecar.process.kill()

    def _conversation(self) -> None:
        self._title("Spawn a sidecar", "An agent starts it like a language server: JSON-RPC over stdin and stdout.")
        self._spawn()

        self._title(
            "Append", "One change, on disk before it is answered. Both tool calls of the turn are in one message."
        )
        first = self._call("history/append", history=HISTORY, entries=[QUESTION, CALLS, *RESULTS])
        self._check("the history is made, at version 1, with 4 entries", first["version"] == 1 and first["len"] == 4)

        self._title(
            "Append again, safe to repeat", "An operation id makes a retry harmless, and ifVersion a race visible."
        )
        append = {"history": HISTORY, "entries": [ANSWER, NEXT], "ifVersion": 1, "operationId": "turn-2"}
        second = self._call("history/append", **append)
        self._check("version 2, 6 entries", second["version"] == 2 and second["len"] == 6)

        self._title("Snapshot", "What is stored is what was sent: null stays null, ids stay, blocks are spelled out.")
        before = self._call("history/snapshot", history=HISTORY)
        self._check("all 6 entries in order", _ids(before) == ["q1", "a1", "r1", "r2", "a2", "q2"])

        self._title("Project for OpenAI chat", "The message list this vendor accepts; merged into the agent's request.")
        chat = self._call("wire/project", vendor="openai-chat", history=HISTORY)["body"]["messages"]
        self._check(
            "each call is answered by a tool message, in the order of the calls",
            [message.get("tool_call_id") for message in chat if message["role"] == "tool"] == ["call_1", "call_2"],
        )

        self._title("Project for Anthropic", "The same entries; here the results share one user message.")
        turns = self._call("wire/project", vendor="anthropic-messages", history=HISTORY)["body"]["messages"]
        results = [part["tool_use_id"] for part in turns[2]["content"] if part["type"] == "tool_result"]
        self._check(
            "user and assistant alternate", [turn["role"] for turn in turns] == ["user", "assistant"] * 2 + ["user"]
        )
        self._check("both results answer the calls", results == ["call_1", "call_2"])

        self._title("Splice", "Compaction: a summary takes the place of the oldest entries.")
        spliced = self._call(
            "history/splicePrefix", history=HISTORY, dropCount=4, summary="Oslo had 4 °C and Rome 21 °C."
        )
        self._check("4 entries dropped, 3 left", spliced["dropped"] == 4 and spliced["len"] == 3)
        after = self._call("history/snapshot", history=HISTORY)
        self._check("the summary comes first", after["entries"][0]["message"]["role"] == "summary")

        self._title("Revert", "Nothing is destroyed: every older version can be read and can come back.")
        self._call("history/revert", history=HISTORY, toVersion=2)
        reverted = self._call("history/snapshot", history=HISTORY)
        self._check("the entries are those of version 2", reverted["entries"] == before["entries"])

        self._title("kill -9", "The process dies without a warning.")
        self._kill()

        self._title("Restart", "Another sidecar opens the same store.")
        self._spawn()
        found = self._call("history/snapshot", history=HISTORY)
        self._check("everything is there, byte for byte", found == reverted)
        replayed = self._call("history/append", **append)
        self._check("the repeated append is recognised and adds nothing", replayed == {**second, "replayed": True})

        self._title("Shut down", "In good order, as LSP says.")
        assert self._sidecar is not None
        code = self._sidecar.close()
        self._check(f"exit code {code}", code == 0)

    def _spawn(self) -> None:
        self._sidecar = Sidecar.spawn(store=self._store, name="demo")
        offer = self._sidecar.server["capabilities"]["experimental"]["sidecar"]
        self._request("initialize", {"processId": os.getpid(), "initializationOptions": "…", "capabilities": "…"})
        self._reply({"serverInfo": self._sidecar.server["serverInfo"], "store": offer["store"]})
        self._check("it speaks protocol version 1", offer["protocolVersion"] == 1)

    def _kill(self) -> None:
        assert self._sidecar is not None
        os.kill(self._sidecar.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        code = self._sidecar.process.wait()
        self._console.print(f"  process {self._sidecar.process.pid} is gone, exit status {code}")

    def _call(self, method: str, **params: Any) -> Any:
        assert self._sidecar is not None
        self._request(method, params)
        result = self._sidecar.call(method, **params)
        self._reply(result)
        return result

    def _title(self, title: str, text: str) -> None:
        self._step += 1
        self._console.print(f"\n[bold]{self._step}. {title}[/]\n   [dim]{text}[/]")

    def _request(self, method: str, params: Any) -> None:
        self._console.print(f"  [cyan]→ {method}[/]")
        self._json(params)

    def _reply(self, result: Any) -> None:
        self._console.print("  [magenta]←[/]")
        self._json(result)

    def _json(self, value: Any) -> None:
        for line in _lines(self._once(value), 4):
            self._console.print(_HIGHLIGHT(line))

    def _once(self, value: dict[str, Any]) -> dict[str, Any]:
        """Long lists of entries are shown at their first appearance, and named after it."""
        entries = value.get("entries")
        if entries is None:
            return value
        for shown, step in self._shown:
            if shown == entries:
                return {**value, "entries": f"… the same {len(entries)} as in step {step} …"}
        self._shown.append((entries, self._step))
        return value

    def _check(self, promise: str, kept: bool) -> None:
        if not kept:
            raise _Broken(promise)
        self._console.print(f"  [green]✓[/] {promise}")


def _ids(snapshot: Any) -> list[str]:
    return [entry["id"] for entry in snapshot["entries"]]


def _lines(value: Any, indent: int, key: str = "", end: str = "") -> list[str]:
    """JSON in few lines of at most `WIDTH`: one member a line, the demo is over 700 lines that nobody reads."""
    flat = " " * indent + key + _text(value) + end
    if len(flat) <= WIDTH or not value or not isinstance(value, (dict, list)):
        return [flat]
    named = isinstance(value, dict)
    members = [(_text(name) + ": ", value[name]) for name in value] if named else [("", item) for item in value]
    lines = [" " * indent + key + ("{" if named else "[")]
    room = False
    for index, (name, member) in enumerate(members):
        comma = "," if index < len(members) - 1 else ""
        plain = not isinstance(member, (dict, list))
        beside = f"{lines[-1]} {name}{_text(member)}{comma}"
        if plain and room and len(beside) <= WIDTH:
            lines[-1] = beside
        else:
            lines += _lines(member, indent + 2, name, comma)
        room = plain
    return [*lines, " " * indent + ("}" if named else "]") + end]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
