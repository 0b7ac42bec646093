"""Markdown transcripts: what our export writes, and plain ones with a heading per turn.

Rules:
- Our own dialect is that of `render.markdown` with marks. Where the visible text of an entry does not say everything
  (media, signatures, exact JSON), the entry's mark also holds it whole, with a digest of the visible lines: while the
  digest holds, the entry comes back equal; after a person edited the text, the text counts and the rest is a loss.
- A plain transcript has headings `User`, `Assistant`, `System`, `Tool`, `Note` or `Summary` (also Human, AI, You), all
  of one level, outside code fences. What stands before the first is its title; other headings belong to the turn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import evolve

from sidecar.core.errors import InvalidParams, Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import ABSENT, Assistant, Entry, Note, Reasoning, Summary, System, Text, Tool, ToolCall, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, Restart, assemble
from sidecar.formats.head import Head
from sidecar.formats.parts import text_of
from sidecar.formats.source import Source
from sidecar.render.escape import unescape_prose
from sidecar.render.markdown import heading_role, mark, mark_of, render_markdown

_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TURN: Final = re.compile(
    r"(#{1,4})[ \t]+(?:\W{0,4}[ \t]*)?(user|human|you|assistant|ai|model|llm|system|tool|tool result|note|summary)"
    r"[ \t]*:?[ \t]*#*[ \t]*",
    re.IGNORECASE,
)
_ROLES: Final = {"human": "user", "you": "user", "ai": "assistant", "model": "assistant", "llm": "assistant"}
_CALL: Final = re.compile(r"\*\*call\*\* (.+)")
_CODE_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_DETAILS: Final = "<details><summary>"


def write(entries: Sequence[Entry], *, title: str | None = None, version: int | None = None) -> str:
    """Return entries as one Markdown document that `read` takes back without a loss."""
    rendered = render_markdown(entries, title=title, version=version, marks=True)
    lines = rendered.text.split("\n")
    for entry, span in zip(entries, rendered.map, strict=True):
        at = span.start_line + 1
        found = mark_of(lines[at])
        assert found is not None, "the renderer writes a mark under every heading"
        body = lines[at + 1 : span.end_line]
        if _entry(found[1], body) != evolve(entry, sender="", auto_injected=False):
            lines[at] = mark("entry", {**found[1], "digest": _digest(body), "whole": entry_to_json(entry)})
    return "\n".join(lines)


def _digest(body: Sequence[str]) -> str:
    text = "\n".join(body).strip("\n")
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    lines = source.text(report).split("\n")
    own = [
        at
        for at in _headings(lines)
        if heading_role(lines[at]) and mark_of(lines[at + 1 : at + 2][0] if lines[at + 1 : at + 2] else "")
    ]
    if own:
        yield ImportedHistory(entries=_own(lines, own, report), title=lambda: _title(lines[: own[0]]))
        return
    turns = _turns(lines)
    if not turns:
        raise Unparsable("", "no heading names a turn")
    first = turns[0][0]
    yield ImportedHistory(
        entries=assemble(_plain(lines, turns), report, "markdown"), title=lambda: _title(lines[:first])
    )


def _headings(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of lines that begin with `#`, outside fences."""
    closing = ""
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is not None:
            run = fence[1]
            if not closing:
                closing = run
            elif run[0] == closing[0] and len(run) >= len(closing) and not line.strip().strip(run[0]):
                closing = ""
        elif not closing and line.startswith("#"):
            yield number


def _title(lines: Sequence[str]) -> str | None:
    for line in lines:
        found = mark_of(line)
        if found and found[0] == "history":
            return text_of(found[1].get("name"))
        if line.startswith("# "):
            return unescape_prose([line[2:].strip()])
    return None


# --- our own dialect --------------------------------------------------------------------------------------------------


def _own(lines: Sequence[str], starts: Sequence[int], report: Report) -> Iterator[Entry | Restart]:
    ids: set[str] = set()
    for start, end in zip(starts, (*starts[1:], len(lines)), strict=True):
        found = mark_of(lines[start + 1])
        assert found is not None
        body = lines[start + 2 : end]
        entry = _whole(found[1], body, start + 1, report) or _entry(found[1], body)
        if entry is None:
            report.invalid(found[1], "is no entry", f"line {start + 1}")
            continue
        if entry.id in ids:
            entry = evolve(entry, id="")
        if entry.id:
            ids.add(entry.id)
        yield entry


def _whole(facts: dict[str, Json], body: Sequence[str], number: int, report: Report) -> Entry | None:
    if "whole" not in facts:
        return None
    if facts.get("digest") != _digest(body):
        report.add(
            "editedText",
            "info",
            f"the entry at line {number} was edited; what its text does not show is lost",
            entry_id=text_of(facts.get("id")),
        )
        return None
    try:
        return evolve(entry_from_json(facts["whole"]), sender="", auto_injected=False)
    except InvalidParams:
        return None


