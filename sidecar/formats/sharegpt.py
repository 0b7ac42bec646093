"""ShareGPT conversations: `{"conversations": [{"from": ..., "value": ...}]}`, one, a list, or one per line.

Sources: data sets of LLaMA-Factory (2024-2026), its README on tool turns, and the first ShareGPT dumps.

Rules: a `function_call` value is one call or a list of calls in JSON; the `observation` turns after it answer them in
order. A function call whose value is no JSON stays text. Pictures are file names beside the turns: a loss, since the
files are not in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import Assistant, Entry, System, Text, Tool, ToolCall, User
from sidecar.formats.base import Draft, Format, ImportedHistory, Item, ReadOptions, Report, assemble, keep, rest
from sidecar.formats.head import Head
from sidecar.formats.parts import arguments_of, dict_of, id_of, text_of
from sidecar.formats.source import Source

_ROLES: Final = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "function_call": "call",
    "tool_call": "call",
    "observation": "tool",
    "function_response": "tool",
    "tool": "tool",
    "tool_response": "tool",
}
_KNOWN: Final = frozenset(("from", "value", "role", "content"))


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    head = Head.of(source)
    found = False
    if head.is_lines and (len(head.records) > 1 or not head.complete):
        for number, record in source.records(report):
            turns = _turns_of(record)
            if turns is None:
                report.add("unknownRecord", "warning", f"line {number} has no conversation and was left out")
            else:
                found = True
                yield _history(record, turns, report)
    else:
        document = source.document()
        records = document if isinstance(document, list) and not _is_turns(document) else [document]
        for number, record in enumerate(records):
            turns = _turns_of(record)
            if turns is None:
                report.add("unknownRecord", "warning", f"record {number} has no conversation and was left out")
            else:
                found = True
                yield _history(record, turns, report)
    if not found:
        raise Unparsable("", "no ShareGPT conversation was found")


def _turns_of(record: Json) -> list[Json] | None:
    if isinstance(record, list):
        return record if _is_turns(record) else None
    for key in ("conversations", "conversation", "items"):
        turns = dict_of(record).get(key)
        if isinstance(turns, list) and (not turns or _is_turns(turns)):
            return turns
    return None


def _is_turns(value: list[Json]) -> bool:
    return any("from" in dict_of(turn) and "value" in dict_of(turn) for turn in value[:5])


def _history(record: Json, turns: list[Json], report: Report) -> ImportedHistory:
    facts = dict_of(record)
    metadata = {
        key: value for key, value in facts.items() if key not in ("conversations", "conversation", "items", "id")
    }
    return ImportedHistory(
        entries=assemble(_items(facts, turns, report), report, "sharegpt"),
        source_id=id_of(facts.get("id")) or None,
        title=lambda: text_of(facts.get("title")),
        metadata=lambda: {key: value for key, value in metadata.items() if value},
    )


def _items(facts: dict[str, Any], turns: list[Json], report: Report) -> Iterator[Item]:
    for key in ("images", "image", "videos", "audios"):
        files = facts.get(key)
        count = len(files) if isinstance(files, list) else 1 if files else 0
        if count:
            report.add("mediaLeft", "warning", f"{count} {key} are file names; the files are not in the text", path=key)
    if isinstance(facts.get("system"), str) and facts["system"]:
        yield Draft(entry=Entry.system(facts["system"]))
    waiting: list[str] = []
    count = 0
    for number, turn in enumerate(turns):
        raw = dict_of(turn)
        role = _ROLES.get(str(raw.get("from")))
        value = raw.get("value")
        if role is None:
            report.unknown(turn, raw.get("from"), f"turn {number}")
            continue
        if not isinstance(value, str):
            report.invalid(turn, "has no text value", f"turn {number}")
            continue
        calls = _calls(value) if role == "call" else None
        if role == "system":
            message: Any = System(value)
        elif role == "user":
            message = User((Text(value),))
        elif role == "tool":
            message = Tool(call_id=waiting.pop(0) if waiting else "call_0", content=(Text(value),))
        elif calls:
            made = []
            waiting = []
            for name, arguments in calls:
                count += 1
                waiting.append(f"call_{count}")
                made.append(ToolCall(id=f"call_{count}", name=name, arguments=arguments))
            message = Assistant(content=None, tool_calls=tuple(made))
        else:
            if role == "call":
                report.add(
                    "invalidRecord", "warning", f"turn {number} is a function call that is not JSON, kept as text"
                )
            message = Assistant(content=(Text(value),))
        yield Draft(entry=keep(Entry(message=message), fields=rest(raw, _KNOWN)))


def _calls(value: str) -> list[tuple[str, str]] | None:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    calls = [
        (call["name"], arguments_of(call.get("arguments", call.get("parameters", {}))))
        for call in map(dict_of, parsed if isinstance(parsed, list) else [parsed])
        if isinstance(call.get("name"), str)
    ]
    return calls or None


def _detect(head: Head) -> int:
    for record in (*head.objects[:3], head.conversation, head.document):
        turns = _turns_of(record)
        if turns and all("from" in dict_of(turn) for turn in turns[:3]):
            return 90
    return 0


FORMAT: Final = Format(
    id="sharegpt", title="ShareGPT conversations", extensions=(".json", ".jsonl"), detect=_detect, read=_read
)
