"""X1 to X4: calls and results belong together, each pair once, under ids that the vendor takes."""

from __future__ import annotations

import re

from attrs import evolve

from sidecar.core.messages import Entry
from sidecar.wire import fixes as cure
from sidecar.wire.checks.judge import Judge, name_call, short
from sidecar.wire.fixes import Fixes
from sidecar.wire.survey import CallFact


def pairs(judge: Judge) -> None:
    for fact in judge.facts.calls:
        if fact.result is None:
            judge.add("X1", "error", fact.position, f"{name_call(fact)} has no result", _answer(judge, fact))
        elif not fact.adjacent:
            judge.add(
                "X1",
                "error",
                fact.position,
                f"the result of {name_call(fact)} does not stand directly behind it",
                _move_result(judge, fact),
            )
    for position in judge.facts.orphans:
        item = judge.items[position]
        judge.add(
            "X2",
            "error",
            position,
            f"tool result {short(judge.message(position).call_id)} answers no call before it",
            cure.fix("Remove the result", cure.remove(item)),
        )
    for position in judge.facts.repeated_results:
        item = judge.items[position]
        judge.add(
            "X3",
            "error",
            position,
            f"call {short(judge.message(position).call_id)} has more than one result",
            cure.fix("Remove the later result", cure.remove(item)),
        )


def _answer(judge: Judge, fact: CallFact) -> Fixes:
    if judge.items[fact.position].entry.auto_injected:
        return ()
    result = Entry.tool(cure.NO_RESULT, fact.call.id, fact.call.name, is_error=True)
    return cure.fix("Add an error result", cure.insert(_run_index(judge, fact.position), result))


def _move_result(judge: Judge, fact: CallFact) -> Fixes:
    assert fact.result is not None
    item = judge.items[fact.result]
    if item.elided or item.entry.auto_injected or judge.items[fact.position].entry.auto_injected:
        return ()
    return cure.fix(
        "Move the result behind its call",
        cure.remove(item),
        cure.insert(_run_index(judge, fact.position), item.entry),
    )


def _run_index(judge: Judge, position: int) -> int:
    """Return the stored index behind the results that already stand directly behind a turn."""
    return judge.items[judge.facts.result_run(position) - 1].index + 1


def ids(judge: Judge) -> None:
    limits = judge.limits
    pattern = re.compile(limits.call_id) if limits.call_id is not None else None
    verdicts: dict[str, bool] = {}
    for fact in judge.facts.calls:
        call_id = fact.call.id
        if pattern is not None:
            legal = verdicts.get(call_id)
            if legal is None:
                legal = verdicts[call_id] = pattern.fullmatch(call_id) is not None
            if not legal:
                judge.add(
                    "X4",
                    "error",
                    fact.position,
                    f"{name_call(fact)} has an id that {limits.vendor} refuses; it takes {limits.call_id_words}",
                    _rename_call(judge, fact),
                )
        if fact.repeated is None or limits.unique_ids is None:
            continue
        severe = fact.repeated == "turn" or limits.unique_ids == "request"
        judge.add(
            "X3",
            "error" if severe else "warning",
            fact.position,
            f"{name_call(fact)} has the id of an earlier call",
            _rename_call(judge, fact),
        )


def _rename_call(judge: Judge, fact: CallFact) -> Fixes:
    made = cure.fresh_id(fact.call.id, judge.items[fact.position].index, fact.number, judge.facts.call_ids)
    call = evolve(fact.call, id=made)
    edits = [
        cure.replace(judge.items[fact.position], cure.with_calls(judge.message(fact.position), {fact.number: call}))
    ]
    if fact.result is not None:
        edits.append(cure.replace(judge.items[fact.result], evolve(judge.message(fact.result), call_id=made)))
    return cure.fix("Give the call another id", *edits)
