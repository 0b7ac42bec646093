"""Histories over stdio on a real disk, each beside its floor in the same run.

`python tests/bench/transport_history.py [folder]`; the folder should be on the disk that matters, not on tmpfs.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from transport_client import FLOOR, Client, median, report, request, sidecar, timed

TEXT = json.dumps("x" * 900)
ENTRY = f'{{"message":{{"role":"user","content":{TEXT}}}}}'
ROUNDS = 60


def append(history: str, count: int = 1) -> str:
    """Params of an append."""
    return f'{{"history":"{history}","entries":[{",".join([ENTRY] * count)}]}}'


def sync_once(fd: int) -> float:
    """Seconds of a bare 1 KB write with fdatasync."""
    data = b"y" * 1024

    def write() -> None:
        os.write(fd, data)
        os.fdatasync(fd)

    return timed(write)


def burst(client: Client, history: str, count: int) -> float:
    """Seconds per append of `count` pipelined ones."""
    data = b"".join(request("history/append", append(history), number) for number in range(count))

    def pipelined() -> None:
        client.send(data)
        for _ in range(count):
            client.receive()

    return timed(pipelined) / count


def main(folder: str = ".") -> None:
    """Print the table."""
    work = Path(tempfile.mkdtemp(dir=folder, prefix="bench-"))
    fd = os.open(work / "floor", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        with Client(sidecar(str(work / "s" / "store.db"))) as client:
            measure(client, fd, work)
    finally:
        os.close(fd)
        shutil.rmtree(work)


def measure(client: Client, fd: int, work: Path) -> None:
    """Measure everything on one server."""
    syncs, appends, bursts = [], [], []
    for _ in range(ROUNDS):
        syncs.append(sync_once(fd))
        appends.append(timed(lambda: client.result("history/append", append("a"))))
        if len(syncs) % 4 == 0:
            bursts.append(burst(client, "b", 64))
    sync, one, many = median(syncs), median(appends), median(bursts)
    rows = [
        ("durable append", one, "write + fdatasync", one / sync, 2.0),
        ("64 pipelined appends, each", many, "write + fdatasync", many / sync, 0.1),
    ]

    big = 10_000
    for _ in range(10):
        client.result("history/append", append("big", big // 10))
    changes: dict[str, list[float]] = {"append": [], "splice 5 000 of 10 000": [], "fork": [], "truncate": []}
    for number in range(12):
        client.result("history/fork", f'{{"history":"big","to":"f{number}"}}')
        calls = {
            "append": ("history/append", append(f"f{number}")),
            "fork": ("history/fork", f'{{"history":"f{number}","to":"g{number}"}}'),
            "truncate": ("history/truncate", f'{{"history":"g{number}","len":9000}}'),
            "splice 5 000 of 10 000": (
                "history/splicePrefix",
                f'{{"history":"f{number}","dropCount":5000,"summary":"S"}}',
            ),
        }
        for name, (method, params) in calls.items():
            changes[name].append(timed(lambda m=method, p=params: client.result(m, p)))
    base = median(changes.pop("append"))
    rows += [(name, median(times), "append", median(times) / base, 2.0) for name, times in changes.items()]

    snapshot = client.result("history/snapshot", '{"history":"big"}')
    lines = work / "big.jsonl"
    entries = json.loads(snapshot)["result"]["entries"]
    lines.write_text("\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries) + "\n")
    with Client([*FLOOR, "cat", str(lines)], initialize=False) as floor:
        ours, theirs, deltas, base_appends = [], [], [], []
        version = json.loads(snapshot)["result"]["version"]
        for _ in range(12):
            theirs.append(timed(lambda: floor.ask(request("x", "{}"))))
            ours.append(timed(lambda: client.result("history/snapshot", '{"history":"big"}')))
            base_appends.append(timed(lambda: client.result("history/append", append("big"))))
            since = f'{{"history":"big","sinceVersion":{version}}}'
            deltas.append(timed(lambda p=since: client.result("history/snapshot", p)))
            version += 1
    rows += [
        ("snapshot of 10 000 x 1 KB", median(ours), "the same lines from a file, framed",
         median(ours) / median(theirs), 2.0),
        ("delta after one append on it", median(deltas), "append", median(deltas) / median(base_appends), 2.0),
    ]  # fmt: skip
    report(rows)
    print(f"resident with the 10 000 entries open: {client.resident() / 1e6:.0f} MB (target 100)")
    before, start = client.resident(), time.perf_counter()
    trivial = b"".join(request("history/len", '{"history":"big"}', number) for number in range(100))
    for _ in range(200):
        client.send(trivial)
        for _ in range(100):
            client.receive()
    seconds = time.perf_counter() - start
    print(f"after 20 000 more requests: {(client.resident() - before) / 1e6:+.1f} MB, {20_000 / seconds:.0f} a second")


if __name__ == "__main__":
    main(*sys.argv[1:])
