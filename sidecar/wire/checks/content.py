"""X6, X14, X16, X17, X22: blank content, broken Unicode, cache markers, unknown keys, parts without a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from sidecar.core.jsontext import Json, dumps, loads
from sidecar.core.messages import (
    Assistant,
    File,
    JsonBlock,
    Message,
    Opaque,
    Refusal,
    Text,
    Tool,
    ToolCall,
    VendorBlock,
)
from sidecar.wire import fixes as cure
from sidecar.wire.base import Item
from sidecar.wire.checks.judge import Judge, article, family, name_call, short
from sidecar.wire.survey import CACHE_KEYS, is_blank, well_formed


def texts(judge: Judge) -> None:
    limits = judge.limits
    for position in judge.facts.empty_content:
        message = judge.message(position)
        item = judge.items[position]
        if message.tool_calls:
            judge.add(
                "X6",
                limits.null_with_calls,
                position,
                "an assistant turn with calls has no content; the vendor wants a string",
                cure.fix("Write empty content", cure.replace(item, evolve(message, content=cure.one_text("")))),
            )
        else:
            judge.add(
                "X6",
                limits.empty_assistant or limits.null_alone,
                position,
                "an assistant turn has neither content nor calls",
                cure.fix("Remove the empty turn", cure.remove(item)),
            )
    for fact in judge.facts.texts:
        message = judge.message(fact.position)
        visible = fact.visible or limits.vendor in fact.vendors
        if visible:
            for number in fact.blanks:
                judge.add(
                    "X6",
                    limits.blank_text,
                    fact.position,
                    f"text block {number} holds no visible character",
                    cure.fix("Remove the blank block", cure.without_block(judge.items[fact.position], number)),
                )
        elif isinstance(message, Tool):
            _blank_result(judge, fact.position, message)
        elif isinstance(message, Assistant) and message.tool_calls:
            if fact.blanks:
                # An empty string beside calls is how several vendors write "no text"; only white space is text.
                judge.add(
                    "X6",
                    "info" if limits.blank_text and _is_empty(message) else limits.blank_text,
                    fact.position,
                    "an assistant turn with calls has a text without a visible character",
                    cure.fix(
                        "Leave the content out",
                        cure.replace(judge.items[fact.position], evolve(message, content=None)),
                    ),
                )
        else:
            severity = limits.blank_text
            if isinstance(message, Assistant) and (severity is None or _is_empty(message)):
                severity = limits.empty_assistant if _is_empty(message) else None
            judge.add(
                "X6",
                severity,
                fact.position,
                f"{article(message.ROLE)} entry holds nothing visible",
                cure.fix("Remove the empty entry", cure.remove(judge.items[fact.position])),
            )


def _is_empty(message: Assistant) -> bool:
    """Say whether there is not even white space."""
    return all(isinstance(block, Text | Refusal) and not block.text for block in message.blocks)


def _blank_result(judge: Judge, position: int, message: Tool) -> None:
    severity = judge.limits.blank_error_result if message.is_error else judge.limits.blank_result
    judge.add(
        "X6",
        severity,
        position,
        f"the result of call {short(message.call_id)} holds nothing visible",
        cure.fix(
            "Say that there was no output",
            cure.replace(judge.items[position], evolve(message, content=cure.one_text(cure.NO_OUTPUT))),
        ),
    )


def unicode(judge: Judge) -> None:
    for position in judge.facts.surrogates:
        item = judge.items[position]
        judge.add(
            "X14",
            "error",
            position,
            "a string holds half of a character pair, which is not Unicode",
            cure.fix("Replace it by U+FFFD", *_mend(judge, item, position)),
        )


def _mend(judge: Judge, item: Item, position: int) -> list[cure.Edit | None]:
    """Mend one entry, and the calls or results of others that share a mended id."""
    edits = [cure.replace(item, _well_formed(item.entry.message))]
    for fact in judge.facts.calls if isinstance(item.entry.message, Assistant) else ():
        if fact.position == position and fact.result is not None and well_formed(fact.call.id) != fact.call.id:
            edits.append(cure.replace(judge.items[fact.result], _well_formed(judge.items[fact.result].entry.message)))
    answered = judge.facts.answers.get(position)
    if answered is not None and well_formed(answered.call.id) != answered.call.id:
        caller = judge.items[answered.position]
        edits.append(cure.replace(caller, _well_formed(caller.entry.message)))
    return edits


def markers(judge: Judge) -> None:
    most = judge.limits.max_cache_markers
    if most is None:
        return
    good: list[tuple[int, int]] = []
    for position, number in judge.facts.markers:
        message = judge.message(position)
        block = message.content[number] if number >= 0 else None
        if number == -1 or (isinstance(block, Text) and is_blank(block.text)):
            judge.add(
                "X16",
                "error",
                position,
                "a cache marker stands on reasoning or on an empty text",
                cure.fix("Take the cache marker out", cure.replace(judge.items[position], _unmarked(message, number))),
            )
        else:
            good.append((position, number))
    for position, number in good[: max(0, len(good) - most)]:
        judge.add(
            "X16",
            "error",
            position,
            f"there are more than {most} cache markers",
            cure.fix(
                "Take the cache marker out",
                cure.replace(judge.items[position], _unmarked(judge.message(position), number)),
            ),
        )


def keys(judge: Judge) -> None:
    if not judge.limits.strict_keys:
        return
    for position, key in judge.facts.unknown_keys:
        judge.add("X17", "warning", position, f"the key {short(key)} is unknown to {judge.limits.vendor}")


def unprojectable(judge: Judge) -> None:
    for position, number, block in judge.facts.foreign:
        if isinstance(block, VendorBlock) and family(block.vendor) == family(judge.limits.vendor):
            value = block.value if isinstance(block.value, dict) else {}
            kind = value.get("type")
            if not judge.limits.own_forms.isdisjoint([kind] if isinstance(kind, str) else value):
                message = f"block {number} is a call, a result or reasoning as a vendor block and has no partner"
                judge.add("X17", "warning", position, message)
            continue
        judge.add("X22", "warning", position, f"block {number} has no form for {judge.limits.vendor} and is left out")
    most = judge.limits.max_repeats
    if most is None:
        return
    run = 0
    before: tuple[str, str] | None = None
    for fact in judge.facts.calls:
        same = (fact.call.name, fact.call.arguments)
        run = run + 1 if same == before else 1
        before = same
        if run == most + 1:
            judge.add(
                "X22",
                "warning",
                fact.position,
                f"{name_call(fact)} repeats the calls before it; a loop guard may refuse",
            )


def _unmarked(message: Any, number: int) -> Any:
    if number == -2:
        return evolve(message, extra=_without_markers(message.extra))
    if number == -1:
        parts = tuple(evolve(part, extra=_without_markers(part.extra)) for part in message.reasoning)
        return evolve(message, reasoning=parts)
    block = message.content[number]
    if isinstance(block, Opaque):
        block = Opaque(block.type, _without_markers(block.raw))
    else:
        block = evolve(block, extra=_without_markers(block.extra))
    return evolve(message, content=(*message.content[:number], block, *message.content[number + 1 :]))


def _without_markers(extra: Mapping[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in extra.items() if key not in CACHE_KEYS}


def _well_formed(message: Any) -> Message:
    """Return the message with every lone surrogate replaced."""
    changes: dict[str, Any] = {}
    for name in ("text", "name", "call_id"):
        value = getattr(message, name, None)
        if isinstance(value, str):
            changes[name] = well_formed(value)
    if isinstance(getattr(message, "content", None), tuple):
        changes["content"] = tuple(_well_formed_block(block) for block in message.content)
    if isinstance(message, Assistant):
        changes["reasoning"] = tuple(
            part if part.text is None else evolve(part, text=well_formed(part.text)) for part in message.reasoning
        )
        changes["tool_calls"] = tuple(_well_formed_call(call) for call in message.tool_calls)
    made: Message = evolve(message, **changes)
    return made


def _well_formed_call(call: ToolCall) -> ToolCall:
    arguments = call.arguments
    try:
        value = loads(arguments)
    except ValueError:
        arguments = well_formed(arguments)
    else:
        mended = _well_formed_json(value)
        if mended != value:
            arguments = dumps(mended)
    return evolve(call, id=well_formed(call.id), name=well_formed(call.name), arguments=arguments)


def _well_formed_block(block: Any) -> Any:
    if isinstance(block, Text | Refusal):
        return evolve(block, text=well_formed(block.text))
    if isinstance(block, JsonBlock):
        return evolve(block, value=_well_formed_json(block.value))
    if isinstance(block, File) and block.name is not None:
        return evolve(block, name=well_formed(block.name))
    return block


def _well_formed_json(value: Json) -> Json:
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_well_formed_json(part) for part in value]
    if isinstance(value, dict):
        return {well_formed(key): _well_formed_json(part) for key, part in value.items()}
    return value
