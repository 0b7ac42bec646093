"""Find entries and their parts in a transcript that `render_markdown` wrote with marks.

Rules: only lines outside fences count, and only those that the renderer alone can write (see `markdown.py`). A file
that a person edited still reads: what is not recognised belongs to the entry above it.
"""

from __future__ import annotations

import re

from attrs import frozen

from sidecar.core.jsontext import Json
from sidecar.render.document import Part, Span
from sidecar.render.markdown import heading_role, mark_of

_FENCE = re.compile(r"(`{3,}|~{3,})[\w+#.-]*")
_CALL = re.compile(r"\*\*call\*\* (`+) ?(.*?) ?\1 · (`+) ?(.*?) ?\3(?: · result in \d+)?")


@frozen(kw_only=True)
class Marked:
    """The history a file shows, at which version, and where its entries stand."""

    history: str | None
    version: int | None
    map: tuple[Span, ...]
    parts: tuple[Part, ...]
    facts: tuple[dict[str, Json], ...]
    """One object per entry of `map`: its mark, with `index` added."""


def read_marked(text: str) -> Marked:
    """Read a marked transcript; a text without marks gives an empty map."""
    lines = text.split("\n")
    history: str | None = None
    version: int | None = None
    starts: list[int] = []
    facts: list[dict[str, Json]] = []
    parts: list[Part] = []
    fence: re.Pattern[str] | None = None
    heading: tuple[int, tuple[int, str]] | None = None
    began: tuple[int, str, str, str] | None = None  # line, kind, name, call id

    def close(end: int) -> None:
        nonlocal began
        if began is not None and facts:
            while end > began[0] + 1 and not lines[end - 1].strip():
                end -= 1
            parts.append(
                Part(
                    kind=began[1],  # type: ignore[arg-type]
                    entry_id=str(facts[-1]["id"]),
                    start_line=began[0],
                    end_line=end,
                    name=began[2],
                    call_id=began[3],
                )
            )
        began = None

    for number, line in enumerate(lines):
        line = line.rstrip("\r")
        if fence is not None:
            fence = None if fence.fullmatch(line) else fence
            continue
        if opening := _FENCE.fullmatch(line):
            fence = re.compile(re.escape(opening[1][0]) + f"{{{len(opening[1])},}} *")
        elif found := heading_role(line):
            close(number)
            heading = (number, found)
        elif line.startswith("<!-- ") and (read := mark_of(line)):
            kind, fact = read
            if kind == "history":
                history = fact.get("name") if isinstance(fact.get("name"), str) else None
                version = fact.get("version") if isinstance(fact.get("version"), int) else None
            elif heading is not None and heading[0] == number - 1 and isinstance(fact.get("id"), str):
                starts.append(heading[0])
                facts.append({**fact, "index": heading[1][0], "role": heading[1][1]})
                if fact.get("role") == "tool":
                    began = (number + 2, "result", str(fact.get("name") or ""), str(fact.get("callId") or ""))
        elif line.startswith("<details><summary>reasoning"):
            close(number)
            began = (number, "reasoning", "", "")
        elif line == "</details>":
            close(number + 1)
        elif call := _CALL.fullmatch(line):
            close(number)
            began = (number, "call", call[2], call[4])
    close(len(lines))
    ends = [*starts[1:], len(lines)]
    spans = [
        Span(entry_id=str(fact["id"]), start_line=start, end_line=end)
        for fact, start, end in zip(facts, starts, ends, strict=False)
    ]
    return Marked(history=history, version=version, map=tuple(spans), parts=tuple(parts), facts=tuple(facts))
