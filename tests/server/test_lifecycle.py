"""From spawn to exit code, over real pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from frames import PROBE, SIDECAR, Process, frame, notification, request

INITIALIZE = request(1, "initialize", processId=None, rootUri=None, capabilities={})


def test_requests_before_initialize_are_refused() -> None:
    """−32002; notifications are dropped; initialize works afterwards, once."""
    with Process(initialize=False) as process:
        process.send(notification("x/boom"), request(5, "x/echo"), request(6, "shutdown"))
        assert [(reply["id"], reply["error"]["code"]) for reply in (process.recv(), process.recv())] == [
            (5, -32002),
            (6, -32002),
        ]
        assert process.ask(1, "initialize")["result"]["serverInfo"]["name"] == "history-sidecar"


@pytest.mark.parametrize("params", [None, [], {}, {"capabilities": {}}, {"processId": None, "capabilities": {}}])
def test_initialize_needs_no_params(params: object) -> None:
    """A script that sends none gets the same server as an editor that sends pages."""
    with Process(initialize=False) as process:
        process.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert process.recv()["result"]["capabilities"]["positionEncoding"] == "utf-16"


def test_initialize_with_wrong_params_is_refused_and_may_be_repeated() -> None:
    """−32602 with the place in wire names."""
    with Process(initialize=False) as process:
        process.send(request(1, "initialize", processId="x", rootUri=7, capabilities={}))
        error = process.recv()["error"]
        assert (error["code"], sorted(problem["path"] for problem in error["data"]["errors"])) == (
            -32602,
            ["/processId", "/rootUri"],
        )
        assert "result" in process.ask(2, "initialize", capabilities={})


def test_what_is_served_is_announced() -> None:
    """An editor is told of every document feature, and of no notebook, formatting or rename that nobody serves."""
    with Process() as process:
        capabilities = process.initialized["result"]["capabilities"]
        assert sorted(capabilities) == [
            "codeActionProvider",
            "codeLensProvider",
            "definitionProvider",
            "diagnosticProvider",
            "documentHighlightProvider",
            "documentSymbolProvider",
            "executeCommandProvider",
            "experimental",
            "foldingRangeProvider",
            "hoverProvider",
            "inlayHintProvider",
            "positionEncoding",
            "referencesProvider",
            "textDocumentSync",
            "workspace",
            "workspaceSymbolProvider",
        ]
        assert capabilities["workspace"] == {"textDocumentContent": {"schemes": ["history"]}}


def test_shutdown_then_exit_is_0() -> None:
    """Between the two, requests get −32600 and notifications nothing; stdin stays open."""
    with Process() as process:
        assert process.call("shutdown")["result"] is None
        process.send(notification("x/echo"))
        assert process.error("x/echo")["code"] == -32600
        process.send(notification("exit"))
        assert (process.recv(), process.wait()) == (None, 0)


def test_exit_alone_is_1() -> None:
    """As LSP says, whether initialized or not."""
    for initialize in (True, False):
        with Process(initialize=initialize) as process:
            process.send(notification("exit"))
            assert process.wait() == 1


def test_end_of_stdin_is_1_and_after_shutdown_0() -> None:
    """The process never outlives its pipe."""
    with Process() as process:
        assert process.end() == 1
    with Process() as process:
        process.call("shutdown")
        assert process.end() == 0


def test_a_torn_frame_at_the_end_of_stdin_is_dropped() -> None:
    """What came whole before it is answered."""
    with Process() as process:
        process.send_raw(frame(request(1, "x/echo")) + b"Content-Length: 500\r\n\r\n{")
        assert (process.recv()["id"], process.end()) == (1, 1)


def test_requests_under_way_are_answered_before_the_end() -> None:
    """By stdin EOF, by exit, and by SIGTERM."""
    for how in ("eof", "exit", "term"):
        with Process() as process:
            process.send(request(1, "x/slow", seconds=0.3), request(2, "x/echo"))
            assert process.recv()["id"] == 2
            if how == "eof":
                process.process.stdin.close()
            elif how == "exit":
                process.send(notification("exit"))
            else:
                process.process.send_signal(signal.SIGTERM)
            assert (process.recv()["id"], process.recv(), process.wait()) == (1, None, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_in_good_order(number: signal.Signals) -> None:
    """No traceback, exit code 1."""
    with Process() as process:
        process.process.send_signal(number)
        assert (process.wait(), process.stderr) == (1, "")


def test_it_ends_with_its_client() -> None:
    """Stdin stays open here, as when a sibling inherited the pipe; only `processId` says that the client is gone."""
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with Process(initialize=False) as process:
        process.send(request(1, "initialize", processId=client.pid, capabilities={}))
        assert "result" in process.recv()
        assert "result" in process.ask(2, "x/echo")
        client.communicate(b"\n")
        assert process.wait(5) == 1


def test_a_client_that_is_gone_already_ends_it() -> None:
    """LSP: if the parent process is not alive, the server exits; the reply is still written."""
    client = subprocess.Popen([sys.executable, "-c", ""])
    client.wait()
    with Process(initialize=False) as process:
        process.send(request(1, "initialize", processId=client.pid, capabilities={}))
        assert ("result" in process.recv(), process.wait(5)) == (True, 1)


def test_regular_files_and_pipes_mix(tmp_path: Path) -> None:
    """`history-sidecar < script > replies` works, though no event loop can poll a file."""
    script, replies = tmp_path / "script", tmp_path / "replies"
    script.write_bytes(b"".join(map(frame, [INITIALIZE, request(2, "x/slow", seconds=0.1), request(3, "x/echo")])))
    for source, sink in ((script.open("rb"), replies.open("wb")), (script.open("rb"), subprocess.PIPE)):
        process = subprocess.run(PROBE, stdin=source, stdout=sink, stderr=subprocess.PIPE, timeout=20, check=False)
        output = process.stdout if process.stdout is not None else replies.read_bytes()
        assert (process.returncode, process.stderr) == (1, b"")
        assert [output.count(b'"id":%d' % number) for number in (1, 2, 3)] == [1, 1, 1]


def test_nobody_needs_stderr(tmp_path: Path) -> None:
    """Some spawners close it."""
    (tmp_path / "script").write_bytes(frame(INITIALIZE) + frame(request(2, "x/print")))
    shell = f'exec {" ".join(PROBE)} < "{tmp_path}/script" 2>&-'
    output = subprocess.run(["sh", "-c", shell], stdout=subprocess.PIPE, timeout=20, check=False).stdout
    assert (output.count(b'"id":2'), output.count(b"stray")) == (1, 0)


def test_stdout_that_is_closed_early_does_not_hang_it() -> None:
    """It goes on reading until the end of stdin."""
    with Process() as process:
        process.process.stdout.close()
        process.send(*[request(n, "x/echo", text="x" * 1000) for n in range(200)])
        time.sleep(0.1)
        process.process.stdin.close()
        assert process.wait() == 1


def test_children_do_not_hold_the_pipes() -> None:
    """Descriptors 0 and 1 of the server are not the protocol's pipes."""
    with Process() as process:
        links = [os.readlink(f"/proc/{process.process.pid}/fd/{fd}") for fd in (0, 1, 2)]
    assert links[0] == "/dev/null" and links[1] == links[2]


def test_the_two_ways_to_start_it_are_one() -> None:
    """`python -m sidecar` and the module it runs answer alike."""
    with Process(SIDECAR, env={"HISTORY_SIDECAR_STORE": ":memory:"}) as process:
        assert process.initialized["result"]["serverInfo"]["name"] == "history-sidecar"


def test_the_stdio_flag_of_editors_is_taken() -> None:
    """Clients such as vscode-languageclient add `--stdio` to the command line of every stdio server."""
    run = subprocess.run(
        [sys.executable, "-m", "sidecar", "--stdio", "--store", ":memory:"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, run.stderr) == (1, b"")
