"""Replays a conformance session (`protocol/conformance/README.md`) against a real process, raw frames only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from frames import SIDECAR, Process, frame

SESSIONS = Path(__file__).parents[2] / "protocol" / "conformance"

Judge = Callable[[str, dict[str, Any]], None]
"""Called with a method and a result, or with a notification's method and params, to look at it as a whole."""


class Mismatch(AssertionError):
    """What came is not what the session expects."""


def sessions() -> Iterator[Path]:
    """Yield every session file."""
    yield from sorted(SESSIONS.glob("*.jsonl"))


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the steps of a session."""
    header, *steps = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return header, steps


class Replay:
    """One run of one session."""

    def __init__(self, path: Path, folder: Path, judge: Judge) -> None:
        self.header, self.steps = read(path)
        self.store = str(folder / "store.sqlite")
        self.judge = judge
        self.names: dict[str, Any] = {}
        self.clients: dict[str, _Client] = {}

    def run(self) -> None:
        """Play every step; raise `Mismatch` at the first that fails."""
        try:
            for name in self.header.get("clients", ["a"]):
                self.clients[name] = self._spawn()
            for number, step in enumerate(self.steps, 2):
                try:
                    self._step(step)
                except (Mismatch, TimeoutError) as error:
                    raise Mismatch(f"line {number}: {error}\nstep: {json.dumps(step, ensure_ascii=False)}") from None
            if self.header.get("lifecycle") != "raw":
                for client in self.clients.values():
                    client.shut_down()
        finally:
            for client in self.clients.values():
                client.process.__exit__()

    def _spawn(self) -> _Client:
        return _Client(
            Process((*SIDECAR, "--store", self.store), initialize=self.header.get("lifecycle") != "raw"), self.judge
        )

    def _step(self, step: dict[str, Any]) -> None:
        name = step.get("client", "a")
        client = self.clients[name]
        if "send" in step:
            client.send({"jsonrpc": "2.0", **substituted(step["send"], self.names)})
        elif "sendText" in step:
            client.process.send_raw(frame(step["sendText"].encode()))
        elif "expect" in step:
            expected = step["expect"]
            received = client.notification(expected["method"]) if "method" in expected else client.reply(expected["id"])
            match(expected, received, self.names, "")
        elif "expectNone" in step:
            if found := [note for note in client.notifications if note["method"] == step["expectNone"]]:
                raise Mismatch(f"unexpected {found[0]}")
        elif "expectExit" in step:
            code = client.process.wait()
            if code != step["expectExit"]:
                raise Mismatch(f"the exit code is {code}")
        elif "kill" in step:
            client.process.__exit__()
            self.clients[name] = self._spawn()
        elif "comment" not in step:
            raise Mismatch("unknown step")


class _Client:
    def __init__(self, process: Process, judge: Judge) -> None:
        self.process = process
        self.judge = judge
        self.methods: dict[Any, str] = {}
        self.replies: list[dict[str, Any]] = []
        self.notifications: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self.methods[message["id"]] = message["method"]
        self.process.send(message)

    def reply(self, message_id: Any) -> dict[str, Any]:
        """Return the reply to a request; notifications that come before it are kept."""
        while not (found := [message for message in self.replies if same(message["id"], message_id)]):
            self._receive()
        self.replies.remove(found[0])
        if "result" in found[0] and message_id in self.methods:
            self.judge(self.methods[message_id], found[0]["result"])
        return found[0]

    def notification(self, method: str) -> dict[str, Any]:
        """Return the oldest notification of a method."""
        while not (found := [message for message in self.notifications if message["method"] == method]):
            self._receive()
        self.notifications.remove(found[0])
        self.judge(method, found[0]["params"])
        return found[0]

    def shut_down(self) -> None:
        self.send({"jsonrpc": "2.0", "id": "shutdown", "method": "shutdown"})
        if self.reply("shutdown").get("result", 0) is not None:
            raise Mismatch("shutdown answers null")
        if self.replies:
            raise Mismatch(f"a reply that nothing asked for: {self.replies[0]}")
        self.send({"jsonrpc": "2.0", "method": "exit"})
        if (code := self.process.wait()) != 0:
            raise Mismatch(f"the exit code is {code}")

    def _receive(self) -> None:
        message = self.process.recv(timeout=10)
        if message is None:
            raise Mismatch("the server ended")
        if message.get("jsonrpc") != "2.0":
            raise Mismatch(f"no JSON-RPC message: {message}")
        if "method" not in message:
            self.replies.append(message)
        elif "id" not in message:
            self.notifications.append(message)


# --- matching ---------------------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[Any], bool]] = {
    "any": lambda _: True,
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def substituted(value: Any, names: dict[str, Any]) -> Any:
    """Put what was bound in place of each `$ref`."""
    if isinstance(value, dict):
        if "$ref" in value:
            return names[value["$ref"]]
        return {key: substituted(part, names) for key, part in value.items()}
    return [substituted(part, names) for part in value] if isinstance(value, list) else value


def match(expected: Any, value: Any, names: dict[str, Any], path: str, *, exact: bool = False) -> None:
    """Compare `value` with a pattern; raise `Mismatch` naming the place."""
    if isinstance(expected, dict) and not exact and any(key.startswith("$") for key in expected):
        _special(expected, value, names, path)
    elif isinstance(expected, dict):
        _require(isinstance(value, dict), path, "an object", value)
        for key, part in expected.items():
            if part == {"$absent": True} and not exact:
                _require(key not in value, f"{path}/{key}", "nothing", value.get(key))
            else:
                _require(key in value, f"{path}/{key}", "a member", value)
                match(part, value[key], names, f"{path}/{key}", exact=exact)
        if exact:
            _require(len(value) == len(expected), path, f"only {list(expected)}", value)
    elif isinstance(expected, list):
        _require(isinstance(value, list) and len(value) == len(expected), path, f"{len(expected)} items", value)
        for index, part in enumerate(expected):
            match(part, value[index], names, f"{path}/{index}", exact=exact)
    else:
        _require(same(expected, value), path, repr(expected), value)


def _special(expected: dict[str, Any], value: Any, names: dict[str, Any], path: str) -> None:
    if "$any" in expected:
        kinds = expected["$any"] if isinstance(expected["$any"], list) else [expected["$any"]]
        _require(any(KINDS[kind](value) for kind in kinds), path, " or ".join(kinds), value)
    if "$bind" in expected:
        names[expected["$bind"]] = value
    if "$ref" in expected:
        match(names[expected["$ref"]], value, names, path, exact=True)
    if "$exact" in expected:
        match(expected["$exact"], value, names, path, exact=True)
    if "$contains" in expected:
        _require(isinstance(value, list), path, "an array", value)
        for part in expected["$contains"]:
            _require(any(_matches(part, item, names) for item in value), path, f"an item like {part}", value)


def _matches(expected: Any, value: Any, names: dict[str, Any]) -> bool:
    try:
        match(expected, value, names, "")
    except Mismatch:
        return False
    return True


def same(expected: Any, value: Any) -> bool:
    """Equal as JSON: `1` is neither `true` nor `1.0`."""
    return type(expected) is type(value) and expected == value


def _require(fine: bool, path: str, expected: str, value: Any) -> None:
    if not fine:
        text = re.sub(r"\s+", " ", json.dumps(value, ensure_ascii=False))
        raise Mismatch(f"{path or 'the message'} should be {expected}, is {text[:600]}")
