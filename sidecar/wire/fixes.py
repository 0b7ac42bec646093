"""Cures that a person can apply: each is a payload of `history/applyEdits`, without the history and its version.

Rules: a fix is `{"title", "edits"}`; its edits are `setText`, `remove` and `splice` and cure the violation that
carries it (guarded by `tests/wire/test_check.py`). An entry that is shown elided is never rewritten, since the fix
would put the placeholder in place of the whole text; a runtime-only entry is not stored, so it has no fix.
A call id made here is nine letters and digits, which every vendor takes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve

from sidecar.core.jsontext import Json, loads
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import Assistant, Block, Entry, Message, Text, ToolCall
from sidecar.wire.base import Item

Edit: TypeAlias = dict[str, Json]
Fixes: TypeAlias = tuple[Mapping[str, Json], ...]

NO_RESULT = "[no result was recorded for this call]"
NO_OUTPUT = "(no output)"
EARLIER = "[earlier conversation]"
GO_ON = "[conversation]"
BRIDGE = "(continuing)"

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 9


def fix(title: str, *edits: Edit | None) -> Fixes:
    """Return one fix, or none where an edit is impossible."""
    wanted = [edit for edit in edits if edit is not None]
    if len(wanted) != len(edits):
        return ()
    return ({"title": title, "edits": wanted},)


def remove(item: Item) -> Edit | None:
    """Take the entry out."""
    if item.entry.auto_injected:
        return None
    if item.entry.id:
        return {"kind": "remove", "entryId": item.entry.id}
    return {"kind": "splice", "start": item.index, "deleteCount": 1, "entries": []}


def insert(index: int, *entries: Entry) -> Edit:
    """Put entries in front of the stored index."""
    return splice(index, 0, entries)


def splice(start: int, delete_count: int, entries: Sequence[Entry]) -> Edit:
    """Replace a stored range."""
    return {
        "kind": "splice",
        "start": start,
        "deleteCount": delete_count,
        "entries": [entry_to_json(entry) for entry in entries],
    }


def replace(item: Item, message: Message) -> Edit | None:
    """Put another message in place of the entry's own; identity and times stay."""
    if item.entry.auto_injected or item.elided:
        return None
    return splice(item.index, 1, [evolve(item.entry, message=message)])


def set_text(item: Item, text: str, block: int | None = None) -> Edit | None:
    """Set the text of one block, or of a message that is text only."""
    if item.entry.auto_injected or item.elided:
        return None
    if not item.entry.id:
        return replace(item, _with_text(item.entry.message, text, block))
    edit: Edit = {"kind": "setText", "entryId": item.entry.id}
    if block is not None:
        edit["block"] = block
    edit["text"] = text
    return edit


def without_block(item: Item, number: int) -> Edit | None:
    """Take one block out of the entry's content."""
    message: Any = item.entry.message
    rest = message.content[:number] + message.content[number + 1 :]
    if not rest and isinstance(message, Assistant):
        return replace(item, evolve(message, content=None))
    return replace(item, _with_content(message, rest))


def with_calls(message: Any, change: Mapping[int, ToolCall]) -> Message:
    """Return the assistant message with some calls changed, by number."""
    calls = tuple(change.get(number, call) for number, call in enumerate(message.tool_calls))
    changed: Message = evolve(message, tool_calls=calls)
    return changed


def fresh_id(call_id: str, position: int, number: int, taken: Collection[str]) -> str:
    """Make an id for a call: the same for the same place, equal to none that is taken."""
    salt = 0
    while True:
        digest = hashlib.sha256(f"{position}/{number}/{salt}/{call_id}".encode("utf-8", "backslashreplace")).digest()
        made = _letters(int.from_bytes(digest[:8], "big"))
        if made not in taken:
            return made
        salt += 1


def plain_name(name: str, taken: Collection[str], pattern: str, separator: str = "_") -> str:
    """Make a legal tool or participant name out of any; another name that is taken is avoided."""
    made = re.sub(r"[^a-zA-Z0-9_-]", separator, name)[:64]
    if not made or not re.fullmatch(pattern, made):
        made = ("tool_" + made)[:64]
    if made != name and made in taken:
        digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]
        made = f"{made[:55]}_{digest}"
    return made


def object_arguments(arguments: str) -> str:
    """Return arguments that are a JSON object: a value that is not one goes under `value`, broken text becomes `{}`."""
    try:
        value = loads(arguments)
    except ValueError:
        return "{}"
    if isinstance(value, dict):
        return arguments
    return '{"value":' + arguments.strip() + "}"


def _letters(value: int) -> str:
    made = ""
    for _ in range(_ID_LENGTH):
        value, digit = divmod(value, len(_ALPHABET))
        made += _ALPHABET[digit]
    return made


def _with_text(message: Any, text: str, block: int | None) -> Message:
    if block is None:
        made: Message = evolve(message, text=text)
        return made
    content = message.content
    return _with_content(message, (*content[:block], evolve(content[block], text=text), *content[block + 1 :]))


def _with_content(message: Any, content: tuple[Block, ...]) -> Message:
    made: Message = evolve(message, content=content)
    return made


def one_text(text: str) -> tuple[Block, ...]:
    """Return content of one text block."""
    return (Text(text),)
