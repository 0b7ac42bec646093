"""Parsing of responses: what each wire family's replies become."""

from __future__ import annotations

from typing import Any

import pytest

from sidecar.wire.parse import parse
from tests.wire.written import text, written

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
