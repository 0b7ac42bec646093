"""Transcripts as LSP documents: the table of the protocol's section on editors, against a real process."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import urllib.parse
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import RICH, Editor, message, notification, talk


def lines_of(text: str, start: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n")) if line.startswith(start)]


def test_three_forms_of_a_history(editor: Editor) -> None:
    """Transcript, projection and stored entries are documents; what names nothing is refused."""
    editor.append("forms/a.b", *talk())
    assert lines_of(editor.text("history:///forms/a.b.md"), "## ") != []
    assert editor.text("history:/forms/a.b.md") == editor.text("history:///forms/a.b.md")
    body = json.loads(editor.text("history:///forms/a.b.openai-chat.json"))
    assert [item["role"] for item in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    stored = editor.result("history/snapshot", history="forms/a.b")["entries"]
    assert [json.loads(line) for line in editor.text("history:///forms/a.b.jsonl").splitlines()] == stored
    assert "does not exist" in editor.text("history:///no/such.md")
    for uri in (
        "history:///x",
        "history:///../x.md",
        "history:///x.no-such-vendor.json",
        "file:///x.md",
        "history://h/x.md",
    ):
        assert editor.error("workspace/textDocumentContent", uri=uri)["code"] == -32602


def test_a_projection_stays_json_whatever_it_holds(editor: Editor) -> None:
    """Controls, bidirectional marks and lone surrogates are escapes, and the document parses to the projection."""
    text = "\x1b[31m\u202e\u2028 ok 🙂"
    editor.append("escapes", message("e", "user", text))
    shown = editor.text("history:///escapes.openai-chat.json")
    assert json.loads(shown)["messages"][0]["content"] == text
    assert not set("\x1b\u202e\u2028") & set(shown)


def test_symbols_nest_turns_entries_and_calls(editor: Editor) -> None:
    """A prompt holds the entries up to the next prompt; an entry holds its reasoning and calls."""
    editor.append("symbols", *talk())
    text = editor.open("history:///symbols.md")

    def names(symbols: list[dict[str, Any]]) -> list[Any]:
        return [(symbol["name"], names(symbol.get("children") or [])) for symbol in symbols]

    found = editor.document("documentSymbol", "history:///symbols.md")
    assert names(found) == [
        (
            "0. user: read it",
            [
                ("1. assistant: → read", [("reasoning", []), ("call read", [])]),
                ("2. tool: 🙂 done", []),
                ("3. assistant: fine", []),
            ],
        ),
        ("4. user: thanks 🙂", [("5. assistant: bye", [])]),
    ]
    headings = lines_of(text, "## ")
    assert [symbol["selectionRange"]["start"]["line"] for symbol in found] == [headings[0], headings[4]]
    assert found[0]["range"]["end"]["line"] < found[1]["range"]["start"]["line"]


def test_folds_hold_turns_entries_and_parts(editor: Editor) -> None:
    """Every fold begins at a heading, a call, a result or reasoning, and none reaches into the next entry."""
    editor.append("folds", *talk())
    text = editor.open("history:///folds.md").split("\n")
    found = editor.document("foldingRange", "history:///folds.md")
    starts = [text[fold["startLine"]].split(" ·")[0] for fold in found]
    assert starts == [
        "## 0. user",
        "## 0. user",
        "## 1. assistant",
        "<details><summary>reasoning</summary>",
        "**call** `read`",
        "## 2. tool",
        "```text",
        "## 3. assistant",
        "## 4. user",
        "## 4. user",
        "## 5. assistant",
    ]
    assert all(text[fold["endLine"]].strip() for fold in found)


def test_hover_says_tokens_and_how_vendors_see_it(editor: Editor) -> None:
    """A hover names the entry, its tokens, the running total and each configured vendor's view."""
    editor.append("hover", *talk(call_answered=False))
    text = editor.open("history:///hover.md")
    rows = editor.result("history/outline", history="hover")["data"]
    value = editor.at("hover", "history:///hover.md", lines_of(text, "## 1.")[0])["contents"]["value"]
    assert value.startswith("**1. assistant** · 2023-11-14 22:13:20Z")
    assert f"{rows[1]['tokens']} tokens, {rows[0]['tokens'] + rows[1]['tokens']} with all before it" in value
    for vendor in ("openai-chat", "anthropic-messages", "gemini"):
        [line] = [line for line in value.split("\n") if line.startswith(f"- {vendor}: ")]
        assert "X1 synthesized: " in line
    assert editor.at("hover", "history:///hover.md", 0) is None


