"""Four real processes on one history: a strict order, exact reads, nothing twice, nobody starved."""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sidecar.store import open_store
from tests.store.test_crashes import child

CLIENT = """
import asyncio, json, random, sys, time
from sidecar.core.errors import VersionMismatch
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation
from tests.store.running import entry

async def work(path, who, seconds, reading):
    draw = random.Random(who)
    store = open_store(path)
    await store.open()
    print("ready", flush=True)
    sys.stdin.readline()
    number, end = 0, time.monotonic() + seconds
    def log(**fact):
        print(json.dumps(fact), flush=True)
    while time.monotonic() < end:
        number += 1
        name = f"{who}.{number}"
        began = time.monotonic_ns()
        if draw.random() < reading:
            if await store.head("h") is None:
                continue
            found = await store.bodies("h")
            last = [json.loads(body)["id"] for body in found.bodies[-3:]]
            log(t="read", version=found.version, len=found.len, last=last, began=began)
            continue
        expected = None
        if draw.random() < 0.5:
            head = await store.head("h")
            expected = head.version if head else 0
        mutation = Mutation(history="h", operation=Append((entry(name, "x"),)), at=1, if_version=expected,
                            operation_id=name, digest=name.encode())
        try:
            done = await store.apply(mutation)
        except VersionMismatch:
            log(t="refused", id=name)
            continue
        log(t="done", id=name, version=done.head.version, began=began, ended=time.monotonic_ns())
        if draw.random() < 0.2:
            again = await store.apply(mutation)
            log(t="again", same=again.replayed and again.head.version == done.head.version)
    await store.close()

asyncio.run(work(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
"""


def run_clients(path: Path, seconds: float, reading: float, count: int = 4) -> list[list[dict[str, Any]]]:
    clients = [child(CLIENT, str(path), f"c{at}", str(seconds), str(reading)) for at in range(count)]
    for client in clients:
        assert client.stdout is not None and client.stdout.readline() == "ready\n"
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
    # All at once: a client whose pipe is full would stand still while another one's is read.
    with ThreadPoolExecutor(count) as threads:
        logs = list(threads.map(lambda client: client.communicate()[0], clients))
    assert [client.returncode for client in clients] == [0] * count
    return [[json.loads(line) for line in log.splitlines()] for log in logs]


async def final(path: Path) -> list[str]:
    store = open_store(str(path))
    await store.open()
    bodies = (await store.bodies("h")).bodies
    await store.close()
    return [json.loads(body)["id"] for body in bodies]


def judge(path: Path, logs: list[list[dict[str, Any]]]) -> None:
    """Elle's list-append check; the versions make the order explicit, so it is complete."""
    facts = [fact for log in logs for fact in log]
    order = asyncio.run(final(path))
    done = {fact["id"]: fact for fact in facts if fact["t"] == "done"}
    assert sorted(order) == sorted(done), "each acknowledged append is there once, and no other"
    assert [done[name]["version"] for name in order] == list(range(1, len(order) + 1))
    ended = sorted((fact["ended"], fact["version"]) for fact in done.values())
    newest, versions = 0, []
    for _, version in ended:
        newest = max(newest, version)
        versions.append(newest)

    def at_least(began: int) -> int:
        known = bisect_left(ended, (began, 0))
        return versions[known - 1] if known else 0

    for fact in done.values():
        assert fact["version"] > at_least(fact["began"]), "an append came before one that had ended"
    reads = [fact for fact in facts if fact["t"] == "read"]
    for fact in reads:
        assert fact["len"] == fact["version"] and fact["last"] == order[max(0, fact["len"] - 3) : fact["len"]]
        assert fact["version"] >= at_least(fact["began"]), "a stale read"
    assert all(fact["same"] for fact in facts if fact["t"] == "again")
    assert len(done) > 20 and reads and any(fact["t"] == "again" for fact in facts)


def least_share(logs: list[list[dict[str, Any]]]) -> float:
    """Return how many appends the unluckiest process got beside the luckiest one."""
    shares = [sum(fact["t"] == "done" for fact in log) for log in logs]
    return min(shares) / max(shares)


def test_list_append(tmp_path: Path) -> None:
    """Appends of four processes are strictly serialisable, reads are exact prefixes, repeats change nothing."""
    path = tmp_path / "store.db"
    logs = run_clients(path, 2, 0.4)
    judge(path, logs)
    assert least_share(logs) > 0.2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_list_append_longer(tmp_path: Path) -> None:
    """The same for longer, and each process gets at least 0.4 of what the luckiest one gets."""
    path = tmp_path / "store.db"
    logs = run_clients(path, 20, 0.1)
    judge(path, logs)
    assert least_share(logs) >= 0.4
