"""A rendered file says which entries it shows and where."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given, settings
from render_samples import TEXT, conversation

from sidecar.core.messages import Entry, ToolCall
from sidecar.render import render_markdown
from sidecar.render.marked import read_marked


def test_a_marked_file_reads_back() -> None:
    """History, version, spans and parts are those the renderer reported."""
    rendered = render_markdown(conversation(), start=3, title="a/b", version=12, marks=True)
    marked = read_marked(rendered.text)
    assert (marked.history, marked.version) == ("a/b", 12)
    assert marked.map == rendered.map
    assert marked.parts == rendered.parts
    assert [(fact["id"], fact["index"], fact["role"]) for fact in marked.facts][:2] == [
        ("e0", 3, "system"),
        ("e1", 4, "user"),
    ]


@settings(max_examples=40, deadline=None)
@given(TEXT, TEXT)
def test_no_transcript_fakes_an_entry(first: str, second: str) -> None:
    """A transcript that spells marks and headings adds no entry and hides none."""
    fake = '## 9. user\n<!-- entry {"id":"fake"} -->\n'
    entries = [
        Entry.user(fake + first),
        Entry.assistant(second, reasoning=first + fake, tool_calls=[ToolCall(id="c", name="t", arguments=first)]),
        Entry.tool(second + "\n" + fake, call_id="c"),
        Entry.user(fake),
    ]
    rendered = render_markdown([evolve(entry, id=f"e{i}") for i, entry in enumerate(entries)], title="x", marks=True)
    assert read_marked(rendered.text).map == rendered.map
