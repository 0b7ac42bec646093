"""X5, X7, X19: tool names, arguments and participant names."""

from __future__ import annotations

import re

from attrs import evolve

from sidecar.core.jsontext import loads
from sidecar.core.messages import Tool
from sidecar.wire import fixes as cure
from sidecar.wire.checks.judge import Judge, name_call
from sidecar.wire.fixes import Fixes
from sidecar.wire.survey import CallFact

_NAME = re.compile(r"[a-zA-Z0-9_-]+")


def names(judge: Judge) -> None:
    limits = judge.limits
    if limits.tool_name is not None:
        legal = re.compile(limits.tool_name)
        for fact in judge.facts.calls:
            if legal.fullmatch(fact.call.name):
                continue
            judge.add(
                "X5",
                limits.tool_name_severity if fact.call.name else "error",
                fact.position,
                f"{name_call(fact)} names a tool in a form that {limits.vendor} refuses",
                _rename_tool(judge, fact),
            )
    else:
        for fact in judge.facts.calls:
            if not fact.call.name:
                judge.add("X5", "error", fact.position, f"{name_call(fact)} names no tool", _rename_tool(judge, fact))
    if limits.names == "free":
        return
    for position, name in judge.facts.names:
        if limits.names == "pattern" and _NAME.fullmatch(name):
            continue
        if isinstance(judge.message(position), Tool):
            continue
        words = "has characters that it refuses" if limits.names == "pattern" else "is a key that it refuses"
        judge.add(
            "X19",
            "error",
            position,
            f"the participant's name {words}",
            cure.fix("Take out the name", _without_key(judge, position, "name")),
        )


def _rename_tool(judge: Judge, fact: CallFact) -> Fixes:
    made = cure.plain_name(fact.call.name, judge.facts.tool_names, judge.limits.tool_name or ".+")
    call = evolve(fact.call, name=made)
    edits = [
        cure.replace(judge.items[fact.position], cure.with_calls(judge.message(fact.position), {fact.number: call}))
    ]
    if fact.result is not None and judge.message(fact.result).name is not None:
        edits.append(cure.replace(judge.items[fact.result], evolve(judge.message(fact.result), name=made)))
    return cure.fix("Give the tool a plain name", *edits)


def _without_key(judge: Judge, position: int, key: str) -> cure.Edit | None:
    message = judge.message(position)
    extra = {name: value for name, value in message.extra.items() if name != key}
    return cure.replace(judge.items[position], evolve(message, extra=extra))


def arguments(judge: Judge) -> None:
    for fact in judge.facts.calls:
        text = fact.call.arguments
        if text == "{}" or _is_object(text):
            continue
        call = evolve(fact.call, arguments=cure.object_arguments(text))
        item = judge.items[fact.position]
        judge.add(
            "X7",
            "error",
            fact.position,
            f"the arguments of {name_call(fact)} are not a JSON object",
            cure.fix(
                "Make the arguments an object",
                cure.replace(item, cure.with_calls(judge.message(fact.position), {fact.number: call})),
            ),
        )


def _is_object(text: str) -> bool:
    if not text.lstrip(" \t\r\n").startswith("{"):
        return False
    try:
        return isinstance(loads(text), dict)
    except ValueError:
        return False
