"""What sharing one store costs, through real sidecars. Run: `python -m tests.bench.store_sharing [FOLDER]`.

- How soon another process is told of a commit: from the reply to the writer to the notification at the other sidecar.
- The shares of four sidecars that append to one store as fast as they can, each from a client process of its own.
- Opening a store with a million entries beside an empty one: in process, and a whole sidecar until its first answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apsw

from sidecar.store import open_store
from sidecar.store.base import Append, Mutation
from tests.bench.store_costs import entry
from tests.bench.transport_client import Client, median, request, sidecar, timed

TEXT = json.dumps("x" * 900)
HISTORIES, ENTRIES = 1000, 1000
WRITER_SECONDS = 5


def append(history: str) -> str:
    """Params of an append of 1 KB."""
    return f'{{"history":"{history}","entries":[{{"message":{{"role":"user","content":{TEXT}}}}}]}}'


def seen(store: str, rounds: int = 200) -> list[float]:
    """Seconds from the reply to one sidecar's client to the notification of another's."""
    delays = []
    with Client(sidecar(store)) as writer, Client(sidecar(store)) as reader:
        writer.result("history/append", append("seen"))
        version = json.loads(reader.result("history/subscribe", '{"history":"seen"}'))["result"]["version"]
        for number in range(rounds):
            time.sleep(0.02 if number % 2 else 0.3)  # in a burst, and when the other has gone to sleep
            writer.result("history/append", append("seen"))
            replied = time.perf_counter()
            told = json.loads(reader.receive())
            delays.append(time.perf_counter() - replied)
            version += 1
            assert told["method"] == "history/didChange" and told["params"]["version"] == version, told
            assert told["params"]["origin"]["local"] is False
    return sorted(delays)


def write(store: str, history: str, seconds: float) -> None:
    """A client process: append one at a time, print how often."""
    with Client(sidecar(store)) as client:
        client.result("history/append", append(history))
        print("ready", flush=True)
        sys.stdin.readline()
        count, longest, ends = 0, 0.0, time.perf_counter() + seconds
        while time.perf_counter() < ends:
            longest = max(longest, timed(lambda: client.result("history/append", append(history))))
            count += 1
        print(count, longest, flush=True)


def shares(store: str) -> tuple[list[int], float]:
    """How many appends each of four writers got, and the longest wait in seconds."""
    command = [sys.executable, "-m", "tests.bench.store_sharing", "--write", store]
    writers = [
        subprocess.Popen([*command, f"w{n % 2}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(4)  # two histories, each with two writers
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    found = [writer.communicate()[0].split() for writer in writers]
    return [int(count) for count, _ in found], max(float(longest) for _, longest in found)


async def one_history(path: Path, entries: int) -> None:
    store = open_store(str(path))
    await store.open()
    if entries:
        await store.apply(Mutation(history="h", operation=Append(tuple(entry() for _ in range(entries))), at=1))
    await store.close()


def multiply(path: Path) -> int:
    """Copy the one history of a store a thousand times, in SQL; return how many entries there are."""
    asyncio.run(one_history(path, ENTRIES))
    connection = apsw.Connection(str(path))
    # The text is cut, so that a million rows fit into a few hundred megabytes; rows and indexes are what opening meets.
    tables = {
        "history": "INSERT INTO history SELECT n, 'h/' || n, live, version, layout, len, tail, cumulative, estimate,"
        " marks, base_tokens, base_version, base_len, base_estimate, calibration, title, tags, metadata, created_at,"
        " updated_at FROM history, more",
        "layout": "INSERT INTO layout SELECT n, layout, replace(ranges, '[1,', '[' || n || ',') FROM layout, more",
        "change": "INSERT INTO change(hid, version, previous, kind, layout, len, marks, at, writer)"
        " SELECT n, version, previous, kind, layout, len, marks, at, writer FROM change, more",
        "entry": "INSERT INTO entry SELECT (n << 32) | (id & 4294967295), random(), layout, marks, role, estimate,"
        " cumulative, measure, substr(body, 1, 120), places FROM more, entry WHERE id < 2 << 32",
    }
    numbers = f"SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < {HISTORIES}"
    with connection:
        for statement in tables.values():
            connection.execute(f"WITH RECURSIVE more(n) AS ({numbers}) {statement}")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    count: int = connection.execute("SELECT count(*) FROM entry").get
    connection.close()
    return count


async def open_and_look(path: Path, history: str) -> float:
    store = open_store(str(path))
    began = time.perf_counter()
    await store.open()
    await store.head(history)
    seconds = time.perf_counter() - began
    await store.close()
    return seconds


def opening(folder: Path) -> dict[str, float]:
    """Both stores in turn."""
    empty, large = folder / "empty.db", folder / "large.db"
    asyncio.run(one_history(empty, 0))
    entries = multiply(large)
    inside: dict[Path, list[float]] = {empty: [], large: []}
    spawned: dict[Path, list[float]] = {empty: [], large: []}

    def spawn(path: Path) -> None:
        with Client(sidecar(str(path))) as client:
            client.ask(request("history/len", '{"history":"h/500"}'))

    for _ in range(30):
        for path, seconds in inside.items():
            seconds.append(asyncio.run(open_and_look(path, "h/500")))
    for _ in range(8):
        for path, seconds in spawned.items():
            seconds.append(timed(lambda path=path: spawn(path)))
    return {
        "entries of the large store": entries,
        "its megabytes": large.stat().st_size / 1e6,
        "open and look one up, large / empty": median(inside[large]) / median(inside[empty]),
        "the same, ms": median(inside[large]) * 1000,
        "spawn to first answer, large / empty": median(spawned[large]) / median(spawned[empty]),
    }


def main() -> None:
    """Print the figures."""
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], sys.argv[3], WRITER_SECONDS)
        return
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name)
        os.chmod(folder, 0o700)
        delays = seen(str(folder / "seen.db"))
        counts, longest = shares(str(folder / "shares.db"))
        found = {
            "told to another process, p50 ms": median(delays) * 1000,
            "told to another process, p95 ms": delays[len(delays) * 95 // 100] * 1000,
            "told to another process, max ms": delays[-1] * 1000,
            "four writers, least / most": min(counts) / max(counts),
            "four writers, appends a second": sum(counts) / WRITER_SECONDS,
            "four writers, longest wait ms": longest * 1000,
        }
        found |= opening(folder)
    print(json.dumps({key: round(value, 2) for key, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
