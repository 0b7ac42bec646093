"""Transcripts as Markdown: what a reader sees, and what a transcript cannot do to the document."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from render_samples import TEXT, conversation

from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry, Image, Reasoning, ToolCall
from sidecar.render import escape, render_html, render_markdown
from sidecar.render.escape import prose, unescape_prose, visible
from sidecar.render.markdown import heading_role, mark_of

EXPECTED = """\
# main
<!-- history {"name":"main","version":7} -->

## 0. system · 2 tokens
<!-- entry {"id":"e0","role":"system"} -->

Be brief.

## 1. user · 2023-11-14 22:13:20Z · 9 tokens
<!-- entry {"id":"e1","role":"user","ts":1700000000000} -->

What is in `a.txt`?

\\# Please

## 2. assistant · `sage` · 20 tokens
<!-- entry {"id":"e2","role":"assistant","content":"null","agent":"sage"} -->

<details><summary>reasoning</summary>

I should read it.

</details>

*[reasoning, 4 bytes opaque, for openai-responses]*

**call** `read` · `c1` · result in 3

```json
{"path":"a.txt"}
```

## 3. tool · `read` · result of 2 · error · 5 tokens · pinned · elided
<!-- entry {"id":"e3","role":"tool","callId":"c1","isError":true,"pinned":true} -->

````text
```
foo <b>
```
````

## 4. user · 30 tokens
<!-- entry {"id":"e4","role":"user"} -->

And this?

*[image image/png, 3 bytes]*

```json
{
  "b": 1.0,
  "a": null
}
```

## 5. summary · covers 9 entries · 3 tokens
<!-- entry {"id":"e5","role":"summary","covers":9} -->

All done.
"""


def test_a_whole_conversation() -> None:
    """Every role, calls with their results, reasoning, media and marks come out as written down here."""
    rendered = render_markdown(
        conversation(), title="main", version=7, tokens=[2, 9, 20, 5, 30, 3], elided={"e3"}, marks=True
    )
    assert rendered.text == EXPECTED


def test_the_map_names_the_lines_of_every_entry() -> None:
    """Each span begins at the entry's heading and ends where the next begins."""
    rendered = render_markdown(conversation(), start=10)
    lines = rendered.text.split("\n")
    assert [span.entry_id for span in rendered.map] == ["e0", "e1", "e2", "e3", "e4", "e5"]
    assert [heading_role(lines[span.start_line]) for span in rendered.map] == [
        (10, "system"),
        (11, "user"),
        (12, "assistant"),
        (13, "tool"),
        (14, "user"),
        (15, "summary"),
    ]
    assert [span.end_line for span in rendered.map[:-1]] == [span.start_line for span in rendered.map[1:]]


def test_parts_name_what_folds_and_jumps() -> None:
    """Reasoning, calls and results have their own lines."""
    rendered = render_markdown(conversation())
    lines = rendered.text.split("\n")
    shown = [
        (part.kind, part.entry_id, part.call_id, lines[part.start_line], lines[part.end_line - 1])
        for part in rendered.parts
    ]
    assert shown == [
        ("reasoning", "e2", "", "<details><summary>reasoning</summary>", "</details>"),
        ("call", "e2", "c1", "**call** `read` · `c1` · result in 3", "```"),
        ("result", "e3", "c1", "````text", "````"),
    ]


REPEATED = [
    Entry.assistant(tool_calls=[ToolCall(id="c", name="ls")]),
    Entry.assistant(tool_calls=[ToolCall(id="c", name="cat"), ToolCall(id="c", name="rm")]),
    Entry.tool("one", "c"),
    Entry.tool("two", "c"),
    Entry.tool("again", "c"),
    Entry.tool("nobody's", "d"),
]
"""An id that comes back before it was answered, one that two calls share, a result too many, one without a call."""


def test_repeated_ids_are_paired_as_a_projection_pairs_them() -> None:
    """A call without a result names none, calls that share an id have each its own, and a second result says so."""
    lines = render_markdown(REPEATED, start=4).text.split("\n")
    assert [line for line in lines if line.startswith(("## ", "**call**"))] == [
        "## 4. assistant",
        "**call** `ls` · `c`",
        "## 5. assistant",
        "**call** `cat` · `c` · result in 6",
        "**call** `rm` · `c` · result in 7",
        "## 6. tool · `cat` · result of 5",
        "## 7. tool · `rm` · result of 5",
        "## 8. tool · `rm` · duplicate result of 5",
        "## 9. tool",
    ]
    texts = re.findall(r"(?:result in|result of) <a[^>]*>\d+", render_html(REPEATED, start=4).text)
    shown = [re.sub(r"<.*>", "", text) for text in texts]
    assert shown == ["result in 6", "result in 7", "result of 5", "result of 5", "result of 5"]


def test_marks_are_read_back() -> None:
    """What a mark says survives an id that tries to close the comment."""
    entry = Entry(message=Entry.user("x").message, id="--> <b>\u202e\n")
    text = render_markdown([entry], marks=True).text
    assert [mark_of(line) for line in text.split("\n") if line.startswith("<")] == [
        ("entry", {"id": "--> <b>\u202e\n", "role": "user"})
    ]


def test_long_arguments_are_indented_only_where_that_can_be_undone() -> None:
    """A number that would change, or text that is no JSON, is shown as the model wrote it."""
    long = '{"a":"' + "x" * 90 + '"}'
    spaced = '{"a": "' + "x" * 90 + '"}'
    rounded = '{"a":1.10,"b":"' + "x" * 90 + '"}'
    call = [ToolCall(id=f"c{i}", name="t", arguments=text) for i, text in enumerate((long, spaced, rounded))]
    text = render_markdown([Entry.assistant(tool_calls=call)]).text
    assert '{\n  "a": "' + "x" * 90 + '"\n}' in text
    assert spaced in text
    assert rounded in text