def _entry(facts: dict[str, Json], body: Sequence[str]) -> Entry | None:
    """Read the visible lines of one entry; `None` where the mark names no role."""
    role = facts.get("role")
    lines = list(body)
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if role in ("system", "note", "summary"):
        text = unescape_prose(lines)
        covers = facts.get("covers")
        message: Any = {"system": System, "note": Note}.get(role, Summary)(text)
        if isinstance(message, Summary) and isinstance(covers, int):
            message = evolve(message, covers=covers)
    elif role == "user":
        message = User((Text(unescape_prose(lines)),))
    elif role == "tool":
        message = Tool(
            call_id=text_of(facts.get("callId")) or "",
            name=text_of(facts.get("name")),
            content=(Text(_unfenced(lines)),),
            is_error=facts.get("isError") is True,
        )
    elif role == "assistant":
        message = _assistant(facts, lines)
    else:
        return None
    ts = facts.get("ts")
    return Entry(
        message=message,
        id=text_of(facts.get("id")) or "",
        agent=text_of(facts.get("agent")) or "",
        principal=text_of(facts.get("principal")),
        ts=ts if isinstance(ts, int) and not isinstance(ts, bool) else None,
        pinned=facts.get("pinned") is True,
    )


def _unfenced(lines: Sequence[str]) -> str:
    if len(lines) >= 2 and (fence := _FENCE.match(lines[0])) and lines[-1].strip() == fence[1]:
        return "\n".join(lines[1:-1])
    return unescape_prose(list(lines))


def _assistant(facts: dict[str, Json], lines: list[str]) -> Assistant:
    reasoning: list[Reasoning] = []
    calls: list[ToolCall] = []
    said: list[str] = []
    at = 0
    closing = ""
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if closing:
            closing = "" if line.strip() == closing else closing
        elif fence:
            closing = fence[1]
        elif line.startswith(_DETAILS):
            end = next((i for i in range(at, len(lines)) if lines[i] == "</details>"), len(lines))
            reasoning.append(Reasoning(text=unescape_prose(_trimmed(lines[at + 1 : end]))))
            at = end + 1
            continue
        elif (call := _CALL.fullmatch(line)) and len(spans := _CODE_SPAN.findall(call[1])) >= 2:
            arguments, at = _arguments(lines, at + 1)
            calls.append(ToolCall(id=_span(spans[1][1]), name=_span(spans[0][1]), arguments=arguments))
            continue
        said.append(line)
        at += 1
    text = unescape_prose(_trimmed(said))
    content: Any = (Text(text),)
    if not text:
        content = {"null": None, "empty": (), "absent": ABSENT}.get(str(facts.get("content")), (Text(""),))
    return Assistant(content=content, reasoning=tuple(reasoning), tool_calls=tuple(calls))


def _arguments(lines: list[str], at: int) -> tuple[str, int]:
    while at < len(lines) and not lines[at]:
        at += 1
    fence = _FENCE.match(lines[at]) if at < len(lines) else None
    if fence is None:
        return "", at
    end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == fence[1]), len(lines))
    return "\n".join(lines[at + 1 : end]), end + 1


def _span(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == " " and "`" in text else text


def _trimmed(lines: Sequence[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start]:
        start += 1
    while end > start and not lines[end - 1]:
        end -= 1
    return list(lines[start:end])


# --- plain transcripts ------------------------------------------------------------------------------------------------


def _turns(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return (line, role) of every turn; all have the level of the first."""
    found = [(at, turn) for at in _headings(lines) if (turn := _TURN.fullmatch(lines[at]))]
    if not found:
        return []
    level = found[0][1][1]
    return [(at, _ROLES.get(turn[2].lower(), turn[2].lower().split()[0])) for at, turn in found if turn[1] == level]


def _plain(lines: Sequence[str], turns: Sequence[tuple[int, str]]) -> Iterator[Item]:
    ends = [at for at, _ in turns[1:]] + [len(lines)]
    for count, ((at, role), end) in enumerate(zip(turns, ends, strict=True)):
        text = "\n".join(lines[at + 1 : end]).strip("\n").rstrip()
        message: Any
        if role == "tool":
            message = Tool(call_id=f"call_{count}", content=(Text(text),))
        elif role in ("system", "note", "summary"):
            message = {"system": System, "note": Note, "summary": Summary}[role](text)
        else:
            message = User((Text(text),)) if role == "user" else Assistant(content=(Text(text),))
        yield Draft(entry=Entry(message=message))


def _detect(head: Head) -> int:
    lines = head.text.split("\n")
    if any(heading_role(line) and at + 1 < len(lines) and mark_of(lines[at + 1]) for at, line in enumerate(lines)):
        return 97
    if head.data.lstrip()[:1] in (b"{", b"["):
        return 0
    roles = {role for _, role in _turns(lines)}
    return 60 if {"user", "assistant"} <= roles else 35 if roles & {"user", "assistant"} else 0


FORMAT: Final = Format(id="markdown", title="Markdown transcript", extensions=(".md",), detect=_detect, read=_read)
