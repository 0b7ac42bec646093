"""Parsed entries are kept and shared, within bounds."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.messages import Entry
from sidecar.service import HistoryService, open_store
from sidecar.service.parsed import ParsedEntries


@pytest.mark.asyncio
async def test_an_append_parses_only_what_is_new(service: HistoryService) -> None:
    """The same objects come back, after reads of older versions too."""
    session = service.session()
    await session.append("h", [Entry.user(letter) for letter in "abc"])
    first = await session.entries("h")
    await session.append("h", [Entry.user("d")])
    await session.entries("h", at_version=1)
    second = await session.entries("h")
    assert [id(entry) for entry in second.entries[:3]] == [id(entry) for entry in first.entries]
    assert [entry.text for entry in second.entries] == ["a", "b", "c", "d"]


@pytest.mark.asyncio
async def test_projections_are_lent_to_one_at_a_time(service: HistoryService) -> None:
    """The second asker does without."""
    session = service.session()
    await session.append("h", [Entry.user("a")])
    await session.entries("h")
    with session.projections("h") as first, session.projections("h") as second:
        assert first is not None and second is None
    with session.projections("h") as again:
        assert again is first


@pytest.mark.asyncio
async def test_what_is_kept_is_bounded(service: HistoryService) -> None:
    """By the bytes of the stored entries; the history that was read longest ago goes first."""
    session = service.session()
    for name in "abcd":
        await session.append(name, [Entry.user("x" * 400)])
    parsed = ParsedEntries(service.store, max_bytes=1400)
    for name in "abacd":
        await parsed.read(name)
    assert list(parsed._kept) == ["c", "d"]
    await session.append("big", [Entry.user("x" * 2000)])
    await parsed.read("big")
    assert "big" not in parsed._kept


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["append", "splice", "truncate", "revert", "old", "project"]), max_size=15))
def test_what_is_kept_never_changes_an_answer(steps: list[str]) -> None:
    """After any changes the entries are those of a service that keeps nothing."""

    async def scenario() -> None:
        async with HistoryService(open_store(":memory:")) as service:
            session = service.session()
            await session.append("h", [Entry.user("0"), Entry.user("1")])
            for number, step in enumerate(steps):
                if step == "append":
                    await session.append("h", [Entry.user(f"{number}")])
                elif step == "splice":
                    await session.splice_prefix("h", 1, Entry.summary(f"{number}"))
                elif step == "truncate":
                    await session.truncate("h", len=1)
                elif step == "revert":
                    await session.revert("h", 1)
                version = 1 if step == "old" else None
                got = await session.entries("h", version)
                fresh = await ParsedEntries(service.store).read("h", version)
                assert (got.version, list(got.entries)) == (fresh.version, list(fresh.entries))

    asyncio.run(scenario())
