"""A client that does not read cannot hang the server or grow its memory."""

from __future__ import annotations

import threading
from pathlib import Path

from frames import Process, notification, request

MEGABYTE = 1 << 20


def _resident(process: Process) -> int:
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def test_a_client_that_writes_first_and_reads_later_gets_everything() -> None:
    """40 replies of 100 KB, twice what any pipe holds, while nobody reads."""
    with Process() as process:
        process.send(*[request(number, "x/spliced", size=100_000) for number in range(40)])
        process.send(request("last", "x/echo"))
        got = [process.recv()["id"] for _ in range(41)]
        assert got == [*range(40), "last"]


def test_reading_pauses_while_replies_pile_up() -> None:
    """200 MB of replies are asked for; the server stops reading long before it holds them, and none is lost."""
    with Process() as process:
        before = _resident(process)
        asked = [request(number, "x/spliced", size=MEGABYTE) for number in range(200)]
        padding = [notification("x/padding", text="x" * 20_000)]  # more than the pipe holds
        writer = threading.Thread(
            target=lambda: [process.send(message, *padding) for message in asked] and None, daemon=True
        )
        writer.start()
        writer.join(1.0)
        assert writer.is_alive(), "the server reads on although nobody reads its replies"
        assert _resident(process) - before < 80 * MEGABYTE
        assert [process.recv()["id"] for _ in range(200)] == list(range(200))
        writer.join(5)
        assert "result" in process.call("x/echo")


def test_reading_pauses_while_too_many_requests_run() -> None:
    """5 000 slow requests at once are all answered, 1 000 at a time at most, and cancels still arrive."""
    with Process() as process:
        process.send(*[request(number, "x/slow", seconds=0.01) for number in range(5000)])
        assert sorted(process.recv()["id"] for _ in range(5000)) == list(range(5000))
