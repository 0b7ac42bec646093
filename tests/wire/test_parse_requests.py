"""Parsing of requests: what each wire family's messages become, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from sidecar.wire.parse import parse
from tests.wire.written import text, tool, user, written

PNG = {"type": "image", "mimeType": "image/png", "data": "aGk="}
CALL = {"id": "c1", "name": "f", "arguments": "{}"}

REQUESTS: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    (
        "openai-chat",
        {
            "model": "gpt-5",
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "system", "content": "[note] stopped"},
                {
                    "role": "user",
                    "name": "bob",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"}},
                        {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
                        {"type": "file", "file": {"file_id": "file-1"}},
                    ],
                },
                {"role": "assistant", "content": '<from agent="sa&quot;ge">\nhi\n</from>'},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "ERROR: no"},
            ],
        },
        [
            {"message": {"role": "system", "text": "Be brief."}},
            {"message": {"role": "note", "text": "stopped"}},
            {
                "message": {
                    "role": "user",
                    "content": [
                        text("see"),
                        {**PNG, "detail": "low"},
                        {"type": "audio", "mimeType": "audio/wav", "data": "UklG"},
                        {
                            "type": "vendor",
                            "vendor": "openai-chat",
                            "value": {"type": "file", "file": {"file_id": "file-1"}},
                        },
                    ],
                    "name": "bob",
                }
            },
            {"message": {"role": "assistant", "content": [text("hi")]}, "agent": 'sa"ge'},
            {"message": {"role": "assistant", "toolCalls": [CALL]}},
            tool("c1", "ERROR: no"),
        ],
    ),
    (
        "openai-chat",
        {
            "messages": [
                {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "ok"},
            ]
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "toolCalls": [{"id": "call_b1e6518439af4a9f", "name": "f", "arguments": "{}"}],
                }
            },
            tool("call_b1e6518439af4a9f", "ok", name="f"),
        ],
    ),
    (
        "anthropic-messages",
        {
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": "[summary of the earlier conversation]\nso far"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": "boom", "is_error": True},
                        {"type": "text", "text": "go on"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                        },
                        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}},
                    ],
                },
                {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s1", "name": "w", "input": {}}]},
            ],
        },
        [
            {"message": {"role": "system", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}},
            {"message": {"role": "summary", "text": "so far"}},
            {"message": {"role": "assistant", "content": None, "toolCalls": [CALL]}},
            tool("c1", "boom", isError=True),
            user("go on", PNG, {"type": "file", "mimeType": "text/plain", "data": "aGk="}),
            {
                "message": {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "vendor",
                            "vendor": "anthropic-messages",
                            "value": {"type": "server_tool_use", "id": "s1", "name": "w", "input": {}},
                        }
                    ],
                }
            },
        ],
    ),
    (
        "gemini",
        {
            "system_instruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {
                    "role": "user",
                    "parts": [{"text": "hi"}, {"inline_data": {"mime_type": "image/png", "data": "aGk="}}],
                },
                {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "f", "response": {"error": {"code": 3}}}},
                        {"text": "next"},
                    ],
                },
            ],
        },
        [
            {"message": {"role": "system", "text": "Be brief."}},
            user("hi", PNG),
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "toolCalls": [{"id": "call_1e5683ed5345dacb", "name": "f", "arguments": "{}"}],
                }
            },
            {
                "message": {
                    "role": "tool",
                    "callId": "call_1e5683ed5345dacb",
                    "name": "f",
                    "content": [{"type": "json", "value": {"code": 3}}],
                    "isError": True,
                }
            },
            user("next"),
        ],
    ),
    (
        "bedrock-converse",
        {
            "system": [{"text": "Be brief."}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"text": "hi"},
                        {"document": {"format": "pdf", "name": "a", "source": {"bytes": "aGk="}}},
                        {"cachePoint": {"type": "default"}},
                    ],
                },
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "f", "input": {}}}]},
                {
                    "role": "user",
                    "content": [
                        {"toolResult": {"toolUseId": "c1", "content": [{"json": {"a": 1}}], "status": "error"}}
                    ],
                },
            ],
        },
        [
            {"message": {"role": "system", "text": "Be brief."}},
            user(
                "hi",
                {"type": "file", "name": "a", "mimeType": "application/pdf", "data": "aGk="},
                {"type": "vendor", "vendor": "bedrock-converse", "value": {"cachePoint": {"type": "default"}}},
            ),
            {"message": {"role": "assistant", "content": None, "toolCalls": [CALL]}},
            tool("c1", {"type": "json", "value": {"a": 1}}, isError=True),
        ],
    ),
    (
        "openai-responses",
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I call"}]},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "ok"}]},
                {"type": "message", "role": "assistant", "content": "one"},
                {"type": "message", "role": "assistant", "content": "two"},
            ],
        },
        [
            {"message": {"role": "system", "text": "Be brief."}},
            user("hi"),
            {
                "message": {
                    "role": "assistant",
                    "content": [text("I call")],
                    "reasoning": [{"data": "gA", "vendor": "openai-responses", "id": "rs_1"}],
                    "toolCalls": [CALL],
                    "origin": {"vendor": "openai-responses"},
                }
            },
            tool("c1", "ok"),
            {"message": {"role": "assistant", "content": [text("one")]}},
            {"message": {"role": "assistant", "content": [text("two")]}},
        ],
    ),
    (
        "cohere",
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": [{"type": "document", "document": {"data": '{"a":1}'}}],
                },
            ]
        },
        [
            user("hi"),
            {"message": {"role": "assistant", "content": None, "toolCalls": [CALL]}},
            tool("c1", {"type": "json", "value": {"a": 1}}),
        ],
    ),
    (
        "ollama",
        {
            "messages": [
                {"role": "user", "content": "hi", "images": ["iVBORw0KGgo="]},
                {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": []},
            ]
        },
        [
            user("hi", {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}),
            {
                "message": {
                    "role": "assistant",
                    "content": [text("")],
                    "reasoning": [{"text": "hm", "vendor": "ollama"}],
                    "origin": {"vendor": "ollama"},
                }
            },
        ],
    ),
]


@pytest.mark.parametrize(("vendor", "body", "entries"), REQUESTS, ids=[case[0] for case in REQUESTS])
def test_a_request_becomes_entries(vendor: str, body: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    """A request's messages become entries, one for each result, with system text, media and marks read back."""
    parsed = parse(vendor, "request", body)
    assert written(parsed) == entries
    assert parsed.usage is None


