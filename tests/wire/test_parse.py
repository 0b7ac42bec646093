"""Parsing: what each wire family's bodies become, and that a projection reads back."""

from __future__ import annotations

from typing import Any

import pytest
import strategies
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from strategies import VENDORS

from sidecar.core.errors import UnknownVendor, Unparsable
from sidecar.core.jsontext import dumpb
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Entry
from sidecar.wire import project
from sidecar.wire.base import Item, Options, Parsed
from sidecar.wire.parse import FAMILIES, parse
from sidecar.wire.registry import vendor_ids

HOSTILE = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)


def written(parsed: Parsed) -> list[dict[str, Any]]:
    return [entry_to_json(entry) for entry in parsed.entries]


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def user(*content: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "content": [text(one) if isinstance(one, str) else one for one in content]}}


def tool(call_id: str, *content: Any, **more: Any) -> dict[str, Any]:
    blocks = [text(one) if isinstance(one, str) else one for one in content]
    message = {"role": "tool", "callId": call_id, "content": blocks, **more}
    if "name" in more:
        message = {"role": "tool", "callId": call_id, "name": more["name"], "content": blocks}
    return {"message": message}


# --- responses --------------------------------------------------------------------------------------------------------

RESPONSES: list[tuple[str, dict[str, Any], list[dict[str, Any]], dict[str, Any] | None]] = [
    (
        "openai-chat",
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "gpt-5",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "refusal": None,
                        "annotations": [],
                        "tool_calls": [
                            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
                        ],
                    },
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "toolCalls": [{"id": "call_1", "name": "f", "arguments": '{"a": 1}'}],
                    "origin": {"vendor": "openai-chat", "model": "gpt-5"},
                },
                "_meta": {
                    "openai-chat/response": {"id": "chatcmpl-1"},
                    "openai-chat/choice": {"finish_reason": "tool_calls"},
                    "openai-chat/message": {"annotations": []},
                },
            }
        ],
        {"prompt_tokens": 3, "completion_tokens": 4},
    ),
    (
        "deepseek",
        {"choices": [{"message": {"role": "assistant", "content": "4", "reasoning_content": " 2+2 "}}]},
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("4")],
                    "reasoning": [{"text": " 2+2 ", "vendor": "deepseek"}],
                    "origin": {"vendor": "deepseek"},
                }
            }
        ],
        None,
    ),
    (
        "openrouter",
        {
            "model": "google/gemini-3",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": "",
                        "reasoning": "plan",
                        "reasoning_details": [
                            {"type": "reasoning.text", "text": "plan", "format": "google-gemini-v1", "index": 0},
                            {"type": "reasoning.encrypted", "data": "EoED", "id": "tool_1", "index": 1},
                        ],
                    }
                }
            ],
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("")],
                    "reasoning": [
                        {
                            "text": "plan",
                            "vendor": "openrouter",
                            "model": "google/gemini-3",
                            "type": "reasoning.text",
                            "format": "google-gemini-v1",
                            "index": 0,
                        },
                        {
                            "data": "EoED",
                            "vendor": "openrouter",
                            "model": "google/gemini-3",
                            "id": "tool_1",
                            "type": "reasoning.encrypted",
                            "index": 1,
                        },
                    ],
                    "origin": {"vendor": "openrouter", "model": "google/gemini-3"},
                }
            }
        ],
        None,
    ),
    (
        "mistral",
        {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": [text("hm")], "closed": True},
                            text("yes"),
                        ],
                    }
                }
            ]
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("yes")],
                    "reasoning": [{"text": "hm", "vendor": "mistral", "closed": True}],
                    "origin": {"vendor": "mistral"},
                }
            }
        ],
        None,
    ),
    (
        "openai-responses",
        {
            "id": "resp_1",
            "object": "response",
            "model": "gpt-5",
            "output": [
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "count"}],
                    "encrypted_content": "gAAA",
                },
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "phase": "commentary",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "I look", "annotations": [], "logprobs": []}],
                },
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
                {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            ],
            "usage": {"input_tokens": 1},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [
                        text("I look", itemId="msg_1", phase="commentary"),
                        {
                            "type": "vendor",
                            "vendor": "openai-responses",
                            "value": {"type": "web_search_call", "id": "ws_1", "status": "completed"},
                        },
                    ],
                    "reasoning": [
                        {
                            "text": "count",
                            "data": "gAAA",
                            "vendor": "openai-responses",
                            "model": "gpt-5",
                            "id": "rs_1",
                        }
                    ],
                    "toolCalls": [{"id": "call_1", "name": "f", "arguments": "{}", "itemId": "fc_1"}],
                    "origin": {"vendor": "openai-responses", "model": "gpt-5"},
                },
                "_meta": {"openai-responses/response": {"id": "resp_1"}},
            }
        ],
        {"input_tokens": 1},
    ),
    (
        "anthropic-messages",
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "caf\u00e9 \u2028 x", "signature": "sigB"},
                {"type": "redacted_thinking", "data": "EmwKAhgB"},
                text("Looking", citations=None),
                {"type": "thinking", "thinking": "more", "signature": "sigC"},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"b": 1, "a": "\u00e9"}},
            ],
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 2},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("Looking")],
                    "reasoning": [
                        {
                            "text": "caf\u00e9 \u2028 x",
                            "signature": "sigB",
                            "vendor": "anthropic-messages",
                            "model": "claude-sonnet-4-5",
                        },
                        {"data": "EmwKAhgB", "vendor": "anthropic-messages", "model": "claude-sonnet-4-5"},
                        {
                            "text": "more",
                            "signature": "sigC",
                            "vendor": "anthropic-messages",
                            "model": "claude-sonnet-4-5",
                            "before": 1,
                        },
                    ],
                    "toolCalls": [{"id": "toolu_1", "name": "f", "arguments": '{"b":1,"a":"\u00e9"}'}],
                    "origin": {"vendor": "anthropic-messages", "model": "claude-sonnet-4-5"},
                },
                "_meta": {"anthropic-messages/response": {"id": "msg_1", "stop_reason": "tool_use"}},
            }
        ],
        {"input_tokens": 5, "cache_read_input_tokens": 2},
    ),
    (
        "gemini",
        {
            "candidates": [
                {
                    "index": 0,
                    "finishReason": "STOP",
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "plan", "thought": True},
                            {"text": "hi", "thoughtSignature": "c2lnMQ=="},
                            {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
                        ],
                    },
                }
            ],
            "modelVersion": "gemini-3-pro",
            "usageMetadata": {"promptTokenCount": 9},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("hi")],
                    "reasoning": [
                        {"text": "plan", "vendor": "gemini", "model": "gemini-3-pro"},
                        {"signature": "c2lnMQ==", "vendor": "gemini", "model": "gemini-3-pro"},
                    ],
                    "toolCalls": [{"id": "c1", "name": "f", "arguments": '{"a":1}', "signature": "c2ln"}],
                    "origin": {"vendor": "gemini", "model": "gemini-3-pro"},
                },
                "_meta": {"gemini/candidate": {"finishReason": "STOP"}},
            }
        ],
        {"promptTokenCount": 9},
    ),
    (
        "bedrock-converse",
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "t", "signature": "s"}}},
                        {"text": "ok"},
                        {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {}}},
                    ],
                }
            },
            "stopReason": "tool_use",
            "usage": {"inputTokens": 1, "outputTokens": 2},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("ok")],
                    "reasoning": [{"text": "t", "signature": "s", "vendor": "bedrock-converse"}],
                    "toolCalls": [{"id": "tooluse_1", "name": "f", "arguments": "{}"}],
                    "origin": {"vendor": "bedrock-converse"},
                },
                "_meta": {"bedrock-converse/response": {"stopReason": "tool_use"}},
            }
        ],
        {"inputTokens": 1, "outputTokens": 2},
    ),
    (
        "cohere",
        {
            "id": "c",
            "finish_reason": "TOOL_CALL",
            "message": {
                "role": "assistant",
                "tool_plan": "I will look",
                "tool_calls": [{"id": "f_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            "usage": {"tokens": {"input_tokens": 1}},
        },
        [
            {
                "message": {
                    "role": "assistant",
                    "content": [text("I will look")],
                    "toolCalls": [{"id": "f_1", "name": "f", "arguments": "{}"}],
                    "origin": {"vendor": "cohere"},
                },
                "_meta": {"cohere/response": {"id": "c", "finish_reason": "TOOL_CALL"}},
            }
        ],
        {"tokens": {"input_tokens": 1}},
    ),
]


@pytest.mark.parametrize(("vendor", "body", "entries", "usage"), RESPONSES, ids=[case[0] for case in RESPONSES])
def test_a_reply_becomes_one_entry(
    vendor: str, body: dict[str, Any], entries: list[dict[str, Any]], usage: dict[str, Any] | None
) -> None:
    """A response is one assistant entry with its origin; signatures, ids and unknown fields stay, usage is given."""
    parsed = parse(vendor, "response", body)
    assert written(parsed) == entries
    assert parsed.usage == usage


def test_replies_without_call_ids_get_ones_that_differ() -> None:
    """A wire without call ids: the same body gives the same ids, another body others, inside a body they differ."""

    def reply(moment: str) -> list[str]:
        calls = [{"function": {"name": "f", "arguments": {"a": 1}}}] * 2
        body = {
            "model": "m",
            "created_at": moment,
            "message": {"role": "assistant", "content": "", "tool_calls": calls},
        }
        (entry,) = parse("ollama", "response", body).entries
        assert [call.arguments for call in entry.tool_calls] == ['{"a":1}', '{"a":1}']
        return [call.id for call in entry.tool_calls]

    assert reply("1") == reply("1")
    assert len({*reply("1"), *reply("2")}) == 4


# --- requests ---------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("vendor", "kind", "body", "path"),
    [
        ("openai-chat", "request", 7, ""),
        ("openai-chat", "request", {}, "/messages"),
        ("openai-chat", "request", {"messages": [{"role": "robot"}]}, "/messages/0/role"),
        ("openai-chat", "request", {"messages": [{"role": "user", "content": 7}]}, "/messages/0/content"),
        ("openai-chat", "response", {"choices": []}, "/choices"),
        (
            "openai-chat",
            "response",
            {"choices": [{"message": {"role": "assistant", "tool_calls": [{"function": {}}]}}]},
            "/choices/0/message/tool_calls/0/function/name",
        ),
        ("anthropic-messages", "response", {"content": [{"type": "thinking"}]}, "/content/0/thinking"),
        ("anthropic-messages", "request", {"messages": [{"role": "tool"}]}, "/messages/0/role"),
        ("gemini", "response", {"candidates": 3}, "/candidates"),
        ("gemini", "request", {"contents": [{"role": "user", "parts": [3]}]}, "/contents/0/parts/0"),
        ("bedrock-converse", "response", {"output": {}}, "/output/message"),
        ("openai-responses", "response", {"output": [{}]}, "/output/0/type"),
        ("ollama", "response", {"message": {"role": "assistant", "content": []}}, "/message/content"),
        ("cohere", "request", {"messages": [{"role": "assistant", "content": {}}]}, "/messages/0/content"),
    ],
)
def test_what_is_nothing_like_the_format_is_refused(vendor: str, kind: Any, body: Any, path: str) -> None:
    """A body of another shape is refused with the place where it stops to make sense."""
    with pytest.raises(Unparsable) as caught:
        parse(vendor, kind, body)
    assert caught.value.data["path"] == path


def test_an_unknown_vendor_is_refused() -> None:
    """A vendor that nobody registered is a domain error."""
    with pytest.raises(UnknownVendor):
        parse("nobody", "request", {})


def test_every_vendor_of_the_protocol_can_be_parsed() -> None:
    """There is a reader for each vendor id."""
    assert set(FAMILIES) == set(vendor_ids())


# --- properties -------------------------------------------------------------------------------------------------------

_KEYS = st.sampled_from(
    [
        "messages", "contents", "input", "output", "choices", "candidates", "message", "content", "parts", "role",
        "type", "text", "tool_calls", "function", "name", "arguments", "id", "call_id", "tool_call_id", "tool_use_id",
        "system", "systemInstruction", "instructions", "functionCall", "functionResponse", "response", "args",
        "toolUse", "toolResult", "toolUseId", "reasoningContent", "reasoningText", "thinking", "reasoning_details",
        "image_url", "url", "source", "summary", "usage", "usageMetadata", "model", "images", "inlineData", "mimeType",
        "data", "file", "file_data", "document", "tool_plan", "json", "image", "bytes", "format", "function_call",
    ]
)  # fmt: skip
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            "user", "assistant", "model", "tool", "system", "text", "image_url", "function_call", "tool_use", "message",
            "tool_result", "thinking", "reasoning", "input_text", "document", "image", "function_call_output", "\ud800",
            "data:image/png;base64,aGk=", "", "x",
        ]
    ),
)  # fmt: skip
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=25
)
_BODIES = st.one_of(
    _JSON,
    st.builds(
        lambda messages: {"messages": messages, "contents": messages, "input": messages, "output": messages},
        st.lists(st.dictionaries(_KEYS, _JSON, max_size=5), max_size=3),
    ),
    st.builds(
        lambda one: {"choices": [{"message": one}], "message": one, "output": {"message": one}, "content": one},
        st.dictionaries(_KEYS, _JSON, max_size=5),
    ),
)


