"""AWS Bedrock, Converse.

Documentation, read 2026-11-30:
- https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
- botocore 1.44.8, service model `bedrock-runtime` (patterns, lengths and enumerations)
Roles alternate strictly. The request needs `toolConfig` as soon as the history holds tool blocks; tool definitions are
the caller's, so an info loss says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Block, File, Image, JsonBlock, Reasoning, Refusal, Text, VendorBlock
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_object
from sidecar.wire.passes.blocks import BlockShaper
from sidecar.wire.passes.shaper import Call, marker_places
from sidecar.wire.projection import IMAGE_TYPES, Capabilities, Context, MediaRule, Place, Projection, Rules

FORMATS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
MAX_DOCUMENTS = 5
"""Documents in one request; the newest stay."""
MAX_IMAGES = 20
"""Images in one message."""
MAX_NAME = 200

_PLACES: frozenset[Place] = frozenset(("user", "result", "error"))

RULES = Rules(
    system="top",
    alternate=True,
    first="user",
    last="user",
    call_ids="bedrock",
    text="nonblank",
    calls_only="absent",
    arguments="object",
    errors="flag",
    reasoning="signed",
    own_forms=frozenset(("toolUse", "toolResult", "reasoningContent")),
    media={
        "image": MediaRule(places=_PLACES, types=IMAGE_TYPES, urls=False),
        "file": MediaRule(places=_PLACES, types=frozenset(FORMATS), urls=False),
    },
    cache_markers=True,
    sources={
        "X1": (
            "https://github.com/agno-agi/agno/issues/6698",
            "https://github.com/langchain-ai/langchain-aws/issues/451",
        ),
        "X3": ("https://github.com/bvcyber/Cyber-AutoAgent-ng/issues/72",),
        "X4": ("botocore 1.44.8 ToolUseId", "https://github.com/anomalyco/opencode/pull/48750"),
        "X5": ("botocore 1.44.8 ToolName",),
        "X6": (
            "https://github.com/OpenHands/OpenHands/issues/5339",
            "https://github.com/NousResearch/hermes-agent/pull/60628",
            "https://github.com/earendil-works/pi/pull/3443",
        ),
        "X8": ("https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15",),
        "X12": ("https://github.com/langgenius/dify/issues/9294",),
        "X13": ("https://github.com/BerriAI/litellm/issues/9063",),
        "X15": (
            "https://github.com/maximhq/bifrost/issues/7003",
            "https://github.com/strands-agents/harness-sdk/issues/3019",
            "https://github.com/aws-samples/generative-ai-use-cases/issues/1685",
        ),
        "X22": ("https://github.com/vxcontrol/pentagi/pull/196",),
    },
)


class BedrockShaper(BlockShaper):
    """Shapes `{"system": [...], "messages": [...]}`."""

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        self._documents: set[str] = set()
        self._called = False
        self._pictured = False
        """A part may be an image."""

    def fork(self, context: Context) -> BedrockShaper:
        """Return an independent copy that writes to the report of `context`."""
        other = super().fork(context)
        assert isinstance(other, BedrockShaper)
        other._documents = set(self._documents)
        return other

    # --- blocks -------------------------------------------------------------------------------------------------------

    def text_part(self, text: str) -> Json:
        """Return a text block."""
        return {"text": text}

    def part(self, item: Item, block: Block) -> Json:
        """Return one block."""
        if isinstance(block, Text | Refusal):
            return {"text": block.text}
        if isinstance(block, JsonBlock):
            return {"json": block.value} if isinstance(block.value, dict) else {"text": dumps(block.value)}
        self._pictured = self._pictured or isinstance(block, Image | VendorBlock)
        if isinstance(block, Image):
            form = (block.mime_type or "").removeprefix("image/")
            return {"image": {"format": form, "source": {"bytes": block.data}}}
        if isinstance(block, File):
            name = self._document_name(block.name, item)
            form = FORMATS[block.mime_type or ""]
            return {"document": {"format": form, "name": name, "source": {"bytes": block.data}}}
        assert isinstance(block, VendorBlock)
        return block.value

    def user_parts(self, item: Item, blocks: list[Block]) -> list[Json]:
        """Return the blocks of a user message; a document has a text beside it."""
        parts = super().user_parts(item, blocks)
        if any("document" in part for part in parts) and not any("text" in part for part in parts):
            self.report.repair("X15", item, "synthesized", "a document wants a text beside it")
            parts.append({"text": "(document attached)"})
        return parts

    def call_parts(self, calls: Sequence[Call]) -> list[Json]:
        """Return `toolUse` blocks."""
        self._called = True
        return [
            {
                "toolUse": {
                    "toolUseId": call.id,
                    "name": call.name,
                    "input": arguments_object(call.call, call.item, self.context),
                }
            }
            for call in calls
        ]

    def reasoning_part(self, part: Reasoning) -> Json:
        """Return a reasoning block as it was received."""
        if not part.signature:
            return {"reasoningContent": {"redactedContent": part.data}}
        return {"reasoningContent": {"reasoningText": {"text": part.text or "", "signature": part.signature}}}

    def result_part(self, call: Call, blocks: list[Block], is_error: bool) -> Json:
        """Return a `toolResult` block, never without content."""
        content = [self.part(call.result or call.item, block) for block in blocks]
        if not content:
            self.report.repair("X6", call.result, "synthesized", "a result without text gets one")
            content = [{"text": self.context.placeholder("output")}]
        result: dict[str, Json] = {"toolUseId": call.id, "content": content}
        if is_error:
            result["status"] = "error"
        return {"toolResult": result}

    # --- the end ------------------------------------------------------------------------------------------------------

    def body(self) -> dict[str, Json]:
        """Return `{"messages": [...]}`, with `system` where there is any."""
        self.trim()
        self.close()
        if self._called:
            message = "the request needs toolConfig with the tools of the history, since it holds tool blocks"
            self.report.loss("X22", "info", None, message)
        self._limit_documents()
        self._limit_images()
        system: list[Json] = [{"text": text} for text in self.system]
        self._mark(system, self.context.options.cache_markers)
        return {"system": system, "messages": self.messages} if system else {"messages": self.messages}

    def _document_name(self, name: str | None, item: Item) -> str:
        """Return a name of legal characters that no earlier document has; earlier ones keep theirs."""
        clean = re.sub(r"[^a-zA-Z0-9\-()\[\] ]+", "-", name or "document")
        clean = re.sub(r" {2,}", " ", clean).strip(" -")[:MAX_NAME] or "document"
        unique, number = clean, 1
        while unique in self._documents:
            number += 1
            unique = f"{clean[: MAX_NAME - 8]} ({number})"
        self._documents.add(unique)
        if name is not None and unique != name:
            self.report.repair("X15", item, "rewritten", "the document is sent under a name that is legal and unique")
        return unique

    def _limit_documents(self) -> None:
        if len(self._documents) <= MAX_DOCUMENTS:
            return
        left = MAX_DOCUMENTS
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            content = []
            for part in reversed(message["content"]):
                part, left = _keep_newest(part, "document", left)
                content.append(part)
            self.messages[index] = {**message, "content": content[::-1]}
        message_text = f"only the newest {MAX_DOCUMENTS} documents of the list are sent, which is the vendor's limit"
        self.report.loss("X15", "warning", None, message_text)

    def _limit_images(self) -> None:
        if not self._pictured:
            return
        for index, message in enumerate(self.messages):
            if (
                message["role"] == "user"
                and len(message["content"]) + sum(map(_inner, message["content"])) > MAX_IMAGES
            ):
                left = MAX_IMAGES
                content = []
                for part in reversed(message["content"]):
                    before = left
                    part, left = _keep_newest(part, "image", left)
                    content.append(part)
                    if left < 0 <= before:
                        text = f"only the last {MAX_IMAGES} images of a message are sent, which is the vendor's limit"
                        self.report.loss("X15", "warning", None, text)
                self.messages[index] = {**message, "content": content[::-1]}

    def _mark(self, system: list[Json], wanted: int) -> None:
        spare = 0
        if system and wanted > 1:
            system.append(_CACHE_POINT)
            spare = 1
        users = [index for index, message in enumerate(self.messages) if message["role"] == "user"]
        for index in marker_places(users, wanted, spare):
            message = self.messages[index]
            self.messages[index] = {**message, "content": [*message["content"], _CACHE_POINT]}


_CACHE_POINT: Json = {"cachePoint": {"type": "default"}}


def _inner(part: Json) -> int:
    return len(part["toolResult"]["content"]) if "toolResult" in part else 0


def _keep_newest(part: Json, kind: str, left: int) -> tuple[Json, int]:
    """Return `part` with what goes over the count replaced, and what is left; below zero something was replaced."""
    if kind in part:
        left -= 1
        return (part, left) if left >= 0 else ({"text": f"[{kind} left out]"}, left)
    if "toolResult" not in part:
        return part, left
    content = []
    for inner in reversed(part["toolResult"]["content"]):
        inner, left = _keep_newest(inner, kind, left)
        content.append(inner)
    return {"toolResult": {**part["toolResult"], "content": content[::-1]}}, left


def shape(context: Context, names: frozenset[str]) -> BedrockShaper:
    """Start shaping a payload."""
    return BedrockShaper(context, names)


PROJECTION = Projection(
    id="bedrock-converse",
    title="AWS Bedrock Converse",
    api="POST /model/{modelId}/converse",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",),
    aliases=("bedrock",),
    capabilities=Capabilities(preserved_thinking=True),
)
