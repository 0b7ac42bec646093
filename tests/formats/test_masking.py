"""Masking secrets before they are stored: off by default, and then everywhere text comes in."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sidecar.client import Sidecar
from sidecar.config import settings_from

KEY = "sk-ant-" + "a1B2" * 8
AWS = "AKIA" + "ABCD" * 4
SAID = {
    "id": "a",
    "message": {
        "role": "assistant",
        "content": f"use {KEY} and {AWS}",
        "reasoning": [{"text": "plain", "signature": f"x{KEY}", "vendor": "anthropic-messages"}],
        "toolCalls": [{"id": "c", "name": "put", "arguments": json.dumps({"key": AWS})}],
    },
}


@pytest.mark.parametrize(
    ("value", "key", "aws"),
    [
        ("", KEY, AWS),
        ("1", "[redacted: API key]", "[redacted: API key]"),
        ("aws-access-key", KEY, "[redacted: API key]"),
    ],
)
def test_what_is_stored(tmp_path: Path, value: str, key: str, aws: str) -> None:
    """Nothing is masked unless it was asked for; then texts, arguments and edits are, and signatures never."""
    env = {**os.environ, "HISTORY_SIDECAR_MASK": value}
    log = (tmp_path / "log").open("wb")
    with log, Sidecar.spawn(store=str(tmp_path / "s.db"), env=env, stderr=log) as sidecar:
        sidecar.append("h", [SAID, {"id": "u", "message": {"role": "user", "content": "x"}}])
        edit = {"kind": "setText", "entryId": "u", "text": f"mine is {KEY}, {AWS}"}
        sidecar.call("history/applyEdits", history="h", ifVersion=1, edits=[edit])
        said, edited = (entry["message"] for entry in sidecar.snapshot("h")["entries"])
    assert said["content"] == [{"type": "text", "text": f"use {key} and {aws}"}]
    assert said["reasoning"][0]["signature"] == f"x{KEY}"
    assert json.loads(said["toolCalls"][0]["arguments"]) == {"key": aws}
    assert edited["content"][0]["text"] == f"mine is {key}, {aws}"
    told = (tmp_path / "log").read_text()
    assert ("masked before storing: 2 aws-access-key" in told) == (aws != AWS)
    assert KEY not in told and AWS not in told


@pytest.mark.parametrize(
    ("value", "mask"),
    [("", None), ("off", None), ("1", ()), ("all", ()), ("jwt, openai-key", ("jwt", "openai-key"))],
)
def test_the_setting(value: str, mask: tuple[str, ...] | None) -> None:
    """The environment variable names no kinds, all kinds, or some."""
    assert settings_from(None, {"HISTORY_SIDECAR_MASK": value, "HOME": "/h"}).mask == mask


def test_what_is_shown(tmp_path: Path) -> None:
    """`history/render` masks where it was asked to, and the history stays as it was."""
    with Sidecar.spawn(store=str(tmp_path / "s.db")) as sidecar:
        sidecar.append("h", [SAID])
        for form in ("markdown", "html"):
            texts = [
                sidecar.call("history/render", history="h", format=form, redact=redact)["text"]
                for redact in (False, True)
            ]
            assert [(KEY in text, AWS in text) for text in texts] == [(True, True), (False, False)]
        assert sidecar.snapshot("h")["entries"][0]["message"]["toolCalls"] == SAID["message"]["toolCalls"]  # type: ignore[index]