_ONE_PER_FAMILY = tuple({FAMILIES[vendor]: vendor for vendor in VENDORS}.values())


@settings(HOSTILE, max_examples=150)
@given(body=_BODIES, kind=st.sampled_from(["request", "response"]))
def test_garbage_is_refused_or_read(body: Any, kind: Any) -> None:
    """Arbitrary JSON is `Unparsable` or gives entries that can be stored; nothing else happens."""
    for vendor in (
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "gemini",
        "bedrock-converse",
        "cohere",
        "ollama",
    ):
        try:
            parsed = parse(vendor, kind, body)
        except Unparsable:
            continue
        for entry in parsed.entries:
            assert entry_from_json(entry_to_json(entry)) == entry


def reread(items: list[Item], vendor: str) -> tuple[Any, Parsed, Any]:
    first = project(items, vendor, Options())
    parsed = parse(vendor, "request", first.body)
    second = project(strategies.items_of(list(parsed.entries)), vendor, Options())
    return first, parsed, second


@HOSTILE
@given(history=strategies.histories)
def test_what_was_read_projects_to_the_same_bytes(history: list[Entry]) -> None:
    """Projecting what was parsed out of a projection gives the same bytes: at once where nothing was dropped or lost,
    and from the second round on always.
    """
    items = strategies.items_of(history)
    for vendor in VENDORS:
        first, parsed, second = reread(items, vendor)
        dropped = any(repair.action == "dropped" for repair in first.repairs)
        lost = any(loss.severity != "info" for loss in first.losses)
        if dropped or lost:
            third = reread(strategies.items_of(list(parsed.entries)), vendor)[2]
            assert dumpb(third.body) == dumpb(second.body)
        else:
            assert dumpb(second.body) == dumpb(first.body)


