"""Which reasoning goes back (X13): byte for byte to whom it belongs, nowhere else, and never altered.

Rules:
- Opaque reasoning (signed, encrypted, redacted) belongs to one vendor, one model family and one scope. Where one of
  the three is not recorded on it, it is taken to fit; where it is recorded and differs, the reasoning stays here.
- Plain reasoning belongs to one vendor; without a recorded vendor it is taken to fit.
- Reasoning whose text was cleared after it was signed is dropped whole, text and signature together.
- Where the model checks what came before its reasoning, stale reasoning is dropped (`Item.prefix_changed`).
- Nothing is invented: a missing signature is never made up.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sidecar.core.messages import Assistant, Origin, Reasoning
from sidecar.wire.base import Item, Severity
from sidecar.wire.passes.unicode import is_well_formed
from sidecar.wire.projection import Context

_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview(?:-\d\d-(?:\d\d|20\d\d))?|v\d+(?::\d+)?)$")


@lru_cache(maxsize=256)
def model_family(model: str) -> str:
    """Return the model without its route and its date: two names of one family can read each other's signatures."""
    name = model.lower().rsplit("/", 1)[-1]
    name = re.sub(r"^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|deepseek|qwen|openai)\.", "", name)
    name = name.split(":", 1)[0] if not name.startswith("ft:") else name
    while (shorter := _DATE.sub("", name)) != name:
        name = shorter
    return name


def why_foreign(part: Reasoning, origin: Origin | None, opaque: bool, context: Context) -> str | None:
    """Return why the vendor may not get `part` back, or `None` where it may."""
    return foreign(
        part.vendor or (origin.vendor if origin else None),
        part.model or (origin.model if origin else None),
        part.scope or (origin.scope if origin else None),
        opaque,
        context,
    )


def foreign(vendor: str | None, model: str | None, scope: str | None, opaque: bool, context: Context) -> str | None:
    """Return why something that `vendor`, `model` and `scope` made may not go to this vendor, or `None`."""
    if vendor is not None and not context.projection.is_origin(vendor):
        return "it was made by another vendor"
    if not opaque:
        return None
    wanted = context.options.model
    if model is not None and wanted is not None and model_family(model) != model_family(wanted):
        return "it was made by another model"
    if scope is not None and scope != context.options.scope:
        return "it was made under another account or endpoint"
    return None


def reasoning_of(items: tuple[Item, ...], context: Context) -> list[Reasoning]:
    """Return the reasoning of the entries of one message that this vendor gets back."""
    found: list[Reasoning] = []
    for item in items:
        if item.entry.message.reasoning:  # type: ignore[union-attr]
            found += reasoning_to_send(item, context)
    return found


def reasoning_to_send(item: Item, context: Context) -> list[Reasoning]:
    """Return the parts of an assistant entry's reasoning that this vendor gets back, in order."""
    message = item.entry.message
    assert isinstance(message, Assistant)
    if not message.reasoning:
        return []
    mode = context.rules.reasoning
    report = context.report
    if context.options.reasoning == "drop":
        report.loss("X13", "info", item, "reasoning is left out as asked")
        return []
    if mode == "none":
        report.loss("X13", "info", item, "reasoning is not sent, since the wire has no place for it")
        return []
    if mode in ("signed", "text", "encrypted") and context.capabilities.thinking is False:
        report.loss("X13", "info", item, "reasoning is not sent, since the model does not think")
        return []
    kept: list[Reasoning] = []
    for position, part in enumerate(message.reasoning):
        problem = _problem(part, message.origin, item, mode, context)
        if problem is None:
            kept.append(part)
        else:
            severity, why = problem
            report.loss("X13", severity, item, f"reasoning is not sent: {why}", f"/message/reasoning/{position}")
    return kept


def _problem(
    part: Reasoning, origin: Origin | None, item: Item, mode: str, context: Context
) -> tuple[Severity, str] | None:
    opaque = part.signature is not None or part.data is not None
    if part.cleared:
        return "warning", "its text was cleared after it was made"
    if not all(map(is_well_formed, (part.text or "", part.signature or "", part.data or ""))):
        return "warning", "it is not well-formed Unicode and must not be altered"
    if mode == "signed" and not (part.signature or part.data):
        return "info", "it carries no signature"
    if mode == "encrypted" and not part.data and not (context.capabilities.stored and part.id):
        return "info", "it carries no encrypted content"
    if mode == "details" and not (part.text or part.signature or part.data):
        return "info", "it holds nothing"
    why = why_foreign(part, origin, opaque or mode == "encrypted", context)
    if why is not None:
        return "info", why
    if item.prefix_changed and opaque and context.capabilities.preserved_thinking:
        return "warning", "something before it changed after it was made"
    if mode == "text" and not part.text:
        return "info", "it holds no plain text"
    return None
