"""Text that no database and no file name can hold, in every place where a client can put text."""

from __future__ import annotations

from typing import Any

import pytest
from peer import Peer, user

ODD = {"a lone surrogate": "\ud800", "a NUL": "a\0b", "a line separator": "\u2028", "an emoji": "😀"}


def calls(odd: str) -> list[tuple[str, dict[str, Any]]]:
    block = {"type": "image", "mimeType": odd, "data": odd}
    return [
        ("history/list", {"prefix": odd}),
        ("history/list", {"cursor": odd}),
        ("history/search", {"query": f'{odd} "{odd} x"', "prefix": odd}),
        ("history/subscribe", {"prefix": odd}),
        ("history/unsubscribe", {"subscriptionId": odd}),
        ("history/truncate", {"history": "h", "afterEntry": odd}),
        ("history/elide", {"history": "h", "entryIds": [odd]}),
        ("history/setMetadata", {"history": "h", "patch": {"title": odd, "tags": [odd], "metadata": {odd: odd}}}),
        ("history/info", {"history": "h"}),
        (
            "history/append",
            {
                "history": "h",
                "operationId": odd,
                "entries": [
                    user(odd, id=odd, agent=odd, sender=odd, principal=odd, _meta={odd: odd}),
                    {"message": {"role": "assistant", "toolCalls": [{"id": odd, "name": odd, "arguments": odd}]}},
                    {"message": {"role": "tool", "callId": odd, "content": [block, {"type": odd, "x": odd}]}},
                ],
            },
        ),
        ("history/outline", {"history": "h"}),
        ("history/render", {"history": "h", "format": "html"}),
        ("history/snapshot", {"history": "h"}),
        ("wire/project", {"history": "h", "vendor": "anthropic-messages", "model": odd, "scope": odd}),
        ("wire/project", {"history": "h", "vendor": odd}),
        ("wire/check", {"history": "h"}),
        ("history/tokenEstimate", {"history": "h", "model": odd}),
        ("history/export", {"history": "h", "format": "own-jsonl", "uri": f"file:///tmp/{odd}"}),
        ("history/import", {"history": "i", "format": "markdown", "text": odd}),
        ("history/fork", {"history": "h", "to": odd}),
        ("workspace/symbol", {"query": odd}),
        ("workspace/textDocumentContent", {"uri": f"history:///{odd}.md"}),
        (odd, {}),
    ]


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_no_text_is_a_defect(peer: Peer, odd: str) -> None:
    """Every call is answered once, and none as a defect of the server."""
    peer.call("history/append", {"history": "h", "entries": [user("x")]})
    for method, params in calls(odd):
        answer = peer.ask(method, params)
        assert answer["id"] == peer.next_id
        assert answer.get("error", {}).get("code") != -32603, (method, answer)
    shown = peer.call("history/snapshot", {"history": "h"})["entries"]
    assert [entry["id"] for entry in shown if entry["message"]["role"] == "user"][1:] == [odd]


def test_a_command_that_is_not_known_is_refused_like_any_bad_param(peer: Peer) -> None:
    """With the data that the contract names for invalid params, in words that begin small."""
    error = peer.refuse("workspace/executeCommand", {"command": "nope"})
    assert (error["code"], error["data"]["kind"], len(error["data"]["errors"])) == (-32602, "invalidParams", 1)
    assert error["message"] == "invalid params: " + error["data"]["errors"][0]["message"]
    assert error["message"].islower() and error["data"]["errors"][0]["path"] == ""
