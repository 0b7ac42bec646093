"""Codex CLI rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one record per line.

Sources: rollouts written by Codex CLI 0.144 and 0.171 (2026-08 to 2026-11), and the early form of 2025-05, whose
records are bare Responses items after one line of session facts.

Rules:
- `response_item` records are what the model saw; `event_msg` repeats them for the screen and is left out.
- The items of one response (reasoning, messages, calls) are one assistant entry: it ends at a result, at a user
  item, at the next turn, or where the usage of a response is recorded.
- What the tool itself put in (`<environment_context>` and the like) becomes a note, `developer` items system entries.
- `compacted` restarts the view: its `replacement_history`, or its message as a summary.
- `thread_rolled_back` takes the last turns back; a file that has one is read twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sidecar.core.errors import Unparsable
from sidecar.core.jsontext import Json
from sidecar.core.messages import (
    Assistant,
    Block,
    Entry,
    Note,
    Origin,
    Reasoning,
    Summary,
    System,
    Text,
    Tool,
    ToolCall,
    User,
    VendorBlock,
)
from sidecar.formats.base import (
    Draft,
    Format,
    ImportedHistory,
    Item,
    ReadOptions,
    Report,
    Restart,
    assemble,
    keep,
    rest,
)
from sidecar.formats.head import Head
from sidecar.formats.parts import (
    arguments_of,
    dict_of,
    id_of,
    json_or_text,
    list_of,
    millis,
    openai_blocks,
    tag,
    text_of,
)
from sidecar.formats.source import Source

VENDOR: Final = "openai-responses"

_BOOKKEEPING: Final = frozenset(("event_msg", "world_state", "token_usage_record", "ghost_snapshot"))
_ITEM_TYPES: Final = frozenset(
    (
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "tool_search_call",
        "tool_search_output",
        "image_generation_call",
        "compaction",
        "compaction_summary",
        "ghost_snapshot",
    )
)
_SCAFFOLD: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<subagent_notification>",
)
_SUMMARY_START: Final = "Another language model started to solve this problem and produced a summary"
_ROLLBACK: Final = b"thread_rolled_back"
_SCREEN_ONLY: Final = frozenset(("internal_chat_message_metadata_passthrough", "status"))
_KNOWN: Final = _SCREEN_ONLY | {
    "arguments",
    "call_id",
    "content",
    "encrypted_content",
    "id",
    "input",
    "name",
    "output",
    "role",
    "summary",
    "type",
}


class _Session:
    """Facts of the session, and which response the items belong to."""

    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.model: str | None = None
        self.response = 0
        self.seen: set[str] = set()

    @property
    def answer(self) -> str:
        return f"response {self.response}"


def _read(source: Source, report: Report, options: ReadOptions) -> Iterator[ImportedHistory]:
    if not any(_is_record(record) for record in Head.of(source).records):
        raise Unparsable("", "no record of a Codex rollout was found")
    session = _Session()
    yield ImportedHistory(
        entries=assemble(_items(source, report, session), report, "codex"),
        source_id=_session_id(source),
        metadata=lambda: session.facts,
    )


def _is_record(record: Json) -> bool:
    if not isinstance(record, dict):
        return False
    kind = tag(record, "type")
    wrapped = isinstance(record.get("payload"), dict) and kind in (
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
    )
    return wrapped or kind in _ITEM_TYPES or _is_first_line(record)


def _is_first_line(record: dict[str, Json]) -> bool:
    return "type" not in record and "role" not in record and "id" in record and "timestamp" in record


def _session_id(source: Source) -> str | None:
    for record in Head.of(source).records:
        if isinstance(record, dict):
            facts = dict_of(record.get("payload")) if tag(record, "type") == "session_meta" else record
            if tag(record, "type") == "session_meta" or _is_first_line(record):
                return id_of(facts.get("id")) or None
    return None


def _rolled_back(source: Source) -> list[tuple[int, int]]:
    """Return the ranges of lines that a rollback took back, each from a person's turn to the rollback."""
    if not any(_ROLLBACK in chunk for chunk in _overlapping(source)):
        return []
    turns: list[int] = []
    dead: list[tuple[int, int]] = []
    scratch = _Session()
    for number, record in source.records(Report()):
        payload = dict_of(dict_of(record).get("payload"))
        if dict_of(record).get("type") == "compacted":
            turns.clear()
        elif tag(payload) == "message" and tag(payload, "role") == "user":
            if any(
                isinstance(item, Draft) and isinstance(item.entry.message, User)
                for item in _item(payload, None, scratch, Report(), "")
            ):
                turns.append(number)
        elif tag(payload) == "thread_rolled_back" and isinstance(payload.get("num_turns"), int):
            count = min(max(payload["num_turns"], 0), len(turns))
            if count:
                dead.append((turns[-count], number))
                del turns[-count:]
    return dead


