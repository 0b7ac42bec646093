"""Judge an import by the hand-counted truths of a folder of transcripts (`truths.json`).

A number is exact, `[a, b]` a range, a list of texts means any of them. Works on any folder of the same layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Assistant, Block, Entry, Image, JsonBlock, Text, Tool, User
from sidecar.formats.base import ReadOptions, Report
from sidecar.formats.registry import format_of
from sidecar.formats.source import Source


def read_file(path: Path, form: str) -> tuple[list[Entry], Report]:
    """Import the first history of a file; further ones are read through, so that their losses count."""
    data = path.read_bytes()
    report = Report()
    source = Source.of(data, name=path.stem)
    first: list[Entry] | None = None
    for history in format_of(form, source).read(source, report, ReadOptions()):
        entries = history.live(report)
        first = entries if first is None else first
    return first or [], report


def blocks_of(entry: Entry) -> tuple[Block, ...]:
    """The content blocks of any entry."""
    message = entry.message
    if isinstance(message, User | Tool):
        return message.content
    return message.blocks if isinstance(message, Assistant) else (Text(message.text),)


def text_of(entry: Entry) -> str:
    """All text of an entry, JSON blocks as their text."""
    texts = []
    for block in blocks_of(entry):
        if isinstance(block, Text):
            texts.append(block.text)
        elif isinstance(block, JsonBlock):
            texts.append(json.dumps(block.value, ensure_ascii=False))
    return "".join(texts)


def problems(truth: dict[str, Any], entries: list[Entry], report: Report) -> Iterator[str]:
    """Yield what is not as the truth says."""
    ignored = truth.get("ignoreUser", [])
    users = [e for e in entries if e.role == "user" and not any(text_of(e).startswith(text) for text in ignored)]
    replies = [e for e in entries if e.role == "assistant"]
    results = [e for e in entries if e.role == "tool"]
    found = {
        "user": len(users),
        "assistant": len(replies),
        "tool": len(results),
        "system": sum(e.role == "system" for e in entries),
        "summary": sum(e.role == "summary" for e in entries),
        "toolCalls": sum(len(e.tool_calls) for e in entries),
        "toolResults": len(results),
        "reasoning": sum(len(e.message.reasoning) for e in entries if isinstance(e.message, Assistant)),
        "images": sum(isinstance(block, Image) for e in entries for block in blocks_of(e)),
        "errors": sum(e.message.is_error for e in entries if isinstance(e.message, Tool)),
        "badLines": report.counts["tornLine"],
        "unknown": report.counts["unknownRecord"],
    }
    for key, count in found.items():
        wanted = truth.get(key)
        low, high = wanted if isinstance(wanted, list) else (wanted, wanted)
        if wanted is not None and not low <= count <= high:
            yield f"{key} is {count}, not {wanted}"
    said = [text_of(e) for e in replies if text_of(e).strip()]
    yield from _text(truth, "firstUser", text_of(users[0]) if users else None)
    yield from _text(truth, "lastAssistant", said[-1] if said else None)
    names = sorted(call.name for e in entries for call in e.tool_calls)
    if truth.get("callNames") is not None and names != truth["callNames"]:
        yield f"calls are {names}, not {truth['callNames']}"
    for word, entry in zip(truth.get("toolContains", []), results, strict=False):
        if word not in text_of(entry):
            yield f"a result does not contain {word!r}"
    stored = json.dumps([entry_to_json(e) for e in entries], ensure_ascii=False)
    for text in truth.get("forbidden", []):
        if text in stored:
            yield f"{text!r} must not appear"
    calls = [call.arguments for e in entries for call in e.tool_calls]
    for arguments in truth.get("exactArgs", []):
        if arguments not in calls:
            yield f"no call has the arguments {arguments!r}"
    for signature in truth.get("exactSignatures", []):
        if json.dumps(signature, ensure_ascii=False) not in stored:
            yield f"the signature {signature!r} is not byte-exact"
    if truth.get("lossy") and not report.losses:
        yield "something is left out and nothing is reported"
    for marker in truth.get("unknownMarkers", []):
        if marker not in stored and marker not in repr(report.losses):
            yield f"the unknown record {marker!r} left no trace"


def _text(truth: dict[str, Any], key: str, found: str | None) -> Iterator[str]:
    wanted = truth.get(key)
    if wanted is None:
        return
    options = wanted if isinstance(wanted, list) else [wanted]
    # A text of several options is given by its beginning.
    loose = truth.get(f"{key}Mode") == "contains" or isinstance(wanted, list)
    if found is None or not any(option in found if loose else option == found for option in options):
        yield f"{key} is {found!r}, not {wanted!r}"