PLAIN = [
    Entry.system("Be brief."),
    Entry.user("Paris?"),
    Entry.assistant("", tool_calls=[strategies.ToolCall(id="abcdefgh1", name="f", arguments='{"city":"Paris"}')]),
    Entry.tool("sun", "abcdefgh1", "f"),
    Entry.assistant("Sun."),
    Entry.note("a run finished"),
    Entry.user("Thanks"),
    Entry.assistant("You are welcome.", agent="sage"),
    Entry.user("Bye"),
]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_plain_history_reads_back(vendor: str) -> None:
    """Roles, texts, calls, arguments and guests come back for every vendor; ids too where the wire has them."""
    _, parsed, _ = reread(strategies.items_of(PLAIN), vendor)

    def facts(entry: Entry) -> tuple[Any, ...]:
        calls = [(call.name, call.arguments) for call in entry.tool_calls]
        return entry.role, entry.text, entry.agent, calls

    def merged(entries: Any) -> list[tuple[Any, ...]]:
        """Join what strict vendors join: a note in front of user text is part of it."""
        out: list[tuple[Any, ...]] = []
        for entry in entries:
            role, said, agent, calls = facts(entry)
            if role == "note":
                role, said = "user", f"[note] {said}"
            if role == "user" and out and out[-1][0] == "user":
                said = "\n".join([out.pop()[1], said])
            out.append((role, said.replace("\n", ""), agent, calls))
        return [one for one in out if one != ("assistant", "(Results received.)", "", [])]

    assert merged(parsed.entries) == merged(PLAIN)
    results = {entry.tool_call_id for entry in parsed.entries if entry.tool_call_id}
    assert results == {call.id for entry in parsed.entries for call in entry.tool_calls}
    if vendor != "ollama":
        assert results == {"abcdefgh1"}