def test_a_hover_names_the_sender_where_the_connection_knows_it(tmp_path: Path) -> None:
    """A sender is runtime-only: shown to the connection whose append named it, to no other, and not in the document."""
    store = str(tmp_path / "shared.db")
    with Editor(RICH, store) as author, Editor(RICH, store) as other:
        author.append("sent", {**message("q", "user", "x"), "sender": "Ada `<b>`"}, message("a", "assistant", "y"))

        def first_lines(editor: Editor) -> list[str]:
            text = editor.open("history:///sent.md")
            assert "Ada" not in text
            headings = [line for number in (0, 1) for line in lines_of(text, f"## {number}.")]
            hovers = [editor.at("hover", "history:///sent.md", line) for line in headings]
            return [hover["contents"]["value"].split("\n")[0] for hover in hovers]

        time = "2023-11-14 22:13:20Z"
        assert first_lines(author) == [f"**0. user** · from `` Ada `<b>` `` · {time}", f"**1. assistant** · {time}"]
        assert first_lines(other) == [f"**0. user** · {time}", f"**1. assistant** · {time}"]


def test_a_hover_in_a_page_reads_nothing_else(tmp_path: Path) -> None:
    """Opening and hovering answer from the page, even where an entry outside it is damaged; vendors follow later."""
    store = tmp_path / "long.db"
    uri = "history:///long.md"
    with Editor(RICH, str(store)) as editor:
        roles = ("user", "assistant")
        editor.append("long", *[message(f"m{number}", roles[number % 2], f"number {number}") for number in range(1200)])
        rows = editor.result("history/outline", history="long", start=0, count=1000)["data"]
        rows += editor.result("history/outline", history="long", start=1000, count=1000)["data"]
        total = sum(row["tokens"] for row in rows[:1199])

        def seen(text: str) -> tuple[str, list[str]]:
            value = editor.at("hover", uri, lines_of(text, "## 1198.")[0])["contents"]["value"]
            return value.split("\n")[2], [line.partition(": ")[2] for line in value.split("\n") if line[:2] == "- "]

        text = editor.open(uri)
        tokens = f"{rows[1198]['tokens']} tokens, {total} with all before it"
        assert seen(text) == (tokens, ["still being worked out"] * 3)
        editor.until(lambda: seen(text) == (tokens, ["as it is"] * 3))
    with closing(sqlite3.connect(store)) as database, database:
        assert database.execute("UPDATE entry SET body = x'00' WHERE id = (SELECT min(id) FROM entry)").rowcount == 1
    with Editor(RICH, str(store)) as editor:
        assert editor.error("wire/check", history="long")["data"]["kind"] == "storageCorrupt"
        text = editor.open(uri)
        assert seen(text) == (tokens, ["still being worked out"] * 3)


def test_a_hover_cannot_be_broken_out_of(editor: Editor) -> None:
    """A tool's or an agent's name is shown as text."""
    call = {"id": "c", "name": "<img src=x>](javascript:x)", "arguments": "{}"}
    entry = {**message("a", "assistant", None, toolCalls=[call]), "agent": "`<b>"}
    editor.append("evil", message("q", "user", "x"), entry)
    text = editor.open("history:///evil.md")
    value = editor.at("hover", "history:///evil.md", lines_of(text, "## 1.")[0])["contents"]["value"]
    assert "<img" not in value.replace("`", "")
    assert "](javascript" not in value


def test_calls_and_results_find_each_other(editor: Editor) -> None:
    """Definition goes to the other side; references and highlights name both."""
    editor.append("jumps", *talk())
    uri = "history:///jumps.md"
    text = editor.open(uri)
    call, result = lines_of(text, "**call**")[0], lines_of(text, "## 2. tool")[0]
    assert [place["range"]["start"]["line"] for place in editor.at("definition", uri, call)] == [result]
    assert [place["range"]["start"]["line"] for place in editor.at("definition", uri, result)] == [call]
    for line in (call, result):
        found = editor.at("references", uri, line, context={"includeDeclaration": True})
        assert [place["range"]["start"]["line"] for place in found] == [call, result]
        assert len(editor.at("documentHighlight", uri, line)) == 2
    assert editor.at("definition", uri, 0) == []


