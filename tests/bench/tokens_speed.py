"""How fast entries are measured, in MB/s and beside `json.dumps` of the same text in the same run.

`measure` is what every estimate is made of; `append` adds the default estimate and the packed form, which is what an
append pays for tokens. Best of many short runs, so that a busy machine matters little:
`python tests/bench/tokens_speed.py`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from sidecar.core.estimators import default_estimate  # noqa: E402
from sidecar.core.measures import measure  # noqa: E402
from sidecar.core.messages import Entry  # noqa: E402

SAMPLE = ROOT / "tests" / "core" / "token_sample.jsonl"
SIZES = (300, 1_000, 8_000, 60_000)
CJK = ("chinese", "japanese", "korean")


def append(entry: Entry) -> None:
    """Do what an append does for tokens."""
    measured = measure(entry)
    default_estimate(measured)
    measured.pack()


def best(*works: Callable[[], object], rounds: int = 25) -> list[float]:
    """Return the seconds of the fastest round of each; the works take turns, so that all see the same machine."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, found in zip(works, times, strict=True):
            started = time.perf_counter()
            work()
            found.append(time.perf_counter() - started)
    return [min(found) for found in times]


def texts(size: int) -> dict[str, list[str]]:
    """Return up to four texts of each class, each with `size` characters."""
    found: dict[str, list[str]] = {}
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["class"], []).append(row["text"])
    joined = {name: "\n".join(each) for name, each in found.items()}
    return {
        name: [(text[start:] + "\n" + text * (size // len(text) + 1))[:size] for start in range(0, 400, 100)]
        for name, text in joined.items()
    }


def main() -> None:
    """Print one line for each size and group of classes."""
    print(f"{'characters':>10} {'texts':>6} {'measure':>14} {'append':>14} {'of json.dumps':>14} {'per entry':>12}")
    for size in SIZES:
        classes = texts(size)
        groups = {
            "ASCII": [name for name, each in classes.items() if each[0].isascii()],
            "CJK": list(CJK),
            "all": list(classes),
        }
        for group, names in groups.items():
            chosen = [text for name in names for text in classes[name]]
            entries = [Entry.user(text) for text in chosen]
            megabytes = sum(len(text.encode()) for text in chosen) / 1e6
            measuring, appending, floor = best(
                lambda entries=entries: [measure(entry) for entry in entries],  # type: ignore[misc]
                lambda entries=entries: [append(entry) for entry in entries],  # type: ignore[misc]
                lambda chosen=chosen: [json.dumps(text, ensure_ascii=False) for text in chosen],  # type: ignore[misc]
            )
            print(
                f"{size:>10} {group:>6} {megabytes / measuring:>9.1f} MB/s {megabytes / appending:>9.1f} MB/s "
                f"{appending / floor:>13.1f}x {appending / len(entries) * 1e6:>9.1f} µs"
            )


if __name__ == "__main__":
    main()
