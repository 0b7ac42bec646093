"""Masking of secrets: everywhere where text is, nowhere where bytes are, and counted."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidecar.core.jsontext import Json, dumps
from sidecar.core.message_json import entry_from_json, entry_to_json
from sidecar.core.messages import Entry, ToolCall
from sidecar.core.redaction import Redactor
from sidecar.core.secrets import SECRETS, mask

# Put together here, so that no scanner takes the test for a leak.
KEY = "sk" + "-ant-" + "a1B2" * 8
ARMOUR = "PRIVATE " + "KEY-----"
SEALED = "AKIA" + "Z9Y8" * 4
"""Has the form of a secret and of base64, and stands only where bytes are."""
MARK = "[redacted: API key]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"use {KEY} now", "use [redacted: API key] now"),
        ("ghp" + "_" + "a1" * 18, "[redacted: API key]"),
        ("AKIA" + "B2" * 8, "[redacted: API key]"),
        ("postgres://me:hunter22@host/db", "postgres://[redacted: password]@host/db"),
        ("Authorization: Bearer abcdefghijklmnopqrstuv", "Authorization: Bearer [redacted: token]"),
        ('{"api_key":"0123456789abc","n":1}', '{"api_key":"[redacted: credential]","n":1}'),
        ("DB_PASSWORD=correct-horse", "DB_PASSWORD=[redacted: credential]"),
        (f"-----BEGIN {ARMOUR}\nAAA\n-----END {ARMOUR}\nb", "[redacted: private key]\nb"),
        ("the password is not here, token counts are fine", "the password is not here, token counts are fine"),
        ("see https://example.com:8080/a@b and sk-1", "see https://example.com:8080/a@b and sk-1"),
    ],
)
def test_secrets_are_taken_out_by_their_shape(text: str, expected: str) -> None:
    """Keys, tokens, passwords and private keys go; prose that talks about them stays."""
    assert mask(text) == expected
    assert mask(expected) == expected


plain = st.sampled_from(["", "ls -l", "é\u2028x", "a\ud83d", "data:,x", "[redacted: API key]"])
shown = plain | st.builds("{}{}{}".format, plain, st.just(f" {KEY} "), plain)
sealed = st.sampled_from([SEALED, f"{SEALED}=", "c2ln"])
encoded = st.sampled_from([f"{SEALED}/9k=", "c2ln"])
data_url = st.just(f"data:image/png;base64,{SEALED}")


def optional(**fields: st.SearchStrategy[Json]) -> st.SearchStrategy[dict[str, Json]]:
    """Some of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | shown | data_url,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", f"key {KEY}"]), inner, max_size=2)
        | optional(
            signature=sealed, thoughtSignature=sealed, encrypted_content=sealed, bytes=encoded, data=encoded, text=shown
        )
    ),
    max_leaves=6,
)
extra = optional(later=values, encrypted_content=sealed)
blocks = st.lists(
    st.one_of(
        st.builds(lambda text, more: {"type": "text", "text": text, **more}, shown, extra),
        st.builds(lambda text: {"type": "refusal", "text": text}, shown),
        st.builds(lambda data: {"type": "image", "mimeType": "image/png", "data": data}, sealed),
        st.builds(lambda url: {"type": "audio", "url": url}, shown | data_url),
        st.builds(lambda name: {"type": "file", "name": name, "mimeType": "a/b", "data": SEALED}, shown),
        st.builds(lambda value: {"type": "json", "value": value}, values),
        st.builds(lambda value: {"type": "vendor", "vendor": "gemini", "value": value}, values),
        st.builds(lambda value: {"type": "hologram", "x": value}, values),
    ),
    max_size=2,
)
reasoning = optional(text=shown, signature=sealed, data=sealed, later=values)
calls = st.builds(
    lambda arguments, more: {"id": SEALED, "name": "put", "arguments": arguments, **more},
    values.map(dumps),
    optional(signature=sealed, later=values),
)
origin = st.builds(lambda value: {"vendor": "gemini", "later": value}, values)
messages = st.one_of(
    st.builds(lambda text, more: {"role": "system", "text": text, **more}, shown, extra),
    st.builds(lambda text: {"role": "note", "text": text}, shown),
    st.builds(lambda text: {"role": "summary", "text": text, "covers": 2}, shown),
    st.builds(lambda content, more: {"role": "user", "content": content, **more}, blocks, extra),
    st.builds(lambda content: {"role": "tool", "callId": SEALED, "content": content}, blocks),
    st.builds(
        lambda parts: {"role": "assistant", **parts},
        optional(
            content=blocks,
            reasoning=st.lists(reasoning, min_size=1, max_size=2),
            toolCalls=st.lists(calls, min_size=1, max_size=2),
            origin=origin,
            later=values,
        ),
    ),
)
entries = st.builds(
    lambda message, meta: entry_from_json({"id": SEALED, "message": message, **meta}),
    messages,
    optional(_meta=st.dictionaries(st.just("x/y"), values, min_size=1), later=values),
)