def test_jumps_follow_the_pairs_of_a_projection(editor: Editor) -> None:
    """Where an id comes back, a call leads to its own result or nowhere, and a duplicate to its call."""
    calls = [[{"id": "c", "name": "ls"}], [{"id": "c", "name": "cat"}, {"id": "c", "name": "rm"}]]
    said = [{"role": "assistant", "toolCalls": made} for made in calls]
    said += [{"role": "tool", "callId": "c", "content": text} for text in ("one", "two", "again")]
    editor.append("repeats", *[{"message": value} for value in said])
    uri = "history:///repeats.md"
    text = editor.open(uri)
    lost, first, second = lines_of(text, "**call**")
    results = lines_of(text, "## ")[2:]
    led = [[place["range"]["start"]["line"] for place in editor.at("definition", uri, line)]
           for line in (lost, first, second, *results)]  # fmt: skip
    assert led == [[], [results[0]], [results[1]], [first], [second], [second]]


def test_a_summary_leads_to_what_it_replaced(editor: Editor) -> None:
    """Definition of a summary is the range of the entries that are gone, in the version that still has them."""
    editor.append("spliced", *talk())
    editor.result("history/splicePrefix", history="spliced", dropCount=4, summary="they read it")
    uri = "history:///spliced.md"
    text = editor.open(uri)
    [place] = editor.at("definition", uri, lines_of(text, "## 0. summary")[0])
    assert place["uri"] == "history:///spliced.md?atVersion=1&start=0"
    old = editor.text(place["uri"]).split("\n")
    assert old[place["range"]["start"]["line"]].startswith("## 0. user")
    assert old[place["range"]["end"]["line"]] == "fine"


def test_positions_are_in_the_negotiated_encoding(plain: Editor, editor: Editor) -> None:
    """The end of a line with an emoji is counted in UTF-8 for one client and in UTF-16 for another."""
    ends = []
    for client in (editor, plain):
        agent = {"agent": "🙂🙂"}
        client.append("width", {**message("e", "assistant", "x"), **agent})
        client.open("history:///width.md")
        folds = client.document("documentSymbol", "history:///width.md")
        place = folds[0].get("selectionRange") or folds[0]["location"]["range"]
        heading = client.text("history:///width.md").split("\n")[place["start"]["line"]]
        whole = editor.document("documentSymbol", "history:///width.md")[0]["selectionRange"]
        ends.append(
            (client.initialized["result"]["capabilities"]["positionEncoding"], whole["end"]["character"], heading)
        )
    assert [end[0] for end in ends] == ["utf-8", "utf-16"]
    assert ends[0][1] == len(ends[0][2].encode())


def test_diagnostics_are_pulled_with_links_and_related_places(editor: Editor) -> None:
    """A violation stands on its entry's heading, names its rule and vendors, and an unchanged document says so."""
    editor.append("pulled", *talk(call_answered=False))
    uri = "history:///pulled.md"
    text = editor.open(uri)
    report = editor.document("diagnostic", uri)
    [first] = [item for item in report["items"] if item["code"] == "X1"]
    assert report["kind"] == "full"
    assert first["range"]["start"] == {"line": lines_of(text, "## 1.")[0], "character": 0}
    assert first["severity"] == 1
    assert first["source"] == "history-sidecar (openai-chat, anthropic-messages, gemini)"
    assert first["codeDescription"]["href"].startswith("https://")
    again = editor.document("diagnostic", uri, previousResultId=report["resultId"])
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}


def test_a_projection_says_what_it_lost(editor: Editor) -> None:
    """Repairs and losses are diagnostics of the projection's document."""
    editor.append("lossy", *talk(call_answered=False))
    uri = "history:///lossy.anthropic-messages.json"
    editor.open(uri)
    found = editor.document("diagnostic", uri)["items"]
    assert "X1" in {item["code"] for item in found}


def test_related_information_points_at_the_partner(editor: Editor) -> None:
    """A violation of a call that has a result names the result's place."""
    call = {"id": "not valid!", "name": "read", "arguments": "{}"}
    editor.append(
        "related",
        message("q", "user", "x"),
        message("a", "assistant", None, toolCalls=[call]),
        message("r", "tool", "done", callId="not valid!"),
    )
    uri = "history:///related.md"
    editor.open(uri)
    found = [item for item in editor.document("diagnostic", uri)["items"] if item.get("relatedInformation")]
    assert found
    assert {place["message"] for item in found for place in item["relatedInformation"]} <= {
        "the result of not valid!",
        "the call of not valid!",
    }


