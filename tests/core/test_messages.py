"""Building entries in Python."""

from __future__ import annotations

from sidecar.core.messages import Assistant, Entry, Text, ToolCall

CALL = ToolCall(id="c1", name="bash", arguments='{"cmd":"ls"}')


def test_constructors_follow_the_null_rule() -> None:
    """Content is null exactly when there are calls and no text (seeds.md §9.19 to 21)."""
    got = [Entry.assistant("", tool_calls=[CALL]), Entry.assistant(""), Entry.assistant("thinking", tool_calls=[CALL])]
    assert [entry.message.content for entry in got if isinstance(entry.message, Assistant)] == [
        None,
        (Text(""),),
        (Text("thinking"),),
    ]
