"""From a vendor's request or response back to entries: the inverse of a projection.

Rules:
- One module per wire family; what a family cannot name goes into `vendor` blocks, `extra` or `_meta`, never away.
- Signatures, encrypted reasoning, item ids and argument text are taken byte by byte. Reasoning and replies carry the
  vendor, and the model where the body names it.
- Streams are joined before they come here.
- The marks that a projection writes where a wire has no form of its own are read back: a system text `[note] …`, a
  user text under the summary line, an assistant text inside `<from agent="…">`. A result that begins with `ERROR: `
  is kept as text, since a tool may have said so itself.
- Calls of a wire without ids get one made from their place (request) or from the body (response), so that parsing
  twice gives the same.
- Anything that is nothing like the format is `Unparsable` with a JSON Pointer; no other exception leaves this package
  (guard: `tests/wire/test_parse.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from sidecar.core.errors import UnknownVendor, Unparsable
from sidecar.core.jsontext import Json
from sidecar.wire.base import Parsed
from sidecar.wire.parse import anthropic, bedrock, chat, cohere, gemini, ollama, responses
from sidecar.wire.parse.reader import Reader
from sidecar.wire.registry import get_vendor

Kind: TypeAlias = Literal["request", "response"]
Family: TypeAlias = Callable[[Reader, Kind, dict[str, Json]], None]

_CHAT = (
    "openai-chat",
    "azure-openai",
    "mistral",
    "deepseek",
    "kimi",
    "qwen",
    "glm",
    "openrouter",
    "xai",
    "groq",
    "cerebras",
    "openai-compatible",
)

FAMILIES: Final[dict[str, Family]] = {
    **dict.fromkeys(_CHAT, chat.read),
    "openai-responses": responses.read,
    "anthropic-messages": anthropic.read,
    "gemini": gemini.read,
    "bedrock-converse": bedrock.read,
    "cohere": cohere.read,
    "ollama": ollama.read,
}
"""The reader of each vendor of the protocol."""

_LISTS = {"openai-responses": "input", "gemini": "contents"}


def parse(vendor: str, kind: Kind, body: Json) -> Parsed:
    """Read the body of a request or of a response into entries without ids and times.

    A bare list is read as the message list of a request. Raises `UnknownVendor` and `Unparsable`.
    """
    name = get_vendor(vendor).id
    family = FAMILIES.get(name)
    if family is None:
        raise UnknownVendor(vendor, sorted(FAMILIES))
    if isinstance(body, list) and kind == "request":
        body = {_LISTS.get(name, "messages"): body}
    if not isinstance(body, dict):
        raise Unparsable("", "the body must be an object")
    model = body.get("model", body.get("modelVersion"))
    reader = Reader(vendor=name, model=model if isinstance(model, str) else None, response=kind == "response")
    family(reader, kind, body)
    return Parsed(entries=tuple(reader.entries), losses=tuple(reader.losses), usage=reader.usage)
