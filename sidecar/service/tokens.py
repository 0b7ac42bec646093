"""Token numbers of a history: answers from running sums, and whole counts of its newest version.

Rules: what an answer to a mutation says comes from running sums alone, O(1); every other number is counted entry by
entry from stored measures. Elided entries count as their placeholder everywhere: where a history has any,
`service.counted` puts its own sums into the head before it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve, frozen

from sidecar.core.elision import elide_entry
from sidecar.core.estimators import DEFAULT, Counter
from sidecar.core.jsontext import Json, loads
from sidecar.core.ledger import DEFAULT_KEY, Estimate, Recorded, estimate_since, key_of, quick_estimate, recorded
from sidecar.core.measures import Measure, measure
from sidecar.core.messages import Entry, Tool
from sidecar.core.plan import Costs, Plan, Request, plan_splice
from sidecar.store.base import Baseline, Head, Row
from sidecar.store.bodies import entry_of


def token_estimate(head: Head) -> int | None:
    """Return baseline and delta in the default estimator; `None` only without entries and without a baseline."""
    baseline = head.baseline
    return quick_estimate(
        baseline=None if baseline is None else baseline.tokens,
        since=head.estimate - (0 if baseline is None else baseline.estimate),
        entries=head.len,
        stored=head.calibration,
    )


def entry_tokens(row: Row) -> int:
    """Return the default estimate of one stored entry."""
    return DEFAULT.count(_measured(row))


@frozen(kw_only=True)
class Question:
    """Whose tokens are asked for."""

    counter: Counter
    vendor: str | None = None
    model: str | None = None

    @property
    def key(self) -> str:
        """The key of the calibration."""
        return key_of(self.vendor, self.model)


def count_rows(counter: Counter, rows: Sequence[Row], entries: Sequence[Entry] | None = None) -> list[int]:
    """Count the entries of a version as models see them; `entries` are those of `rows`, where they are parsed."""
    counts = []
    for index, row in enumerate(rows):
        if row.elided is None and not counter.needs_text:
            counts.append(counter.count(_measured(row)))
            continue
        entry = entries[index] if entries is not None else entry_of(row.body)
        shown = entry if row.elided is None else elide_entry(entry, loads(row.elided))
        counts.append(counter.count_entry(shown))
    return counts


def estimate_of(question: Question, sums: Sequence[int], head: Head | None) -> Estimate:
    """Answer `history/tokenEstimate` from the running sums of the newest version, which begin with 0."""
    baseline = None if head is None else _recorded(head.baseline)
    stored = None if head is None else head.calibration
    tokens = None if baseline is None else baseline.tokens
    since = sums[-1] - (0 if baseline is None else sums[min(baseline.len, len(sums) - 1)])
    known = baseline is not None or len(sums) > 1
    return estimate_since(question.counter, since, baseline=tokens, known=known, stored=stored, key=question.key)


def calibration_after(
    question: Question, version: int, rows: Sequence[Row], entries: Sequence[Entry], tokens: int, head: Head
) -> Json:
    """Return the calibration after a record of `tokens` for these entries of the measured version."""
    # A late report about an older version says nothing of what came after the last record.
    newer = head.baseline is not None and version >= head.baseline.version
    previous = _recorded(head.baseline) if newer else None
    counts = count_rows(DEFAULT, rows, entries)
    stored = recorded(head.calibration, DEFAULT_KEY, tokens=tokens, counts=counts, previous=previous)
    if question.key == DEFAULT_KEY:
        return stored
    counts = count_rows(question.counter, rows, entries)
    return recorded(stored, question.key, tokens=tokens, counts=counts, previous=previous)


def costs_of(found: Estimate, sums: Sequence[int]) -> Costs:
    """Return what each entry costs in the tokens that `found` answers with."""
    scaled = [round(found.ratio * (after - before)) for before, after in pairwise(sums)]
    # What was recorded is more than the entries cost; the rest stays whatever is dropped.
    overhead = max(0, (found.tokens or 0) - sum(scaled))
    return Costs(counts=scaled, overhead=overhead, spread=_spread(found))


def plan_of(
    question: Question, found: Estimate, costs: Costs, rows: Sequence[Row], entries: Sequence[Entry], request: Request
) -> Plan:
    """Plan a compaction of the version that these are the entries of."""
    if "elide" in request.allow:
        elided = [
            count
            if row.elided is not None or not isinstance(entry.message, Tool)
            else min(count, round(found.ratio * question.counter.count_entry(elide_entry(entry))))
            for row, entry, count in zip(rows, entries, costs.counts, strict=True)
        ]
        costs = evolve(costs, elided_counts=elided)
    return plan_splice(entries, costs, request)


def _spread(found: Estimate) -> float:
    if found.tokens is None or found.high is None or not found.delta:
        return 0.0
    return (found.high - found.tokens) / found.delta


def _recorded(baseline: Baseline | None) -> Recorded | None:
    return None if baseline is None else Recorded(tokens=baseline.tokens, len=baseline.len)


def _measured(row: Row) -> Measure:
    try:
        return Measure.unpack(row.measure)
    except ValueError:
        # Written by another release: the entry itself is measured again.
        return measure(entry_of(row.body))
