"""gptel chats: Markdown or Org text in which file-local bounds say which characters the model wrote.

Source: `gptel.el` and `gptel-org.el` of karthink/gptel (2024 to 2026).

Rules:
- Bounds are Emacs positions: characters from 1, over the whole file. Old files hold pairs, new ones lists per kind
  (`response`, `tool`, `ignore`). Bounds that end inside a line are moved to its end.
- What lies between is the person's, without the prompt prefix (`### `, `*** `).
- A tool region holds the call as a Lisp plist, a blank line, and the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Assistant, Entry, Origin, Reasoning, Text, Tool, ToolCall, User
from sidecar.formats import sexp
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble
from sidecar.formats.head import Head
from sidecar.formats.source import Source

_DRAWER: Final = re.compile(r"\A(?:\s*\n)*:PROPERTIES:\n(.*?)\n:END:\n", re.DOTALL | re.IGNORECASE)
_FOOTER: Final = re.compile(r"^[^\n]{0,20}Local Variables:[^\n]*\n.*\Z", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_PROPERTY: Final = re.compile(r"^:(GPTEL_\w+)\+?:[ \t]*(.*)$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"^\W*(gptel-[\w-]+):\s*(.*?)\s*(?:-->)?\s*$", re.MULTILINE)
_PROMPT: Final = re.compile(r"\A(?:\*+|#+|@user\b|>)[ \t]*(?=\S|\Z)")
_TOOL_START: Final = re.compile(r"\A\s*(?:#\+begin_tool|`{3,}\s*tool)[^\n]*\n", re.IGNORECASE)
_TOOL_END: Final = re.compile(r"\n?(?:#\+end_tool|`{3,})\s*\Z", re.IGNORECASE)
_THOUGHT: Final = re.compile(
    r"^[ \t]*(?:#\+(?:begin|end)_reasoning|`{3,}[ \t]*(?:reasoning)?)[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_FENCES: Final = re.compile(r"^[ \t]*(?:#\+begin_reasoning|#\+end_reasoning)[ \t]*$", re.IGNORECASE | re.MULTILINE)


@frozen
class _Region:
    kind: str
    start: int
    end: int
    call_id: str = ""


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    text = source.text(report)
    facts = _facts(text)
    if "bounds" not in facts:
        raise Unparsable("", "the text has no gptel bounds")
    try:
        regions = _regions(sexp.read(facts.pop("bounds"))[0])
    except ValueError:
        report.add("invalidRecord", "warning", "the gptel bounds cannot be read; the whole text was kept as one entry")
        regions = []
    metadata: dict[str, Json] = {key: value for key, value in facts.items() if key != "system"}
    yield ImportedHistory(
        entries=assemble(_items(text, regions, facts), report, "gptel"),
        source_id=source.name,
        metadata=lambda: metadata,
    )


def _facts(text: str) -> dict[str, str]:
    facts: dict[str, str] = {}
    drawer = _DRAWER.search(text)
    if drawer:
        for name, value in _PROPERTY.findall(drawer[1]):
            key = name.removeprefix("GPTEL_").lower()
            facts[key] = facts[key] + " " + value if key in facts else value
        if "system" in facts:
            facts["system"] = facts["system"].replace("\\n", "\n")
    footer = _FOOTER.search(text)
    if footer:
        for name, value in _VARIABLE.findall(footer[0]):
            key = name.removeprefix("gptel--").removeprefix("gptel-")
            facts[{"system-message": "system", "backend-name": "backend"}.get(key, key)] = _unquoted(value)
    return facts


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        text, _ = sexp.read(value)
    except ValueError:
        return value
    return str(text)


def _regions(bounds: Any) -> list[_Region]:
    regions: list[_Region] = []

    def add(kind: str, item: Any) -> None:
        if isinstance(item, list) and len(item) >= 2 and all(isinstance(at, int) for at in item[:2]):
            call_id = item[2] if len(item) > 2 and isinstance(item[2], str) else ""
            regions.append(_Region(kind, item[0], item[1], str(call_id)))

    for item in bounds if isinstance(bounds, list) else ():
        if isinstance(item, list) and item and isinstance(item[0], sexp.Symbol):
            for part in item[1:]:
                add(str(item[0]), part)
        else:
            add("response", item)
    return sorted(regions, key=lambda region: (region.start, region.end))


def _items(text: str, regions: list[_Region], facts: dict[str, str]) -> Iterator[Item]:
    drawer, footer = _DRAWER.search(text), _FOOTER.search(text)
    start = drawer.end() if drawer else 0
    end = footer.start() if footer else len(text)
    if facts.get("system"):
        yield Draft(entry=Entry.system(facts["system"]))
    origin = Origin(vendor="gptel", model=facts["model"]) if facts.get("model") else None
    at, answer, calls = start, 0, 0
    for region in regions:
        first, last = max(region.start - 1, at), min(max(region.end - 1, at), end)
        if last < end and text[last] != "\n" and last > 0 and text[last - 1] != "\n":
            newline = text.find("\n", last, end)
            last = end if newline < 0 else newline
        if said := _said(text[at:first]):
            yield Draft(entry=Entry(message=User((Text(said),))))
            answer += 1
        body, at = text[first:last], last
        if region.kind == "response":
            if body.strip():
                content = (Text(_FENCES.sub("", body).strip()),)
                yield Draft(entry=Entry(message=Assistant(content=content, origin=origin)), answer=str(answer))
        elif region.kind == "ignore":
            # gptel keeps what the model thought in the text, and out of what it sends.
            if thought := _THOUGHT.sub("", body).strip():
                made = Assistant(content=None, reasoning=(Reasoning(text=thought),), origin=origin)
                yield Draft(entry=Entry(message=made), answer=str(answer))
        elif region.kind == "tool":
            calls += 1
            call, result = _tool(body, region.call_id or f"call_{calls}")
            yield Draft(
                entry=Entry(message=Assistant(tool_calls=(call,), content=None, origin=origin)), answer=str(answer)
            )
            yield Draft(entry=Entry(message=Tool(call_id=call.id, name=call.name, content=(Text(result),))))
            answer += 1
    if said := _said(text[at:end]):
        yield Draft(entry=Entry(message=User((Text(said),))))


def _said(text: str) -> str:
    return _PROMPT.sub("", text.strip(), count=1).strip()


def _tool(body: str, call_id: str) -> tuple[ToolCall, str]:
    inner = _TOOL_END.sub("", _TOOL_START.sub("", body).rstrip())
    try:
        value, at = sexp.read(inner)
    except ValueError:
        return ToolCall(id=call_id, name="tool", arguments="{}"), inner.strip("\n")
    call = sexp.plist(value)
    arguments = call.get("args")
    made = ToolCall(id=call_id, name=str(call.get("name") or "tool"), arguments=dumps(arguments or {}))
    return made, inner[at:].strip("\n")


def _detect(head: Head) -> int:
    if re.search(r"^:GPTEL_BOUNDS:", head.text, re.MULTILINE) or "gptel--bounds:" in head.text:
        return 95
    return 0


FORMAT: Final = Format(id="gptel", title="gptel chat", extensions=(".org", ".md", ".txt"), detect=_detect, read=_read)
