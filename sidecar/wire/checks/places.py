"""X9 to X12, X18, X21: where system text may stand, how the list begins and ends, how roles follow each other."""

from __future__ import annotations

from attrs import evolve

from sidecar.core.messages import ABSENT, Assistant, Entry, Message, Note, System, Text, Tool, User
from sidecar.wire import fixes as cure
from sidecar.wire.base import Severity
from sidecar.wire.checks.judge import Judge
from sidecar.wire.fixes import Fixes


def system_places(judge: Judge) -> None:
    limits = judge.limits
    leading = judge.facts.leading_systems
    for position in judge.facts.systems:
        if position >= leading:
            if limits.system == "anywhere":
                continue
            severity = _late_system(judge, position)
            message = judge.message(position)
            judge.add(
                "X9",
                severity,
                position,
                f"system text stands inside the conversation, where {limits.vendor} takes none",
                cure.fix(
                    "Make it a note",
                    cure.replace(judge.items[position], Note(message.text, message.extra)),
                ),
            )
        elif position:
            judge.add(
                "X9",
                limits.second_system,
                position,
                "a second system text stands in front; chat templates take one",
                _merge(judge, position - 1, position),
            )


def _late_system(judge: Judge, position: int) -> Severity | None:
    """Say how bad a late system text is; some vendors take one right behind a user turn, in front of a reply."""
    before = judge.message(position - 1)
    after = judge.message(position + 1) if position + 1 < len(judge.items) else None
    if judge.limits.vendor == "anthropic-messages":
        behind_user = isinstance(before, User | Tool) and (after is None or isinstance(after, Assistant))
    else:
        behind_user = isinstance(before, User)
    return judge.limits.system_behind_user if behind_user else judge.limits.late_system


def ends(judge: Judge) -> None:
    limits = judge.limits
    turns = judge.facts.turns
    if not turns:
        judge.add("X18", "error", 0 if judge.items else None, "there is no message to send")
        return
    last = turns[-1][0]
    message = judge.message(last)
    if isinstance(message, Assistant) and not message.tool_calls:
        judge.add("X10", limits.last_assistant, last, "the list ends with the assistant")
        block = message.blocks[-1] if message.blocks else None
        if isinstance(block, Text) and block.text.strip() and block.text != block.text.rstrip():
            judge.add(
                "X10",
                limits.trailing_space,
                last,
                "the final assistant text ends with white space",
                cure.fix(
                    "Trim the end",
                    cure.set_text(judge.items[last], block.text.rstrip(), len(message.blocks) - 1),
                ),
            )
    first, role = turns[0]
    if role == "assistant":
        judge.add(
            "X11",
            limits.first_assistant,
            first,
            "the list begins with the assistant",
            _opening(judge, first, cure.EARLIER),
        )
    if not any(role in ("user", "any") for _, role in turns):
        judge.add("X18", limits.no_user, first, "there is no user message", _opening(judge, first, cure.GO_ON))
    if limits.user_after_result is not None:
        for (earlier, before), (position, role) in zip(turns, turns[1:], strict=False):
            if before == "tool" and role == "user" and position == earlier + 1:
                bridge = cure.insert(judge.items[position].index, Entry.assistant(cure.BRIDGE))
                judge.add(
                    "X21",
                    limits.user_after_result,
                    position,
                    "a user message stands directly behind a tool result",
                    cure.fix("Put an assistant message between", bridge),
                )


def _opening(judge: Judge, position: int, text: str) -> Fixes:
    return cure.fix("Begin with a user message", cure.insert(judge.items[position].index, Entry.user(text)))


def alternation(judge: Judge) -> None:
    severity = judge.limits.repeated_role
    if severity is None:
        return
    for (earlier, before), (position, role) in zip(judge.facts.turns, judge.facts.turns[1:], strict=False):
        if before == role and role in ("user", "assistant"):
            judge.add(
                "X12",
                severity,
                position,
                f"two {role} messages stand in a row",
                _merge(judge, earlier, position),
            )


def _merge(judge: Judge, earlier: int, position: int) -> Fixes:
    """Join two neighbours of one role into the earlier entry."""
    first, second = judge.items[earlier], judge.items[position]
    if (
        not judge.follows(position, earlier)
        or first.elided
        or second.elided
        or first.entry.auto_injected
        or second.entry.auto_injected
    ):
        return ()
    joined = _joined(first.entry, second.entry)
    if joined is None:
        return ()
    entry = evolve(first.entry, message=joined)
    return cure.fix("Join the two messages", cure.splice(first.index, 2, [entry]))


def _joined(first: Entry, second: Entry) -> Message | None:
    """Join two messages of one role, where nothing of either is lost by it."""
    if first.agent != second.agent or first.principal != second.principal or second.pinned and not first.pinned:
        return None
    match first.message, second.message:
        case System() as one, System() as two:
            return evolve(one, text=f"{one.text}\n\n{two.text}", extra={**two.extra, **one.extra})
        case User() as one, User() as two:
            if one.extra != two.extra:
                return None
            return evolve(one, content=one.content + two.content)
        case Assistant() as one, Assistant() as two:
            if one.tool_calls or one.reasoning or two.reasoning or one.origin != two.origin or one.extra != two.extra:
                return None
            content = one.blocks + two.blocks
            keep = content or (one.content if one.content is not ABSENT else two.content)
            return evolve(one, content=keep, tool_calls=two.tool_calls)
    return None
