"""Bad input over real pipes: exactly one right reply per request, and the server goes on.

Each case sends bytes to one running server and then asks for an echo: whatever came before, the echo is answered, and
nothing else is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from frames import Process, frame, notification, request

ECHO = request("echo", "x/echo", n=1)
ECHOED = {"jsonrpc": "2.0", "id": "echo", "result": {"n": 1}}
KINDS = {
    -32700: "parseError",
    -32600: "invalidRequest",
    -32601: "methodNotFound",
    -32602: "invalidParams",
    1007: "limitExceeded",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Process]:
    with Process() as process:
        yield process


def _raw(**members: Any) -> bytes:
    return json.dumps(members).encode()


NEST = b'{"jsonrpc":"2.0","id":7,"method":"x/echo","params":{"v":%b%b}}'

REFUSED: list[tuple[str, bytes, Any, int]] = [
    ("not JSON", b"{nope", None, -32700),
    ("an empty body", b"", None, -32700),
    ("not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{"n":"\xff"}}', None, -32700),
    ("NaN", b'{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{"n":NaN}}', None, -32700),
    ("a number over the range of doubles", b'{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{"n":1e999}}', None,
     -32700),
    ("a byte order mark", b"\xef\xbb\xbf" + _raw(**ECHO), None, -32700),
    ("two texts in one body", _raw(**ECHO) + _raw(**ECHO), None, -32700),
    ("100 000 levels", NEST % (b"[" * 100_000, b"]" * 100_000), None, -32700),
    ("129 levels", NEST % (b"[" * 127, b"]" * 127), 7, 1007),
    ("129 levels of objects", NEST % (b'{"a":' * 127, b"1" + b"}" * 127), 7, 1007),
    ("a batch", b"[" + _raw(**ECHO) + b"]", None, -32600),
    ("an empty batch", b"[]", None, -32600),
    ("a string", b'"x"', None, -32600),
    ("null", b"null", None, -32600),
    ("an empty object", b"{}", None, -32600),
    ("no jsonrpc", _raw(id=1, method="x/echo"), 1, -32600),
    ("jsonrpc 1.0", _raw(jsonrpc="1.0", id="a", method="x/echo"), "a", -32600),
    ("jsonrpc as a number", _raw(jsonrpc=2.0, id=1, method="x/echo"), 1, -32600),
    ("no method", _raw(jsonrpc="2.0", id=1), 1, -32600),
    ("method null", _raw(jsonrpc="2.0", id=1, method=None), 1, -32600),
    ("method as a number", _raw(jsonrpc="2.0", id=1, method=5), 1, -32600),
    ("id null", _raw(jsonrpc="2.0", id=None, method="x/echo"), None, -32600),
    ("id with a fraction", _raw(jsonrpc="2.0", id=1.5, method="x/echo"), None, -32600),
    ("id 1.0", _raw(jsonrpc="2.0", id=1.0, method="x/echo"), None, -32600),
    ("id true", _raw(jsonrpc="2.0", id=True, method="x/echo"), None, -32600),
    ("id as a list", _raw(jsonrpc="2.0", id=[1], method="x/echo"), None, -32600),
    ("an unknown method", _raw(jsonrpc="2.0", id=1, method="x/nope"), 1, -32601),
    ("an unknown $/ request", _raw(jsonrpc="2.0", id=1, method="$/nope"), 1, -32601),
    ("positional params", _raw(jsonrpc="2.0", id=1, method="x/echo", params=[1]), 1, -32602),
    ("params as text", _raw(jsonrpc="2.0", id=1, method="x/echo", params="x"), 1, -32602),
    ("params false", _raw(jsonrpc="2.0", id=1, method="x/echo", params=False), 1, -32602),
    ("initialize again", _raw(**request(1, "initialize", capabilities={})), 1, -32600),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message_id", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_bad_input_gets_one_refusal(server: Process, body: bytes, message_id: Any, code: int) -> None:
    """The refusal has the right id and code, says its kind, and nothing else is disturbed."""
    server.send(body, ECHO)
    reply = server.recv()
    got = (reply["jsonrpc"], reply["id"], reply["error"]["code"], reply["error"]["data"]["kind"])
    assert got == ("2.0", message_id, code, KINDS[code])
    assert server.recv() == ECHOED


SERVED: list[tuple[str, bytes, Any]] = [
    ("no params", _raw(jsonrpc="2.0", id=1, method="x/echo"), {}),
    ("params null", _raw(jsonrpc="2.0", id=1, method="x/echo", params=None), {}),
    ("params []", _raw(jsonrpc="2.0", id=1, method="x/echo", params=[]), {}),
    ("an extra envelope key", _raw(**request(1, "x/echo", n=1), _meta={"a/b": 1}), {"n": 1}),
    ("keys that are no identifiers", _raw(**request(1, "x/echo", **{"file-path": 1, "class": 2, "type_name": "T"})),
     {"file-path": 1, "class": 2, "type_name": "T"}),
    ("a nested request", _raw(**request(1, "x/echo", tool={"jsonrpc": "2.0", "id": 9, "method": "tools/call"})),
     {"tool": {"jsonrpc": "2.0", "id": 9, "method": "tools/call"}}),
    ("a nested result", _raw(**request(1, "x/echo", tool={"jsonrpc": "2.0", "id": 3, "result": {}})),
     {"tool": {"jsonrpc": "2.0", "id": 3, "result": {}}}),
    ("a nested error", _raw(**request(1, "x/echo", tool={"jsonrpc": "2.0", "id": 1, "error": {}})),
     {"tool": {"jsonrpc": "2.0", "id": 1, "error": {}}}),
    ("a lone surrogate", b'{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{"s":"\\ud83d"}}', {"s": "\ud83d"}),
    ("a big integer", b'{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{"n":18446744073709551617}}',
     {"n": 2**64 + 1}),
    ("128 levels", NEST.replace(b"7", b"1") % (b"[" * 126, b"]" * 126), {"v": json.loads("[" * 126 + "]" * 126)}),
    ("brackets in a text", _raw(**request(1, "x/echo", s="[" * 5000)), {"s": "[" * 5000}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "result"), [row[1:] for row in SERVED], ids=[row[0] for row in SERVED])
def test_odd_but_legal_input_is_served(server: Process, body: bytes, result: Any) -> None:
    """Params arrive exactly as sent."""
    server.send(body, ECHO)
    assert (server.recv(), server.recv()) == ({"jsonrpc": "2.0", "id": 1, "result": result}, ECHOED)


@pytest.mark.parametrize("message_id", [0, -5, 2**60, "", "x", "1", "é\ud83d"])
def test_ids_come_back_unchanged(server: Process, message_id: Any) -> None:
    """Integers and strings of any kind."""
    assert server.ask(message_id, "x/echo") == {"jsonrpc": "2.0", "id": message_id, "result": {}}


@pytest.mark.parametrize(
    "body",
    [
        _raw(**notification("x/nope")),
        _raw(**notification("$/nope", a=1)),
        _raw(**notification("x/echo", n=1)),
        _raw(**notification("x/boom")),
        _raw(**notification("x/asyncBoom")),
        _raw(jsonrpc="2.0", method="x/echo", params=[1, 2]),
        _raw(jsonrpc="2.0", id=77, result=1),
        _raw(jsonrpc="2.0", id=None, result=1),
        _raw(jsonrpc="2.0", id=[], error={}),
        _raw(jsonrpc="2.0", id=77, error={"code": 1, "message": "x"}),
        _raw(**notification("$/cancelRequest", id=12345)),
        _raw(**notification("$/cancelRequest", id={"a": 1})),
        _raw(**notification("$/cancelRequest")),
        _raw(**notification("$/setTrace", value="verbose")),
        _raw(**notification("$/setTrace", value=7)),
        _raw(**notification("initialized")),
    ],
)
def test_nothing_is_answered_that_is_no_request(server: Process, body: bytes) -> None:
    """Notifications, good or bad, and replies that nobody waits for."""
    server.send(body, ECHO)
    assert server.recv() == ECHOED


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Trace: 1\r\n\r\n",
        b"\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_every_legal_header_is_read(server: Process, header: bytes) -> None:
    """Clients write headers in several ways."""
    body = _raw(**ECHO)
    server.send_raw(header % len(body) + body)
    assert server.recv() == ECHOED


def test_replies_are_compact_utf8(server: Process) -> None:
    """Escaping everything that is not ASCII would double the size of many transcripts."""
    server.send(request(1, "x/echo", text="日本語 \U0001f600"))
    body = '{"jsonrpc":"2.0","id":1,"result":{"text":"日本語 \U0001f600"}}'.encode()
    assert server.recv() and frame(body)  # the reply parses ...
    server.send(request(1, "x/echo", text="日本語 \U0001f600"))
    assert server.process.stdout.read(len(frame(body))) == frame(body)  # ... and is these very bytes


@pytest.mark.parametrize(
    ("method", "reply"),
    [
        ("x/slow", {"slow": True}),
        ("x/thread", {"thread": True}),
        ("x/future", {"future": True}),
        ("x/generator", {"generated": {}}),
        ("x/none", None),
        ("x/print", {}),
    ],
)
def test_every_kind_of_handler_is_answered(server: Process, method: str, reply: Any) -> None:
    """Sync, async, thread, generator and future handlers; a stray print does not reach the stream."""
    assert (server.result(method), server.ask("echo", "x/echo", n=1)) == (reply, ECHOED)


def test_pre_encoded_results_go_out_as_they_are(server: Process) -> None:
    """Small and large ones."""
    for size in (0, 10, 70_000, 3_000_000):
        assert server.result("x/spliced", size=size) == {"big": "x" * size}


def test_a_request_is_cancelled_while_it_runs(server: Process) -> None:
    """The reply is −32800."""
    server.send(request("slow", "x/slow", seconds=60), ECHO)
    assert server.recv() == ECHOED
    server.send(notification("$/cancelRequest", id="slow"))
    reply = server.recv()
    assert (reply["id"], reply["error"]["code"]) == ("slow", -32800)


def test_a_request_that_is_cancelled_in_the_same_read_never_starts(server: Process) -> None:
    """Even a sync one; requests behind the cancel with the same id run."""
    server.send(
        request(5, "x/echo", n=1), notification("$/cancelRequest", id=5), request(6, "x/echo"), request(5, "x/echo")
    )
    got = [server.recv() for _ in range(3)]
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in got] == [(5, -32800), (6, None), (5, None)]


def test_an_id_that_is_in_use_is_refused(server: Process) -> None:
    """Two replies with one id would be taken for each other."""
    server.send(request(8, "x/slow", seconds=0.3), request(8, "x/echo"))
    replies = [server.recv(), server.recv()]
    assert [reply.get("error", {}).get("code") for reply in replies] == [-32600, None]


def test_an_internal_error_says_nothing_but_an_incident() -> None:
    """No traceback, no path, no text of the exception; the log has the same incident and the place in the code."""
    with Process() as process:
        replies = [process.error(method) for method in ("x/boom", "x/asyncBoom")]
        process.end()
        log = process.stderr
    for error in replies:
        incident = error["data"].pop("incident")
        assert error == {
            "code": -32603,
            "message": "internal error",
            "data": {"kind": "internalError", "retryable": False},
        }
        assert f"incident {incident}" in log
    assert "probe_server.py" in log and "secret" not in log


def test_a_lost_stream_is_told_and_ends_the_process() -> None:
    """The error has no id, the exit code is 1, and what was asked before is answered."""
    with Process() as process:
        process.send_raw(frame(ECHO) + b"Content-Length: banana\r\n\r\n{}")
        assert process.recv() == ECHOED
        reply = process.recv()
        assert (reply["id"], reply["error"]["code"]) == (None, -32700)
        assert (process.recv(), process.wait()) == (None, 1)
