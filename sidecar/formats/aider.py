"""aider's `.aider.chat.history.md`: `#### ` lines are the person's, `> ` lines the tool's, all others the model's.

Sources: files written by aider 0.86.2 (2026-11) and aider's own reader (`split_chat_history_markdown`).

Rules:
- aider ends the person's and its own lines with two spaces. Where a session has such lines, only they count, so that a
  heading or a quotation inside an answer stays part of the answer; files that lost the spaces follow aider's own rule.
- A closed code fence belongs to the answer. A line of the tool ends an answer; its text is kept in `_meta`.
- Times are those of the session's first line, read as UTC, since the file names no zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Entry, Text, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep
from sidecar.formats.head import Head
from sidecar.formats.parts import millis
from sidecar.formats.source import Source

_SESSION: Final = re.compile(r"^# aider chat started at (.*)$")
_USER: Final = "####"
_MODEL: Final = re.compile(r"^(?:Main )?[Mm]odel: (\S+)")


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    text = source.text(report)
    if not any(_SESSION.match(line) or line.startswith(_USER + " ") for line in text.split("\n")):
        raise Unparsable("", "no line of an aider chat history was found")
    facts: dict[str, Json] = {}
    yield ImportedHistory(
        entries=assemble(_items(text, facts), report, "aider"), source_id=source.name, metadata=lambda: facts
    )


def _items(text: str, facts: dict[str, Json]) -> Iterator[Item]:
    session: list[str] = []
    ts: int | None = None
    for line in text.split("\n"):
        start = _SESSION.match(line)
        if start is None:
            session.append(line)
            continue
        yield from _session(session, ts, facts)
        session, ts = [], millis(start[1].strip())
    yield from _session(session, ts, facts)


def _session(lines: list[str], ts: int | None, facts: dict[str, Json]) -> Iterator[Item]:
    strict = any(line.startswith((_USER + " ", "> ")) and line.endswith("  ") for line in lines)
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith(("```", "~~~"))]
    pairs = zip(fences[::2], fences[1::2], strict=True) if len(fences) % 2 == 0 else ()
    fenced = {number for start, end in pairs for number in range(start, end + 1)}
    said: list[str] = []
    answer: list[str] = []
    tool: list[str] = []

    def flush() -> Iterator[Item]:
        for lines_of, role in ((said, "user"), (answer, "assistant")):
            text = "\n".join(lines_of).strip("\n")
            if text.strip():
                message = User((Text(text),)) if role == "user" else Assistant(content=(Text(text),))
                records: list[Json] = list(tool)
                tool.clear()
                yield Draft(entry=keep(Entry(message=message, ts=ts), records=records))
            lines_of.clear()

    for number, line in enumerate(lines):
        own = number not in fenced and (not strict or line.endswith("  ") or line.strip() in (_USER, ">"))
        if own and (line.startswith(_USER + " ") or line.rstrip() == _USER):
            if answer:
                yield from flush()
            said.append(line[len(_USER) + 1 :].rstrip())
        elif own and (line.startswith("> ") or line.rstrip() == ">"):
            yield from flush()
            shown = line[2:].rstrip()
            tool.append(shown)
            model = _MODEL.match(shown)
            if model:
                facts["model"] = model[1]
        elif line.strip() or answer:
            if said:
                yield from flush()
            answer.append(line.rstrip("\r"))
    yield from flush()


def _detect(head: Head) -> int:
    if re.search(r"^# aider chat started at ", head.text, re.MULTILINE):
        return 95
    return 0


FORMAT: Final = Format(
    id="aider", title="aider chat history", extensions=(".aider.chat.history.md", ".md"), detect=_detect, read=_read
)
