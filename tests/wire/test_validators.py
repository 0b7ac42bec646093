"""The judges of payloads are judged: every known-bad payload is caught by its rule, no good one is touched."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.wire.strategies import VENDORS
from tests.wire.validators import rules, shapes

Body = dict[str, Any]

# --- good payloads ----------------------------------------------------------------------------------------------------

_STRICT = ("groq", "cerebras", "openai-chat", "azure-openai", "openrouter", "cohere")


def chat_call(call_id: str) -> Body:
    return {"id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'}}


def good_chat(vendor: str) -> Body:
    turn: Body = {"role": "assistant", "content": None, "tool_calls": [chat_call("abcdefgh1"), chat_call("abcdefgh2")]}
    if vendor in ("xai", "openai-compatible", "mistral"):
        turn["content"] = ""
    if vendor in ("deepseek", "kimi", "glm"):
        turn["reasoning_content"] = "look it up"
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "sun"} for call in turn["tool_calls"]]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Paris?"}]},
        turn,
        *results,
        {"role": "assistant", "content": "Sun."},
        {"role": "user", "content": "Thanks"},
    ]
    if vendor == "deepseek":
        messages[1]["content"] = "Paris?"
    return {"messages": messages}


def good(vendor: str) -> Body:
    """Return a payload with every legal kind of turn."""
    makers: dict[str, Callable[[], Body]] = {
        "openai-responses": good_responses,
        "anthropic-messages": good_anthropic,
        "gemini": good_gemini,
        "bedrock-converse": good_bedrock,
        "ollama": good_ollama,
    }
    return copy.deepcopy(makers[vendor]() if vendor in makers else good_chat(vendor))


def good_responses() -> Body:
    return {
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Paris?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "message", "role": "assistant", "content": "I look"},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "sun"},
            {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "rain"}]},
            {"type": "message", "role": "user", "content": "Thanks"},
        ],
    }


PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def good_anthropic() -> Body:
    return {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Paris?"}, PNG]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "I look"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
                    {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sun"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "content": [PNG]},
                    {"type": "text", "text": "go on"},
                ],
            },
            {"role": "assistant", "content": "Sun."},
            {"role": "user", "content": "Thanks"},
        ],
    }


def good_gemini() -> Body:
    return {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Paris?"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "b", "name": "g", "args": {"x": 1}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "a", "name": "f", "response": {"output": "sun"}}},
                    {"functionResponse": {"id": "b", "name": "g", "response": {"output": 3}}},
                ],
            },
            {"role": "model", "parts": [{"text": "Sun."}]},
            {"role": "user", "parts": [{"text": "Thanks"}]},
        ],
    }


def good_bedrock() -> Body:
    return {
        "system": [{"text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Paris?"},
                    {"document": {"format": "pdf", "name": "a", "source": {"bytes": "aGk="}}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                    {"text": "I look"},
                    {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}},
                    {"toolUse": {"toolUseId": "t2", "name": "f", "input": {}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "t1", "content": [{"text": "sun"}]}},
                    {"toolResult": {"toolUseId": "t2", "content": [{"json": {"a": 1}}], "status": "error"}},
                    {"text": "go on"},
                ],
            },
            {"role": "assistant", "content": [{"text": "Sun."}]},
            {"role": "user", "content": [{"text": "Thanks"}]},
        ],
    }


def good_ollama() -> Body:
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    return {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Paris?", "images": ["iVBORw0KGgo="]},
            {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [call, call]},
            {"role": "tool", "tool_name": "f", "content": "sun"},
            {"role": "tool", "tool_name": "f", "content": "rain"},
            {"role": "assistant", "content": "Sun."},
            {"role": "user", "content": "Thanks"},
        ]
    }


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_good_payload_is_not_touched(vendor: str) -> None:
    """The rule judge has nothing to say of a payload with every legal kind of turn."""
    assert rules.judge(vendor, good(vendor), prefill=False, thinking=True, model="gemini-3-pro") == []


@pytest.mark.parametrize("vendor", [vendor for vendor in VENDORS if shapes.covered(vendor)])
def test_a_good_payload_fits_the_official_types(vendor: str) -> None:
    """The vendor's own SDK types take the same payload."""
    try:
        found = shapes.problems(vendor, good(vendor))
    except shapes.Missing as missing:
        pytest.skip(str(missing))
    assert found == []


