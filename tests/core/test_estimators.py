"""Estimators by name, and the profile of a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core import exact
from sidecar.core.errors import InvalidParams
from sidecar.core.estimators import counter, default_estimate, estimator_ids
from sidecar.core.measures import measure
from sidecar.core.messages import Assistant, Entry, Image, Reasoning, Text, ToolCall
from sidecar.core.profiles import profile, profile_ids, profile_of


@pytest.mark.parametrize(
    ("vendor", "model", "profile_id"),
    [
        (None, None, "generic"),
        ("openai-chat", None, "openai-o200k"),
        ("openai-chat", "gpt-4o-2024-08-06", "openai-o200k"),
        ("openai-chat", "gpt-4.1", "openai-o200k"),
        ("openai-chat", "gpt-5.4", "openai-o200k"),
        ("openai-chat", "o3", "openai-o200k"),
        ("openai-chat", "gpt-4-turbo", "openai-cl100k"),
        ("azure-openai", "gpt-35-turbo", "openai-cl100k"),
        ("anthropic-messages", None, "anthropic-v4.8"),
        ("anthropic-messages", "claude-3-5-sonnet-20241022", "anthropic-v3"),
        ("anthropic-messages", "claude-sonnet-4-20250514", "anthropic-v3"),
        ("anthropic-messages", "claude-opus-4-1", "anthropic-v3"),
        ("anthropic-messages", "claude-opus-4-6", "anthropic-v3"),
        ("anthropic-messages", "claude-haiku-4-5-20251001", "anthropic-v3"),
        ("openrouter", "anthropic/claude-opus-4.5", "anthropic-v3"),
        ("bedrock-converse", "us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic-v3"),
        ("anthropic-messages", "claude-opus-4-7", "anthropic-v4.8"),
        ("anthropic-messages", "claude-sonnet-5-5", "anthropic-v4.8"),
        ("anthropic-messages", "claude-fable-5-1", "anthropic-v4.8"),
        ("gemini", "gemini-3-pro", "google-gemma"),
        ("deepseek", "deepseek-chat", "deepseek"),
        ("groq", "deepseek-r1-distill-llama-70b", "llama3"),
        ("groq", "openai/gpt-oss-120b", "openai-o200k"),
        ("ollama", "qwen3:8b", "qwen3"),
        ("mistral", "codestral-latest", "mistral-tekken"),
        ("openrouter", "moonshotai/kimi-k2", "kimi-k2"),
        ("glm", "glm-4.6", "glm4"),
        ("xai", "grok-4", "generic"),
        ("cohere", "command-a", "generic"),
        ("bedrock-converse", "meta.llama3-1-70b-instruct-v1:0", "llama3"),
    ],
)
def test_the_model_decides_before_the_vendor(vendor: str | None, model: str | None, profile_id: str) -> None:
    """Every model gets the profile of its tokenizer family."""
    assert profile_of(vendor, model).id == profile_id


def test_source_estimators_are_the_measured_integers() -> None:
    """The four of the source documents answer what seeds.md §9 says, whatever the vendor."""
    entry = measure(Entry.user("日本語abc"))
    found = {name: counter(name, "gemini", "gemini-3-pro").count(entry) for name in list(estimator_ids())[1:5]}
    assert found == {"bytes4": 3, "bytes4-min1": 3, "chars4-plus4": 6, "cjk": 4}


def test_classes_follow_vendor_and_model() -> None:
    """The same text costs what each family's weights say; a profile's own id wins over the model."""
    text = measure(Entry.user("def read(path: str) -> bytes:\n    return Path(path).read_bytes()\n" * 20))
    found = {name: counter(name).count(text) for name in profile_ids()}
    assert len(set(found.values())) > 8
    assert found["anthropic-v4.8"] > 1.15 * found["anthropic-v3"] > found["openai-o200k"]
    assert counter(None, "anthropic-messages", "claude-opus-5-5").count(text) == found["anthropic-v4.8"]
    assert counter("deepseek", "anthropic-messages").count(text) == found["deepseek"]
    assert default_estimate(text) == found["generic"]


def test_an_unknown_estimator_is_refused() -> None:
    """An id that is not listed is an error that lists the known ones."""
    with pytest.raises(InvalidParams, match="bytes4"):
        counter("tiktoken")


def test_reasoning_counts_where_it_comes_back() -> None:
    """Reasoning costs nothing at an interface that has no place for it."""
    entry = measure(Entry(message=Assistant(content=(Text("so"),), reasoning=(Reasoning(text="because " * 100),))))
    assert counter(None, "openai-chat").count(entry) < 10
    assert counter(None, "openai-responses").count(entry) > 90


def test_framing_and_media_are_counted() -> None:
    """Messages, calls and pictures cost something beside text."""
    empty = measure(Entry.user(""))
    image = measure(Entry.user([Image(url="https://example.com/x", extra={"width": 1000, "height": 1000})]))
    called = Entry(message=Assistant(tool_calls=(ToolCall(id="i", name="", arguments=""),)))
    claude = counter(None, "anthropic-messages", "claude-opus-5-5")
    assert [claude.count(each) for each in (empty, image, measure(called))] == [4, 4 + 1296, 8]


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4), st.sampled_from(profile_ids()))
def test_counts_are_never_negative(texts: list[str], profile_id: str) -> None:
    """Whatever the weights, an entry costs at least its framing."""
    entry = Entry.user([Text(text) for text in texts])
    assert counter(profile_id).count(measure(entry)) >= profile(profile_id).message


def test_exact_counts_tokens() -> None:
    """With the extra `tokens`, `exact` counts the vocabulary's own tokens; control tokens in a text are text."""
    pytest.importorskip("splintr")
    o200k = counter("exact", "openai-chat", "gpt-4o")
    assert o200k.needs_text
    assert o200k.count_entry(Entry.user("hello world")) == 2 + 3
    assert o200k.count_entry(Entry.user("<|endoftext|>")) == 7 + 3
    assert exact.count_exactly("o200k_base", "a\ud800") >= 2
    text = "The quick brown fox. " * 8_000
    assert abs(exact.count_exactly("o200k_base", text) - 40_001) <= len(text) // exact.PIECE + 2
    with pytest.raises(InvalidParams, match="anthropic"):
        counter("exact", "anthropic-messages")


def test_exact_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed, `exact` is not listed and is refused."""
    monkeypatch.setattr(exact, "is_installed", lambda: False)
    assert "exact" not in estimator_ids()
    with pytest.raises(InvalidParams, match="extra"):
        counter("exact", "openai-chat")
