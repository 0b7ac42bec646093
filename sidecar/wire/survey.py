"""One reading of a history for the checker: pairs, places and oddities, before any vendor is asked.

Rules: vendor-neutral and linear. A position counts the items given, an index (`Item.index`) counts stored entries.
Calls and results are paired by id over the whole history: a result answers the newest turn that still has an open
call with its id, inside a turn the first such call. So ids that repeat from turn to turn (`call_0`) pair rightly.
The projector has its own pairing on purpose; each judges the other.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import Factory, define, frozen

from sidecar.core.jsontext import loads
from sidecar.core.messages import (
    ABSENT,
    Assistant,
    Audio,
    Block,
    File,
    Image,
    JsonBlock,
    Note,
    Opaque,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.wire.base import Item

CACHE_KEYS = ("cache_control", "cacheControl", "cachePoint")
"""Keys under which clients keep a cache marker on a block or message."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


@define
class CallFact:
    """One call: where it stands, which position answers it, and whether its id was used before."""

    position: int
    number: int
    call: ToolCall
    result: int | None = None
    adjacent: bool = False
    repeated: Literal["turn", "request"] | None = None


@frozen(kw_only=True)
class TextFact:
    """An entry with blank text or nothing visible; `vendors` are those for which a vendor block is visible content."""

    position: int
    blanks: tuple[int, ...]
    visible: bool
    vendors: frozenset[str]


@define
class Survey:
    """What the checker needs to know; lists are in reading order and hold positions."""

    items: Sequence[Item]
    calls: list[CallFact] = Factory(list)
    orphans: list[int] = Factory(list)
    repeated_results: list[int] = Factory(list)
    answers: dict[int, CallFact] = Factory(dict)
    run_end: dict[int, int] = Factory(dict)
    texts: list[TextFact] = Factory(list)
    empty_content: list[int] = Factory(list)
    systems: list[int] = Factory(list)
    leading_systems: int = 0
    turns: list[tuple[int, str]] = Factory(list)
    media: list[tuple[int, int, Image | File | Audio]] = Factory(list)
    foreign: list[tuple[int, int, VendorBlock | Opaque]] = Factory(list)
    reasoning: list[tuple[int, int, Reasoning]] = Factory(list)
    names: list[tuple[int, str]] = Factory(list)
    unknown_keys: list[tuple[int, str]] = Factory(list)
    markers: list[tuple[int, int]] = Factory(list)
    surrogates: list[int] = Factory(list)
    call_ids: set[str] = Factory(set)
    tool_names: set[str] = Factory(set)

    def result_run(self, position: int) -> int:
        """Return the position behind the results that stand directly behind `position`."""
        return self.run_end.get(position, position + 1)


def survey(items: Sequence[Item]) -> Survey:
    """Read the items once."""
    out = Survey(items)
    _pair(out)
    for position, item in enumerate(items):
        _content(out, position, item)
        if any(_SURROGATE.search(text) for text in strings(item.entry.message) if not text.isascii()):
            out.surrogates.append(position)
    while out.leading_systems < len(items) and isinstance(items[out.leading_systems].entry.message, System):
        out.leading_systems += 1
    return out