def test_a_fix_is_applied_by_name_and_once(editor: Editor) -> None:
    """An action carries no entries; running it cures the violation; on a newer version it is refused."""
    editor.append("fixed", *talk(call_answered=False))
    uri = "history:///fixed.md"
    text = editor.open(uri)
    line = lines_of(text, "## 1.")[0]
    spot = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
    actions = editor.document("codeAction", uri, range=spot, context={"diagnostics": []})
    [fix] = [item for item in actions if item["kind"] == "quickfix" and item["diagnostics"][0]["code"] == "X1"]
    command = fix["command"]
    assert set(command["arguments"][0]) == {"history", "version", "vendor", "rule", "entryId", "index", "fix"}
    editor.result("workspace/executeCommand", command=command["command"], arguments=command["arguments"])
    left = editor.result("wire/check", history="fixed", vendors=["openai-chat"])["violations"]
    assert "X1" not in {item["rule"] for item in left}
    error = editor.error("workspace/executeCommand", command=command["command"], arguments=command["arguments"])
    assert error["data"]["kind"] == "versionMismatch"


def test_fix_all_is_one_change(editor: Editor) -> None:
    """`source.fixAll` cures every violation that has a fix, in one new version, and undo takes it back."""
    editor.append("all", *talk(call_answered=False), message("r9", "tool", "x", callId="nobody"))
    uri = "history:///all.md"
    editor.open(uri)
    spot = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    [action] = editor.document("codeAction", uri, range=spot, context={"diagnostics": [], "only": ["source.fixAll"]})
    before = editor.result("history/len", history="all")
    answer = editor.result("workspace/executeCommand", **{k: action["command"][k] for k in ("command", "arguments")})
    assert answer["version"] == before["version"] + 1
    assert answer["fixed"] >= 2
    left = editor.result("wire/check", history="all", vendors=["openai-chat", "anthropic-messages", "gemini"])
    assert [item for item in left["violations"] if item["fixes"]] == []
    editor.command("history.revert", history="all")
    assert editor.result("history/len", history="all")["len"] == before["len"]


def test_an_open_document_is_refreshed_once_for_a_burst(editor: Editor) -> None:
    """However many appends, ten refreshes a second at most, and the client pulls its diagnostics again."""
    editor.append("live", message("q", "user", "x"))
    editor.open("history:///live.md")
    editor.asked.clear()
    started = time.monotonic()
    for number in range(100):
        editor.append("live", message(f"m{number}", "user", "more"))
    waited = editor.until(lambda: any(method == "workspace/diagnostic/refresh" for method, _ in editor.asked))
    assert waited < 5, "the reply to the first refresh was not heard: the next waits for `CLIENT_PATIENCE`"
    seconds = time.monotonic() - started
    refreshes = [params for method, params in editor.asked if method == "workspace/textDocumentContent/refresh"]
    assert {params["uri"] for params in refreshes} == {"history:///live.md"}
    assert len(refreshes) <= 1 + seconds / 0.1
    editor.until(lambda: "## 100. user" in editor.text("history:///live.md"))


def test_another_process_is_followed(tmp_path: Path) -> None:
    """What another sidecar commits to the same store refreshes the document within a second."""
    store = str(tmp_path / "shared.db")
    with Editor(RICH, store) as reader, Editor({}, store) as writer:
        writer.append("shared", message("q", "user", "x"))
        reader.open("history:///shared.md")
        writer.append("shared", message("q2", "user", "from elsewhere"))
        took = reader.until(
            lambda: any(method == "workspace/textDocumentContent/refresh" for method, _ in reader.asked)
        )
        assert took < 1
        assert "from elsewhere" in reader.text("history:///shared.md")


