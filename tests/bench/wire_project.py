"""How long a projection takes, beside `json.dumps` of the same payload.

Run `python tests/bench/wire_project.py [VENDOR...]`; without vendors it takes ten minutes for all of them.

Rules:
- Ratios only. Each is the median of five; each of the five stands between two runs of `json.dumps`, whose mean it is
  divided by, since a shared machine is now quick and now slow. Times are processor time of this process.
- "cold" starts from entries that are parsed already, as the service keeps them, and from nothing else.
- "stored" starts from the JSON bodies that a store holds, so it reads the JSON and builds the entries too.
- "append" is the next projection after one append, from the cache of the one before.
"""

from __future__ import annotations

import base64
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from attrs import evolve

from sidecar.core.jsontext import dumpb, loads
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Assistant, Entry, Image, Origin, Reasoning, Text, ToolCall
from sidecar.wire import Cache, project, vendors
from sidecar.wire.base import Item, Options

ENTRIES = 10_000
RUNS = 5
PICTURES = 12
PICTURE_BYTES = 60_000
PROSE = "what was said and done before "
CODE = 'def read(path: str) -> str:\n\treturn open(path, encoding="utf-8").read()  # naïve — but quick ✓\n'


def rounds(size: int) -> Iterator[Entry]:
    """Yield a prompt, a call, its result and an answer, again and again, each text of `size` letters."""
    text = (PROSE * (size // len(PROSE) + 1))[:size]
    for number in range(ENTRIES // 4):
        arguments = f'{{"path":"src/a{number}.py","line":{number}}}'
        call = ToolCall(id=f"call_{number}", name="read_file", arguments=arguments)
        yield Entry.user(f"{number} {text}")
        yield Entry.assistant(tool_calls=[call])
        yield Entry.tool(text, call.id, "read_file")
        yield Entry.assistant(text)


def agent(vendor: str) -> Iterator[Entry]:
    """Yield what a coding agent leaves: signed reasoning, parallel calls, long and failed results, code, a few images.

    All of it was made by `vendor`, so that reasoning goes back wherever the wire has a place for it.
    """
    draw = random.Random(7)
    origin = Origin(vendor=vendor, model="model-of-today")
    picture = Image(mime_type="image/png", data=base64.b64encode(draw.randbytes(PICTURE_BYTES)).decode())
    yield Entry.system(PROSE * 100)
    for number in range(ENTRIES // 11):
        signature = base64.b64encode(draw.randbytes(450)).decode()
        thought = Reasoning(text=PROSE * 10, signature=signature, vendor=vendor, model="model-of-today")
        blocks = [Text(f"{number}: {PROSE * 4}")]
        yield Entry.user([*blocks, picture] if number % (ENTRIES // 11 // PICTURES) == 0 else blocks)
        calls = [
            ToolCall(id=f"call_{number}_0", name="read_file", arguments=f'{{"path": "src/a{number}.py"}}'),
            ToolCall(id=f"call_{number}_1", name="search", arguments=f'{{"query": "def f{number}", "limit": 20}}'),
            ToolCall(
                id=f"call_{number}_2",
                name="edit_file",
                arguments=json.dumps({"path": f"src/a{number}.py", "old": CODE, "new": CODE * 2}),
            ),
        ]
        spoken = Assistant(content=(Text(PROSE),), reasoning=(thought,), tool_calls=tuple(calls), origin=origin)
        yield Entry.from_message(spoken)
        yield Entry.tool(CODE * 20, calls[0].id, "read_file")
        yield Entry.tool(PROSE * 8, calls[1].id, "search")
        yield Entry.tool("no such text in the file", calls[2].id, "edit_file", is_error=True)
        for again in range(2):
            test = ToolCall(id=f"call_{number}_t{again}", name="run_tests", arguments="{}")
            yield Entry.from_message(Assistant(content=None, tool_calls=(test,), origin=origin))
            yield Entry.tool(PROSE * 12, test.id, "run_tests")
        yield Entry.from_message(Assistant(content=(Text(CODE + PROSE * 5),), origin=origin))
        yield Entry.note(f"run {number} finished")


SHAPES: dict[str, Callable[[str], Iterator[Entry]]] = {
    "300 letters": lambda _: rounds(300),
    "1 KB": lambda _: rounds(1000),
    "agent": agent,
}


def items_of(entries: Iterator[Entry]) -> list[Item]:
    """Give a history ids, times and indices, as the service does."""
    return [Item(entry=evolve(entry, id=f"e{index}", ts=0), index=index) for index, entry in enumerate(entries)]


def ratio(work: Callable[[], object], floor: Callable[[], object]) -> float:
    """Return how many times longer than `floor` `work` takes."""
    found = []
    for _ in range(RUNS):
        gc.collect()
        before, took, behind = _took(floor), _took(work), _took(floor)
        found.append(took * 2 / (before + behind))
    return statistics.median(found)


def _took(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measure(items: list[Item], vendor: str) -> tuple[float, float, float]:
    """Return the ratios cold, stored and append."""
    body = project(items, vendor, Options()).body
    bodies = [dumpb(entry_to_json(item.entry)) for item in items]

    def floor() -> object:
        return json.dumps(body)

    def cold() -> object:
        return project(items, vendor, Options())

    def stored() -> object:
        entries = [entry_from_json(loads(text)) for text in bodies]
        return project([Item(entry=entry, index=index) for index, entry in enumerate(entries)], vendor, Options())

    caches = []
    for _ in range(RUNS):
        caches.append(Cache())
        project(items[:-1], vendor, Options(), caches[-1])

    def append() -> object:
        return project(items, vendor, Options(), caches.pop())

    return ratio(cold, floor), ratio(stored, floor), ratio(append, floor)


def main(chosen: list[str]) -> None:
    """Print a table of ratios."""
    print(f"{'vendor':20}" + "".join(f"{name:>12}{'stored':>8}{'append':>8}" for name in SHAPES))
    worst = dict.fromkeys(SHAPES, 0.0)
    for vendor in chosen or [info.id for info in vendors()]:
        row = ""
        for name, entries in SHAPES.items():
            cold, stored, append = measure(items_of(entries(vendor)), vendor)
            worst[name] = max(worst[name], cold)
            row += f"{cold:12.2f}{stored:8.2f}{append:8.2f}"
        print(f"{vendor:20}{row}", flush=True)
    print("highest, cold: " + ", ".join(f"{name} {value:.2f}" for name, value in worst.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
