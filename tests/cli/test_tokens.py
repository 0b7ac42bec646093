"""`history-sidecar tokens`: the same numbers in the terminal, as JSON, and in a page that a real browser shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.core.estimators import DEFAULT, counter
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Assistant, Entry, Image, Reasoning, Text, ToolCall
from sidecar.core.spending import spending

ENTRIES = [
    Entry.system("be brief"),
    Entry.user([Text("look at <b>this</b>"), Image(url="https://e.com/p", extra={"width": 1000, "height": 1000})]),
    Entry(
        message=Assistant(
            content=(Text("let me see"),),
            reasoning=(Reasoning(text="because " * 50),),
            tool_calls=(ToolCall(id="c1", name="<read>", arguments='{"path":"a.txt"}'),),
        )
    ),
    Entry.tool("a line of output\n" * 300, "c1"),
    Entry.assistant("done"),
    Entry.user("thanks " * 30),
]


def sidecar(*arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sidecar", *arguments], input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("tokens") / "store.db")
    entries = [entry_to_json(entry) for entry in ENTRIES]
    params = json.dumps({"history": "talk", "entries": entries})
    sidecar("call", "history/append", params, "--store", path)
    return path


def test_parts_add_up() -> None:
    """The shares add up to what the entries cost, and each kind of part is there."""
    found = spending(DEFAULT, ENTRIES)
    assert found.total == sum(share.tokens for share in found.shares)
    assert found.total == sum(DEFAULT.count_entry(entry) for entry in ENTRIES)
    assert {share.label for share in found.shares} == {
        "system", "user", "assistant", "reasoning", "tool calls", "images and documents", "result: <read>",
    }  # fmt: skip
    assert found.heaviest[0].index in (1, 3)
    dropped = spending(counter(None, "openai-chat"), ENTRIES)
    assert next(share.tokens for share in dropped.shares if share.label == "reasoning") == 0


def test_terminal_and_json_agree(store: str) -> None:
    """Every share of the JSON is a line in the terminal."""
    found = json.loads(sidecar("tokens", "talk", "--json", "--store", store))
    shown = sidecar("tokens", "talk", "--store", store)
    assert found["tokens"] == spending(DEFAULT, ENTRIES).total
    for share in found["shares"]:
        assert any(share["label"] in line and f"{share['tokens']:,}" in line for line in shown.splitlines())
    assert "would" in shown


def test_the_page_opens_in_a_browser(store: str, tmp_path: Path) -> None:
    """A browser shows the page's numbers with the untrusted names as text."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    page = tmp_path / "tokens.html"
    sidecar("tokens", "talk", "--html", str(page), "--store", store)
    found = json.loads(sidecar("tokens", "talk", "--json", "--store", store))
    assert page.stat().st_mode & 0o077 == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "src=" not in text and "<read>" not in text
    if chromium is None:
        pytest.skip("no browser here")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    dom = subprocess.run(
        [chromium, *flags, profile, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=90, check=True
    ).stdout
    for share in found["shares"]:
        assert f'<td class="number">{share["tokens"]:,}</td>' in dom
    assert "result: &lt;read&gt;" in dom
    shot = tmp_path / "shot.png"
    subprocess.run(
        [chromium, *flags, profile, f"--screenshot={shot}", "--window-size=900,900", page.as_uri()],
        capture_output=True,
        timeout=90,
        check=True,
    )
    assert shot.stat().st_size > 8_000
