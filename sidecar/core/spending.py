"""Where the context goes: tokens by what they are spent on, and the heaviest entries.

Rules: the parts of an entry are what it costs with them less what it costs without, so that they add up to the entry.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence

from attrs import evolve, frozen

from sidecar.core.estimators import Counter
from sidecar.core.messages import Assistant, Audio, Entry, File, Image, Tool, User


@frozen
class Share:
    """One thing that tokens are spent on."""

    label: str
    tokens: int
    entries: int


@frozen(kw_only=True)
class Heavy:
    """One heavy entry."""

    index: int
    id: str
    label: str
    tokens: int


@frozen(kw_only=True)
class Spending:
    """All shares, the largest first, and the heaviest entries."""

    total: int
    shares: tuple[Share, ...]
    heaviest: tuple[Heavy, ...]


def spending(counter: Counter, entries: Sequence[Entry], *, most: int = 10) -> Spending:
    """Work out where the tokens of entries go, as models see them."""
    tokens: Tally[str] = Tally()
    times: Tally[str] = Tally()
    heavy: list[Heavy] = []
    names = {call.id: call.name for entry in entries for call in entry.tool_calls}
    for index, entry in enumerate(entries):
        parts = _parts(counter, entry, names)
        for label, count in parts.items():
            tokens[label] += count
            times[label] += 1
        heavy.append(
            Heavy(index=index, id=entry.id, label=max(parts, key=parts.__getitem__), tokens=sum(parts.values()))
        )
    shares = [Share(label, count, times[label]) for label, count in tokens.items()]
    return Spending(
        total=sum(tokens.values()),
        shares=tuple(sorted(shares, key=lambda share: (-share.tokens, share.label))),
        heaviest=tuple(sorted(heavy, key=lambda each: (-each.tokens, each.index))[:most]),
    )


def _parts(counter: Counter, entry: Entry, names: dict[str, str]) -> dict[str, int]:
    whole = counter.count_entry(entry)
    message = entry.message
    label = entry.role
    if isinstance(message, Tool):
        label = f"result: {message.name or names.get(message.call_id) or 'unknown tool'}"
    rest = entry
    parts: dict[str, int] = {}
    if isinstance(message, Assistant | Tool | User):
        blocks = message.blocks if isinstance(message, Assistant) else message.content
        text = tuple(block for block in blocks if not isinstance(block, Image | File | Audio))
        if len(text) < len(blocks):
            rest = evolve(rest, message=evolve(message, content=text))
            parts["images and documents"] = whole - counter.count_entry(rest)
    if isinstance(rest.message, Assistant):
        before = counter.count_entry(rest)
        if rest.message.reasoning:
            rest = evolve(rest, message=evolve(rest.message, reasoning=()))
            parts["reasoning"] = before - counter.count_entry(rest)
            before -= parts["reasoning"]
        if isinstance(rest.message, Assistant) and rest.message.tool_calls:
            rest = evolve(rest, message=evolve(rest.message, tool_calls=()))
            parts["tool calls"] = before - counter.count_entry(rest)
    parts[label] = whole - sum(parts.values())
    return parts