def well_formed(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def is_blank(text: str) -> bool:
    """Say whether a reader sees nothing."""
    return not text.strip()


def _pair(out: Survey) -> None:
    open_calls: dict[str, list[deque[CallFact]]] = {}
    used: set[str] = set()
    run_of: int | None = None
    for position, item in enumerate(out.items):
        message = item.entry.message
        if isinstance(message, Tool):
            fact = _take(open_calls.get(message.call_id))
            if fact is not None:
                fact.result = position
                fact.adjacent = run_of == fact.position
                out.answers[position] = fact
            elif message.call_id in used:
                out.repeated_results.append(position)
            else:
                out.orphans.append(position)
            out.call_ids.add(message.call_id)
            if run_of is not None:
                out.run_end[run_of] = position + 1
            continue
        run_of = position
        if not isinstance(message, Assistant):
            continue
        turn: dict[str, deque[CallFact]] = {}
        for number, call in enumerate(message.tool_calls):
            fact = CallFact(position, number, call)
            if call.id in turn:
                fact.repeated = "turn"
            elif call.id in used:
                fact.repeated = "request"
            turn.setdefault(call.id, deque()).append(fact)
            out.calls.append(fact)
            out.call_ids.add(call.id)
            out.tool_names.add(call.name)
        for call_id, facts in turn.items():
            open_calls.setdefault(call_id, []).append(facts)
            used.add(call_id)


def _take(stack: list[deque[CallFact]] | None) -> CallFact | None:
    while stack:
        if stack[-1]:
            return stack[-1].popleft()
        stack.pop()
    return None


def _content(out: Survey, position: int, item: Item) -> None:
    message = item.entry.message
    _extras(out, position, message.extra)
    match message:
        case System():
            out.systems.append(position)
            _text_only(out, position, message.text)
            return
        case Note() | Summary():
            out.turns.append((position, "any"))
            _text_only(out, position, message.text)
            return
        case User():
            out.turns.append((position, "user"))
            blocks = message.content
        case Tool():
            out.turns.append((position, "tool"))
            blocks = message.content
        case Assistant():
            out.turns.append((position, "assistant"))
            blocks = message.blocks
            for number, part in enumerate(message.reasoning):
                out.reasoning.append((position, number, part))
                if any(key in part.extra for key in CACHE_KEYS):
                    out.markers.append((position, -1))
            if message.content is ABSENT or message.content is None:
                out.empty_content.append(position)
                return
    _blocks(out, position, blocks)


def _text_only(out: Survey, position: int, text: str) -> None:
    if is_blank(text):
        out.texts.append(TextFact(position=position, blanks=(0,), visible=False, vendors=frozenset()))


def _extras(out: Survey, position: int, extra: Mapping[str, Any]) -> None:
    for key, value in extra.items():
        if key == "name" and isinstance(value, str):
            out.names.append((position, value))
        elif key in CACHE_KEYS:
            out.markers.append((position, -2))
        if not key.startswith("_") and key != "name":
            out.unknown_keys.append((position, key))


def _blocks(out: Survey, position: int, blocks: Sequence[Block]) -> None:
    blanks: list[int] = []
    vendors: set[str] = set()
    visible = False
    for number, block in enumerate(blocks):
        match block:
            case Text() | Refusal():
                if is_blank(block.text):
                    blanks.append(number)
                else:
                    visible = True
            case JsonBlock():
                visible = True
            case VendorBlock():
                vendors.add(block.vendor)
                out.foreign.append((position, number, block))
            case Opaque():
                out.foreign.append((position, number, block))
            case Image() | File() | Audio():
                visible = True
                out.media.append((position, number, block))
        extra = block.raw if isinstance(block, Opaque) else block.extra
        if extra and any(key in extra for key in CACHE_KEYS):
            out.markers.append((position, number))
    if blanks or not visible:
        out.texts.append(TextFact(position=position, blanks=tuple(blanks), visible=visible, vendors=frozenset(vendors)))


def strings(message: object) -> Iterator[str]:
    """Yield every string of a message that a projection could send."""
    if isinstance(message, System | Note | Summary):
        yield message.text
        return
    if isinstance(message, User):
        yield from _block_strings(message.content)
    elif isinstance(message, Tool):
        yield message.call_id
        yield message.name or ""
        yield from _block_strings(message.content)
    elif isinstance(message, Assistant):
        yield from _block_strings(message.blocks)
        for part in message.reasoning:
            yield part.text or ""
        for call in message.tool_calls:
            yield call.id
            yield call.name
            yield call.arguments
            if _ESCAPE.search(call.arguments):
                # An escaped half is well-formed text, but not well-formed JSON content.
                yield from _argument_strings(call.arguments)


def _block_strings(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Text() | Refusal():
                yield block.text
            case JsonBlock():
                yield from _json_strings(block.value)
            case File():
                yield block.name or ""


def _argument_strings(arguments: str) -> Iterator[str]:
    try:
        value = loads(arguments)
    except ValueError:
        return
    yield from _json_strings(value)


def _json_strings(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            pending.extend(part)
        elif isinstance(part, dict):
            pending.extend(part)
            pending.extend(part.values())