# --- nothing breaks out -----------------------------------------------------------------------------------------------

JUDGE = MarkdownIt("commonmark", {"html": True})


def outside(text: str) -> list[tuple[str, str]]:
    """What a CommonMark parser finds in the text that could come from the renderer only."""
    found: list[tuple[str, str]] = []
    tokens = JUDGE.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            found.append((token.tag, tokens[at + 1].content.split(" ·")[0]))
        elif token.type == "html_block":
            found.append(("html", token.content.strip()))
        for child in token.children or ():
            if child.type in ("html_inline", "image"):
                found.append((child.type, child.content))
            if child.type == "link_open":
                target = str(child.attrs["href"])
                assert target.startswith(("http:", "https:", "mailto:")) or ":" not in re.split(r"[/?#]", target)[0]
    return found


@settings(max_examples=60, deadline=None)
@given(first=TEXT, second=TEXT, where=st.sampled_from(["user", "reasoning", "tool", "name", "agent", "arguments"]))
@example(first="- a\n  ```\n<script>\n  ```", second="", where="user")
@example(first="a\n-", second="", where="user")
@example(first="a\n- ", second="", where="user")
@example(first="a `\nb `<script>` c", second="", where="user")
@example(first="> ~~~\n<script>", second="", where="user")
@example(first="[a\nb]: http://e.vil", second="[a b]", where="user")
@example(first="\\![a](b) \\`<b>` ![", second="", where="user")
@example(first="```\nopen", second="after", where="user")
@example(first="[x](\njavascript:alert(1))", second="", where="user")
@example(first="[x](javascript&#58;alert(1))", second="", where="user")
def test_nothing_breaks_out(first: str, second: str, where: str) -> None:
    """A CommonMark parser finds the renderer's headings and HTML, and not one more, whatever the transcript says."""
    match where:
        case "reasoning":
            entry = Entry.assistant(second, reasoning=first)
        case "tool":
            entry = Entry.tool(first, call_id=second)
        case "name":
            entry = Entry.assistant(second, tool_calls=[ToolCall(id=second, name=first)])
        case "agent":
            entry = Entry.assistant(second, agent=first)
        case "arguments":
            entry = Entry.assistant(second, tool_calls=[ToolCall(id="c", name="t", arguments=first)])
        case _:
            entry = Entry.user(first)
    text = render_markdown([entry, Entry.user(second)]).text
    expected = [("h2", f"0. {entry.role}"), ("h2", "1. user")]
    if where == "reasoning" and first:
        expected[1:1] = [("html", "<details><summary>reasoning</summary>"), ("html", "</details>")]
    assert outside(text) == expected


@settings(max_examples=60, deadline=None)
@given(TEXT)
@example("`\\# ")
@example("a\n\\# b\n# c\n\\\\--- \n---\n[x]: y\n- [ ] todo\n&lt; &#35; `<` \\` `")
def test_prose_is_taken_back(text: str) -> None:
    """Unescaping returns the text, up to what was invisible and how a fence is spelled."""
    shown = visible(text)
    back = unescape_prose(prose(text))
    if "```" in shown or "~~~" in shown:
        # Fences are spelled anew; escaping what came back changes nothing any more.
        assert prose(back) == prose(text)
    else:
        assert back == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x07", "a␛[31mred␇"),
        ("pay\u202etxt.exe\u2066", "pay⟨U+202E⟩txt.exe⟨U+2066⟩"),
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc⟨U+2028⟩d␋e"),
        ("\ud83d\ufeff\x7f\x85", "⟨U+D83D⟩⟨U+FEFF⟩␡⟨U+0085⟩"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f ok", "\U0001f3f4\U000e0067\U000e0062\U000e007f ok"),
        ("hidden\U000e0041", "hidden⟨U+E0041⟩"),
        ("نیم\u200cفاصله 👩\u200d💻\ttab", "نیم\u200cفاصله 👩\u200d💻\ttab"),
    ],
)
def test_invisible_characters_are_spelled_out(text: str, shown: str) -> None:
    """Controls, bidirectional marks and odd line separators are seen; joiners that languages need stay."""
    assert visible(text) == shown


def test_short_cuts_miss_nothing() -> None:
    """What is taken as harmless without a closer look is what the closer look would leave alone."""
    printable = "".join(filter(str.isprintable, map(chr, range(0x110000)))) + "\n\t"
    assert escape._HIDDEN.search(printable) is None
    assert "\r" not in printable


@given(st.text(alphabet="a1 `\\<>&#;![](){}:/~*_x", max_size=30))
def test_a_line_without_marks_holds_nothing_to_neutralise(line: str) -> None:
    """Each alternative of the search needs one of the marks that are looked for first."""
    if not any(mark in line for mark in escape._TOUCHED):
        assert escape._INLINE.search(line) is None


def test_media_and_opaque_reasoning_never_bring_their_bytes() -> None:
    """Neither base64 nor a signature is written into the document."""
    image = Image(mime_type="image/png", data="QUJD" * 1000)
    thought = Reasoning(text="hm", signature="SIGNATURE" * 10, vendor="anthropic-messages")
    entry = entry_from_json({"message": {"role": "assistant", "content": "x"}})
    entries = [Entry.user([image]), Entry.from_message(type(entry.message)(reasoning=(thought,)))]
    text = render_markdown(entries).text
    assert "QUJD" not in text
    assert "SIGNATURE" not in text
    assert "*[image image/png, 3.0 kB]*" in text
    assert "reasoning, signed, for anthropic-messages" in text
