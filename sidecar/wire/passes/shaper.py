"""The fold that every vendor shares: unit after unit in, messages out.

Rules:
- A shaper only ever appends, or merges into its last message. So the payload of a list is a prefix of the payload of
  a longer list, up to that last message and to what `body` adds at the very end.
- System text (X9): the leading run goes to the vendor's system slot; later text is a system message where the wire
  allows one there, else marked user text in place, never between a call and its results.
- `body` may change what it wants, since a shaper is forked before it is asked for its body (see `sidecar.wire`).
"""

from __future__ import annotations

from copy import copy
from typing import TypeVar

from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, Note, Summary, System, Text, User
from sidecar.wire.base import Item
from sidecar.wire.passes.content import assistant_blocks, result_blocks, user_blocks
from sidecar.wire.passes.identifiers import CallIds, ToolNames
from sidecar.wire.passes.layout import Call, Round, Unit
from sidecar.wire.passes.unicode import scrub
from sidecar.wire.projection import Context

NOTE = "[note] "
SYSTEM = "[system] "
_NAME = frozenset(("name",))
SUMMARY = "[summary of the earlier conversation]\n"

Self = TypeVar("Self", bound="BaseShaper")
Message = dict[str, Json]


class BaseShaper:
    """What the families have in common; a family says how messages are written."""

    KNOWN_EXTRA: frozenset[str] = frozenset()
    """Keys that a message may hold beside those of the protocol, and that this wire sends or needs not."""

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        self.context = context
        self.rules = context.rules
        self.report = context.report
        self.capabilities = context.capabilities
        self.ids = CallIds(context.rules.call_ids)
        self.names = ToolNames(context.rules.names, names)
        self.messages: list[Message] = []
        self.leading = True
        """No message but system text was seen yet."""
        self._repeated: tuple[tuple[str, str], ...] = ()
        self._repeats = 0
        self._told_ids = False

    # --- the fold -----------------------------------------------------------------------------------------------------

    def add(self, unit: Unit) -> None:
        """Take the next unit of the layout."""
        if isinstance(unit, Round):
            self.leading = False
            self.round(unit)
            return
        message = unit.entry.message
        kind = type(message)
        if message.extra:
            self._report_extra(unit)
        if unit.elided:
            self.report.loss("X22", "info", unit, "the entry is elided; the model sees a short text in its place")
        if kind is User:
            self.leading = False
            hoisted: list[Block] = []
            self.user(unit, user_blocks(unit, self.context, hoisted))
        elif kind is Assistant:
            self.leading = False
            hoisted = []
            self.assistant((unit,), assistant_blocks(unit, self.context, hoisted), ())
            if hoisted:
                self.attach(unit, hoisted)
        elif isinstance(message, System):
            self._system(unit, message.text, SYSTEM)
        elif isinstance(message, Note):
            self._system(unit, NOTE + message.text if message.text.strip() else "", "")
        elif isinstance(message, Summary):
            self.leading = False
            text = self._clean(message.text, unit)
            self.user(unit, [Text(SUMMARY + text)] if text.strip() else [])

    def round(self, unit: Round) -> None:
        """Write one assistant message with calls, and the results."""
        blocks: list[Block] = []
        hoisted: list[Block] = []
        for item in unit.items:
            if item.entry.message.extra:
                self._report_extra(item)
            if item.elided:
                self.report.loss("X22", "info", item, "the entry is elided; the model sees a short text in its place")
            blocks += assistant_blocks(item, self.context, hoisted)
        sent = tuple([(self._call_id(call), self._call_name(call)) for call in unit.calls])
        for call in unit.calls:
            if call.call.signature is not None or call.call.extra:
                self._report_call(call)
        self.assistant(unit.items, blocks, tuple(zip(unit.calls, sent, strict=True)))
        outcome: list[tuple[Call, str, str, list[Block], bool]] = []
        for call, (call_id, name) in zip(unit.calls, sent, strict=True):
            result = call.result
            if result is None:
                outcome.append((call, call_id, name, [Text(self.context.placeholder("result"))], True))
                continue
            message = result.entry.message
            if message.extra:
                self._report_extra(result)
            if result.elided:
                self.report.loss("X22", "info", result, "the entry is elided; the model sees a short text in its place")
            blocks = result_blocks(result, self.context, hoisted)
            outcome.append((call, call_id, name, blocks, message.is_error))  # type: ignore[union-attr]
        if self.ids.format == "none" and not self._told_ids:
            self._told_ids = True
            self.report.loss("X4", "info", unit.items[0], "call ids are not on this wire; results follow in call order")
        self.results(outcome)
        if hoisted:
            self.attach(unit.calls[-1].item, hoisted)
        if self.rules.repeats is not None:
            self._watch_repeats(unit, self.rules.repeats)

    # --- what a family writes -----------------------------------------------------------------------------------------

    def user(self, item: Item, blocks: list[Block]) -> None:
        """Write a user message."""
        raise NotImplementedError

    def assistant(
        self, items: tuple[Item, ...], blocks: list[Block], calls: tuple[tuple[Call, tuple[str, str]], ...]
    ) -> None:
        """Write an assistant message; `calls` come with the id and the name under which they are sent."""
        raise NotImplementedError

    def results(self, outcome: list[tuple[Call, str, str, list[Block], bool]]) -> None:
        """Write the results of a round in call order: call, id, name, blocks, is it an error."""
        raise NotImplementedError

    def system_slot(self, item: Item, text: str) -> None:
        """Write system text of the leading run."""
        raise NotImplementedError

    def system_in_place(self, item: Item, text: str) -> bool:
        """Write system text as a system message here, or say that the wire allows none here."""
        raise NotImplementedError

    def attach(self, item: Item, blocks: list[Block]) -> None:
        """Write media that may not stand where they were recorded as a user message."""
        self.user(item, [Text("[attached to the message above]"), *blocks])

    def body(self) -> dict[str, Json]:
        """Return the payload."""
        raise NotImplementedError

    def fork(self: Self, context: Context) -> Self:
        """Return an independent copy that writes to the report of `context`."""
        other = copy(self)
        other.context = context
        other.report = context.report
        other.ids = self.ids.copy()
        other.names = self.names.copy()
        other.messages = list(self.messages)
        if other.messages:
            # Only the last message can still change.
            other.messages[-1] = _copy_message(other.messages[-1])
        return other

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _system(self, item: Item, text: str, marker: str) -> None:
        text = self._clean(text, item)
        if not text.strip():
            self.report.repair("X6", item, "dropped", "system text without content is not sent")
        elif self.leading:
            self.system_slot(item, text)
        elif not self.system_in_place(item, text):
            self.report.repair(
                "X9", item, "rewritten", "the wire allows no system text here; it is sent as marked user text"
            )
            self.user(item, [Text(marker + text)])

    def _clean(self, text: str, item: Item) -> str:
        clean = scrub(text)
        if clean is not text:
            self.report.repair(
                "X14", item, "rewritten", "text that is not well-formed Unicode was replaced in the payload"
            )
        return clean

    def _call_id(self, call: Call) -> str:
        original = call.call.id
        sent = self.ids.assign(original)
        if sent != original:
            rule, why = ("X4", "the vendor does not take this call id") if original else ("X4", "the call has no id")
            if original and self.ids.valid(original):
                rule, why = "X3", "the call id is used more than once"
            self.report.repair(rule, call.item, "rewritten", f"{why}; call and result are sent under another one")
        return sent

    def _call_name(self, call: Call) -> str:
        original = call.call.name
        sent = self.names.map(original)
        if sent != original:
            self.report.repair(
                "X5", call.item, "rewritten", "the vendor does not take this tool name; it is sent cleaned"
            )
        return sent

    def _report_extra(self, item: Item) -> None:
        known = self.KNOWN_EXTRA if type(item.entry.message) is not User or not self.rules.participant_names else _NAME
        if any(key != "_meta" and key not in known for key in item.entry.message.extra):
            self.report.loss("X17", "info", item, "unknown keys of the message are not sent", "/message")

    def _report_call(self, call: Call) -> None:
        if call.call.signature is not None and self.rules.reasoning != "thought":
            self.report.loss("X13", "info", call.item, "the thought signature of a call is not sent to this vendor")
        if any(key != "_meta" for key in call.call.extra):
            self.report.loss("X17", "info", call.item, "unknown keys of a tool call are not sent")

    def _watch_repeats(self, unit: Round, limit: int) -> None:
        key = tuple((call.call.name, call.call.arguments) for call in unit.calls)
        self._repeats = self._repeats + 1 if key == self._repeated else 1
        self._repeated = key
        if self._repeats == limit:
            message = f"the same tool calls were made {limit} times in a row; the vendor may refuse such a history"
            self.report.loss("X22", "warning", unit.items[0], message)

    def drop_empty(self, item: Item) -> None:
        """Report that a message without content is left out."""
        self.report.repair("X6", item, "dropped", "a message without content is not sent, since the vendor refuses it")

    def stand_in(self, rule: str, key: str, message: str) -> str:
        """Return a placeholder text and report it."""
        self.report.repair(rule, None, "synthesized", message)
        return self.context.placeholder(key)


def _copy_message(message: Message) -> Message:
    return {key: list(value) if isinstance(value, list) else value for key, value in message.items()}


def marker_places(cacheable: list[int], wanted: int, spare: int = 0) -> list[int]:
    """Return the positions that get a cache marker: the newest ones, at most 4 with `spare` used elsewhere (X16).

    The markers stand at the end, because a vendor looks back from a marker: markers at the front never move and
    cover little.
    """
    count = max(0, min(wanted, 4) - spare)
    return cacheable[-count:] if count else []
