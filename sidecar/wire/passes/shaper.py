"""The fold that every vendor shares: unit after unit in, messages out.

Rules:
- A shaper only ever appends, or merges into its last message. So the payload of a list is a prefix of the payload of
  a longer list, up to that last message and to what `body` adds at the very end.
- System text (X9): the leading run goes to the vendor's system slot; later text is a system message where the wire
  allows one there, else marked user text in place, never between a call and its results.
- `body` may change what it wants, since a shaper is forked before it is asked for its body (see `sidecar.wire`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, TypeAlias, TypeVar

from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Block, Note, Summary, System, Text, Tool, ToolCall, User
from sidecar.core.messages import Message as Stored
from sidecar.wire.base import Item
from sidecar.wire.passes.content import assistant_blocks, result_blocks, user_blocks
from sidecar.wire.passes.identifiers import CallIds, ToolNames
from sidecar.wire.passes.layout import Round, Unit
from sidecar.wire.passes.unicode import is_well_formed, scrub
from sidecar.wire.projection import Context

NOTE = "[note] "
SYSTEM = "[system] "
_NAME = frozenset(("name",))
SUMMARY = "[summary of the earlier conversation]\n"

Self = TypeVar("Self", bound="BaseShaper")
Message = dict[str, Json]


class Call(NamedTuple):
    """A call as it is sent: who made it, what answers it, its id and its name on the wire."""

    call: ToolCall
    item: Item
    result: Item | None
    id: str
    name: str


Outcome: TypeAlias = tuple[Call, list[Block], bool]
"""A call, the blocks of its result, and whether it failed."""


class BaseShaper(ABC):
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
        """Take the next unit of the layout; a message of one plain text needs none of the passes, and most are one."""
        if isinstance(unit, Round):
            self.leading = False
            self.round(unit)
            return
        message = unit.entry.message
        kind = type(message)
        plain = _plain_text(unit, message)
        if plain is not None and self.say(unit, "user" if kind is User else "assistant", plain):
            self.leading = False
            return
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
            if item.entry.message.content:  # type: ignore[union-attr]
                blocks += assistant_blocks(item, self.context, hoisted)
        calls = self._calls(unit)
        self.assistant(unit.items, blocks, calls)
        outcome: list[Outcome] = []
        for call in calls:
            result = call.result
            if result is None:
                outcome.append((call, [Text(self.context.placeholder("result"))], True))
                continue
            message = result.entry.message
            assert type(message) is Tool
            if message.extra:
                self._report_extra(result)
            if result.elided:
                self.report.loss("X22", "info", result, "the entry is elided; the model sees a short text in its place")
            outcome.append((call, result_blocks(message, result, self.context, hoisted), message.is_error))
        if self.ids.format == "none" and not self._told_ids:
            self._told_ids = True
            self.report.loss("X4", "info", unit.items[0], "call ids are not on this wire; results follow in call order")
        self.results(outcome)
        if hoisted:
            self.attach(calls[-1].item, hoisted)
        if self.rules.repeats is not None:
            self._watch_repeats(calls, self.rules.repeats)

    # --- what a family writes -----------------------------------------------------------------------------------------

    @abstractmethod
    def say(self, item: Item, role: str, text: str) -> bool:
        """Write a message that is one text and nothing else, just as `user` or `assistant` would.

        Or change nothing and say that it needs them. `text` is visible, well-formed, and has no keys of its own.
        """

    @abstractmethod
    def user(self, item: Item, blocks: list[Block]) -> None:
        """Write a user message."""

    @abstractmethod
    def assistant(self, items: tuple[Item, ...], blocks: list[Block], calls: Sequence[Call]) -> None:
        """Write an assistant message."""

    @abstractmethod
    def results(self, outcome: list[Outcome]) -> None:
        """Write the results of a round, in call order."""

    @abstractmethod
    def system_slot(self, item: Item, text: str) -> None:
        """Write system text of the leading run."""

    @abstractmethod
    def system_in_place(self, item: Item, text: str) -> bool:
        """Write system text as a system message here, or say that the wire allows none here."""

    def attach(self, item: Item, blocks: list[Block]) -> None:
        """Write media that may not stand where they were recorded as a user message."""
        self.user(item, [Text("[attached to the message above]"), *blocks])

    @abstractmethod
    def body(self) -> dict[str, Json]:
        """Return the payload."""

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

    def _calls(self, unit: Round) -> list[Call]:
        """Return the calls of a round under the ids and names of the wire."""
        calls: list[Call] = []
        results = iter(unit.results)
        for item in unit.items:
            for call in item.entry.message.tool_calls:  # type: ignore[union-attr]
                call_id = self.ids.assign(call.id)
                name = self.names.map(call.name)
                if call_id != call.id:
                    self._report_id(call.id, item)
                if name != call.name:
                    message = "the vendor does not take this tool name; it is sent cleaned"
                    self.report.repair("X5", item, "rewritten", message)
                if call.signature is not None or call.extra:
                    self._report_call(call, item)
                calls.append(Call(call, item, next(results), call_id, name))
        return calls

    def _report_id(self, original: str, item: Item) -> None:
        if not original:
            rule, message = "X4", "the call has no id; call and result are sent under another one"
        elif self.ids.valid(original):
            rule, message = "X3", "the call id is used more than once; call and result are sent under another one"
        else:
            rule, message = "X4", "the vendor does not take this call id; call and result are sent under another one"
        self.report.repair(rule, item, "rewritten", message)

    def _report_extra(self, item: Item) -> None:
        known = self.KNOWN_EXTRA if type(item.entry.message) is not User or not self.rules.participant_names else _NAME
        if any(key != "_meta" and key not in known for key in item.entry.message.extra):
            self.report.loss("X17", "info", item, "unknown keys of the message are not sent", "/message")

    def _report_call(self, call: ToolCall, item: Item) -> None:
        if call.signature is not None and self.rules.reasoning != "thought":
            self.report.loss("X13", "info", item, "the thought signature of a call is not sent to this vendor")
        if any(key != "_meta" for key in call.extra):
            self.report.loss("X17", "info", item, "unknown keys of a tool call are not sent")

    def _watch_repeats(self, calls: list[Call], limit: int) -> None:
        key = tuple([(call.call.name, call.call.arguments) for call in calls])
        self._repeats = self._repeats + 1 if key == self._repeated else 1
        self._repeated = key
        if self._repeats == limit:
            message = f"the same tool calls were made {limit} times in a row; the vendor may refuse such a history"
            self.report.loss("X22", "warning", calls[0].item, message)

    def drop_empty(self, item: Item) -> None:
        """Report that a message without content is left out."""
        self.report.repair("X6", item, "dropped", "a message without content is not sent, since the vendor refuses it")

    def stand_in(self, rule: str, key: str, message: str) -> str:
        """Return a placeholder text and report it."""
        self.report.repair(rule, None, "synthesized", message)
        return self.context.placeholder(key)


def _plain_text(item: Item, message: Stored) -> str | None:
    """Return the text of a user or primary assistant message that is one visible text and nothing else, or `None`."""
    if type(message) is User:
        blocks = message.content
    elif type(message) is Assistant and not message.reasoning and not item.entry.agent:
        blocks = message.blocks
    else:
        return None
    if len(blocks) != 1 or message.extra or item.elided:
        return None
    block = blocks[0]
    if type(block) is not Text or block.extra:
        return None
    text = block.text
    return text if text and not text.isspace() and is_well_formed(text) else None


def _copy_message(message: Message) -> Message:
    return {key: list(value) if isinstance(value, list) else value for key, value in message.items()}


def marker_places(cacheable: list[int], wanted: int, spare: int = 0) -> list[int]:
    """Return the positions that get a cache marker: the newest ones, at most 4 with `spare` used elsewhere (X16).

    The markers stand at the end, because a vendor looks back from a marker: markers at the front never move and
    cover little.
    """
    count = max(0, min(wanted, 4) - spare)
    return cacheable[-count:] if count else []
