"""HTML and outlines."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Assistant, Entry, Image, Reasoning, ToolCall
from sidecar.render import outline, render_html
from sidecar.render.outline import Row

EVIL = [
    "</div></article><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://e.vil/pixel.png)",
    "[x](javascript:alert(1))",
    '"><svg onload=alert(1)>',
    "# heading",
    "</details>",
    "```\n<script>\n```",
    "    <script>",
    "<!-- x",
    "\x1b[31m\u202e",
    "&lt;script&gt;",
]


class Tags(HTMLParser):
    """Collects every tag and checks that they nest."""

    VOID = ("meta", "br", "hr")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


TEXT = st.lists(st.sampled_from([*EVIL, "\n", "a", "- ", "> "]), max_size=6).map("".join)


@settings(max_examples=60, deadline=None)
@given(TEXT, TEXT)
def test_a_page_holds_only_harmless_elements(first: str, second: str) -> None:
    """Whatever the transcript says, tags nest, nothing loads or runs, and only entries are headings of level 2."""
    entries = [
        Entry.user(first),
        Entry.assistant(second, reasoning=first, agent=second, tool_calls=[ToolCall(id=first, name=second)]),
        Entry.tool(second, call_id=first, name=first),
    ]
    text = render_html(entries, title=first).text
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "img", "svg", "iframe", "object", "link", "form", "base"}
    assert sum(tag == "h2" for tag, _ in tags.seen) == 3
    for tag, attributes in tags.seen:
        assert not any(name.startswith("on") for name in attributes), tag
        target = attributes.get("href") or ""
        assert ":" not in target or target.startswith(("http:", "https:", "mailto:"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_page_maps_entries_and_links_pairs() -> None:
    """Spans hold the article of their entry, and a call and its result point at each other."""
    entries = [
        entry_from_json(
            {
                "id": "a 1",
                "message": {
                    "role": "assistant",
                    "content": "*hm*",
                    "toolCalls": [{"id": "c", "name": "ls", "arguments": "{}"}],
                },
            }
        ),
        entry_from_json({"id": "b", "message": {"role": "tool", "callId": "c", "content": "x\ny"}}),
    ]
    rendered = render_html(entries, start=5, title="main")
    lines = rendered.text.split("\n")
    for span, anchor in zip(rendered.map, ("a-1", "b"), strict=True):
        assert lines[span.start_line].startswith(f'<article id="{anchor}"')
        assert lines[span.end_line - 1] == "</article>"
    assert "<em>hm</em>" in rendered.text
    assert 'result in <a href="#b">6</a>' in rendered.text
    assert 'result of <a href="#a-1">5</a>' in rendered.text


def test_outline_rows() -> None:
    """One row per entry, whatever its shape, in one line."""
    entries = [
        Entry.user("\n  first \u202e line  \nsecond"),
        Entry.assistant(tool_calls=[ToolCall(id="c1", name="ls"), ToolCall(id="c2", name="cat")]),
        Entry.tool("boom", "c1", is_error=True),
        Entry.tool("fine", "c2"),
        Entry.from_message(Assistant(reasoning=(Reasoning(text="thinking"),))),
        Entry.assistant(""),
        Entry.user([Image(mime_type="image/png", url="https://a/b.png")]),
        entry_from_json({"id": "j", "ts": 5, "pinned": True, "message": {"role": "user", "content": "x" * 500}}),
    ]
    rows = outline(entries, start=2, tokens=list(range(8)), elided={"j"})
    assert rows == [
        Row(id="", index=2, role="user", kind="text", line="first ⟨U+202E⟩ line", tokens=0),
        Row(id="", index=3, role="assistant", kind="toolCall", line="→ ls, cat", tokens=1, call_ids=("c1", "c2")),
        Row(id="", index=4, role="tool", kind="toolResult", line="boom", tokens=2, call_ids=("c1",)),
        Row(id="", index=5, role="tool", kind="toolResult", line="fine", tokens=3, call_ids=("c2",)),
        Row(id="", index=6, role="assistant", kind="reasoning", line="thinking", tokens=4),
        Row(id="", index=7, role="assistant", kind="text", line="", tokens=5),
        Row(id="", index=8, role="user", kind="media", line="[image image/png at https://a/b.png]", tokens=6),
        Row(id="j", index=9, role="user", kind="text", line="x" * 119 + "…", tokens=7, ts=5, elided=True, pinned=True),
    ]
