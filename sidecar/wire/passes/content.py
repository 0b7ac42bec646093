"""The blocks of one message made legal for one place: user, assistant or tool result (X6, X8, X14, X15, X17).

The answer holds only blocks that the vendor's shaper can write: text, media, refusals where the wire has them, and
this vendor's own blocks. Everything else became text or was reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    File,
    Image,
    JsonBlock,
    Opaque,
    Refusal,
    Text,
    Tool,
    User,
    VendorBlock,
)
from sidecar.wire.base import Item
from sidecar.wire.passes.media import place_media
from sidecar.wire.passes.unicode import is_well_formed, scrub, scrub_json
from sidecar.wire.projection import Context, Place

ERROR_PREFIX = "ERROR: "
CACHE_MARKER = "a cache marker of the history is not sent; the request sets its own"
_BLANK = "a blank text block is not sent, since the vendor refuses it"
_RESULT = ("result", "error")
_TEXT_KEYS = frozenset(("type", "text"))


def user_blocks(item: Item, context: Context, hoisted: list[Block]) -> list[Block]:
    """Return the legal blocks of a user entry."""
    message = item.entry.message
    assert type(message) is User
    return legal_blocks(message.content, item, "user", context, hoisted)


def assistant_blocks(item: Item, context: Context, hoisted: list[Block]) -> list[Block]:
    """Return the legal blocks of an assistant entry, a guest's text wrapped."""
    message = item.entry.message
    assert type(message) is Assistant
    blocks: Sequence[Block] = message.blocks
    if not blocks:
        return []
    agent = item.entry.agent
    if agent and context.options.guests == "wrap":
        blocks = [wrap_guest(block, agent) for block in blocks]
    return legal_blocks(blocks, item, "assistant", context, hoisted)


def result_blocks(message: Tool, item: Item, context: Context, hoisted: list[Block]) -> list[Block]:
    """Return the legal blocks of a tool result."""
    return legal_blocks(message.content, item, "error" if message.is_error else "result", context, hoisted)


def wrap_guest(block: Block, agent: str) -> Block:
    """Say which agent wrote the text; a block without text stays, since a wrapper would turn nothing into text."""
    if not isinstance(block, Text) or not block.text.strip():
        return block
    name = escape(agent, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    return Text(f'<from agent="{name}">\n{block.text}\n</from>', block.extra)


def legal_blocks(
    blocks: Sequence[Block], item: Item, place: Place, context: Context, hoisted: list[Block]
) -> list[Block]:
    """Return what of `blocks` may stand in `place`; media that have to move are appended to `hoisted`."""
    if len(blocks) == 1:
        # The common message is one plain text: nothing to look at but its letters.
        only = blocks[0]
        if (
            type(only) is Text
            and not only.extra
            and only.text
            and not only.text.isspace()
            and is_well_formed(only.text)
        ):
            return [only]
    legal: list[Block] = []
    report = context.report
    text_rule = context.rules.text
    for position, block in enumerate(blocks):
        kind = type(block)
        if kind is Text:
            text = block.text  # type: ignore[union-attr]
            if block.extra:  # type: ignore[union-attr]
                _report_extra(block, item, position, context)
            if not text.isascii():
                text = _scrubbed(text, item, context)
            if text_rule != "any" and not (text if text_rule == "nonempty" else text.strip()):
                if text:
                    report.repair("X6", item, "dropped", _BLANK)
                continue
            legal.append(block if text is block.text else Text(text))  # type: ignore[union-attr]
            continue
        path = f"/message/content/{position}"
        if isinstance(block, Opaque):
            report.loss("X17", "warning", item, "a block of a type that this release does not know is not sent", path)
            continue
        if block.extra:
            _report_extra(block, item, position, context)
        if isinstance(block, Image | File | Audio):
            legal.append(place_media(block, item, place, path, context, hoisted))
        elif isinstance(block, JsonBlock):
            value = scrub_json(block.value)
            if value is not block.value:
                report.repair("X14", item, "rewritten", _UNICODE)
            legal.append(JsonBlock(value) if place in _RESULT else Text(dumps(value)))
        elif isinstance(block, Refusal):
            text = _scrubbed(block.text, item, context)
            if text.strip():
                legal.append(Refusal(text) if context.rules.refusals and place == "assistant" else Text(text))
        elif isinstance(block, VendorBlock):
            legal += _own_block(block, item, place, path, context)
    return legal


def _own_block(block: VendorBlock, item: Item, place: Place, path: str, context: Context) -> list[Block]:
    """Return the vendor's own block where it may stand, verbatim but for what is not well-formed, or nothing."""
    report, value = context.report, block.value
    problem: str | None = None
    if not context.projection.is_origin(block.vendor):
        problem = "a block made for another vendor is not sent"
    elif not isinstance(value, dict) or not value:
        problem = "a vendor block that is not an object, or is empty, is not sent"
    elif place in _RESULT:
        report.loss("X8", "warning", item, "a vendor block in a tool result is not sent", path)
        return []
    elif not context.rules.own_forms.isdisjoint(_kinds(value)):
        problem = (
            "a call, a result or reasoning in a vendor block is not sent, since it would stand without its partner"
        )
    if problem is not None:
        report.loss("X17", "warning", item, problem, path)
        return []
    if "cachePoint" in value:
        report.repair("X16", item, "dropped", CACHE_MARKER)
        return []
    text = value.get("text")
    if isinstance(text, str) and value.keys() <= _TEXT_KEYS and context.rules.text != "any" and not text.strip():
        report.repair("X6", item, "dropped", _BLANK)
        return []
    clean = scrub_json(value)
    if clean is not value:
        report.repair("X14", item, "rewritten", _UNICODE)
    return [VendorBlock(block.vendor, clean)]


def _kinds(value: dict[str, Json]) -> Iterable[str]:
    """Return the type of a block, or its keys where it has none."""
    kind = value.get("type")
    return (kind,) if isinstance(kind, str) else value.keys()


def plain_text(block: Block) -> str | None:
    """Return the text that a block is on a text-only wire, or `None` where it is not text."""
    if isinstance(block, Text | Refusal):
        return block.text
    if isinstance(block, JsonBlock):
        return dumps(block.value)
    return None


def join_text(blocks: Iterable[Block], separator: str = "\n") -> str:
    """Return the text of all blocks that have any."""
    return separator.join(text for block in blocks if (text := plain_text(block)))


def with_error_prefix(text: str, context: Context, item: Item) -> str:
    """Mark the text of a failed result on a wire without a flag; a text that says so already stays."""
    if text.startswith("ERROR:"):
        return text
    context.report.repair("X8", item, "rewritten", "the wire has no error flag, so the failed result starts with ERROR")
    return ERROR_PREFIX + (text or context.placeholder("output"))


_UNICODE = "text that is not well-formed Unicode was replaced in the payload; the history keeps the original"


def _scrubbed(text: str, item: Item, context: Context) -> str:
    clean = scrub(text)
    if clean is not text:
        context.report.repair("X14", item, "rewritten", _UNICODE)
    return clean


def _report_extra(block: Block, item: Item, position: int, context: Context) -> None:
    if any(key != "_meta" for key in block.extra):  # type: ignore[union-attr]
        path = f"/message/content/{position}"
        context.report.loss("X17", "info", item, "unknown keys of a block are not sent", path)
