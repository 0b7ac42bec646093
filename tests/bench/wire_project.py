"""How long a projection takes, beside `json.dumps` of the same payload: `python tests/bench/wire_project.py`.

Ratios only, best of five, in one process. "append" is a projection after one append with a warm cache.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator

from attrs import evolve

from sidecar.core.messages import Entry, ToolCall
from sidecar.wire import Cache, project, vendors
from sidecar.wire.base import Item, Options

ENTRIES = 10_000
RUNS = 5


def history(size: int) -> list[Item]:
    """Return rounds of a prompt, a call, its result and an answer, each text of `size` letters."""
    return [Item(entry=evolve(entry, id=f"e{index}", ts=0), index=index) for index, entry in enumerate(_entries(size))]


def _entries(size: int) -> Iterator[Entry]:
    text = ("what was said and done before " * (size // 30 + 1))[:size]
    for number in range(ENTRIES // 4):
        call = ToolCall(
            id=f"call_{number}", name="read_file", arguments=f'{{"path":"src/a{number}.py","line":{number}}}'
        )
        yield Entry.user(f"{number} {text}")
        yield Entry.assistant(tool_calls=[call])
        yield Entry.tool(text, call.id, "read_file")
        yield Entry.assistant(text)


def best(work: Callable[[], object]) -> float:
    """Return the shortest of a few runs in seconds."""
    times = []
    for _ in range(RUNS):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print a table of ratios."""
    print(f"{'vendor':20}" + "".join(f"{size:>6} letters{'append':>9}" for size in (100, 300, 1000)))
    lists = {size: history(size) for size in (100, 300, 1000)}
    for vendor in [info.id for info in vendors()]:
        row = ""
        for items in lists.values():
            body = project(items, vendor, Options()).body
            floor = best(lambda body=body: json.dumps(body))  # type: ignore[misc]
            whole = best(lambda items=items, vendor=vendor: project(items, vendor, Options()))  # type: ignore[misc]
            row += f"{whole / floor:14.2f}{_append(items, vendor) / floor:9.2f}"
        print(f"{vendor:20}{row}", flush=True)


def _append(items: list[Item], vendor: str) -> float:
    times = []
    for _ in range(RUNS):
        cache = Cache()
        project(items[:-1], vendor, Options(), cache)
        gc.collect()
        start = time.perf_counter()
        project(items, vendor, Options(), cache)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
