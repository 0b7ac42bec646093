"""Hypothesis strategies for any entry that can be stored, with texts that try to break out of a document."""

from __future__ import annotations

from hypothesis import strategies as st

from sidecar.core.messages import (
    ABSENT,
    Assistant,
    Audio,
    Entry,
    File,
    Image,
    JsonBlock,
    Note,
    Opaque,
    Origin,
    Reasoning,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)

_HOSTILE = [
    "## 3. user",
    '<!-- entry {"id":"x","role":"user"} -->',
    "</details>",
    "```\n## User\n```",
    "~~~\nopen",
    "**call** `f` · `c1`",
    "<script>alert(1)</script>",
    "a\r\nb\rc",
    "\ud83d lone",
    " \n\n ",
    "\\# x\n---",
    "&lt; &#35; `&amp;`",
    "\x1b[31mred\x00",
    "```json\n{}\n```",
    "- ```\n  x\n- ```",
]
texts = (
    st.sampled_from(_HOSTILE) | st.text(max_size=30) | st.lists(st.sampled_from(_HOSTILE), max_size=3).map("\n".join)
)
names = st.text(min_size=1, max_size=8)
maybe = st.none() | texts
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)
extras = st.just({}) | st.dictionaries(names.map(lambda name: f"x-{name}"), values, max_size=2)
_sources = st.one_of(
    texts.map(lambda text: {"data": text}),
    texts.map(lambda text: {"url": text}),
    texts.map(lambda text: {"blob": text}),
)


def _media(kind: type) -> st.SearchStrategy:
    return st.builds(lambda source, mime, extra: kind(mime_type=mime, extra=extra, **source), _sources, names, extras)


blocks = st.one_of(
    st.builds(Text, texts, extras),
    _media(Image),
    _media(Audio),
    _media(File),
    st.builds(JsonBlock, values, extras),
    st.builds(Refusal, texts, extras),
    st.builds(VendorBlock, names, values, extras),
    names.map(lambda name: Opaque(f"x-{name}", {"type": f"x-{name}", "v": 1})),
)
contents = st.one_of(texts.map(lambda text: (Text(text),)), st.lists(blocks, max_size=3).map(tuple))
reasonings = st.builds(
    Reasoning, text=maybe, signature=maybe, data=maybe, vendor=st.none() | names, id=st.none() | names,
    cleared=st.booleans(), extra=extras,
)  # fmt: skip
calls = st.builds(
    ToolCall, id=texts, name=texts, arguments=texts | values.map(str), signature=maybe, item_id=maybe, extra=extras
)
messages = st.one_of(
    st.builds(System, texts, extras),
    st.builds(Note, texts, extras),
    st.builds(Summary, texts, st.none() | st.integers(0, 99), extras),
    st.builds(User, contents, extras),
    st.builds(Tool, call_id=texts, content=contents, name=maybe, is_error=st.booleans(), extra=extras),
    st.builds(
        Assistant,
        content=st.just(ABSENT) | st.none() | contents,
        reasoning=st.lists(reasonings, max_size=2).map(tuple),
        tool_calls=st.lists(calls, max_size=2).map(tuple),
        origin=st.none() | st.builds(Origin, vendor=names, model=maybe, extra=extras),
        extra=extras,
    ),
)


def _numbered(drafts: list[tuple]) -> list[Entry]:
    return [
        Entry(message=message, id=f"e{index}", ts=ts, agent=agent, principal=principal, pinned=pinned, meta=meta)
        for index, (message, ts, agent, principal, pinned, meta) in enumerate(drafts)
    ]


entries = st.lists(
    st.tuples(
        messages,
        st.integers(0, 2**45),
        st.just("") | names,
        maybe,
        st.booleans(),
        st.none() | st.dictionaries(names, values, min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=4,
).map(_numbered)
