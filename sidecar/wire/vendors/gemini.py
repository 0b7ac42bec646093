"""Google Gemini, generateContent.

Documentation, read 2026-11-30:
- https://ai.google.dev/api/generate-content
- https://ai.google.dev/gemini-api/docs/function-calling
- https://ai.google.dev/gemini-api/docs/thought-signatures
- google-genai SDK 3.6.1, `google.genai.types.Content`
From Gemini 3 on, the first call of each step of the current turn must carry a thought signature. History of other
models has none, so the documented placeholder stands on the first call of every step: on all turns, because a
placeholder that vanished from older turns would change the prefix.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Assistant, Audio, Block, File, Image, JsonBlock, Reasoning, Refusal, Text, VendorBlock
from sidecar.wire.base import Item
from sidecar.wire.passes.arguments import arguments_object
from sidecar.wire.passes.blocks import BlockShaper
from sidecar.wire.passes.content import join_text
from sidecar.wire.passes.reasoning import why_foreign
from sidecar.wire.passes.shaper import Call
from sidecar.wire.projection import Capabilities, Context, MediaRule, Place, Projection, Rules

NO_SIGNATURE = base64.b64encode(b"skip_thought_signature_validator").decode()
"""The documented placeholder for calls that another model made."""

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}==|[A-Za-z0-9+/_-]{3}=|[A-Za-z0-9+/_-]{4})")
_PLACES: frozenset[Place] = frozenset(("user", "result", "error"))

RULES = Rules(
    system="top",
    alternate=True,
    first="user",
    last="user",
    call_ids="any",
    names="gemini",
    text="nonblank",
    calls_only="absent",
    arguments="object",
    errors="flag",
    reasoning="thought",
    own_forms=frozenset(("functionCall", "functionResponse")),
    media={
        "image": MediaRule(
            places=_PLACES,
            types=frozenset(("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")),
        ),
        "file": MediaRule(places=frozenset(("user",)), types=frozenset(("application/pdf", "text/plain"))),
        "audio": MediaRule(
            places=frozenset(("user",)),
            types=frozenset(("audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")),
        ),
    },
    sources={
        "X1": (
            "https://github.com/google-gemini/gemini-cli/issues/3814",
            "https://github.com/AstrBotDevs/AstrBot/pull/10174",
        ),
        "X2": ("https://github.com/ag2ai/ag2/issues/1843",),
        "X6": (
            "https://github.com/vercel/ai/issues/3775",
            "https://github.com/router-for-me/CLIProxyAPI/issues/1292",
            "https://github.com/zuisong/gemini-openai-proxy/issues/83",
        ),
        "X8": ("https://github.com/AstrBotDevs/AstrBot/pull/7216",),
        "X10": ("https://github.com/crewAIInc/crewAI/pull/6973",),
        "X11": (
            "https://github.com/google-gemini/gemini-cli/issues/11814",
            "https://github.com/diegosouzapw/OmniRoute/pull/13573",
        ),
        "X12": ("https://github.com/google-gemini/gemini-cli/issues/7003",),
        "X13": (
            "https://ai.google.dev/gemini-api/docs/thought-signatures",
            "https://github.com/googleapis/js-genai/issues/1275",
            "https://github.com/agentjido/req_llm/pull/427",
        ),
        "X18": ("https://github.com/Calcium-Ion/new-api-horizon/issues/24",),
    },
)


class GeminiShaper(BlockShaper):
    """Shapes `{"systemInstruction": ..., "contents": [...]}`."""

    ASSISTANT = "model"
    CONTENT = "parts"

    def __init__(self, context: Context, names: frozenset[str] = frozenset()) -> None:
        super().__init__(context, names)
        self._loose: dict[str, str | None] = {}

    def text_part(self, text: str) -> Json:
        """Return a text part."""
        return {"text": text}

    def part(self, item: Item, block: Block) -> Json:
        """Return one part."""
        if isinstance(block, Text | Refusal):
            return {"text": block.text}
        if isinstance(block, JsonBlock):
            return {"text": dumps(block.value)}
        if isinstance(block, Image | File | Audio):
            return _media_part(block)
        assert isinstance(block, VendorBlock)
        return block.value

    def user_parts(self, item: Item, blocks: list[Block]) -> list[Json]:
        """Return the parts of a user content; media have a text beside them, which some endpoints insist on."""
        parts = super().user_parts(item, blocks)
        if parts and all("inlineData" in part or "fileData" in part for part in parts):
            self.report.repair("X15", item, "synthesized", "media want a text beside them")
            parts.append({"text": "(see the attachment)"})
        return parts

    def assistant(self, items: tuple[Item, ...], blocks: list[Block], calls: Sequence[Call]) -> None:
        """Write a model content; a signature that was kept apart from its call goes back to the call."""
        self._loose = {}
        if calls and not any(isinstance(block, Text | Refusal) for block in blocks):
            self._loose = {
                part.id or "": part.signature
                for item in items
                for part in _reasoning(item)
                if part.signature and not part.text and not part.cleared and self._why_not(part, item) is None
            }
        super().assistant(items, blocks, calls)

    def call_parts(self, calls: Sequence[Call]) -> list[Json]:
        """Return `functionCall` parts; the first one of a step carries a signature, and no two carry one."""
        parts: list[Json] = []
        seen: set[str] = set()
        for call in calls:
            part: dict[str, Json] = {
                "functionCall": {
                    "id": call.id,
                    "name": call.name,
                    "args": arguments_object(call.call, call.item, self.context),
                }
            }
            signature = self._signature(call)
            if signature is None and (call.call.id in self._loose or (not parts and "" in self._loose)):
                signature = self._loose.pop(call.call.id, None) or self._loose.pop("", None)
            if signature is not None and signature in seen:
                # A signature on two parts is billed twice.
                self.report.repair(
                    "X13", call.item, "dropped", "a thought signature stays on the first call that has it"
                )
            elif signature is not None:
                seen.add(signature)
                part["thoughtSignature"] = signature
            elif not parts and self.capabilities.signed_calls:
                part["thoughtSignature"] = NO_SIGNATURE
                message = "the call has no thought signature of this model; the documented placeholder stands for it"
                self.report.repair("X13", call.item, "synthesized", message)
            parts.append(part)
        return parts

    def with_reasoning(self, item: Item, parts: list[Json], reasoning: list[Reasoning]) -> list[Json]:
        """Return `parts` with thoughts where they stood and each signature of spoken text on its part."""
        thoughts: list[Reasoning] = []
        sent = {part["thoughtSignature"] for part in parts if "thoughtSignature" in part}
        for part in reasoning:
            signature = part.signature or part.data
            if signature is not None and not _BASE64.fullmatch(signature):
                self.report.loss("X13", "warning", item, "a thought signature that is not base64 is not sent")
            elif part.text and part.text.strip():
                thoughts.append(part)
            elif signature and signature not in sent:
                place = _spoken(parts, part.extra.get("before"))
                if place is None:
                    self.report.loss("X13", "info", item, "a thought signature without its part is not sent")
                else:
                    parts[place] = {**parts[place], "thoughtSignature": signature}
        return super().with_reasoning(item, parts, thoughts)

    def reasoning_part(self, part: Reasoning) -> Json:
        """Return a thought part as it was received."""
        thought: dict[str, Json] = {"text": part.text, "thought": True}
        signature = part.signature or part.data
        return {**thought, "thoughtSignature": signature} if signature else thought

    def result_part(self, call: Call, blocks: list[Block], is_error: bool) -> Json:
        """Return a `functionResponse` part: an object with `output` or `error`, media beside it."""
        key = "error" if is_error else "output"
        if len(blocks) == 1 and type(blocks[0]) is Text:
            response: dict[str, Json] = {"id": call.id, "name": call.name, "response": {key: blocks[0].text}}
            return {"functionResponse": response}
        media = [block for block in blocks if isinstance(block, Image | File | Audio)]
        rest = [block for block in blocks if not isinstance(block, Image | File | Audio)]
        value: Json
        if len(rest) == 1 and isinstance(rest[0], JsonBlock):
            value = rest[0].value
        else:
            value = join_text(rest)
        response = {"id": call.id, "name": call.name, "response": {key: value}}
        if media:
            response["parts"] = [_media_part(block) for block in media]
        return {"functionResponse": response}

    def body(self) -> dict[str, Json]:
        """Return `{"contents": [...]}`, with `systemInstruction` where there is any."""
        self.close()
        if not self.system:
            return {"contents": self.messages}
        return {"systemInstruction": {"parts": [{"text": text} for text in self.system]}, "contents": self.messages}

    def _signature(self, call: Call) -> str | None:
        signature = call.call.signature
        if signature is None:
            return None
        why = self._why_not(Reasoning(signature=signature), call.item)
        if why is not None:
            self.report.loss("X13", "info", call.item, f"a thought signature is not sent: {why}")
            return None
        return signature

    def _why_not(self, part: Reasoning, item: Item) -> str | None:
        """Return why a signature of `item` may not go back, or `None`."""
        message = item.entry.message
        assert isinstance(message, Assistant)
        if self.context.options.reasoning == "drop":
            return "it is left out as asked"
        why = why_foreign(part, message.origin, True, self.context)
        return why or (None if _BASE64.fullmatch(part.signature or "") else "it is not base64")


def _reasoning(item: Item) -> tuple[Reasoning, ...]:
    message = item.entry.message
    return message.reasoning if isinstance(message, Assistant) else ()


def _media_part(block: Image | File | Audio) -> Json:
    if block.url is not None:
        data: dict[str, Json] = {"fileUri": block.url}
        return {"fileData": {"mimeType": block.mime_type, **data} if block.mime_type else data}
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _spoken(parts: list[Json], before: Json) -> int | None:
    """Return the text part that a signature stood in front of, else the last one without a signature."""
    free = [place for place, part in enumerate(parts) if "text" in part and "thoughtSignature" not in part]
    place = before if isinstance(before, int) else 0
    return place if place in free else free[-1] if free else None


def shape(context: Context, names: frozenset[str]) -> GeminiShaper:
    """Start shaping a payload."""
    return GeminiShaper(context, names)


PROJECTION = Projection(
    id="gemini",
    title="Google Gemini",
    api="POST /v1beta/models/{model}:generateContent",
    rules=RULES,
    shape=shape,
    read="2026-11-30",
    documentation=("https://ai.google.dev/api/generate-content",),
    aliases=("google",),
    origins=frozenset(("google-genai", "vertex", "vertexai")),
    capabilities=Capabilities(signed_calls=True),
)
