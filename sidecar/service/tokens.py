"""Token estimates of a history from its head: what was measured, plus what came after it (seeds.md §8.9)."""

from __future__ import annotations

from sidecar.store.base import Head, Row


def token_estimate(head: Head) -> int | None:
    """Return baseline and delta in the default estimator; `None` only without entries and without a baseline."""
    baseline = head.baseline
    if baseline is None:
        return head.estimate if head.len else None
    return max(0, baseline.tokens + head.estimate - baseline.estimate)


def entry_tokens(row: Row) -> int:
    """Return the default estimate of one stored entry."""
    return len(row.body) // 4
