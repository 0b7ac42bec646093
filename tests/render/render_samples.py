"""One conversation with every shape in it, and text that tries to break out of a document."""

from __future__ import annotations

from hypothesis import strategies as st

from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Entry

CONVERSATION = [
    {"id": "e0", "message": {"role": "system", "text": "Be brief."}},
    {"id": "e1", "ts": 1_700_000_000_000, "message": {"role": "user", "content": "What is in `a.txt`?\n\n# Please"}},
    {
        "id": "e2",
        "agent": "sage",
        "message": {
            "role": "assistant",
            "content": None,
            "reasoning": [{"text": "I should read it."}, {"data": "xxxx", "vendor": "openai-responses"}],
            "toolCalls": [{"id": "c1", "name": "read", "arguments": '{"path":"a.txt"}'}],
        },
    },
    {
        "id": "e3",
        "pinned": True,
        "message": {"role": "tool", "callId": "c1", "content": "```\nfoo <b>\n```", "isError": True},
    },
    {
        "id": "e4",
        "message": {
            "role": "user",
            "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image", "mimeType": "image/png", "data": "AQID"},
                {"type": "json", "value": {"b": 1.0, "a": None}},
            ],
        },
    },
    {"id": "e5", "message": {"role": "summary", "text": "All done.", "covers": 9}},
]


def conversation() -> list[Entry]:
    return [entry_from_json(item) for item in CONVERSATION]


PIECES = st.sampled_from(
    [
        "```", "````", "~~~", "`", "``", "\n", "\n\n", " ", "    ", "\t", "# ", "## 3. user", "===", "---", "- ", "> ",
        "1. ", "<", ">", "<script>", "</details>", "<!--", "-->", "<details>", "</summary>", "&lt;", "&", ";", "\\",
        "[a]", "[", "]", "(", ")", "](", "![", "!", ": http://e.vil", "javascript:alert(1)", "*", "_", "a", "word",
        "\x1b[31m", "\u202e", "\r", "\r\n", "\u2028", "\ud800", "|", "#", "=", "-", "<?php", "<![CDATA[", "{=html}",
    ]
)  # fmt: skip
TEXT = st.one_of(st.lists(PIECES, max_size=24).map("".join), st.text(max_size=60))
