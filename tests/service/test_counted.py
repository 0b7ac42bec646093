"""Token sums that are kept: no answer changes, elided entries count as shown, an append counts only itself."""

from __future__ import annotations

import random
from typing import Any

import pytest
from attrs import evolve

from sidecar.core.estimators import DEFAULT, counter
from sidecar.core.ledger import Estimate, Recorded, estimate
from sidecar.core.messages import Entry
from sidecar.core.plan import Request
from sidecar.service import HistoryService, Question, Session, open_store, token_estimate
from sidecar.service.counted import Counted
from sidecar.store.base import Applied, SetText

pytestmark = pytest.mark.asyncio
H = "h"
QUESTIONS = [
    Question(counter=counter()),
    Question(counter=counter("bytes4")),
    Question(
        counter=counter(None, "anthropic-messages", "claude-opus-5-5"),
        vendor="anthropic-messages",
        model="claude-opus-5-5",
    ),
]


async def plain(service: HistoryService, session: Session, question: Question) -> Estimate:
    """Estimate from the newest version as a model sees it, counting every entry from its text."""
    head = await service.store.head(H)
    assert head is not None
    _, items = await session.items(H)
    counts = [question.counter.count_entry(item.entry) for item in items]
    baseline = None if head.baseline is None else Recorded(tokens=head.baseline.tokens, len=head.baseline.len)
    return estimate(question.counter, counts, baseline=baseline, stored=head.calibration, key=question.key)


async def change(session: Session, dice: random.Random, ids: list[str], number: int) -> Applied | None:
    """Change the history somehow; return what the change answers."""
    kind = dice.choice(("append", "append", "append", "elide", "elide", "unelide", "splice", "truncate", "revert",
                        "text", "record", "record old"))  # fmt: skip
    some = dice.sample(ids, min(len(ids), 3))
    if kind == "append" or not ids:
        text = dice.choice(("output of a tool\n", "日本語の文章、", "short ")) * dice.choice((1, 40, 400))
        entries = [evolve(Entry.user(text), id=f"e{number}.{place}") for place in range(3)]
        return await session.append(H, entries)
    if kind == "elide":
        return await session.elide(H, some, {"preview": 5} if dice.random() < 0.3 else None)
    if kind == "unelide":
        return await session.unelide(H, some)
    if kind == "splice":
        return await session.splice_prefix(H, dice.randrange(3), evolve(Entry.summary("S"), id=f"s{number}"))
    if kind == "truncate":
        return await session.truncate(H, len=dice.randrange(len(ids) // 2, len(ids) + 1))
    version = (await session.head(H)).version
    if kind == "revert":
        return await session.revert(H, dice.randrange(max(1, version - 3), version + 1))
    if kind == "text":
        return await session.apply_edits(H, [SetText(entry_id=some[0], text="other " * dice.choice((1, 200)))])
    at = version if kind == "record" else dice.randrange(max(1, version - 3), version + 1)
    await session.record_tokens(H, dice.randrange(100, 30_000), QUESTIONS[dice.randrange(2) * 2], at_version=at)
    return None


@pytest.mark.parametrize("seed", range(4))
async def test_every_answer_is_what_counting_anew_gives(service: HistoryService, session: Session, seed: int) -> None:
    """After any changes, mutations, `info`, `list` and `tokenEstimate` say what the projected entries cost."""
    dice = random.Random(seed)
    ids: list[str] = []
    for number in range(20):
        applied = await change(session, dice, ids, number)
        _, items = await session.items(H)
        ids = [item.entry.id for item in items]
        default = await plain(service, session, QUESTIONS[0])
        if applied is not None:
            assert token_estimate(applied.head) == default.tokens
        assert token_estimate(await session.head(H)) == default.tokens
        assert [token_estimate(head) for head in (await session.list()).rows] == [default.tokens]
        for question in QUESTIONS:
            found = (await session.token_estimate(H, question))[1]
            assert found == await plain(service, session, question)


async def test_a_repeated_operation_gives_the_first_answer(session: Session) -> None:
    """Also where the history has moved on since, and where entries are elided."""
    from sidecar.service import Conditions

    await session.append(H, [evolve(Entry.user("word " * 900), id="a"), evolve(Entry.user("b"), id="b")])
    await session.elide(H, ["a"])
    asked = Conditions(operation_id="op")
    first = await session.append(H, [evolve(Entry.user("c"), id="c", ts=1)], asked)
    await session.unelide(H, ["a"])
    again = await session.append(H, [evolve(Entry.user("c"), id="c", ts=1)], asked)
    assert again.replayed
    assert token_estimate(again.head) == token_estimate(first.head)
    assert token_estimate(first.head) < 100 < token_estimate(await session.head(H))  # type: ignore[operator]


class Watched:
    """A store that tells how many entries were read."""

    def __init__(self, store: Any) -> None:
        self._store, self.rows = store, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def read(self, *args: Any, **kwargs: Any) -> Any:
        found = await self._store.read(*args, **kwargs)
        self.rows += len(found.rows)
        return found


async def test_an_append_counts_only_itself() -> None:
    """Once counted, nothing is read again until it changes; a bound is kept, and answers stay right beyond it."""
    async with HistoryService(open_store(":memory:"), now=lambda: 1000) as service:
        session = service.session("t")
        store = Watched(service.store)
        counted = Counted(store)  # type: ignore[arg-type]
        tight = Counted(service.store, max_numbers=20)
        reads = []
        for number in range(30):
            await session.append(H, [evolve(Entry.user("x " * 300), id=f"e{number}")])
            if number == 10:
                await session.elide(H, ["e3"])
            head = await service.store.head(H)
            assert head is not None
            store.rows = 0
            sums = await counted.sums(head, DEFAULT)
            reads.append(store.rows)
            assert list(sums) == list(await tight.sums(head, DEFAULT))
            assert (await counted.shown(head)).estimate == (sums[-1] if head.marks else head.estimate)
        assert reads == [1] * 10 + [11] + [1] * 19
        cut = await session.truncate(H, len=5)
        store.rows = 0
        assert len(await counted.sums(evolve(cut.head), DEFAULT)) == 6
        assert store.rows in (0, 5)


async def test_a_plan_that_comes_too_early_reads_nothing() -> None:
    """A client may ask before every call of a model: under the trigger only what is new is read."""
    store = Watched(open_store(":memory:"))
    async with HistoryService(store, now=lambda: 1000) as service:  # type: ignore[arg-type]
        session = service.session("t")
        early = Request(trigger=10**9, target=100)
        reads = []
        for number in range(4):
            await session.append(H, [evolve(Entry.user("x " * 300), id=f"e{number}.{place}") for place in range(5)])
            store.rows = 0
            version, plan, _ = await session.plan_splice(H, QUESTIONS[0], early)
            reads.append(store.rows)
            assert (version, plan.action, plan.reason) == (number + 1, "none", "under_trigger")
            assert plan.tokens.before == (await session.token_estimate(H, QUESTIONS[0]))[1].tokens
        assert reads == [5, 5, 5, 5]
        due = Request(trigger=10, target=2000, keep_turns=0, summary_tokens=10)
        _, plan, found = await session.plan_splice(H, QUESTIONS[0], due)
        assert plan.tokens.before == found.tokens
        assert plan.reason != "under_trigger"