def test_a_client_that_does_not_pull_is_pushed_to(plain: Editor) -> None:
    """Diagnostics are published when a document is opened and when its history changes, and cleared on close."""
    plain.append("pushed", *talk(call_answered=False))
    uri = "history:///pushed.md"
    plain.open(uri)

    def published() -> list[Any]:
        return [params for method, params in plain.told if method == "textDocument/publishDiagnostics"]

    plain.until(published)
    assert "X1" in {item["code"] for item in published()[-1]["diagnostics"]}
    plain.command("history.fixAll", history="pushed")
    version = {"uri": uri, "version": 2}
    plain.send(notification("textDocument/didChange", textDocument=version, contentChanges=[{"text": plain.text(uri)}]))
    plain.until(lambda: "X1" not in {item["code"] for item in published()[-1]["diagnostics"]})
    plain.send(notification("textDocument/didClose", textDocument={"uri": uri}))
    plain.until(lambda: len(published()) > 1 and published()[-1]["diagnostics"] == [])
    assert plain.asked == []


def test_a_rendered_file_is_treated_alike(plain: Editor, tmp_path: Path) -> None:
    """A `*.history.md` file has symbols, jumps and diagnostics, and says when it is out of date."""
    plain.append("in/file", *talk(call_answered=False))
    text = plain.result("history/export", history="in/file", format="markdown")["text"]
    uri = (tmp_path / "x.history.md").as_uri()
    plain.open(uri, text)
    names = [item["name"] for item in plain.document("documentSymbol", uri)]
    assert names[0].startswith("0. user")
    codes = lambda: {  # noqa: E731
        item["code"]
        for method, params in plain.told
        if method == "textDocument/publishDiagnostics" and params["uri"] == uri
        for item in params["diagnostics"]
    }
    plain.until(lambda: "X1" in codes())
    assert plain.at("hover", uri, lines_of(text, "## 1.")[0])["contents"]["value"].startswith("**1. assistant**")
    plain.append("in/file", message("later", "user", "x"))
    plain.until(lambda: "outdated" in codes())
    unversioned = (tmp_path / "y.history.md").as_uri()
    plain.open(unversioned, text.replace(',"version":1', ""))
    hover = plain.at("hover", unversioned, lines_of(text, "## 0.")[0])
    assert "How vendors will see it" in hover["contents"]["value"]


def test_lenses_and_hints_are_opt_in(editor: Editor) -> None:
    """Without the settings there are none; with them every entry has its commands and its tokens."""
    editor.append("quiet", *talk())
    editor.open("history:///quiet.md")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    assert editor.document("codeLens", "history:///quiet.md") == []
    assert editor.document("inlayHint", "history:///quiet.md", range=whole) == []
    with Editor(RICH, codeLens=True, inlayHints=True) as loud:
        loud.append("loud", *talk())
        text = loud.open("history:///loud.md")
        assert "tokens" not in text
        lenses = loud.document("codeLens", "history:///loud.md")
        assert [lens["command"]["command"] for lens in lenses][:2] == ["history.fork", "history.truncate"]
        assert len(loud.document("inlayHint", "history:///loud.md", range=whole)) == 6
        fork = lenses[0]["command"]
        answer = loud.result("workspace/executeCommand", command=fork["command"], arguments=fork["arguments"])
        assert (answer["history"], answer["len"]) == ("loud-fork-1", 1)
        loud.until(lambda: loud.asked)
        assert loud.asked[0] == ("window/showDocument", {"uri": "history:///loud-fork-1.md", "takeFocus": True})


def test_settings_can_change_later(editor: Editor) -> None:
    """`workspace/didChangeConfiguration` chooses other vendors at once."""
    with Editor(RICH, vendors=["openai-chat"]) as other:
        other.append("set", *talk(call_answered=False))
        other.open("history:///set.md")
        sources = {item["source"] for item in other.document("diagnostic", "history:///set.md")["items"]}
        assert sources == {"history-sidecar (openai-chat)"}
        other.send(notification("workspace/didChangeConfiguration", settings={"historySidecar": {"vendors": []}}))
        assert other.document("diagnostic", "history:///set.md")["items"] == []


def test_workspace_symbols_find_names_titles_and_text(editor: Editor) -> None:
    """A query finds histories by name and title, and entries by their words; an entry's place is resolved."""
    editor.append("found/one", message("w", "user", "a zebra crossed"))
    editor.result("history/setMetadata", history="found/one", patch={"title": "Striped Animals"})
    assert [item["name"] for item in editor.result("workspace/symbol", query="striped")] == ["found/one"]
    [hit] = editor.result("workspace/symbol", query="zebra")
    assert hit["location"] == {"uri": "history:///found/one.md#w"}
    resolved = editor.result("workspaceSymbol/resolve", **hit)
    text = editor.text("history:///found/one.md")
    assert resolved["location"]["range"]["start"]["line"] == lines_of(text, "## 0.")[0]


