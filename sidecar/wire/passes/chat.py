"""The chat family: messages with a role, `tool_calls` on assistant messages, one `tool` message per result.

A vendor of this family is data (`Rules`) plus, where its messages look different, a subclass that overrides how one
message is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidecar.core.jsontext import Json
from sidecar.core.messages import Audio, Block, File, Image, Reasoning, Refusal, Text, VendorBlock
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_object, arguments_text
from sidecar.wire.passes.content import join_text, plain_text, with_error_prefix
from sidecar.wire.passes.media import data_url
from sidecar.wire.passes.reasoning import reasoning_of
from sidecar.wire.passes.shaper import BaseShaper, Call, Message, Outcome, marker_places
from sidecar.wire.projection import Context


class ChatShaper(BaseShaper):
    """Shapes `{"messages": [...]}`."""

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        rules = self.rules
        self._writes_reasoning = rules.reasoning_on_calls is not None or rules.reasoning_always or self.PLACES_TEXT
        self._appends = not rules.alternate and not rules.bridge and rules.first == "any"
        """Each message may follow any other."""
        self._empty_reasoning = rules.reasoning_always and self.capabilities.thinking is not False

    PLACES_TEXT = False
    """`put_reasoning` has work to do on messages with calls and without reasoning too."""

    # --- messages -----------------------------------------------------------------------------------------------------

    def say(self, item: Item, role: str, text: str) -> bool:
        """Append a message of one text where nothing is merged into the last one or put before it."""
        if not self._appends and not self._may_follow(role):
            return False
        message: Message = {"role": role, "content": text}
        if role == "assistant" and self._empty_reasoning and self.rules.reasoning_key is not None:
            message[self.rules.reasoning_key] = ""
        self.messages.append(message)
        return True

    def _may_follow(self, role: str) -> bool:
        rules = self.rules
        last = self._last_role()
        if role == "user":
            return not (rules.alternate and last == "user") and not (rules.bridge and last == "tool")
        return not (rules.alternate and last == "assistant") and not (rules.first == "user" and last in _NONE_OR_SYSTEM)

    def user(self, item: Item, blocks: list[Block]) -> None:
        """Write a user message; without content it is left out where the vendor refuses it."""
        if not _one_text(blocks):
            blocks = self._sayable(item, blocks, self.rules.content == "parts")
            if len(blocks) > 1:
                blocks = [block for block in blocks if not (isinstance(block, Text) and not block.text)] or blocks[:1]
            if not self._has_content(blocks):
                if not self.rules.empty_messages:
                    self.drop_empty(item)
                    return
                blocks = blocks or [Text("")]
        self._bridge(item)
        self._append(self.user_message(item, blocks), item)

    def assistant(self, items: tuple[Item, ...], blocks: list[Block], calls: Sequence[Call]) -> None:
        """Write an assistant message by the null rule of the vendor."""
        item = items[0]
        reasoning = reasoning_of(items, self.context)
        if blocks and not _one_text(blocks):
            blocks = self._sayable(item, blocks, self.rules.refusals)
            blocks = [block for block in blocks if not (isinstance(block, Text) and not block.text)]
        message: Message = {"role": "assistant"}
        if blocks:
            only = blocks[0]
            plain = len(blocks) == 1 and type(only) is Text
            message["content"] = only.text if plain else self.assistant_content(item, blocks)  # type: ignore[union-attr]
        elif calls:
            if self.rules.calls_only != "absent":
                message["content"] = None if self.rules.calls_only == "null" else ""
        else:
            message["content"] = ""
        if reasoning or self._writes_reasoning:
            self.put_reasoning(message, reasoning, items, calls)
        if not blocks and not calls and not self.rules.empty_messages and not self._stands_by_reasoning(message):
            if reasoning:
                self.report.loss("X6", "warning", item, "a message with nothing but reasoning is not sent")
            else:
                self.drop_empty(item)
            return
        if calls:
            message["tool_calls"] = [self.tool_call(call) for call in calls]
        self._append(message, item)

    def results(self, outcome: list[Outcome]) -> None:
        """Write one tool message per result, directly behind the calls."""
        for call, blocks, is_error in outcome:
            self.messages.append(self.tool_message(call, self.result_content(call, blocks, is_error)))

    def system_slot(self, item: Item, text: str) -> None:
        """Write leading system text: one message each, or one for all where only one is allowed."""
        if self.rules.system == "leading" and self.messages:
            self.report.repair("X9", item, "merged", "the vendor takes one system message; the texts are joined")
            self.messages[-1]["content"] += "\n\n" + text
        else:
            self.messages.append(self.system_message(text))

    def system_in_place(self, item: Item, text: str) -> bool:
        """Write a system message where the vendor takes one."""
        if self.rules.system in ("leading", "front"):
            return False
        self.messages.append(self.system_message(text))
        return True

    # --- how one message looks ----------------------------------------------------------------------------------------

    def system_message(self, text: str) -> Message:
        """Return a system message."""
        return {"role": "developer" if self.capabilities.developer_role else "system", "content": text}

    def user_message(self, item: Item, blocks: list[Block]) -> Message:
        """Return a user message: a string where it is one text, else parts, or joined text on a text-only wire."""
        form = self.rules.content
        parts = form == "parts"
        if form == "mixed" and not _one_text(blocks):
            parts = any(plain_text(block) is None for block in blocks)
        message: Message = {"role": "user", "content": self.content(item, blocks, parts)}
        if self.rules.participant_names and "name" in item.entry.message.extra:
            name = self._participant(item)
            if name is not None:
                message["name"] = name
        return message

    def assistant_content(self, item: Item, blocks: list[Block]) -> Json:
        """Return the content of an assistant message."""
        return self.content(item, blocks, self.rules.refusals)

    def tool_message(self, call: Call, content: Json) -> Message:
        """Return the message for one result."""
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    def tool_call(self, call: Call) -> Json:
        """Return one call."""
        arguments: Json
        if self.rules.arguments == "text":
            arguments = arguments_text(call.call, call.item, self.context)
        else:
            arguments = arguments_object(call.call, call.item, self.context)
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def result_content(self, call: Call, blocks: list[Block], is_error: bool) -> Json:
        """Return the content of a result: text, or parts where it holds media that may stay."""
        if len(blocks) == 1 and type(blocks[0]) is Text and not is_error:
            return blocks[0].text
        if any(isinstance(block, Image | File | Audio) for block in blocks):
            parts = [self.part(block) for block in blocks if plain_text(block) != ""]
            if is_error and call.result is not None and isinstance(blocks[0], Text):
                text = with_error_prefix(blocks[0].text, self.context, call.result)
                parts[0] = {"type": "text", "text": text}
            return parts
        text = join_text(blocks)
        if is_error and call.result is not None:
            text = with_error_prefix(text, self.context, call.result)
        return text

    def content(self, item: Item, blocks: list[Block], parts: bool) -> Json:
        """Return content as a string or as parts."""
        if len(blocks) == 1 and isinstance(blocks[0], Text):
            return blocks[0].text
        if parts:
            return [self.part(block) for block in blocks]
        for block in blocks:
            if plain_text(block) is None:
                self.report.loss("X8", "warning", item, "a part that is not text is not sent; the wire takes text only")
        text = join_text(blocks)
        if len(blocks) > 1:
            self.report.repair("X8", item, "merged", "several text blocks are sent as one text")
        return text

    def part(self, block: Block) -> Json:
        """Return one content part."""
        if isinstance(block, Image):
            return {"type": "image_url", "image_url": {"url": data_url(block)}}
        if isinstance(block, File):
            return {"type": "file", "file": {"filename": block.name or "document", "file_data": data_url(block)}}
        if isinstance(block, Audio):
            form = "mp3" if block.mime_type == "audio/mpeg" else "wav"
            return {"type": "input_audio", "input_audio": {"data": block.data, "format": form}}
        if isinstance(block, Refusal):
            return {"type": "refusal", "refusal": block.text}
        if isinstance(block, VendorBlock):
            return block.value
        return {"type": "text", "text": plain_text(block)}

    def put_reasoning(
        self, message: Message, reasoning: list[Reasoning], items: tuple[Item, ...], calls: Sequence[Call]
    ) -> None:
        """Write plain reasoning under the vendor's key, or what stands in for it."""
        key = self.rules.reasoning_key
        if key is None or self.capabilities.thinking is False:
            return
        text = "".join(part.text or "" for part in reasoning)
        if text:
            message[key] = text
        elif calls and self.rules.reasoning_on_calls is not None:
            message[key] = self.rules.reasoning_on_calls
            self.report.repair(
                "X13", items[0], "synthesized", "the vendor wants reasoning with tool calls; none was recorded"
            )
        elif self.rules.reasoning_always:
            message[key] = ""

    # --- the end ------------------------------------------------------------------------------------------------------

    def body(self) -> dict[str, Json]:
        """Return `{"messages": [...]}`."""
        rules = self.rules
        spoken = any(message["role"] not in _SYSTEM for message in self.messages)
        if not self.messages or (rules.first == "user" and not spoken):
            text = self.stand_in("X18", "start", "the vendor wants a user message; a placeholder stands for it")
            self.messages.append({"role": "user", "content": text})
        if rules.last != "any" and self._last_role() == "assistant":
            if rules.last == "prefix" and self.capabilities.prefill:
                self.messages[-1] = {**self.messages[-1], "prefix": True}
                self.report.repair(
                    "X10", None, "rewritten", "the last assistant message is marked as a prefix to go on from"
                )
            elif not self.capabilities.prefill:
                text = self.stand_in(
                    "X10", "continue", "the vendor wants no assistant message last; a user text follows it"
                )
                self.messages.append({"role": "user", "content": text})
        elif rules.last == "prefix" and self._last_role() == "system":
            # mistral-common in serving mode takes user, tool or a prefix last.
            text = self.stand_in("X10", "continue", "the vendor wants no system message last; a user text follows it")
            self.messages.append({"role": "user", "content": text})
        if rules.cache_markers and self.context.options.cache_markers:
            self._mark()
        return {"messages": self.messages}

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _sayable(self, item: Item, blocks: list[Block], parts: bool) -> list[Block]:
        """Return the blocks that the content can hold: where it is a string, a vendor's own part only as its text."""
        if parts or not any(isinstance(block, VendorBlock) for block in blocks):
            return blocks
        sayable: list[Block] = []
        for block in blocks:
            if not isinstance(block, VendorBlock):
                sayable.append(block)
            elif block.value.get("type") == "text" and isinstance(block.value.get("text"), str):
                sayable.append(Text(block.value["text"]))
            else:
                self.report.loss("X8", "warning", item, "a part that is not text is not sent; the wire takes text only")
        return sayable

    def _append(self, message: Message, item: Item) -> None:
        if self._appends:
            self.messages.append(message)
            return
        rules = self.rules
        role = message["role"]
        if rules.first == "user" and role == "assistant" and self._last_role() in _NONE_OR_SYSTEM:
            text = self.stand_in("X11", "start", "the vendor wants a user message first; a placeholder stands for it")
            self.messages.append({"role": "user", "content": text})
        if rules.alternate and self.messages:
            last = self.messages[-1]
            if last["role"] == role and "tool_calls" not in last:
                if last.get("name") != message.get("name"):
                    # Roles must alternate, and one message has one name: neither name would be true of both.
                    self.report.loss("X19", "warning", item, "the names of two who speak in one message are not sent")
                    last.pop("name", None)
                    message.pop("name", None)
                self.report.repair("X12", item, "merged", f"neighbouring {role} messages are sent as one")
                _merge(last, message, self.rules.reasoning_key)
                return
        self.messages.append(message)

    def _participant(self, item: Item) -> str | None:
        """Return the name of who speaks in the alphabet of the wire (X19)."""
        name = item.entry.message.extra["name"]
        clean = re.sub(r"[^a-zA-Z0-9_-]+", "_", name)[:64].strip("_") if isinstance(name, str) else ""
        if not clean:
            self.report.loss("X19", "info", item, "the name of who speaks is not sent; the wire has no letters for it")
            return None
        if clean != name:
            self.report.repair("X19", item, "rewritten", "the name of who speaks is written in letters of the wire")
        return clean

    def _bridge(self, item: Item) -> None:
        if self.rules.bridge and self._last_role() == "tool":
            self.report.repair(
                "X21", item, "synthesized", "the vendor wants an assistant message between results and user text"
            )
            self.messages.append({"role": "assistant", "content": self.context.placeholder("bridge")})

    def _last_role(self) -> str:
        return self.messages[-1]["role"] if self.messages else ""

    def _has_content(self, blocks: list[Block]) -> bool:
        return any(not isinstance(block, Text) or block.text for block in blocks)

    def _stands_by_reasoning(self, message: Message) -> bool:
        key = self.rules.reasoning_key
        return self.rules.reasoning_always and key is not None and bool(message.get(key))

    def _mark(self) -> None:
        cacheable = [
            index
            for index, message in enumerate(self.messages)
            if message["role"] in _MARKED and _last_text(message["content"]) is not None
        ]
        for index in marker_places(cacheable, self.context.options.cache_markers):
            message = dict(self.messages[index])
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            place = _last_text(parts)
            assert place is not None
            parts[place] = {**parts[place], "cache_control": {"type": "ephemeral"}}
            message["content"] = parts
            self.messages[index] = message


