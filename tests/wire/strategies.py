"""Hypothesis strategies for hostile histories: what agents, crashes, compactions and other vendors leave behind."""

from __future__ import annotations

from attrs import evolve
from hypothesis import strategies as st

from sidecar.core.messages import (
    ABSENT,
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Message,
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
from sidecar.wire.base import Item

VENDORS = (
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "gemini",
    "bedrock-converse",
    "mistral",
    "deepseek",
    "kimi",
    "qwen",
    "glm",
    "openrouter",
    "ollama",
    "cohere",
    "xai",
    "groq",
    "cerebras",
    "azure-openai",
    "openai-compatible",
)

texts = st.one_of(
    st.sampled_from(["hello", "ok", "done", "go on", "", " ", "\n", "\u00a0\u2003", "end ", "é\u2028x", "日本語"]),
    st.sampled_from(["\ud83d", "a\udc00b", "nul \x00 here", '<from agent="x">', "[note] x", "```\n# h"]),
    st.text(max_size=12),
)

call_ids = st.sampled_from(
    [
        "call_1",
        "call_2",
        "call_3",
        "toolu_01A",
        "functions.f:0",
        "functions.f.0",
        "f:0",
        "f.0",
        "",
        " ",
        "null",
        "abcdefghi",
        "fc_0f0e50a1476a6c35006912c58dc9f8819192c25864eb16f07f",
        "x" * 70,
        "call_1__thought__Eo+/ab==",
        "id with space",
        "bad\ud800id",
        "日本",
    ]
)

tool_names = st.sampled_from(
    ["get_weather", "read_file", "a.b", "a_b", "resource.read", "", "a b", "x" * 140, "日本語", "9lives", "bad\udfff"]
)

arguments = st.sampled_from(
    [
        "{}",
        '{"a":1}',
        '{"city":"Paris","n":[1,2]}',
        "",
        '{"value": ',
        "[1,2]",
        '"x"',
        "7",
        "null",
        '{"a":1}{"b":2}',
        '{"s":"\\ud800"}',
        '{"s":"\ud800"}',
        '{"n":1e999}',
        '{"n":NaN}',
        " { } ",
        "{" * 200,
        '{"k":' * 30 + "1" + "}" * 30,
    ]
)

images = st.builds(
    Image,
    mime_type=st.sampled_from(["image/png", "image/jpeg", "image/tiff"]),
    data=st.sampled_from(["aGk=", "iVBORw0KGgo="]),
) | st.just(Image(url="https://example.com/y.png"))
files = st.builds(
    File,
    name=st.sampled_from([None, "report.pdf", "a", "a", "two  spaces", "x" * 250, "bad\ud800"]),
    mime_type=st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
    data=st.just("aGk="),
)
audios = st.builds(Audio, mime_type=st.sampled_from(["audio/wav", "audio/mpeg"]), data=st.just("UklGRg=="))
json_values = st.sampled_from([None, {}, [], 7, "t", {"value": 1}, {"k": ["é", None, {"x": "\ud800"}]}, 1.5, True])


def _own_part(vendor: str) -> dict[str, str]:
    """Return a part that the vendor takes, since vendor blocks are passed through verbatim."""
    return {"text": "raw part"} if vendor in ("gemini", "bedrock-converse") else {"type": "text", "text": "raw part"}


# On the Responses wire a vendor's own block is a part of user content, but an item of a reply: no one form fits both.
PART_VENDORS = tuple(vendor for vendor in VENDORS if vendor != "openai-responses")


rare: st.SearchStrategy[Block] = st.one_of(
    st.builds(JsonBlock, json_values),
    st.builds(Refusal, texts),
    st.sampled_from(PART_VENDORS).map(lambda vendor: VendorBlock(vendor, _own_part(vendor))),
    st.just(Opaque("hologram", {"type": "hologram", "beam": 3})),
)
marked = st.builds(lambda text: Text(text, {"cache_control": {"type": "ephemeral"}}), texts)
plain = st.builds(Text, texts)
blocks: st.SearchStrategy[Block] = st.one_of(plain, plain, plain, images, files, audios, rare, marked)
contents = st.lists(blocks, max_size=3).map(tuple)

origins = st.none() | st.builds(
    Origin,
    vendor=st.sampled_from(VENDORS),
    model=st.sampled_from([None, "claude-sonnet-4", "gemini-3-pro", "gpt-5", "deepseek-v4"]),
    scope=st.sampled_from([None, "org-A", "org-B"]),
)
reasonings = st.builds(
    Reasoning,
    text=st.none() | texts,
    signature=st.sampled_from([None, None, "c2ln", "EqQBCkYIARgC", ""]),
    data=st.sampled_from([None, None, "gAAAenc", "EmwKAhgB"]),
    vendor=st.none() | st.sampled_from(VENDORS),
    scope=st.sampled_from([None, "org-A"]),
    id=st.sampled_from([None, "rs_1", "rs_2", "other"]),
    cleared=st.booleans(),
)
calls = st.builds(
    ToolCall,
    id=call_ids,
    name=tool_names,
    arguments=arguments,
    signature=st.sampled_from([None, None, "c2lnbmF0dXJl"]),
    item_id=st.sampled_from([None, None, "fc_1", "bad id"]),
)

users = st.builds(User, contents) | st.builds(lambda text: User((Text(text),)), texts)
assistants = st.builds(
    Assistant,
    content=st.sampled_from([ABSENT, None]) | contents | texts.map(lambda text: (Text(text),)),
    reasoning=st.lists(reasonings, max_size=2).map(tuple),
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    origin=origins,
)
tools = st.builds(
    Tool,
    call_id=call_ids,
    name=st.none() | tool_names,
    content=contents,
    is_error=st.booleans(),
)
messages: st.SearchStrategy[Message] = st.one_of(
    users,
    users,
    assistants,
    assistants,
    tools,
    tools,
    st.builds(System, texts),
    st.builds(Note, texts),
    st.builds(Summary, texts, st.none() | st.integers(0, 9)),
)
named = st.builds(
    lambda message, name: evolve(message, extra={"name": name}),
    users,
    st.sampled_from(["Debate Moderator", "ok_name", "Mr. X", ""]),
)
entries: st.SearchStrategy[Entry] = st.builds(
    Entry,
    message=messages | named,
    agent=st.sampled_from(["", "", "", "sage", 'a"b<']),
    principal=st.sampled_from([None, None, "alice"]),
    pinned=st.booleans(),
)


def items_of(history: list[Entry]) -> list[Item]:
    """Give a history ids, times and indices, as the service does."""
    return [
        Item(entry=evolve(entry, id=f"e{index}", ts=1_700_000_000_000 + index), index=index)
        for index, entry in enumerate(history)
    ]


@st.composite
def answered_turns(draw: st.DrawFn) -> list[Entry]:
    """Draw a turn with calls and its results, mostly complete, sometimes torn or out of order."""
    assistant = draw(assistants)
    results = [
        Entry(message=Tool(call_id=call.id, name=call.name, content=draw(contents))) for call in assistant.tool_calls
    ]
    if draw(st.integers(0, 3)) == 0:
        results = list(draw(st.permutations(results)))
    if results and draw(st.integers(0, 4)) == 0:
        results = results[:-1]
    return [Entry(message=assistant), *results]


histories: st.SearchStrategy[list[Entry]] = st.lists(
    st.one_of(entries.map(lambda entry: [entry]), answered_turns()), max_size=8
).map(lambda parts: [entry for part in parts for entry in part])


def _stale(history: list[Entry], stale: set[int]) -> list[Item]:
    return [evolve(item, prefix_changed=item.index in stale) for item in items_of(history)]


items = st.builds(_stale, histories, st.sets(st.integers(0, 8), max_size=2))
"""Histories as the projector and the checker take them."""