def _overlapping(source: Source) -> Iterator[bytes]:
    """Yield chunks that begin with the end of the one before, so that no word is cut."""
    end = b""
    for chunk in source.chunks():
        yield end + chunk
        end = chunk[-len(_ROLLBACK) :]


def _items(source: Source, report: Report, session: _Session) -> Iterator[Item]:
    dead = _rolled_back(source)
    if dead:
        report.add("branchLeft", "info", f"what {len(dead)} rollbacks took back is not in the live view")
    for number, record in source.records(report):
        if any(first <= number < last for first, last in dead):
            continue
        where = f"line {number}"
        if not isinstance(record, dict):
            report.unknown(record, None, where)
            continue
        kind, payload, ts = tag(record, "type"), record.get("payload"), millis(record.get("timestamp"))
        if kind == "response_item" and isinstance(payload, dict):
            yield from _item(payload, ts, session, report, where)
        elif kind == "compacted" and isinstance(payload, dict):
            yield from _compacted(payload, ts, session, report, where)
        elif kind == "session_meta" and isinstance(payload, dict):
            facts = {key: payload[key] for key in payload if key not in ("base_instructions", "id", "timestamp")}
            session.facts.update((key, value) for key, value in facts.items() if value not in (None, "", {}, []))
        elif kind == "turn_context" and isinstance(payload, dict):
            session.model = text_of(payload.get("model")) or session.model
            if session.model:
                session.facts["model"] = session.model
            session.response += 1
        elif kind in _BOOKKEEPING:
            if kind == "token_usage_record" or tag(dict_of(payload), "type") in ("task_started", "task_complete"):
                session.response += 1
            report.bookkeeping(f"{kind} {dict_of(payload).get('type') or ''}".strip())
        elif kind in _ITEM_TYPES:
            yield from _item(record, ts, session, report, where)
        elif record.get("record_type") == "state":
            report.bookkeeping("state")
        elif _is_first_line(record):
            session.facts.update((key, value) for key, value in rest(record, frozenset(("id", "timestamp"))).items())
        else:
            report.unknown(record, kind, where)


def _compacted(
    payload: dict[str, Any], ts: int | None, session: _Session, report: Report, where: str
) -> Iterator[Item]:
    yield Restart()
    session.response += 1
    session.seen.clear()
    summarized = False
    message = text_of(payload.get("message")) or ""
    for item in list_of(payload.get("replacement_history")):
        if not isinstance(item, dict):
            report.unknown(item, None, where)
            continue
        for made in _item(item, ts, session, report, where, summary=message):
            summarized = summarized or (isinstance(made, Draft) and isinstance(made.entry.message, Summary))
            yield made
    if message and not summarized:
        yield Draft(entry=Entry(message=Summary(message), ts=ts))
    session.response += 1