def test_enumerations_are_known_and_newer_ones_stay(editor: Editor) -> None:
    """A symbol goes back with the kind it came with, also one that this release of LSP does not know."""
    for kind in (1, 26, 99):
        symbol = {"name": "x", "kind": kind, "tags": [1, 9], "location": {"uri": "history:///x.md"}}
        answer = editor.result("workspaceSymbol/resolve", **symbol)
        assert {name: answer[name] for name in ("kind", "tags")} == {"kind": kind, "tags": [1, 9]}


WRONG: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (
        "textDocument/hover",
        {"textDocument": {}, "position": {"line": -1, "character": 0}},
        [("/textDocument/uri", "is required"), ("/position/line", "must be between 0 and 2147483647")],
    ),
    (
        "textDocument/hover",
        {"textDocument": {"uri": 5}, "position": {"line": "0", "character": None}},
        [
            ("/textDocument/uri", "must be a string"),
            ("/position/line", "must be an integer"),
            ("/position/character", "must be an integer"),
        ],
    ),
    (
        "textDocument/hover",
        {"position": []},
        [("/textDocument", "is required"), ("/position", "must be an object")],
    ),
    (
        "textDocument/codeAction",
        {
            "textDocument": {"uri": "x"},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0}},
            "context": {"diagnostics": [{"range": 1, "message": "m"}, {"severity": "Error"}]},
        },
        [
            ("/range/end/character", "is required"),
            ("/context/diagnostics/0/range", "must be an object"),
            ("/context/diagnostics/1/range", "is required"),
            ("/context/diagnostics/1/message", "is required"),
            ("/context/diagnostics/1/severity", "must be an integer"),
        ],
    ),
    ("workspace/symbol", {"query": None}, [("/query", "must be a string")]),
    ("workspace/executeCommand", {"command": "x", "arguments": 5}, [("/arguments", "must be an array")]),
    (
        "workspaceSymbol/resolve",
        {"name": "x", "kind": "5"},
        [("/location", "is required"), ("/kind", "must be an integer")],
    ),
]


@pytest.mark.parametrize(("method", "params", "problems"), WRONG)
def test_refused_lsp_params_say_where(
    editor: Editor, method: str, params: dict[str, Any], problems: list[tuple[str, str]]
) -> None:
    """Every wrong place is named by JSON Pointer in wire names, and the first three in the message."""
    error = editor.call(method, **params)["error"]
    assert error["code"] == -32602
    places = {(item["path"], item["message"]) for item in error["data"]["errors"]}
    assert places == set(problems)
    named = "; ".join(f"{item['path']} {item['message']}" for item in error["data"]["errors"][:3])
    more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
    assert error["message"] == f"invalid params: {named}{more}"


def test_what_stands_at_a_line(editor: Editor) -> None:
    """`history.entryAt` names the entry and its texts with their blocks, so that one can be changed by `setText`."""
    editor.append("spot", *talk())
    uri = "history:///spot.md"
    text = editor.open(uri)
    at = editor.command("history.entryAt", uri=uri, line=lines_of(text, "fine")[0])
    assert (at["entryId"], at["index"], at["role"], at["version"]) == ("b", 3, "assistant", 1)
    assert at["texts"] == [{"block": 0, "text": "fine"}]
    assert editor.command("history.entryAt", uri=uri, line=at["startLine"], move=1, role="user")["entryId"] == "q2"
    assert editor.command("history.entryAt", uri=uri, entryId="a")["texts"] == []
    error = editor.error(
        "workspace/executeCommand", command="history.entryAt", arguments=[{"uri": uri, "entryId": "nobody"}]
    )
    assert error["data"]["kind"] == "entryNotFound"


def test_commands(editor: Editor) -> None:
    """Open, cut, revert, projection and export do what the methods of their names do; a bare name is enough to open."""
    editor.append("commands", *talk())
    opened = editor.result("workspace/executeCommand", command="history.open", arguments=["commands"])
    assert opened == {"uri": "history:///commands.md"}
    assert editor.command("history.truncate", history="commands", afterEntry="q", ifVersion=1)["len"] == 1
    assert editor.command("history.revert", history="commands", toVersion=1)["len"] == 6
    copied = editor.command("history.copyProjection", history="commands", vendor="openai-chat")
    assert json.loads(copied["text"])["messages"][0] == {"role": "user", "content": "read it"}
    assert "read it" in editor.command("history.export", history="commands")["text"]
    for arguments in ([], [7], [{"history": 7}]):
        error = editor.error("workspace/executeCommand", command="history.fork", arguments=arguments)
        assert error["code"] == -32602


