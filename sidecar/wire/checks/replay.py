"""X13: reasoning goes back whole, to whom it belongs, and not where the prefix changed."""

from __future__ import annotations

from attrs import evolve

from sidecar.core.messages import Reasoning
from sidecar.wire import fixes as cure
from sidecar.wire.base import Severity
from sidecar.wire.checks.judge import Judge, family, name_call

_RANK: dict[Severity, int] = {"info": 0, "warning": 1, "error": 2}


def reasoning(judge: Judge) -> None:
    stale: dict[int, tuple[Severity, str, list[int]]] = {}
    for position, number, part in judge.facts.reasoning:
        verdict = _replay(judge, position, part)
        if verdict is None:
            continue
        severity, words = verdict
        known = stale.get(position)
        if known is None:
            stale[position] = (severity, words, [number])
        else:
            if _RANK[severity] > _RANK[known[0]]:
                known = (severity, words, known[2])
            stale[position] = (known[0], known[1], [*known[2], number])
    for position, (severity, words, numbers) in stale.items():
        message = judge.message(position)
        kept = tuple(part for number, part in enumerate(message.reasoning) if number not in numbers)
        edit = None
        if severity != "info" and (kept or message.blocks or message.tool_calls):
            edit = cure.replace(judge.items[position], evolve(message, reasoning=kept))
        judge.add("X13", severity, position, words, cure.fix("Take the reasoning out", edit))
    _missing_reasoning(judge)
    _missing_signatures(judge)


def _replay(judge: Judge, position: int, part: Reasoning) -> tuple[Severity, str] | None:
    """Say what is wrong with sending one piece of reasoning back, if anything."""
    kind = judge.limits.replay
    if kind == "none":
        return ("info", f"{judge.limits.vendor} has no place for reasoning")
    if kind in ("text", "details"):
        if kind == "text" and not part.text:
            return ("info", f"{judge.limits.vendor} takes reasoning as text only, and this one has none")
        return None
    origin = judge.message(position).origin
    made_by = part.vendor or (origin.vendor if origin else None)
    if made_by is None or family(made_by) != family(judge.limits.vendor):
        return ("warning", "reasoning of another origin cannot be replayed")
    opaque = part.data if kind == "encrypted" else part.signature or part.data
    if not opaque:
        return ("warning", "reasoning without its signed or encrypted bytes cannot be replayed")
    if part.cleared:
        return ("error", "the text of signed reasoning was emptied, so its signature no longer fits")
    if kind == "signed" and judge.items[position].prefix_changed:
        return ("error", "something before this signed reasoning changed, so its signature no longer fits")
    scope = part.scope or (origin.scope if origin else None)
    if scope is not None and judge.options.scope is not None and scope != judge.options.scope:
        return ("error", "reasoning of another account or endpoint cannot be replayed")
    return None


def _fits(judge: Judge, position: int, part: Reasoning) -> bool:
    return bool(part.signature or part.data) and _replay(judge, position, part) is None


def _missing_reasoning(judge: Judge) -> None:
    thinking = judge.capability("thinking")
    signed = judge.limits.vendor == "anthropic-messages" and thinking is True
    if thinking is False or not (judge.limits.reasoning_with_calls or signed):
        return
    start = judge.current_turn() if signed else 0
    for position, role in judge.facts.turns:
        if role != "assistant" or position < start:
            continue
        message = judge.message(position)
        if not message.tool_calls:
            continue
        usable = [part for part in message.reasoning if (part.text if not signed else _fits(judge, position, part))]
        if not usable:
            severity: Severity = "error" if thinking is True and not signed else "warning"
            judge.add("X13", severity, position, "a turn with calls has no reasoning; with thinking on it is refused")


def _missing_signatures(judge: Judge) -> None:
    """Gemini 3 wants a signature on the first call of each step of the current turn."""
    if judge.limits.replay != "thought":
        return
    strict = judge.capability("thinking") is True or (judge.options.model or "").startswith("gemini-3")
    if not strict and (judge.options.model is not None or judge.capability("thinking") is False):
        return
    start = judge.current_turn()
    for fact in judge.facts.calls:
        if fact.position < start or fact.number:
            continue
        message = judge.message(fact.position)
        if not fact.call.signature and not any(_fits(judge, fact.position, part) for part in message.reasoning):
            judge.add(
                "X13",
                "error" if strict else "info",
                fact.position,
                f"{name_call(fact)} carries no thought signature; newer models refuse it in the current turn",
            )