# --- bad payloads -----------------------------------------------------------------------------------------------------

Change = Callable[[Body], Any]
CHAT = tuple(vendor for vendor in VENDORS if "messages" in good(vendor) and vendor not in
             ("anthropic-messages", "bedrock-converse", "ollama"))  # fmt: skip
SYSTEM_FIRST = ("qwen", "openai-compatible")
STRING_RESULTS = ("deepseek", "kimi", "qwen", "glm", "mistral", "xai", "openai-compatible")

IMAGE_URL = {"type": "image_url", "image_url": {"url": "https://example.com/y.png"}}


def at(body: Body, *path: Any) -> Any:
    for key in path:
        body = body[key]
    return body


def put(*path: Any, value: Any) -> Change:
    return lambda body: at(body, *path[:-1]).__setitem__(path[-1], value)


def drop(*path: Any) -> Change:
    return lambda body: at(body, *path[:-1]).pop(path[-1])


def insert(*path: Any, value: Any) -> Change:
    return lambda body: at(body, *path[:-1]).insert(path[-1], value)


def only(*path: Any, value: Any) -> Change:
    return lambda body: at(body, *path).__setitem__(slice(None), value)


def ids(body: Body, value: str) -> None:
    """Give the first call of a chat payload and its result another id."""
    body["messages"][2]["tool_calls"][0]["id"] = value
    body["messages"][3]["tool_call_id"] = value


M = "messages"
SYSTEM = {"role": "system", "content": "late"}

BAD_CHAT: list[tuple[str, str, tuple[str, ...], Change]] = [
    ("X1", "no result", CHAT, drop(M, 4)),
    ("X1", "no results", CHAT, lambda body: body[M].__delitem__(slice(3, 5))),
    ("X1", "a message between", CHAT, insert(M, 4, value={"role": "user", "content": "wait"})),
    ("X2", "an orphan", CHAT, insert(M, 1, value={"role": "tool", "tool_call_id": "gone", "content": "x"})),
    ("X2", "a result of another turn", CHAT, put(M, 4, "tool_call_id", value="gone")),
    (
        "X3",
        "two results",
        tuple(vendor for vendor in CHAT if vendor != "cohere"),
        insert(M, 5, value={"role": "tool", "tool_call_id": "abcdefgh2", "content": "x"}),
    ),
    ("X3", "one id twice", CHAT, put(M, 2, "tool_calls", 1, "id", value="abcdefgh1")),
    ("X4", "no id", CHAT, lambda body: ids(body, "")),
    ("X4", "a long id", ("openai-chat", "azure-openai"), lambda body: ids(body, "x" * 41)),
    ("X4", "a foreign id", ("mistral",), lambda body: ids(body, "call_1")),
    ("X5", "a dotted name", CHAT, put(M, 2, "tool_calls", 0, "function", "name", value="a.b")),
    ("X5", "no name", CHAT, put(M, 2, "tool_calls", 0, "function", "name", value="")),
    ("X6", "no calls in the list", CHAT, insert(M, 5, value={"role": "assistant", "content": "x", "tool_calls": []})),
    ("X6", "null content", CHAT, put(M, 5, "content", value=None)),
    ("X6", "null beside calls", ("xai", "openai-compatible"), put(M, 2, "content", value=None)),
    ("X6", "an empty reply", ("mistral", "openai-compatible"), put(M, 5, "content", value="")),
    ("X6", "no parts", tuple(vendor for vendor in CHAT if vendor != "deepseek"), put(M, 1, "content", value=[])),
    ("X7", "half arguments", CHAT, put(M, 2, "tool_calls", 0, "function", "arguments", value='{"a": ')),
    ("X7", "list arguments", CHAT, put(M, 2, "tool_calls", 0, "function", "arguments", value="[1]")),
    ("X7", "object arguments", CHAT, put(M, 2, "tool_calls", 0, "function", "arguments", value={})),
    ("X7", "NaN", CHAT, put(M, 2, "tool_calls", 0, "function", "arguments", value='{"a":NaN}')),
    ("X8", "a result of parts", STRING_RESULTS, put(M, 3, "content", value=[{"type": "text", "text": "x"}])),
    ("X8", "an object as content", tuple(vendor for vendor in CHAT if vendor != "cohere"),
     put(M, 1, "content", value={"type": "text", "text": "x"})),
    ("X8", "parts for text models", ("deepseek",), put(M, 1, "content", value=[{"type": "text", "text": "x"}])),
    ("X9", "late system", SYSTEM_FIRST, insert(M, 6, value=SYSTEM)),
    ("X9", "two systems", SYSTEM_FIRST, insert(M, 1, value=SYSTEM)),
    ("X9", "system behind assistant", ("mistral",), insert(M, 6, value=SYSTEM)),
    ("X10", "an assistant last", ("mistral",), drop(M, 6)),
    ("X12", "users in a row", ("openai-compatible",), insert(M, 6, value={"role": "user", "content": "x"})),
    ("X13", "no reasoning with calls", ("deepseek", "kimi"), drop(M, 2, "reasoning_content")),
    ("X14", "half a pair", CHAT, put(M, 5, "content", value="\ud83d")),
    (
        "X15",
        "an image of the assistant",
        tuple(vendor for vendor in CHAT if vendor != "deepseek"),
        put(M, 5, "content", value=[IMAGE_URL]),
    ),
    (
        "X15",
        "an image in a result",
        tuple(vendor for vendor in CHAT if vendor not in STRING_RESULTS),
        put(M, 3, "content", value=[IMAGE_URL]),
    ),
    (
        "X17",
        "a reasoning key",
        ("groq", "cerebras", "openai-chat", "azure-openai"),
        put(M, 5, "reasoning_content", value="r"),
    ),
    ("X18", "nothing", CHAT, only(M, value=[])),
    ("X18", "no user", ("glm",), lambda body: (body[M].pop(6), body[M].pop(1))),
    ("X19", "a name with a space", tuple(v for v in CHAT if v != "cohere"), put(M, 1, "name", value="Mr. X")),
    ("X19", "a name", ("xai", "mistral"), put(M, 1, "name", value="bob")),
    ("X21", "a user behind a result", ("mistral",), drop(M, 5)),
    (
        "X13",
        "a detail of a call that is gone",
        ("openrouter",),
        put(M, 2, "reasoning_details", value=[{"type": "reasoning.encrypted", "data": "E", "id": "gone",
                                               "format": "google-gemini-v1"}]),
    ),
]  # fmt: skip

