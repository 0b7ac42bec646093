"""A transcript as one self-contained HTML page.

Rules: no script, no external resource, and a content security policy that forbids both, should an escape ever fail.
Prose is Markdown with HTML switched off and images named instead of loaded; headings inside it are demoted so that
only entries are headings of level 2. An entry's id is the id of its `article`, so that a fragment jumps to it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Note,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    User,
)
from sidecar.render.document import (
    Pairs,
    Part,
    Rendered,
    Span,
    argument_text,
    first_text,
    media_label,
    pairs_of,
    pretty,
    reasoning_label,
    structured,
    time_of,
)
from sidecar.render.escape import one_line, visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LONG_PROSE = 200_000
"""Characters above which prose is shown as it is: a Markdown parser in Python takes seconds there."""

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
article { border-left: 3px solid #8888; margin: 1.5rem 0; padding: 0 1rem; }
article.user { border-color: #36c; } article.assistant { border-color: #2a8; } article.error { border-color: #c33; }
h1 { font-size: 1.4rem; line-height: 1.3; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .5rem; } h2 small, .label { font-weight: normal; opacity: .75; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .5rem; }
</style>
</head>
<body>"""


def render_html(
    entries: Sequence[Entry],
    *,
    start: int = 0,
    title: str | None = None,
    tokens: Sequence[int | None] | None = None,
    elided: Collection[str] = (),
) -> Rendered:
    """Render entries as a page; the parameters are those of `render_markdown`."""
    writer = _Writer(pairs_of(entries, start), [entry.id for entry in entries], start)
    name = _text(one_line(title or "history", 300))
    writer.lines += (_HEAD % name).split("\n")
    if title is not None:
        writer.lines.append(f"<h1>{name}</h1>")
    for offset, entry in enumerate(entries):
        count = tokens[offset] if tokens is not None else None
        writer.entry(entry, start + offset, count, entry.id in elided)
    writer.lines += ["</body>", "</html>", ""]
    return Rendered(text="\n".join(writer.lines), map=tuple(writer.map), parts=tuple(writer.parts))


class _Writer:
    def __init__(self, pairs: Pairs, ids: list[str], start: int) -> None:
        self.lines: list[str] = []
        self.map: list[Span] = []
        self.parts: list[Part] = []
        self._pairs = pairs
        self._ids = ids
        self._start = start
        self._entry_id = ""

    def entry(self, entry: Entry, index: int, tokens: int | None, elided: bool) -> None:
        first = len(self.lines)
        self._entry_id = entry.id
        failed = isinstance(entry.message, Tool) and entry.message.is_error
        self._add(f'<article id="{_text(_anchor(entry.id))}" class="{entry.role}{" error" if failed else ""}">')
        self._add(self._heading(entry, index, tokens, elided))
        match entry.message:
            case System(text=text) | Note(text=text) | Summary(text=text):
                self._prose(text)
            case User(content=blocks):
                self._blocks(blocks)
            case Assistant() as message:
                for part in message.reasoning:
                    label = _text(reasoning_label(part))
                    if part.text:
                        began = len(self.lines)
                        self._add(f"<details><summary>{label}</summary>")
                        self._prose(part.text)
                        self._add("</details>")
                        self._part("reasoning", began)
                    else:
                        self._label(reasoning_label(part))
                self._blocks(message.blocks)
                for position, call in enumerate(message.tool_calls):
                    began = len(self.lines)
                    link = self._link(" · result in", self._pairs.results.get((index, position)))
                    name = f"<strong>call</strong> <code>{_text(call.name)}</code>"
                    self._add(f"<details><summary>{name}{link}</summary>")
                    self._pre(argument_text(call.arguments))
                    self._add("</details>")
                    self._part("call", began, call.name, call.id)
            case Tool(content=blocks) as message:
                began = len(self.lines)
                self._add(f"<details><summary>{_text(one_line(first_text(entry)) or 'no text')}</summary>")
                self._blocks(blocks, plain=True)
                self._add("</details>")
                self._part("result", began, message.name or "", message.call_id)
        self._add("</article>")
        self.map.append(Span(entry_id=entry.id, start_line=first, end_line=len(self.lines)))

    def _heading(self, entry: Entry, index: int, tokens: int | None, elided: bool) -> str:
        words: list[str] = []
        message = entry.message
        link = ""
        if isinstance(message, Tool):
            called = self._pairs.calls.get(index)
            if name := message.name or (called[1] if called else ""):
                words.append(name)
            label = "duplicate result of" if index in self._pairs.duplicates else "result of"
            link = self._link(f" · {label}", called[0] if called else None)
            words += ["error"] * message.is_error
        if isinstance(message, Summary) and message.covers is not None:
            words.append(f"covers {message.covers} entries")
        words += [entry.agent] if entry.agent else []
        words += [time_of(entry.ts)] if entry.ts is not None else []
        words += [f"{tokens} tokens"] if tokens is not None else []
        words += ["pinned"] * entry.pinned + ["elided"] * elided
        facts = "".join(f" · {_text(word)}" for word in words)
        return f"<h2>{index}. {entry.role}<small>{facts}{link}</small></h2>"

    def _link(self, label: str, index: int | None) -> str:
        if index is None:
            return ""
        return f'{label} <a href="#{_text(_anchor(self._ids[index - self._start]))}">{index}</a>'

    def _blocks(self, blocks: Sequence[Block], *, plain: bool = False) -> None:
        for block in blocks:
            match block:
                case Text(text=text):
                    if plain:
                        self._pre(text)
                    else:
                        self._prose(text)
                case Image() | File() | Audio():
                    self._label(media_label(block))
                case Refusal(text=text):
                    self._label("refusal")
                    self._prose(text)
                case _:
                    if not isinstance(block, JsonBlock):
                        self._label(f"block of {getattr(block, 'vendor', None) or getattr(block, 'type', '')}")
                    self._pre(pretty(structured(block)))

    def _add(self, text: str) -> None:
        self.lines += text.split("\n")

    def _label(self, text: str) -> None:
        self._add(f'<p class="label">[{_text(one_line(text, 300))}]</p>')

    def _pre(self, text: str) -> None:
        if text:
            self._add(f'<pre dir="auto">{_text(text)}</pre>')

    def _prose(self, text: str) -> None:
        if len(text) > _LONG_PROSE:
            self._pre(text)
        elif text:
            self._add(f'<div dir="auto">{_markdown().render(visible(text)).rstrip()}</div>')

    def _part(self, kind: str, began: int, name: str = "", call_id: str = "") -> None:
        self.parts.append(
            Part(
                kind=kind,  # type: ignore[arg-type]
                entry_id=self._entry_id,
                start_line=began,
                end_line=len(self.lines),
                name=name,
                call_id=call_id,
            )
        )


def _text(text: str) -> str:
    return escape(visible(text))


def _anchor(entry_id: str) -> str:
    """An id attribute may not hold spaces."""
    return "-".join(visible(entry_id).split())


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

    def image(tokens: Sequence[Any], at: int, _options: Any, _env: Any) -> str:
        return f"[image {_text(tokens[at].content)}]"

    def heading(tokens: Sequence[Any], at: int, _options: Any, _env: Any) -> str:
        level = min(6, int(tokens[at].tag[1:]) + 2)
        return f"<h{level}>" if tokens[at].nesting > 0 else f"</h{level}>\n"

    rules: dict[str, Any] = parser.renderer.rules  # type: ignore[attr-defined]
    rules |= {"image": image, "heading_open": heading, "heading_close": heading}
    return parser