_SYSTEM = ("system", "developer")
_NONE_OR_SYSTEM = ("", "system", "developer")
_MARKED = ("system", "developer", "user")


def _one_text(blocks: list[Block]) -> bool:
    """Say whether the blocks are one text that is not empty, which nothing below has to look at."""
    return len(blocks) == 1 and type(blocks[0]) is Text and blocks[0].text != ""


def _last_text(content: Json) -> int | None:
    """Return the position of the last part that may carry a cache marker."""
    if isinstance(content, str):
        return 0 if content.strip() else None
    for place in range(len(content) - 1, -1, -1):
        part = content[place]
        if part.get("type") == "text" and part.get("text", "").strip():
            return place
    return None


def _merge(last: Message, message: Message, reasoning_key: str | None) -> None:
    first, second = last.get("content"), message.get("content")
    if not first or not second:
        merged = first or second or ("" if first == "" or second == "" else None)
    elif isinstance(first, str) and isinstance(second, str):
        merged = f"{first}\n\n{second}"
    else:
        merged = _parts(first) + _parts(second)
    if "content" in last or "content" in message:
        last["content"] = merged
    if reasoning_key is not None and message.get(reasoning_key):
        last[reasoning_key] = (last.get(reasoning_key) or "") + message[reasoning_key]
    for key, value in message.items():
        if key not in ("role", "content", reasoning_key):
            last[key] = [*last[key], *value] if isinstance(last.get(key), list) else value


def _parts(content: Json) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
