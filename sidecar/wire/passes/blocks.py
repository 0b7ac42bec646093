"""The block family: alternating messages whose content is a list of blocks; results open the next user message.

Anthropic, Bedrock and Gemini write different blocks; the order of messages is the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from sidecar.core.jsontext import Json
from sidecar.core.messages import Block, Reasoning, Text
from sidecar.wire.base import Item
from sidecar.wire.passes.reasoning import reasoning_of
from sidecar.wire.passes.shaper import BaseShaper, Call, Outcome
from sidecar.wire.projection import Context


class BlockShaper(BaseShaper):
    """Shapes messages of `user` and one other role."""

    ASSISTANT = "assistant"
    CONTENT = "content"

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        self.system: list[str] = []
        self._after_results = False
        """The last message holds results and nothing else, so that user text joins it by design."""

    def fork(self, context: Context) -> BlockShaper:
        """Return an independent copy that writes to the report of `context`."""
        other = super().fork(context)
        other.system = list(self.system)
        return other

    # --- messages -----------------------------------------------------------------------------------------------------

    def say(self, item: Item, role: str, text: str) -> bool:
        """Write a message of one text part."""
        self.push(role if role == "user" else self.ASSISTANT, [self.text_part(text)], item)
        return True

    def user(self, item: Item, blocks: list[Block]) -> None:
        """Write a user message."""
        parts = self.user_parts(item, blocks)
        if parts:
            self.push("user", parts, item)
        else:
            self.drop_empty(item)

    def assistant(self, items: tuple[Item, ...], blocks: list[Block], calls: Sequence[Call]) -> None:
        """Write an assistant message: reasoning where it stood, text, calls last (X20)."""
        item = items[0]
        reasoning = reasoning_of(items, self.context)
        parts = self.assistant_parts(item, blocks)
        if not parts and not calls:
            if reasoning:
                self.report.loss("X6", "warning", item, "a message with nothing but reasoning is not sent")
            else:
                self.drop_empty(item)
            return
        if calls:
            parts += self.call_parts(calls)
        self.push(self.ASSISTANT, self.with_reasoning(item, parts, reasoning), item)

    def results(self, outcome: list[Outcome]) -> None:
        """Write all results of a round at the front of the next user message."""
        parts = [self.result_part(*each) for each in outcome]
        self.messages.append({"role": "user", self.CONTENT: parts})
        self._after_results = True

    def system_slot(self, item: Item, text: str) -> None:
        """Write leading system text."""
        self.system.append(text)

    def system_in_place(self, item: Item, text: str) -> bool:
        """Say that the wire has no system messages."""
        return False

    def push(self, role: str, parts: list[Json], item: Item | None) -> None:
        """Append a message, or merge it into the last one of the same role."""
        messages = self.messages
        if not messages and role != "user":
            text = self.stand_in("X11", "start", "the vendor wants a user message first; a placeholder stands for it")
            messages.append({"role": "user", self.CONTENT: [self.text_part(text)]})
        if messages and messages[-1]["role"] == role:
            if not self._after_results:
                self.report.repair("X12", item, "merged", "neighbouring messages of one role are sent as one")
            messages[-1][self.CONTENT] += parts
        else:
            messages.append({"role": role, self.CONTENT: parts})
        self._after_results = False

    # --- what a vendor writes -----------------------------------------------------------------------------------------

    @abstractmethod
    def text_part(self, text: str) -> Json:
        """Return a text block."""

    @abstractmethod
    def part(self, item: Item, block: Block) -> Json:
        """Return one block of a user or assistant message."""

    def user_parts(self, item: Item, blocks: list[Block]) -> list[Json]:
        """Return the blocks of a user message."""
        return [self.part(item, block) for block in blocks]

    def assistant_parts(self, item: Item, blocks: list[Block]) -> list[Json]:
        """Return the blocks of an assistant message without reasoning and calls."""
        return [self.part(item, block) for block in blocks]

    @abstractmethod
    def call_parts(self, calls: Sequence[Call]) -> list[Json]:
        """Return the blocks of calls, of which there is one at least."""

    def with_reasoning(self, item: Item, parts: list[Json], reasoning: list[Reasoning]) -> list[Json]:
        """Return `parts` with the reasoning put where it stood."""
        if not reasoning:
            return parts
        placed: list[Json] = []
        rest = iter(parts)
        taken = 0
        for part in reasoning:
            # `before` counts the blocks and calls that came before; without it reasoning comes first.
            before = part.extra.get("before")
            while isinstance(before, int) and taken < min(before, len(parts) - 1):
                placed.append(next(rest))
                taken += 1
            placed.append(self.reasoning_part(part))
        return [*placed, *rest]

    @abstractmethod
    def reasoning_part(self, part: Reasoning) -> Json:
        """Return a block of reasoning, byte for byte."""

    @abstractmethod
    def result_part(self, call: Call, blocks: list[Block], is_error: bool) -> Json:
        """Return the block of one result."""

    # --- the end ------------------------------------------------------------------------------------------------------

    def trim(self) -> None:
        """Cut the blank end of a final assistant text that the model is to go on from (X10)."""
        if not self.capabilities.prefill or not self.messages or self.messages[-1]["role"] != self.ASSISTANT:
            return
        parts = self.messages[-1][self.CONTENT]
        text = parts[-1].get("text")
        if isinstance(text, str) and text != text.rstrip():
            self.report.repair("X10", None, "rewritten", "the blank end of the final assistant text is cut")
            parts[-1] = {**parts[-1], "text": text.rstrip()}

    def close(self) -> None:
        """Add what the end of the list needs: a message, and a user message last where the model takes no prefill."""
        if not self.messages:
            text = self.stand_in("X18", "start", "the vendor wants a user message; a placeholder stands for it")
            self.messages.append({"role": "user", self.CONTENT: [self.text_part(text)]})
        if self.messages[-1]["role"] == self.ASSISTANT and not self.capabilities.prefill:
            text = self.stand_in(
                "X10", "continue", "the vendor wants no assistant message last; a user text follows it"
            )
            self.messages.append({"role": "user", self.CONTENT: [self.text_part(text)]})


def texts(blocks: list[Block]) -> list[str]:
    """Return the texts of text blocks."""
    return [block.text for block in blocks if isinstance(block, Text)]
