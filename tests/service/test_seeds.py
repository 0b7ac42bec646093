"""What the four source documents promise of a history, under this project's decisions (seeds.md §8, §9)."""

from __future__ import annotations

import pytest
from attrs import evolve

from sidecar.core.jsontext import loads
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry, ToolCall
from sidecar.service import Session, Window

pytestmark = pytest.mark.asyncio
H = "h"


def texts(window: object) -> list[str]:
    assert isinstance(window, Window)
    return [entry_from_json(loads(body)).text for body in window.bodies]


async def shown(session: Session, history: str = H) -> list[str]:
    return texts(await session.snapshot(history))


def users(*words: str) -> list[Entry]:
    return [Entry.user(word) for word in words]


async def test_a_history_that_is_not_there_is_empty(session: Session) -> None:
    """1: no length, no error, no estimate."""
    assert await session.find(H) is None


async def test_splice_replaces_the_head(session: Session) -> None:
    """6: [u1,a1,u2,a2], splice 2 → dropped 2, [S,u2,a2]."""
    await session.append(H, users("u1", "a1", "u2", "a2"))
    applied = await session.splice_prefix(H, 2, Entry.user("S"))
    assert (applied.dropped, applied.head.len, await shown(session)) == (2, 3, ["S", "u2", "a2"])


async def test_what_was_appended_during_a_compaction_survives(session: Session) -> None:
    """7: the tail appended behind the snapshot that was summarised stays."""
    await session.append(H, users("a", "b"))
    await session.append(H, users("new1", "new2"))
    await session.splice_prefix(H, 2, Entry.user("S"), if_prefix=1)
    assert await shown(session) == ["S", "new1", "new2"]


async def test_splice_clamps_and_says_how_many_it_dropped(session: Session) -> None:
    """8 and 13: beyond the end all go; 0 inserts at the front; nothing is there to drop in an emptied history."""
    await session.append(H, users("one"))
    assert ((await session.splice_prefix(H, 99, Entry.user("S"))).dropped, await shown(session)) == (1, ["S"])
    assert ((await session.splice_prefix(H, 0, Entry.user("T"))).dropped, await shown(session)) == (0, ["T", "S"])
    await session.truncate(H, len=0)
    assert ((await session.splice_prefix(H, 5, Entry.user("U"))).dropped, await shown(session)) == (0, ["U"])


async def test_truncate_beyond_the_end_changes_nothing(session: Session) -> None:
    """10: neither the version nor the baseline."""
    await session.append(H, users("a", "b"))
    await session.record_tokens(H, 5000)
    for keep in (2, 99):
        applied = await session.truncate(H, len=keep)
        assert (applied.changed, applied.dropped, applied.head.version) == (False, 0, 1)
    head = await session.head(H)
    assert head.baseline is not None and head.baseline.tokens == 5000


async def test_a_real_cut_a_splice_and_a_replace_clear_the_baseline(session: Session) -> None:
    """5, 9 and 11."""
    for change in (
        lambda: session.truncate(H, len=1),
        lambda: session.splice_prefix(H, 1, Entry.user("S")),
        lambda: session.replace(H, users("new")),
    ):
        await session.append(H, users("a", "b"))
        await session.record_tokens(H, 5000)
        await change()
        assert (await session.head(H)).baseline is None


async def test_truncate_rolls_a_failed_turn_back(session: Session) -> None:
    """12 and §8.13: the mark is a length, the condition a version, and the failed turn stays readable."""
    await session.append(H, users("u1", "a1"))
    mark = await session.head(H)
    await session.append(H, users("failed"))
    applied = await session.truncate(H, len=mark.len)
    assert (applied.dropped, await shown(session)) == (1, ["u1", "a1"])
    assert texts(await session.snapshot(H, at_version=2)) == ["u1", "a1", "failed"]


async def test_null_stays_null_through_a_save_and_a_load(session: Session) -> None:
    """19, 20 and 22: `null` exactly where there are calls and no text, and not absent after a reload."""
    call = ToolCall(id="c", name="bash", arguments='{"cmd":"ls"}')
    await session.append(H, [Entry.assistant("", tool_calls=[call]), Entry.assistant("")])
    window = await session.snapshot(H)
    assert isinstance(window, Window)
    first, second = (loads(body)["message"] for body in window.bodies)
    assert (first["content"], second["content"]) == (None, [{"type": "text", "text": ""}])


async def test_injected_entries_are_not_stored(session: Session, service: object) -> None:
    """25: [injected, real] persists one entry; another session never sees the injected one."""
    await session.append(H, [Entry.user("env").injected(), Entry.user("real")])
    assert ((await session.head(H)).len, await shown(session)) == (1, ["env", "real"])
    assert await shown(service.session()) == ["real"]


async def test_a_reader_after_a_compaction_starts_with_the_summary(session: Session) -> None:
    """26: old, old reply, compact S, new → [S, new]."""
    await session.append(H, users("old", "old reply"))
    await session.splice_prefix(H, 2, Entry.summary("S"))
    await session.append(H, users("new"))
    assert await shown(session) == ["S", "new"]


async def test_a_plan_made_for_a_moved_prefix_is_refused(session: Session) -> None:
    """42: the prefix must be what it was."""
    from sidecar.core.errors import VersionMismatch

    await session.append(H, users("a", "b"))
    await session.replace(H, users("x", "y"))
    with pytest.raises(VersionMismatch):
        await session.splice_prefix(H, 2, Entry.user("S"), if_prefix=1)
    assert await shown(session) == ["x", "y"]


@pytest.mark.parametrize(("last", "now"), [(2, 1), (2, 0), (3, 0), (0, 2)])
async def test_fewer_injected_than_last_run_lose_nothing(session: Session, last: int, now: int) -> None:
    """46: user and reply are always stored, whatever was injected before (upstream loses them or panics)."""
    for run, count in enumerate((last, now)):
        await session.clear_injected(H)
        injected = [Entry.system(f"i{run}.{index}").injected() for index in range(count)]
        await session.append(H, [*injected, Entry.user(f"u{run}")])
        await session.append(H, [Entry.assistant(f"a{run}")])
    assert await shown(session) == ["u0", "a0", *[f"i1.{index}" for index in range(now)], "u1", "a1"]
    await session.clear_injected(H)
    assert await shown(session) == ["u0", "a0", "u1", "a1"]


async def test_runtime_only_fields_are_gone_after_a_reload(session: Session, service: object) -> None:
    """000: agent and principal stay, sender and auto_injected do not; the session that sent it still knows."""
    entry = evolve(Entry.user("x", sender="tg:1", principal="alice"), id="e", agent="sage")
    await session.append(H, [entry])
    window = await service.session().snapshot(H)
    assert [loads(body) for body in window.bodies] == [
        {
            "id": "e",
            "message": {"role": "user", "content": [{"type": "text", "text": "x"}]},
            "agent": "sage",
            "principal": "alice",
            "ts": 1000,
        }
    ]
    assert (session.sender(H, "e"), service.session().sender(H, "e")) == ("tg:1", "")
