"""Elided entries: what a model sees, and which are chosen."""

from __future__ import annotations

from random import Random

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidecar.core.elision import SMALLEST, Candidate, ElisionRules, choose_elisions, elide_entry
from sidecar.core.measures import measure
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Reasoning,
    Text,
    Tool,
    ToolCall,
)

BLOCKS = st.one_of(
    st.text(max_size=400).map(Text),
    st.text(max_size=400).map(lambda text: JsonBlock({"out": text})),
    st.just(Image(mime_type="image/png", data="AAAA")),
    st.just(File(name="a.pdf", mime_type="application/pdf", data="AAAA")),
    st.just(Audio(mime_type="audio/wav", data="AAAA")),
)
ENTRIES = st.builds(
    lambda blocks, role, pinned: evolve(
        Entry.user(blocks) if role == "user" else Entry.tool(blocks, "c", "read", is_error=role == "failed"),
        id="e1",
        pinned=pinned,
    ),
    st.lists(BLOCKS, max_size=3),
    st.sampled_from(("user", "tool", "failed")),
    st.booleans(),
)


@given(ENTRIES, st.integers(0, 50))
@example(Entry.user([JsonBlock({"out": "0" * 20 + '""' + "\x1f" * 9 + "\U00010000" * 9})]), 0)
def test_a_placeholder_is_a_function_of_entry_and_policy(entry: Entry, preview: int) -> None:
    """Deterministic and idempotent; role, ids, names and flags stay; never more bytes of text; a pin stays whole."""
    policy = {"preview": preview}
    shown = elide_entry(entry, policy)
    assert shown == elide_entry(entry, policy)
    assert elide_entry(shown, policy) == shown or preview
    assert evolve(shown, message=entry.message) == entry
    before, after = entry.message, shown.message
    assert type(before) is type(after)
    if isinstance(before, Tool) and isinstance(after, Tool):
        assert evolve(after, content=before.content) == before
    assert len(getattr(after, "content", ())) == len(getattr(before, "content", ()))
    if entry.pinned:
        assert shown == entry
    if not any(isinstance(block, Image | File | Audio) for block in getattr(before, "content", ())):
        assert measure(shown).text_bytes <= measure(entry).text_bytes


@pytest.mark.parametrize(
    ("block", "placeholder"),
    [
        (Text("x" * 2000), "[tool output elided: read, 2,000 bytes, 151 tokens; ask for entry e7 to see it]"),
        (JsonBlock({"k": "x" * 993}),
         "[tool output elided: read, 1,001 bytes, 81 tokens; ask for entry e7 to see it]"),
        (Image(url="https://e.com/p", extra={"width": 1920, "height": 1080}), "[image elided: 1920x1080, entry e7]"),
        (File(name="a.pdf", mime_type="application/pdf", blob="h", extra={"pages": 3}),
         "[file elided: a.pdf pdf 3 pages, entry e7]"),
        (Audio(mime_type="audio/wav", blob="h", extra={"durationMs": 9000}), "[audio elided: wav 9 s, entry e7]"),
        (Text("short"), "short"),
    ],
)  # fmt: skip
def test_placeholders(block: Block, placeholder: str) -> None:
    """What is left says what it was, how large it was and how to see it; what is shorter than that stays."""
    entry = evolve(Entry.tool([block], "c", "read"), id="e7")
    message = elide_entry(entry).message
    assert isinstance(message, Tool)
    (shown,) = message.content
    assert isinstance(shown, Text)
    assert shown.text == placeholder


def test_preview_keeps_both_ends() -> None:
    """A preview keeps the first and the last characters."""
    entry = evolve(Entry.tool("start" + "x" * 2000 + "ending", "c", "read"), id="e7")
    text = elide_entry(entry, {"preview": 5}).text
    assert text.startswith("start\n[tool output elided: ")
    assert text.endswith("]\nnding")


def test_calls_and_reasoning_stay() -> None:
    """Eliding an assistant entry leaves its calls and its reasoning."""
    message = Assistant(
        content=(Text("a" * 900),), reasoning=(Reasoning(text="t"),), tool_calls=(ToolCall(id="c", name="n"),)
    )
    shown = elide_entry(Entry(message=message, id="e")).message
    assert isinstance(shown, Assistant)
    assert evolve(shown, content=message.content) == message
    assert shown.content != message.content


def session(dice: Random) -> list[Candidate]:
    found: list[Candidate] = []

    def add(entry: Entry, tokens: int, **more: bool) -> None:
        entry = evolve(entry, id=f"e{len(found)}", pinned=dice.random() < 0.1)
        found.append(Candidate(entry=entry, tokens=tokens, elided_tokens=min(20, tokens), **more))

    for _ in range(dice.randrange(6)):
        add(Entry.user("u"), 10)
        for _ in range(dice.randrange(4)):
            call = ToolCall(
                id=f"c{len(found)}", name=dice.choice(("read", "skill")), arguments=f'{{"p":{dice.randrange(3)}}}'
            )
            add(Entry.assistant("", tool_calls=[call]), 20)
            result = Entry.tool("r", call.id, is_error=dice.random() < 0.1)
            add(result, dice.choice((50, 300, 900, 4000)), elided=dice.random() < 0.1)
    return found


@settings(max_examples=200)
@given(st.integers(0, 2**40), st.integers(-100, 9000), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3000))
def test_the_choice(seed: int, excess: int, keep_results: int, keep_turns: int, least: int) -> None:
    """Only eligible results, oldest first, enough or none, and no more than needed."""
    candidates = session(Random(seed))
    rules = ElisionRules(
        keep_results=keep_results, keep_turns=keep_turns, exempt=frozenset(("skill",)), clear_at_least=least
    )
    pinned = frozenset(("e3", "e6"))
    chosen = choose_elisions(candidates, rules, excess=excess, pinned=pinned)
    assert list(chosen) == sorted(set(chosen))
    results = [i for i, each in enumerate(candidates) if isinstance(each.entry.message, Tool)]
    users = [i for i, each in enumerate(candidates) if each.entry.is_user]

    def asked(index: int) -> tuple[str, str]:
        (call,) = candidates[index - 1].entry.tool_calls
        return call.name, call.arguments

    def eligible(index: int) -> bool:
        each, message = candidates[index], candidates[index].entry.message
        assert isinstance(message, Tool)
        same = [i for i in results if asked(i) == asked(index)]
        old = keep_turns == 0 or (len(users) >= keep_turns and index < users[len(users) - keep_turns])
        return (
            old
            and index not in results[len(results) - keep_results :]
            and not (each.elided or each.entry.pinned or each.entry.id in pinned or message.is_error)
            and asked(index)[0] != "skill"
            and (len(same) == 1 or index != same[-1])
            and each.tokens > SMALLEST
        )

    free = [i for i in results if eligible(i)]
    assert list(chosen) == free[: len(chosen)]
    freed = sum(candidates[i].tokens - candidates[i].elided_tokens for i in chosen)
    if chosen:
        last = candidates[chosen[-1]]
        assert excess > 0
        assert freed >= least
        assert freed - (last.tokens - last.elided_tokens) < max(excess, least)
    elif excess > 0 and free:
        assert sum(candidates[i].tokens - candidates[i].elided_tokens for i in free) < least