def test_results_without_ids_answer_the_calls_that_are_still_open() -> None:
    """Of two calls of one tool, a result with an id answers its own, and one without an id the other."""
    calls = [{"functionCall": {"id": name, "name": "f", "args": {}}} for name in ("a", "b")]
    results = [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": "1"}}},
        {"functionResponse": {"name": "f", "response": {"output": "2"}}},
    ]
    contents = [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]
    parsed = parse("gemini", "request", {"contents": contents})
    assert [entry.tool_call_id for entry in parsed.entries[1:]] == ["a", "b"]
    assert parsed.losses == ()


def test_a_bare_list_is_a_request() -> None:
    """The message list alone is read like the request around it."""
    messages = REQUESTS[0][1]["messages"]
    assert written(parse("openai-chat", "request", messages)) == REQUESTS[0][2]


def test_what_is_left_out_is_said() -> None:
    """Fields of the caller and further choices are losses, by name."""
    parsed = parse("openai-chat", "request", {"messages": [], "temperature": 1, "tools": []})
    assert [(loss.rule, loss.severity, loss.message) for loss in parsed.losses] == [
        ("X22", "info", "fields of the request that are not history are left out: temperature, tools")
    ]
    choice = {"message": {"role": "assistant", "content": "a"}}
    parsed = parse("openai-chat", "response", {"choices": [choice, choice]})
    assert [(loss.severity, loss.path) for loss in parsed.losses] == [("warning", "/choices/1")]
