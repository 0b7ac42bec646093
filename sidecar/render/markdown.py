"""A transcript as Markdown.

The format, which the `markdown` importer reads back (it is not lossless: `own-jsonl` is):

    # name of the history                                 only with `title`
    <!-- history {"name":"main","version":7} -->          only with `marks`

    ## 3. assistant · `sage` · 2026-12-01 01:12:33Z · 120 tokens · pinned
    <!-- entry {"id":"…","role":"assistant",…} -->        only with `marks`: what the text does not say

    <details><summary>reasoning</summary>                 one per readable piece of reasoning
    …
    </details>

    Prose of the message, escaped by `escape.prose`.

    *[image image/png, 12.3 kB]*                          media are named, never embedded

    **call** `read_file` · `call_1` · result in 4         then the arguments in a `json` fence

    ## 4. tool · `read_file` · result of 3 · error        the content in a fence, since it is seldom Markdown

Headings of level 2 and lines that begin with `<` at the margin, outside a fence, are always the renderer's own.
`heading_role` and `mark_of` read them; `escape.unescape_prose` takes the prose back.
Each block is followed by one blank line. JSON in a comment writes `<`, `>` and everything outside ASCII as escapes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from sidecar.core.jsontext import Json, loads
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Note,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
)
from sidecar.render.document import (
    Pairs,
    Part,
    Rendered,
    Span,
    argument_text,
    media_label,
    pairs_of,
    pretty,
    reasoning_label,
    structured,
    time_of,
)
from sidecar.render.escape import code, literal, one_line, prose


def render_markdown(
    entries: Sequence[Entry],
    *,
    start: int = 0,
    title: str | None = None,
    version: int | None = None,
    tokens: Sequence[int | None] | None = None,
    elided: Collection[str] = (),
    marks: bool = False,
) -> Rendered:
    """Render entries, the first of which has index `start` in its history.

    `tokens` holds one count per entry, `elided` the ids that a projection shows as placeholders.
    """
    writer = _Writer(pairs_of(entries, start), marks)
    if title is not None:
        writer.lines += [f"# {_inline(title)}"]
        if marks:
            writer.lines += [mark("history", {"name": title} | ({} if version is None else {"version": version}))]
        writer.lines += [""]
    for offset, entry in enumerate(entries):
        count = tokens[offset] if tokens is not None else None
        writer.entry(entry, start + offset, count, entry.id in elided)
    return Rendered(text="\n".join(writer.lines), map=tuple(writer.map), parts=tuple(writer.parts))


_HEADING = re.compile(r"## (\d+)\. (system|user|assistant|tool|note|summary)(?: · .*)?")
_MARK = re.compile(r"<!-- (history|entry) (\{.*\}) -->")


def heading_role(line: str) -> tuple[int, str] | None:
    """Return index and role where the line is the heading of an entry."""
    match = _HEADING.fullmatch(line)
    return (int(match[1]), match[2]) if match else None


def mark(kind: str, facts: Mapping[str, Json]) -> str:
    """Return the comment that carries facts about the document or the entry."""
    text = json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {kind} {text} -->"


def mark_of(line: str) -> tuple[str, dict[str, Json]] | None:
    """Return kind and facts where the line is a comment that `mark` wrote."""
    match = _MARK.fullmatch(line.strip())
    if match is None:
        return None
    try:
        facts = loads(match[2])
    except ValueError:
        return None
    return match[1], facts


class _Writer:
    """Collects lines and places; one instance renders one document."""

    def __init__(self, pairs: Pairs, marks: bool) -> None:
        self.lines: list[str] = []
        self.map: list[Span] = []
        self.parts: list[Part] = []
        self._pairs = pairs
        self._marks = marks
        self._entry_id = ""

    def entry(self, entry: Entry, index: int, tokens: int | None, elided: bool) -> None:
        first = len(self.lines)
        self._entry_id = entry.id
        self.lines.append(self._heading(entry, index, tokens, elided))
        if self._marks:
            self.lines.append(mark("entry", _facts(entry)))
        self.lines.append("")
        match entry.message:
            case System(text=text) | Note(text=text) | Summary(text=text):
                self._block(prose(text))
            case User(content=blocks):
                self._blocks(blocks)
            case Assistant() as message:
                for part in message.reasoning:
                    self._reasoning(part)
                self._blocks(message.blocks)
                for position, call in enumerate(message.tool_calls):
                    self._call(call, self._pairs.results.get((index, position)))
            case Tool(content=blocks) as message:
                began = len(self.lines)
                self._blocks(blocks, plain=True)
                self._part("result", began, message.name or "", message.call_id)
        self.map.append(Span(entry_id=entry.id, start_line=first, end_line=len(self.lines)))

    def _heading(self, entry: Entry, index: int, tokens: int | None, elided: bool) -> str:
        words = [f"## {index}. {entry.role}"]
        message = entry.message
        if isinstance(message, Tool):
            called = self._pairs.calls.get(index)
            if name := message.name or (called[1] if called else ""):
                words.append(code(name))
            if called:
                words.append(f"{'duplicate ' * (index in self._pairs.duplicates)}result of {called[0]}")
            words += ["error"] * message.is_error
        if isinstance(message, Summary) and message.covers is not None:
            words.append(f"covers {message.covers} entries")
        if entry.agent:
            words.append(code(entry.agent))
        if entry.ts is not None:
            words.append(time_of(entry.ts))
        if tokens is not None:
            words.append(f"{tokens} tokens")
        words += ["pinned"] * entry.pinned + ["elided"] * elided
        return " · ".join(words)

    def _block(self, lines: list[str]) -> None:
        self.lines += lines
        self.lines.append("")

    def _blocks(self, blocks: Sequence[Block], *, plain: bool = False) -> None:
        for block in blocks:
            match block:
                case Text(text=text):
                    if text:
                        self._block(literal(text, "text") if plain else prose(text))
                case Image() | File() | Audio():
                    self._block([f"*[{_inline(media_label(block))}]*"])
                case Refusal(text=text):
                    self._block(["*[refusal]*"])
                    self._block(prose(text))
                case _:
                    if not isinstance(block, JsonBlock):
                        kind = getattr(block, "vendor", None) or getattr(block, "type", "")
                        self._block([f"*[{_inline(f'block of {kind}')}]*"])
                    self._block(literal(pretty(structured(block)), "json"))

    def _reasoning(self, part: Reasoning) -> None:
        began = len(self.lines)
        label = reasoning_label(part)
        if part.text:
            self._block([f"<details><summary>{_inline(label)}</summary>"])
            self._block(prose(part.text))
            self._block(["</details>"])
            self._part("reasoning", began)
        else:
            self._block([f"*[{_inline(label)}]*"])

    def _call(self, call: ToolCall, result: int | None) -> None:
        began = len(self.lines)
        words = [f"**call** {code(call.name)}", code(call.id)]
        if result is not None:
            words.append(f"result in {result}")
        self._block([" · ".join(words)])
        if call.arguments:
            self._block(literal(argument_text(call.arguments), "json"))
        self._part("call", began, call.name, call.id)

    def _part(self, kind: str, began: int, name: str = "", call_id: str = "") -> None:
        # The blank line behind a block belongs to no part.
        end = len(self.lines) - 1
        if end > began:
            self.parts.append(
                Part(
                    kind=kind,  # type: ignore[arg-type]
                    entry_id=self._entry_id,
                    start_line=began,
                    end_line=end,
                    name=name,
                    call_id=call_id,
                )
            )


def _inline(text: str) -> str:
    """Escape a label that stands inside emphasis or a summary."""
    safe = one_line(text, 300)
    return re.sub(r"[<>&`*_\[\]\\!]", lambda match: f"&#{ord(match[0])};", safe)


def _facts(entry: Entry) -> dict[str, Json]:
    """What the visible text does not say, or says for people only."""
    facts: dict[str, Json] = {"id": entry.id, "role": entry.role}
    message = entry.message
    if isinstance(message, Tool):
        facts |= {"callId": message.call_id}
        facts |= {"name": message.name} if message.name is not None else {}
        facts |= {"isError": True} if message.is_error else {}
    if isinstance(message, Summary) and message.covers is not None:
        facts["covers"] = message.covers
    if isinstance(message, Assistant) and not message.blocks:
        facts["content"] = "null" if message.content is None else "empty" if message.content == () else "absent"
    if entry.agent:
        facts["agent"] = entry.agent
    if entry.principal is not None:
        facts["principal"] = entry.principal
    if entry.ts is not None:
        facts["ts"] = entry.ts
    if entry.pinned:
        facts["pinned"] = True
    return facts
