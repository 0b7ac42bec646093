"""Ids of entries."""

from __future__ import annotations

import time
import uuid

from sidecar.service.ids import EntryIds


def test_ids_are_uuid_7_and_sort_by_time() -> None:
    """A million per second do not repeat and do not go back."""
    ids, before = EntryIds(), time.time_ns() // 1_000_000
    made = [ids.make() for _ in range(20_000)]
    assert made == sorted(set(made))
    parsed = [uuid.UUID(text) for text in made]
    assert {(value.version, value.variant) for value in parsed} == {(7, uuid.RFC_4122)}
    assert {str(value) for value in parsed} == set(made)
    assert before <= parsed[0].int >> 80 <= time.time_ns() // 1_000_000
