"""Tool arguments (X7): the JSON text of an object, kept byte for byte where it is one.

The store keeps what the model produced, perhaps cut off in the middle; the payload must hold an object.
"""

from __future__ import annotations

import re

from sidecar.core.jsontext import MAX_DEPTH, Json, dumps, loads
from sidecar.core.messages import ToolCall
from sidecar.wire.base import Item
from sidecar.wire.passes.unicode import is_well_formed, scrub_json
from sidecar.wire.projection import Context

_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


def arguments_object(call: ToolCall, item: Item, context: Context) -> dict[str, Json]:
    """Return the arguments as an object; `{}` where the text holds none."""
    return _read(call, item, context)[0]


def arguments_text(call: ToolCall, item: Item, context: Context) -> str:
    """Return the arguments as JSON text of an object."""
    if call.arguments == "{}":
        return "{}"
    value, unchanged = _read(call, item, context)
    return call.arguments if unchanged else dumps(value)


def _read(call: ToolCall, item: Item, context: Context) -> tuple[dict[str, Json], bool]:
    text = call.arguments
    report = context.report
    if not text or text.isspace():
        report.repair("X7", item, "rewritten", "a call without arguments is sent with an empty object")
        return {}, False
    try:
        value = loads(text)
    except ValueError:
        report.loss("X7", "warning", item, "arguments that are not finished or not JSON are sent as an empty object")
        return {}, False
    again = False
    if isinstance(value, str):
        # Some gateways encode twice.
        try:
            value = loads(value)
        except ValueError:
            value = None
        again = True
    # Only a text with that many brackets can nest that deep.
    many = len(text) > MAX_DEPTH and text.count("{") + text.count("[") > MAX_DEPTH
    if not isinstance(value, dict) or (many and _depth_over(value, MAX_DEPTH)):
        report.loss("X7", "warning", item, "arguments that are not a JSON object are sent as an empty object")
        return {}, False
    if again:
        report.repair("X7", item, "rewritten", "arguments that were encoded twice are sent as an object")
    # A lone surrogate can hide in an escape, so the text alone does not tell.
    if not is_well_formed(text) or ("\\u" in text and _ESCAPED.search(text)):
        clean = scrub_json(value)
        if clean is not value:
            report.repair("X14", item, "rewritten", "arguments that are not well-formed Unicode were replaced")
            return clean, False
    return value, not again


def _depth_over(value: Json, limit: int) -> bool:
    level: list[Json] = [value]
    for _ in range(limit):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