WRONG = [
    ("history.applyFix", {"history": "wrong", "version": "x", "vendor": "gemini"}),
    ("history.applyFix", {"history": "wrong", "version": True, "vendor": "gemini"}),
    ("history.open", {"history": "wrong", "entryId": 5}),
    ("history.open", {"history": "wrong", "entryId": []}),
    ("history.fixAll", {"history": "wrong", "vendors": 5}),
    ("history.fixAll", {"history": "wrong", "vendors": "gemini"}),
]


@pytest.mark.parametrize(("command", "arguments"), WRONG)
def test_arguments_of_the_wrong_kind_are_refused(editor: Editor, command: str, arguments: dict[str, Any]) -> None:
    """As params are, and never an internal error."""
    error = editor.error("workspace/executeCommand", command=command, arguments=[arguments])
    assert (error["code"], error["data"]["kind"]) == (-32602, "invalidParams")


def test_any_entry_id_has_an_address(editor: Editor) -> None:
    """A lone surrogate as well, which a client may have sent."""
    editor.append("odd", message("\ud800", "user", "hello"))
    opened = editor.command("history.open", history="odd", entryId="\ud800")
    assert opened == {"uri": "history:///odd.md#%ED%A0%80"}


def test_long_histories_show_their_newest_page(editor: Editor) -> None:
    """A document holds one page and says where the others are; the addresses it names work."""
    editor.append("long", *[message(f"m{number}", "user", f"number {number}") for number in range(1200)])
    text = editor.text("history:///long.md")
    assert lines_of(text, "## ")[0] == 4
    assert text.split("\n")[2] == "*[700 earlier entries: history:///long.md?end=700]*"
    assert (shown(text)[0], shown(text)[-1]) == (700, 1199)
    earlier = editor.text("history:///long.md?end=700")
    assert (shown(earlier)[0], shown(earlier)[-1]) == (200, 699)
    assert earlier.split("\n")[2] == (
        "*[200 earlier entries: history:///long.md?end=200; 500 later entries: history:///long.md?start=700]*"
    )
    first = editor.text("history:///long.md?end=200")
    assert (shown(first)[0], shown(first)[-1]) == (0, 199)
    assert shown(editor.text("history:///long.md?start=1100")) == list(range(1100, 1200))


def test_a_page_of_long_entries_is_shorter(editor: Editor) -> None:
    """A document holds some 256 KB and at least one entry; by its links every entry is reached, forward and back."""
    for start in range(0, 60, 10):
        numbers = range(start, start + 10)
        editor.append("heavy", *[message(f"m{number}", "user", "ten words " * 2_000) for number in numbers])
    editor.append("heavy", message("huge", "user", "ten words " * 100_000), message("last", "user", "x"))
    for links, form in (("?end=", r"earlier entries: \S+(\?end=\d+)"), ("?start=", r"later entries: \S+(\?start=\d+)")):
        reached: set[int] = set()
        query = "" if links == "?end=" else "?start=0"
        while True:
            text = editor.text(f"history:///heavy.md{query}")
            assert len(shown(text)) == 1 or len(text) < 400_000
            assert not reached & set(shown(text))
            reached |= set(shown(text))
            found = re.search(form, text)
            if found is None:
                break
            query = found[1]
        assert reached == set(range(62))


def shown(text: str) -> list[int]:
    """The indices of the entries of a transcript."""
    return [int(found[1]) for found in re.finditer(r"^## (\d+)\. ", text, re.MULTILINE)]


def test_an_entry_id_with_odd_characters_is_addressed(editor: Editor) -> None:
    """A fragment is percent-encoded and found again."""
    editor.append("ids", message("a b#c/ü", "user", "odd-word-here"))
    [hit] = editor.result("workspace/symbol", query="odd-word-here")
    fragment = hit["location"]["uri"].partition("#")[2]
    assert urllib.parse.unquote(fragment) == "a b#c/ü"
