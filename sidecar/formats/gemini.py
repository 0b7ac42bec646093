"""Gemini API requests: `{"systemInstruction": ..., "contents": [...]}`, or the list of contents alone.

Source: the `generateContent` method of the Gemini API as documented in 2026.

Rules: function responses become tool entries; `thoughtSignature` stays byte-exact on its call. Text with a signature
of its own keeps it as a piece of reasoning without text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry, Origin, Text, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.gemini_parts import VENDOR, Pairing, read_content
from sidecar.formats.head import Head
from sidecar.formats.parts import assistant_of, dict_of, list_of, text_of
from sidecar.formats.source import Source

_KNOWN: Final = frozenset(("role", "parts"))


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    document = source.document()
    contents = _contents_of(document)
    if contents is None:
        raise Unparsable("", "the document has no contents of the Gemini API")
    facts = dict_of(document)
    metadata = {key: facts[key] for key in ("model", "tools") if facts.get(key)}
    yield ImportedHistory(
        entries=assemble(_items(facts, contents, report), report, "gemini"), metadata=lambda: metadata
    )


def _contents_of(document: Json) -> list[Json] | None:
    contents: Json = document if isinstance(document, list) else dict_of(document).get("contents")
    if contents is None and isinstance(dict_of(document).get("candidates"), list):
        contents = [dict_of(candidate).get("content") for candidate in document["candidates"][:1]]
    if isinstance(contents, list) and any("parts" in dict_of(content) for content in contents[:5]):
        return contents
    return None


def _items(facts: dict[str, Any], contents: list[Json], report: Report) -> Iterator[Item]:
    system = facts.get("systemInstruction", facts.get("system_instruction"))
    model = text_of(facts.get("model"))
    pairing = Pairing()
    if system:
        given: list[Json] = [system] if isinstance(system, str) else list_of(dict_of(system).get("parts"))
        blocks = read_content(given, pairing).blocks
        yield Draft(entry=Entry.system("\n\n".join(block.text for block in blocks if isinstance(block, Text))))
    for number, content in enumerate(contents):
        raw = dict_of(content)
        role, parts = raw.get("role", "user"), raw.get("parts")
        if role not in ("user", "model", "function", "tool"):
            report.unknown(content, role, f"content {number}")
        elif not isinstance(parts, list):
            report.invalid(content, "has no parts", f"content {number}")
        else:
            yield from _content(role, parts, rest(raw, _KNOWN), pairing, model)


def _content(
    role: str, parts: list[Json], fields: dict[str, Json], pairing: Pairing, model: str | None
) -> Iterator[Item]:
    read = read_content(parts, pairing, model)
    if role == "model":
        message = assistant_of(read.blocks, read.reasoning, read.calls, Origin(vendor=VENDOR, model=model))
        yield Draft(entry=keep(Entry(message=message), fields=fields))
    for result in read.results:
        yield Draft(entry=keep(Entry(message=result), fields=fields))
    if role != "model" and (read.blocks or not read.results):
        yield Draft(entry=keep(Entry(message=User(tuple(read.blocks))), fields=fields))


def _detect(head: Head) -> int:
    contents = _contents_of(head.document)
    if not contents:
        return 0
    return 90 if isinstance(head.document, dict) else 85


FORMAT: Final = Format(id="gemini", title="Gemini API contents", extensions=(".json",), detect=_detect, read=_read)
