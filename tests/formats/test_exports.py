"""What leaves the store comes back, or says what it left out."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from entries import entries as any_entries
from hypothesis import given, settings

from sidecar.core.errors import InvalidParams
from sidecar.core.messages import Assistant, Entry, Reasoning, Text, Tool, ToolCall, VendorBlock
from sidecar.formats.transfer import export, exportable, import_text

KEY = "sk-ant-" + "a1B2" * 8
TALK = [
    Entry.system("Be kind."),
    Entry.user("What is 2+2?"),
    Entry.assistant(
        "Let me see.", reasoning="Use the tool.", tool_calls=[ToolCall(id="c1", name="add", arguments='{"a": 2}')]
    ),
    Entry.tool("4", "c1", "add"),
    Entry.assistant("Four."),
]
TALK = [Entry(message=entry.message, id=f"e{index}", ts=1790000000000 + index) for index, entry in enumerate(TALK)]


@settings(max_examples=40, deadline=None)
@given(any_entries)
@pytest.mark.parametrize("form", ["own-jsonl", "markdown"])
def test_comes_back_equal(form: str, entries: list[Entry]) -> None:
    """Any entry goes out and comes back equal, ids and times kept, however hostile its text."""
    text = export(entries, form).text
    back = import_text(form, text)
    assert list(back.histories[0].entries) == entries
    assert back.losses == ()
    assert import_text("auto", text).format == form


def test_jsonl_is_one_entry_per_line() -> None:
    """Nothing but entries stands in our own format, so that any tool can read it line by line."""
    lines = export(TALK, "own-jsonl").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [entry.id for entry in TALK]


def test_edited_markdown_counts() -> None:
    """After a person edited the Markdown, the visible text is what is imported, and the rest is a loss."""
    signed = Assistant(content=(Text("Four."),), reasoning=(Reasoning(text="Hm.", signature="c2ln"),))
    text = export([Entry(message=signed, id="e1", ts=5)], "markdown").text
    assert "Four." in text
    back = import_text("markdown", text.replace("Four.", "Five."))
    [entry] = back.histories[0].entries
    assert (entry.id, entry.ts, entry.text, entry.reasoning) == ("e1", 5, "Five.", "Hm.")
    assert [loss.rule for loss in back.losses] == ["editedText"]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [
            f"{tag} {name}" for name, _ in attrs if name in ("src", "srcset", "data") or name.startswith("on")
        ]


@settings(max_examples=40, deadline=None)
@given(any_entries)
def test_html_is_a_page_by_itself(entries: list[Entry]) -> None:
    """The page runs nothing and loads nothing, whatever the transcript says."""
    page = _Page()
    page.feed(export(entries, "html").text)
    assert page.loads == [] and not {"script", "iframe", "link", "object", "embed", "img"} & set(page.tags)


def test_html_folds_and_fits_a_phone() -> None:
    """Tool calls, results and reasoning fold without a script, and the page has a viewport."""
    text = export(TALK, "html", title="Sums & more").text
    assert text.count("<details") == text.count("</details>") == 3 and 'name="viewport"' in text
    assert "Sums &amp; more" in text


def test_request_bodies_of_every_vendor() -> None:
    """Every vendor's request body can be exported, and holds the last answer."""
    forms = [form for form in exportable() if form not in ("own-jsonl", "markdown", "html")]
    assert {"anthropic-messages", "openai-chat"} <= set(forms)
    for form in forms:
        assert "Four." in json.dumps(json.loads(export(TALK, form).text))


def test_what_can_only_be_read_is_refused() -> None:
    """A format without a writer is a wrong parameter, and the error names those that there are."""
    with pytest.raises(InvalidParams) as caught:
        export(TALK, "aider")
    assert "own-jsonl" in caught.value.data["errors"][0]["message"]


def test_secrets_are_masked_and_counted() -> None:
    """Known secrets go from every text, JSON and `_meta`; signatures and opaque bytes stay; counts are honest."""
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----"
    aws = "AKIA" + "ABCD" * 4
    talk = [
        Entry(
            message=Entry.user(f"my key {KEY}, and {aws}").message,
            id="u",
            ts=1,
            meta={"a/b": {"stdout": f"again {KEY}"}},
        ),
        Entry(
            message=Assistant(
                content=None,
                reasoning=(
                    Reasoning(text=f"he said {KEY}", signature=KEY, vendor="anthropic-messages"),
                    Reasoning(text="plain", signature="c2ln", data=f"op{KEY}"),
                ),
                tool_calls=(
                    ToolCall(
                        id="c1", name="put", arguments=json.dumps({"pem": pem, "url": "postgres://me:hunter22@db/x"})
                    ),
                ),
            ),
            id="a",
            ts=2,
        ),
        Entry(message=Tool(call_id="c1", content=(Text("Authorization: Bearer " + "x" * 24),)), id="t", ts=3),
    ]
    plain = export(talk, "own-jsonl")
    assert plain.losses == ()
    masked = export(talk, "own-jsonl", redact=True)
    assert sorted(loss.message for loss in masked.losses) == [
        "1 aws-access-key was masked",
        "1 bearer-token was masked",
        "1 private-key was masked",
        "1 url-password was masked",
        "3 anthropic-key were masked",
    ]
    user, assistant, tool = import_text("own-jsonl", masked.text).histories[0].entries
    assert user.text == "my key [redacted: API key], and [redacted: API key]"
    assert user.meta == {"a/b": {"stdout": "again [redacted: API key]"}}
    assert isinstance(assistant.message, Assistant)
    first, second = assistant.message.reasoning
    assert (first.text, first.signature, first.cleared) == ("he said [redacted: API key]", KEY, True)
    assert (second.signature, second.data, second.cleared) == ("c2ln", f"op{KEY}", False)
    arguments = json.loads(assistant.message.tool_calls[0].arguments)
    assert arguments == {"pem": "[redacted: private key]", "url": "postgres://[redacted: password]@db/x"}
    assert tool.text == "Authorization: Bearer [redacted: token]"
    for form in ("markdown", "html", "anthropic-messages"):
        written = export(talk, form, redact=True).text
        assert aws not in written and "hunter22" not in written and "MIIEow" not in written
        assert not re.search(r"my key sk-ant", written)


def test_opaque_bytes_inside_json_stay() -> None:
    """Blocks of a vendor and source fields keep what somebody signed or sealed, while their texts are masked."""
    item = {"type": "compaction", "encrypted_content": f"gA{KEY}", "note": f"see {KEY}"}
    meta = {"sidecar/import": {"fields": {"thoughtSignature": KEY, "stdout": KEY}}}
    message = Assistant(content=(VendorBlock("openai-responses", item),))
    text = export([Entry(message=message, id="a", ts=1, meta=meta)], "own-jsonl", redact=True).text
    [entry] = import_text("own-jsonl", text).histories[0].entries
    assert isinstance(entry.message, Assistant)
    assert entry.message.blocks == (VendorBlock("openai-responses", {**item, "note": "see [redacted: API key]"}),)
    assert entry.meta == {"sidecar/import": {"fields": {"thoughtSignature": KEY, "stdout": "[redacted: API key]"}}}
