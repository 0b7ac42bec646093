"""What store operations cost, as ratios within one run. Run: `python -m tests.bench.store_costs [FOLDER]`.

Prints: the lone append beside a bare write + fdatasync, 64 in flight, processor time per append, structural changes on
10 000 entries beside one append, the file beside the bodies, fsyncs per append (with strace), opening a large store.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import evolve

from sidecar.core.jsontext import dumpb
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Entry
from sidecar.store import open_store
from sidecar.store.base import Append, Applied, Fork, Mutation, Operation, Revert, SplicePrefix, Store, Truncate

WORDS = ("the", "agent", "reads", "the", "file", "and", "then", "it", "writes", "what", "was", "asked", "for")
TEXT = " ".join(WORDS[i % len(WORDS)] for i in range(180))[:870]
_made = 0


def entry(text: str = TEXT) -> Entry:
    global _made
    _made += 1
    return evolve(Entry.user(f"{_made:06} {text}"), id=f"01890000-0000-7000-8000-{_made:012d}", ts=1_700_000_000_000)


async def do(store: Store, operation: Operation, history: str = "h") -> Applied:
    return await store.apply(Mutation(history=history, operation=operation, at=1))


async def p50(work: Callable[[], Awaitable[object]], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def floor(folder: Path, times: int) -> float:
    fd = os.open(folder / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        os.write(fd, b"x" * 1024)
        os.fdatasync(fd)
        taken.append(time.perf_counter() - began)
    os.close(fd)
    return statistics.median(taken)


async def measured(folder: Path) -> dict[str, float]:
    out: dict[str, float] = {}
    store = open_store(str(folder / "store.db"))
    await store.open()
    await do(store, Append((entry(),)))
    bare = floor(folder, 200)
    lone = await p50(lambda: do(store, Append((entry(),))), 200)
    out["lone append / fdatasync, p50"] = lone / bare
    began, cpu = time.perf_counter(), time.process_time()
    for _ in range(30):
        await asyncio.gather(*(do(store, Append((entry(),))) for _ in range(64)))
    rate = 30 * 64 / (time.perf_counter() - began)
    out["64 in flight, rate / lone fsync rate"] = rate * bare
    out["processor time per append in flight, us"] = (time.process_time() - cpu) / (30 * 64) * 1e6

    size = 10_000
    for _ in range(size // 500):
        await do(store, Append(tuple(entry() for _ in range(500))), "big")
    one = await p50(lambda: do(store, Append((entry(),)), "big"), 100)
    number = 0

    async def fork() -> None:
        nonlocal number
        number += 1
        await do(store, Fork(to=f"fork{number}"), "big")

    async def splice() -> None:
        await do(store, SplicePrefix(drop_count=5000, summary=entry()), f"fork{splice_at.pop()}")

    out["fork of 10k / append"] = await p50(fork, 50) / one
    splice_at = list(range(1, 51))
    out["splice 5k of 10k / append"] = await p50(splice, 50) / one
    out["truncate / append"] = await p50(lambda: do(store, Truncate(len=9000 - next(cuts)), "big"), 50) / one
    out["revert / append"] = await p50(lambda: do(store, Revert(20), "big"), 50) / one
    began = time.perf_counter()
    found = await store.bodies("big", version=20)
    snapshot = time.perf_counter() - began
    lines = folder / "big.jsonl"
    lines.write_bytes(b"\n".join(found.bodies))
    began = time.perf_counter()
    lines.read_bytes().split(b"\n")
    out["bodies of 10k / reading a JSONL file"] = snapshot / (time.perf_counter() - began)
    await store.close()
    return out


cuts = iter(range(1000))


async def file_ratio(folder: Path, size: int | None) -> float:
    """The database beside bodies of `size` bytes, appended one by one; what stays in the log is not counted.

    `None` is a mix as of an agent's history: half of the bodies below 740 bytes, one in a hundred above 8 KB.
    """
    path = folder / f"size{size}.db"
    draw = random.Random(1)
    store = open_store(str(path))
    await store.open()
    frame = len(dumpb(entry_to_json(entry(""))))
    now = 1_700_000_000_000
    for number in range(100):
        sizes = [size or frame + int(draw.lognormvariate(6.4, 1.1)) for _ in range(50)]
        texts = [(TEXT * (each // len(TEXT) + 1))[: each - frame] for each in sizes]
        batch = [Mutation(history="h", operation=Append((entry(text),)), at=now + number) for text in texts]
        await asyncio.gather(*map(store.apply, batch))
    bodies = (await store.bodies("h")).bodies
    assert size is None or {len(body) for body in bodies} == {size}
    weight = sum(map(len, bodies))
    await store.prune(None, keep_versions=None, before=None, dry_run=False)
    store._empty_log = True  # type: ignore[attr-defined]  # into the database, to be weighed there
    await do(store, Append((entry(),)))
    await store.close()
    return path.stat().st_size / weight


async def one_by_one(place: str, count: int) -> None:
    store = open_store(place)
    await store.open()
    for _ in range(count):
        await do(store, Append((entry(),)))
    await store.close()


def syncs(folder: Path) -> float | None:
    """Count the syncs of 200 appends beyond those of opening, with strace."""
    if shutil.which("strace") is None:
        return None
    counts = []
    for count in (0, 200):
        report = folder / f"strace{count}"
        subprocess.run(
            ["strace", "-f", "-c", "-e", "trace=fsync,fdatasync", "-o", str(report), sys.executable, "-m",
             "tests.bench.store_costs", "--appends", str(folder / f"sync{count}.db"), str(count)],
            check=True,
        )  # fmt: skip
        rows = [line.split() for line in report.read_text().splitlines()]  # share, seconds, each, calls, …, name
        counts.append(sum(int(row[3]) for row in rows if row and row[-1] in ("fsync", "fdatasync")))
    return (counts[1] - counts[0]) / 200


def main() -> None:
    if sys.argv[1:2] == ["--appends"]:
        asyncio.run(one_by_one(sys.argv[2], int(sys.argv[3])))
        return
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        folder = Path(name)
        folder.chmod(0o700)
        found = asyncio.run(measured(folder))
        for size in (256, 512, 1024, 2048, 4096, 16384, None):
            found[f"file / bodies of {size or 'mixed'} bytes"] = asyncio.run(file_ratio(folder, size))
        counted = syncs(folder)
        if counted is not None:
            found["syncs per append"] = counted
        print(json.dumps({key: round(value, 2) for key, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