def _item(
    item: dict[str, Any], ts: int | None, session: _Session, report: Report, where: str, summary: str = ""
) -> Iterator[Item]:
    kind = tag(item, "type") or ("message" if "role" in item else None)
    name = id_of(item.get("id"))
    fields = rest(item, _KNOWN)
    origin = Origin(vendor=VENDOR, model=session.model)

    def part(message: Assistant) -> Draft:
        return Draft(entry=keep(Entry(message=message, id=name, ts=ts), fields=fields), answer=session.answer)

    if kind == "message":
        content = item.get("content")
        if not isinstance(content, str | list):
            report.invalid(item, "has no message content", where)
            return
        blocks = openai_blocks(content, VENDOR)
        if tag(item, "role") == "assistant":
            yield part(Assistant(content=blocks, origin=origin))
            return
        session.response += 1
        yield Draft(entry=keep(Entry(message=_said(item, blocks, summary), id=name, ts=ts), fields=fields))
    elif kind == "reasoning":
        yield part(Assistant(reasoning=(_reasoning(item, session.model),), origin=origin))
    elif kind in ("function_call", "custom_tool_call"):
        # A custom tool takes free text, which no other vendor accepts as arguments: it becomes a JSON object.
        free = kind == "custom_tool_call"
        arguments = {"input": item.get("input")} if free else item.get("arguments")
        call = ToolCall(
            id=id_of(item.get("call_id")) or name,
            name=str(item.get("name") or ""),
            arguments=arguments_of(arguments),
            item_id=name or None,
            extra={"kind": "custom"} if free else {},
        )
        yield part(Assistant(tool_calls=(call,), origin=origin))
    elif kind == "local_shell_call":
        call = ToolCall(
            id=id_of(item.get("call_id")) or name,
            name="local_shell",
            arguments=arguments_of(item.get("action")),
            item_id=name or None,
        )
        yield part(Assistant(tool_calls=(call,), origin=origin))
    elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
        session.response += 1
        content, failed = _output(item.get("output"))
        result = Tool(call_id=id_of(item.get("call_id")) or name, content=content, is_error=failed)
        yield Draft(entry=keep(Entry(message=result, id=name, ts=ts), fields=fields))
    elif kind == "ghost_snapshot":
        report.bookkeeping("ghost_snapshot")
    elif kind in _ITEM_TYPES:
        # Server-side tools and opaque compactions go back to the vendor that made them, byte by byte.
        yield part(Assistant(content=(VendorBlock(VENDOR, item),), origin=origin))
    else:
        report.unknown(item, kind, where)


def _said(item: dict[str, Any], blocks: tuple[Block, ...], summary: str) -> User | Note | Summary | System:
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if len(texts) < len(blocks):
        return User(blocks)
    text = "\n\n".join(texts)
    kinds = list_of(dict_of(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
    if tag(item, "role") in ("system", "developer"):
        return System(text)
    if "compaction.summary" in kinds or (summary and text == summary) or text.startswith(_SUMMARY_START):
        return Summary(text)
    own = kinds and not any(isinstance(kind, str) and kind.startswith("user") for kind in kinds)
    return Note(text) if own or text.lstrip().startswith(_SCAFFOLD) else User(blocks)


def _reasoning(item: dict[str, Any], model: str | None) -> Reasoning:
    texts = [
        part["text"]
        for key in ("summary", "content")
        for part in list_of(item.get(key))
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return Reasoning(
        text="\n\n".join(texts) if texts else None,
        data=text_of(item.get("encrypted_content")),
        vendor=VENDOR,
        model=model,
        id=id_of(item.get("id")) or None,
    )


def _output(output: Json) -> tuple[tuple[Block, ...], bool]:
    if isinstance(output, list):
        return openai_blocks(output, VENDOR), False
    if isinstance(output, dict):
        body = output.get("content_items") or output.get("content") or output.get("body")
        content = openai_blocks(body, VENDOR) if isinstance(body, str | list) else json_or_text(output)
        return content, output.get("success") is False
    return json_or_text(output) or (Text(""),), False


def _detect(head: Head) -> int:
    wrapped = bare = 0
    for record in head.objects:
        kind = tag(record, "type")
        if isinstance(record.get("payload"), dict):
            wrapped += kind in ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
        else:
            bare += kind in ("function_call", "function_call_output", "reasoning") or (
                kind == "message" and isinstance(record.get("content"), list) and "role" in record
            )
    if wrapped:
        return 95
    return 92 if bare and _is_first_line(dict(head.objects[0])) else 60 if bare else 0


FORMAT: Final = Format(
    id="codex", title="Codex CLI rollout", extensions=(".jsonl",), detect=_detect, read=_read, streams=True, passes=2
)