@settings(max_examples=150, deadline=None)
@given(entries)
@example(
    entry_from_json(
        {"message": {"role": "assistant", "reasoning": [{"text": KEY}, {"text": KEY, "signature": SEALED}]}}
    )
)
def test_every_text_is_masked_and_nothing_else_changes(entry: Entry) -> None:
    """What comes back is the entry with each secret replaced, each counted, and changed signed reasoning marked."""
    before = dumps(entry_to_json(entry))
    redactor = Redactor()
    masked = redactor.entry(entry)
    expected = json.loads(before.replace(KEY, MARK))
    parts = zip(
        expected["message"].get("reasoning", ()), entry_to_json(entry)["message"].get("reasoning", ()), strict=True
    )
    for part, was in parts:
        if part.get("text") != was.get("text") and ("signature" in part or "data" in part):
            part["cleared"] = True
    assert entry_to_json(masked) == expected
    assert redactor.found.total() == before.count(KEY)
    assert (masked is entry) == (KEY not in before)
    assert Redactor().entry(masked) is masked
    assert entry_from_json(entry_to_json(masked)) == masked


def test_arguments_stay_json() -> None:
    """A secret behind an escape or a bare number is masked as a value; without a secret the text is the model's own."""
    arguments = [
        '{ "cmd" : "ls" }',
        '{ "url": "postgres:\\/\\/me:hunter22@db/x", "n": 1.50 }',
        '{"password": 12345678, "ttl": 12345678, "secret": true}',
        f'{{"cmd": "curl -H {KEY}',
        "not JSON at all",
    ]
    redactor = Redactor()
    entry = redactor.entry(
        Entry.assistant(tool_calls=[ToolCall(id="c", name="t", arguments=text) for text in arguments])
    )
    assert [call.arguments for call in entry.tool_calls] == [
        '{ "cmd" : "ls" }',
        '{"url":"postgres://[redacted: password]@db/x","n":1.5}',
        '{"password":"[redacted: credential]","ttl":12345678,"secret":true}',
        '{"cmd": "curl -H [redacted: API key]',
        "not JSON at all",
    ]
    assert redactor.found == {"url-password": 1, "credential": 1, "anthropic-key": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"db.password": "correct horse"}, {"db.password": "correct horse"}),
        ({"db.password": "correct-horse & co"}, {"db.password": "[redacted: credential]"}),
        ({"api_key": KEY}, {"api_key": "[redacted: API key]"}),
        ({"apiKey": f"mine-is-it {KEY}"}, {"apiKey": "[redacted: credential]"}),
        ({"data": KEY, "signature": KEY}, {"data": "[redacted: API key]", "signature": KEY}),
        ({"signature": f"by {KEY}"}, {"signature": "by [redacted: API key]"}),
        ({"data": f"text with {KEY}"}, {"data": "text with [redacted: API key]"}),
        ({"data": f"{SEALED}/+=\n"}, {"data": f"{SEALED}/+=\n"}),
        ({KEY: 1, KEY + "x": 2}, {"[redacted: API key]": 1, "[redacted: API key] 2": 2}),
        ({"url": f"data:text/plain,{KEY}"}, {"url": "data:text/plain,[redacted: API key]"}),
    ],
)
def test_names_tell_credentials_and_bytes(value: Json, expected: Json) -> None:
    """In JSON the key decides: a credential is masked whole, what was signed or encoded stays as it is."""
    redactor = Redactor()
    masked = redactor.entry(entry_from_json({"message": {"role": "note", "text": "x"}, "later": value}))
    assert masked.extra == {"later": expected}
    assert Redactor().entry(masked) is masked


def test_kinds_that_were_not_asked_for_stay() -> None:
    """Only the kinds named are masked, in texts and under names."""
    message = {"role": "user", "content": [{"type": "json", "value": {"password": "correct-horse", "a": KEY}}]}
    for kind, value in (
        ("credential", {"password": "[redacted: credential]", "a": KEY}),
        ("anthropic-key", {"password": "correct-horse", "a": MARK}),
    ):
        redactor = Redactor((kind,))
        masked = entry_to_json(redactor.entry(entry_from_json({"message": message})))
        assert masked == {"message": {"role": "user", "content": [{"type": "json", "value": value}]}}
        assert redactor.found == {kind: 1}


@settings(max_examples=300)
@given(st.lists(st.sampled_from([KEY, SEALED, "password", "=", ":", " ", "://", "@", "bearer ", "x" * 9, '"', MARK])))
def test_masking_twice_changes_nothing(words: list[str]) -> None:
    """A mark is no secret, and the count of the second time is empty."""
    once = mask("".join(words))
    found: Counter[str] = Counter()
    assert (mask(once, found), found) == (once, {})
    assert {secret.id for secret in SECRETS} >= found.keys()