C = "content"
A = "anthropic-messages"
B = "bedrock-converse"
G = "gemini"
R = "openai-responses"
O = "ollama"  # noqa: E741
MARK = {"type": "ephemeral"}
DOCUMENT = {"document": {"format": "pdf", "name": "a", "source": {"bytes": "aGk="}}}

BAD: list[tuple[str, str, str, Change]] = [
    # Anthropic
    (A, "X1", "no result", drop(M, 2, C, 1)),
    (A, "X1", "a result behind text", insert(M, 2, C, 0, value={"type": "text", "text": "x"})),
    (A, "X1", "a turn between", insert(M, 2, value={"role": "user", "content": "x"})),
    (A, "X1", "calls at the end", lambda body: body[M].__delitem__(slice(2, None))),
    (A, "X1", "server result alone", insert(M, 1, C, 1, value={
        "type": "web_search_tool_result", "tool_use_id": "srv", "content": []})),
    (A, "X2", "an orphan", insert(M, 4, value={"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "gone", "content": "x"}]})),
    (A, "X3", "one id twice", put(M, 1, C, 3, "id", value="toolu_1")),
    (A, "X3", "two results", insert(M, 2, C, 1, value={
        "type": "tool_result", "tool_use_id": "toolu_1", "content": "x"})),
    (A, "X4", "a dotted id", lambda body: (put(M, 1, C, 2, "id", value="f.0")(body),
                                            put(M, 2, C, 0, "tool_use_id", value="f.0")(body))),
    (A, "X5", "a dotted name", put(M, 1, C, 2, "name", value="a.b")),
    (A, "X6", "blank text", put(M, 1, C, 1, "text", value=" \n")),
    (A, "X6", "empty content", put(M, 3, C, value=[])),
    (A, "X6", "an empty string", put(M, 3, C, value="")),
    (A, "X6", "blank system", put("system", value=" ")),
    (A, "X6", "blank text in a result", put(M, 2, C, 1, C, value=[{"type": "text", "text": ""}])),
    (A, "X7", "text as input", put(M, 1, C, 2, "input", value="{}")),
    (A, "X8", "an image in an error", put(M, 2, C, 1, "is_error", value=True)),
    (A, "X9", "a system turn", insert(M, 4, value={"role": "system", "content": "x"})),
    (A, "X10", "prefill", drop(M, 4)),
    (A, "X10", "a space at the end", lambda body: (body[M].pop(), put(M, 3, C, value="Pong ")(body))),
    (A, "X11", "assistant first", drop(M, 0)),
    (A, "X13", "no signature", put(M, 1, C, 0, "signature", value="")),
    (A, "X13", "thinking last", insert(M, 3, value={"role": "assistant", "content": [
        {"type": "thinking", "thinking": "x", "signature": "s"}]})),
    (A, "X14", "half a pair", put(M, 1, C, 1, "text", value="x\udc00")),
    (A, "X15", "an image of the assistant", insert(M, 1, C, 1, value=PNG)),
    (A, "X15", "a tiff", put(M, 0, C, 1, value={"type": "image", "source": {
        "type": "base64", "media_type": "image/tiff", "data": "aGk="}})),
    (A, "X16", "five markers", put(M, 0, C, value=[
        {"type": "text", "text": "x", "cache_control": MARK} for _ in range(5)])),
    (A, "X16", "a marker on thinking", put(M, 1, C, 0, "cache_control", value=MARK)),
    (A, "X18", "nothing", only(M, value=[])),
    (A, "X20", "text behind a call", insert(M, 1, C, 4, value={"type": "text", "text": "x"})),
    # Bedrock
    (B, "X1", "no result", drop(M, 2, C, 1)),
    (B, "X1", "a result behind text", insert(M, 2, C, 0, value={"text": "x"})),
    (B, "X2", "an orphan", insert(M, 4, C, 0, value={"toolResult": {"toolUseId": "gone", "content": [{"text": "x"}]}})),
    (B, "X3", "one id twice", put(M, 1, C, 3, "toolUse", "toolUseId", value="t1")),
    (B, "X3", "two results", insert(M, 2, C, 1, value={"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}})),
    (B, "X4", "an id with a space", lambda body: (put(M, 1, C, 2, "toolUse", "toolUseId", value="a b")(body),
                                                   put(M, 2, C, 0, "toolResult", "toolUseId", value="a b")(body))),
    (B, "X4", "no id", put(M, 1, C, 2, "toolUse", "toolUseId", value="")),
    (B, "X5", "a long name", put(M, 1, C, 2, "toolUse", "name", value="x" * 65)),
    (B, "X6", "blank text", put(M, 1, C, 1, "text", value=" ")),
    (B, "X6", "empty content", put(M, 3, C, value=[])),
    (B, "X6", "an empty error", put(M, 2, C, 1, "toolResult", C, value=[])),
    (B, "X6", "blank system", put("system", 0, "text", value="")),
    (B, "X7", "text as input", put(M, 1, C, 2, "toolUse", "input", value="{}")),
    (B, "X8", "a list as json", put(M, 2, C, 1, "toolResult", C, 0, "json", value=[1])),
    (B, "X9", "a system turn", put(M, 4, "role", value="system")),
    (B, "X10", "prefill", drop(M, 4)),
    (B, "X11", "assistant first", drop(M, 0)),
    (B, "X12", "users in a row", insert(M, 4, value={"role": "user", "content": [{"text": "x"}]})),
    (B, "X13", "no signature", put(M, 1, C, 0, "reasoningContent", value={"reasoningText": {"text": "hm"}})),
    (B, "X14", "half a pair", put(M, 1, C, 1, "text", value="x\udc00")),
    (B, "X15", "a name twice", insert(M, 4, C, 1, value=DOCUMENT)),
    (B, "X15", "a dotted name", put(M, 0, C, 1, "document", "name", value="a.pdf")),
    (B, "X15", "a document alone", drop(M, 0, C, 0)),
    (B, "X15", "six documents", put(M, 0, C, value=[{"text": "x"}, *(
        {"document": {**DOCUMENT["document"], "name": f"d{n}"}} for n in range(6))])),
    (B, "X15", "a document of the assistant", insert(M, 1, C, 1, value=DOCUMENT)),
    (B, "X18", "nothing", only(M, value=[])),
    (B, "X20", "text behind a call", insert(M, 1, C, 4, value={"text": "x"})),
    # Gemini
    (G, "X1", "no response", drop("contents", 2, "parts", 1)),
    (G, "X1", "another name", put("contents", 2, "parts", 1, "functionResponse", "name", value="f")),
    (G, "X1", "no response turn", lambda body: body["contents"].__delitem__(slice(2, 4))),
    (G, "X2", "an orphan", insert("contents", 4, "parts", 0, value={
        "functionResponse": {"name": "f", "response": {"output": 1}}})),
    (G, "X3", "one id twice", put("contents", 1, "parts", 2, "functionCall", "id", value="a")),
    (G, "X5", "a name with a space", lambda body: (
        put("contents", 1, "parts", 1, "functionCall", "name", value="a b")(body),
        put("contents", 2, "parts", 0, "functionResponse", "name", value="a b")(body))),
    (G, "X6", "no parts", put("contents", 3, "parts", value=[])),
    (G, "X6", "empty text", put("contents", 3, "parts", 0, "text", value="")),
    (G, "X6", "an empty part", put("contents", 3, "parts", 0, value={})),
    (G, "X6", "two fields", put("contents", 0, "parts", 1, "text", value="x")),
    (G, "X7", "text as args", put("contents", 1, "parts", 1, "functionCall", "args", value="{}")),
    (G, "X8", "text as response", put("contents", 2, "parts", 0, "functionResponse", "response", value="sun")),
    (G, "X9", "a system turn", put("contents", 4, "role", value="system")),
    (G, "X10", "a model last", drop("contents", 4)),
    (G, "X11", "a model first", drop("contents", 0)),
    (G, "X12", "users in a row", insert("contents", 4, value={"role": "user", "parts": [{"text": "x"}]})),
    (G, "X13", "no signature", lambda body: (body["contents"].__delitem__(slice(3, None)),
                                              drop("contents", 1, "parts", 1, "thoughtSignature")(body))),
    (G, "X14", "half a pair", put("contents", 3, "parts", 0, "text", value="\ud800")),
    (G, "X15", "no base64", put("contents", 0, "parts", 1, "inlineData", "data", value="*")),
    (G, "X18", "nothing", only("contents", value=[])),
    # Responses
    (R, "X1", "no output", drop("input", 6)),
    (R, "X2", "an orphan", drop("input", 3)),
    (R, "X3", "one id twice", put("input", 4, "call_id", value="c1")),
    (R, "X3", "two outputs", insert("input", 7, value={
        "type": "function_call_output", "call_id": "c1", "output": "x"})),
    (R, "X3", "an item id twice", lambda body: (put("input", 3, "id", value="fc_1")(body),
                                                 put("input", 4, "id", value="fc_1")(body))),
    (R, "X4", "a dotted call id", put("input", 3, "call_id", value="f.0")),
    (R, "X4", "a foreign item id", put("input", 3, "id", value="call_1")),
    (R, "X5", "a dotted name", put("input", 3, "name", value="a.b")),
    (R, "X6", "no parts", put("input", 0, "content", value=[])),
    (R, "X7", "half arguments", put("input", 3, "arguments", value='{"a"')),
    (R, "X8", "input text of the assistant", put("input", 2, "content", value=[{"type": "input_text", "text": "x"}])),
    (R, "X13", "reasoning alone", lambda body: body["input"].__setitem__(slice(2, 7), [])),
    (R, "X13", "no encrypted content", drop("input", 1, "encrypted_content")),
    (R, "X14", "half a pair", put("input", 2, "content", value="\ud800")),
    (R, "X15", "an image of the assistant", put("input", 2, "content", value=[
        {"type": "input_image", "image_url": "https://example.com/y.png", "detail": "auto"}])),
    (R, "X18", "nothing", only("input", value=[])),
    # Ollama
    (O, "X1", "no result", drop(M, 4)),
    (O, "X2", "an orphan", insert(M, 1, value={"role": "tool", "tool_name": "f", "content": "x"})),
    (O, "X2", "another tool", put(M, 3, "tool_name", value="g")),
    (O, "X5", "no name", put(M, 2, "tool_calls", 0, "function", "name", value="")),
    (O, "X6", "no calls in the list", put(M, 5, "tool_calls", value=[])),
    (O, "X7", "text as arguments", put(M, 2, "tool_calls", 0, "function", "arguments", value="{}")),
    (O, "X8", "parts", put(M, 1, "content", value=[{"type": "text", "text": "x"}])),
    (O, "X8", "null content", put(M, 2, "content", value=None)),
    (O, "X9", "late system", insert(M, 5, value=SYSTEM)),
    (O, "X14", "half a pair", put(M, 5, "content", value="\ud800")),
    (O, "X15", "a data URL", put(M, 1, "images", value=["data:image/png;base64,aGk="])),
    (O, "X17", "a call id", put(M, 3, "tool_call_id", value="x")),
    (O, "X18", "nothing", only(M, value=[])),
]  # fmt: skip
BAD += [(vendor, rule, what, change) for rule, what, vendors, change in BAD_CHAT for vendor in vendors]


@pytest.mark.parametrize(
    ("vendor", "rule", "change"),
    [(vendor, rule, change) for vendor, rule, _, change in BAD],
    ids=[f"{vendor}-{rule}-{what}" for vendor, rule, what, _ in BAD],
)
def test_a_bad_payload_is_caught_by_its_rule(vendor: str, rule: str, change: Change) -> None:
    """Each change that a vendor refuses is found under the rule that names it."""
    body = good(vendor)
    change(body)
    found = rules.judge(vendor, body, prefill=False, thinking=True, model="gemini-3-pro")
    assert rule in {finding.rule for finding in found}


def test_each_vendor_has_bad_payloads() -> None:
    """No vendor is judged by good payloads alone."""
    counts = {vendor: sum(bad[0] == vendor for bad in BAD) for vendor in VENDORS}
    assert min(counts.values()) >= 13, counts


BAD_SHAPES: list[tuple[str, Change]] = [
    ("openai-chat", put(M, 1, "content", 0, "type", value="image")),
    ("openai-chat", put(M, 5, "reasoning_content", value="x")),
    ("azure-openai", drop(M, 3, "tool_call_id")),
    ("openai-responses", put("input", 3, "surplus", value=1)),
    ("openai-responses", drop("input", 1, "summary")),
    ("anthropic-messages", put(M, 1, C, 0, "surplus", value=1)),
    ("anthropic-messages", put(M, 1, C, 2, "input", value="{}")),
    ("anthropic-messages", put(M, 0, C, 1, "source", "media_type", value="image/tiff")),
    ("gemini", put("contents", 0, "parts", 0, "surplus", value=1)),
    ("gemini", put("contents", 2, "parts", 0, "functionResponse", "response", value="sun")),
    ("bedrock-converse", put(M, 1, C, 2, "toolUse", "toolUseId", value="a b")),
    ("bedrock-converse", put(M, 0, C, 1, "document", "format", value="exe")),
    ("mistral", lambda body: ids(body, "call_1")),
    ("mistral", drop(M, 6)),
    ("ollama", put(M, 2, "tool_calls", 0, "function", "arguments", value="{}")),
    ("ollama", put(M, 1, "images", value=["data:image/png;base64,aGk="])),
    ("cohere", put(M, 1, "surplus", value=1)),
    ("groq", put(M, 5, "reasoning_content", value="x")),
    ("cerebras", put(M, 5, "reasoning_content", value="x")),
    ("openrouter", put(M, 5, "reasoning_content_", value="x")),
]


@pytest.mark.parametrize(("vendor", "change"), BAD_SHAPES, ids=[f"{n}-{bad[0]}" for n, bad in enumerate(BAD_SHAPES)])
def test_a_bad_shape_is_refused_by_the_official_types(vendor: str, change: Change) -> None:
    """What the SDK types can see, they do see: neither lazy iterables nor open models hide it."""
    body = good(vendor)
    change(body)
    try:
        found = shapes.problems(vendor, body)
    except shapes.Missing as missing:
        pytest.skip(str(missing))
    assert found
