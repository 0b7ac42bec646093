"""An append to PostgreSQL beside its floor, and what coalesced NOTIFY costs. `python -m tests.bench.postgres_append`.

The floor is one prepared INSERT of the same bytes into a table without an index, committed by the same round trip, on
the same server. Both alternate within one run. The server is the tests' own, with fsync on, or `SIDECAR_TEST_DSN`.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import psycopg

from sidecar.store import open_store
from sidecar.store.base import Append, Mutation
from tests.bench.store_costs import entry
from tests.bench.transport_client import Client, median, request, sidecar, timed
from tests.store.postgres_server import fresh_database

ROUNDS = 300
BURST = 64


class Floor:
    """The bare INSERT."""

    def __init__(self, dsn: str) -> None:
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.connection.execute("CREATE TABLE floor(body bytea NOT NULL)")
        self.connection.execute("ALTER TABLE floor ALTER COLUMN body SET STORAGE EXTERNAL")
        self.cursor = self.connection.cursor(binary=True)
        self.body = b"x" * 1024

    def insert(self) -> None:
        """One row, committed."""
        self.cursor.execute("INSERT INTO floor VALUES(%s)", (self.body,), prepare=True)


async def of_the_store(dsn: str) -> dict[str, float]:
    """Through `Store.apply`."""
    store, floor = open_store(dsn), Floor(dsn)
    await store.open()
    number = 0

    async def append(history: str) -> None:
        nonlocal number
        number += 1
        mutation = Mutation(history=history, operation=Append((entry(),)), at=1, operation_id=f"o{number}")
        await store.apply(mutation)

    for _ in range(20):
        floor.insert()
        await append("h")
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(timed(floor.insert))
        began = time.perf_counter()
        await append("h")
        ours.append(time.perf_counter() - began)
    bursts = []
    for _ in range(20):
        began = time.perf_counter()
        await asyncio.gather(*(append(f"h{i % 8}") for i in range(BURST)))
        bursts.append((time.perf_counter() - began) / BURST)
    await store.close()
    return {
        "floor, ms": median(bare) * 1000,
        "append with operationId / floor, p50": median(ours) / median(bare),
        "the same, mean": sum(ours) / sum(bare),
        "64 in flight, each / floor": median(bursts) / median(bare),
    }


def of_the_protocol(dsn: str) -> dict[str, float]:
    """Through a real sidecar over stdio."""
    floor = Floor(dsn)
    text = json.dumps("x" * 900)
    bare, ours = [], []
    with Client(sidecar(dsn)) as client:
        for number in range(ROUNDS + 20):
            params = f'{{"history":"h","entries":[{{"message":{{"role":"user","content":{text}}}}}]}}'
            data = request("history/append", params, number)
            bare.append(timed(floor.insert))
            ours.append(timed(lambda data=data: client.ask(data)))
    return {"append over stdio / floor, p50": median(ours[20:]) / median(bare[20:])}


async def notifies(dsn: str) -> dict[str, float]:
    """Count the notifications that a listener hears of a burst of appends."""
    heard = 0

    def listen() -> None:
        nonlocal heard
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("LISTEN history_sidecar")
            loop.call_soon_threadsafe(ready.set_result, None)
            for _ in connection.notifies(timeout=3):
                heard += 1

    store = open_store(dsn)
    await store.open()
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[Any] = loop.create_future()
    listening = loop.run_in_executor(None, listen)
    await ready
    began = time.perf_counter()
    for _ in range(10):
        await asyncio.gather(*(store.apply(Mutation(history=f"n{i}", operation=Append((entry(),)), at=1))
                               for i in range(BURST)))  # fmt: skip
    seconds = time.perf_counter() - began
    await listening
    await store.close()
    return {"appends per NOTIFY": 10 * BURST / heard, "NOTIFY per 10 ms": heard / (seconds / 0.01)}


def main() -> None:
    """Print the figures."""
    found = asyncio.run(of_the_store(fresh_database()))
    found |= of_the_protocol(fresh_database())
    found |= asyncio.run(notifies(fresh_database()))
    print(json.dumps({key: round(value, 2) for key, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
