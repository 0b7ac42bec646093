"""Planning a compaction of 10 000 entries, beside reading their token counts.

Run: `python -m tests.bench.tokens_plan`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from sidecar.core.estimators import DEFAULT
from sidecar.core.measures import Measure, measure
from sidecar.core.messages import Entry, ToolCall
from sidecar.core.plan import Costs, Plan, Request, plan_splice

ROUNDS = 9


def main() -> None:
    """Print the ratio, whose target is 10."""
    entries = []
    for number in range(2500):
        entries += [
            Entry.user(f"question {number}"),
            Entry.assistant("", tool_calls=[ToolCall(id=f"c{number}", name="t", arguments='{"a":1}')]),
            Entry.tool("some output " * 20, f"c{number}"),
            Entry.assistant("an answer"),
        ]
    packed = [measure(entry).pack() for entry in entries]
    counts = [DEFAULT.count(Measure.unpack(each)) for each in packed]

    def plan() -> Plan:
        return plan_splice(entries, Costs(counts=counts, elided_counts=counts), Request(trigger=1000, target=50_000))

    assert plan().action == "splice"
    reading, planning = [], []
    for _ in range(ROUNDS):
        reading.append(timed(lambda: [DEFAULT.count(Measure.unpack(each)) for each in packed]))
        planning.append(timed(plan))
    print(
        f"planning / reading token counts: {statistics.median(planning) / statistics.median(reading):.2f} (target 10)"
    )


def timed(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
