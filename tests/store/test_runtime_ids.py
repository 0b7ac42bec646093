"""Ids of runtime-only entries are refused to stored ones, on every engine and by every way that appends go."""

from __future__ import annotations

import pytest
from attrs import evolve

from sidecar.core.errors import EntryExists
from sidecar.core.messages import Entry
from sidecar.store.base import Append, Replace
from tests.store.stores import Opened, opened


def entry(name: str) -> Entry:
    return evolve(Entry.user(name), id=name, ts=1)


@opened
async def test_injected_ids_are_taken(store: Opened) -> None:
    """Those of the same call and those of the caller's connection; without them the same append is made."""
    await store.do("h", Append((entry("a"),)))
    await store.do("h", Append((entry("b"),)))  # the second one may go a shorter way
    for operation, taken in (
        (Append((entry("c"),), beside=("a",)), ()),
        (Append((entry("c"),), beside=("c",)), ()),
        (Append((entry("c"),), beside=("d", "d")), ()),
        (Append((entry("c"),)), ("c",)),
        (Append((entry("c"),), beside=("d",)), ("d",)),
        (Replace((entry("c"),)), ("c",)),
    ):
        with pytest.raises(EntryExists):
            await store.do("h", operation, taken=frozenset(taken))
    assert (await store.do("h", Append((entry("c"),), beside=("d",)), taken=frozenset("e"))).head.len == 3
