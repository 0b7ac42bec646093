"""A trivial request: ours against the least code that answers one, and against stock pygls, alternating in one run.

`python tests/bench/transport_requests.py [rounds]`; needs the extra `bench` (orjson).
"""

from __future__ import annotations

import sys

from transport_client import FLOOR, Client, median, report, request, sidecar, timed

BATCH = 300
PIPELINED = 64


def main(rounds: int = 15) -> None:
    """Print the medians of the rounds' medians, and pipelined rates."""
    echo, trivial = request("x/echo", '{"history":"h"}'), request("history/len", '{"history":"h"}')
    servers = {
        "sidecar": (Client(sidecar(":memory:")), trivial),
        "asyncio": (Client([*FLOOR, "asyncio"], initialize=False), echo),
        "polled": (Client([*FLOOR, "polled"], initialize=False), echo),
        "stock": (Client([*FLOOR, "stock"]), echo),
    }
    single: dict[str, list[float]] = {name: [] for name in servers}
    burst: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(rounds):
        for name, (client, message) in servers.items():
            single[name].append(median(timed(lambda c=client, m=message: c.ask(m)) for _ in range(BATCH)))

            def pipelined(client: Client = client, message: bytes = message) -> None:
                client.send(message * PIPELINED)
                for _ in range(PIPELINED):
                    client.receive()

            burst[name].append(median(timed(pipelined) for _ in range(10)) / PIPELINED)
    one = {name: median(values) for name, values in single.items()}
    many = {name: median(values) for name, values in burst.items()}
    report(
        [
            ("trivial request", one["sidecar"], "bare asyncio streams + orjson", one["sidecar"] / one["asyncio"], 2),
            ("trivial request", one["sidecar"], "bare add_reader + orjson", one["sidecar"] / one["polled"], 9),
            ("stock pygls", one["stock"], "bare asyncio streams + orjson", one["stock"] / one["asyncio"], 99),
            ("64 pipelined, each", many["sidecar"], "bare asyncio streams + orjson",
             many["sidecar"] / many["asyncio"], 2),
            ("64 pipelined, each, stock pygls", many["stock"], "bare asyncio streams + orjson",
             many["stock"] / many["asyncio"], 99),
        ]
    )  # fmt: skip
    for client, _ in servers.values():
        client.process.kill()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
