"""Elision: an entry stays whole in the store and is shown to models as a short placeholder.

Rules:
- A placeholder is a function of the entry and the policy alone: no counters, no dates. The same history with the same
  markers gives the same bytes, and an append never changes what stands before it.
- Role, ids, names, calls, error flags and reasoning stay, so that what a vendor accepts cannot change.
- A placeholder is never longer than what it stands for.
- Which entries to elide is chosen in batches, oldest first, down to a low mark (`choose_elisions`): clearing a little
  on every call breaks the prompt cache on every call and costs more than it saves (tokens.md §3.3).

Guard: `tests/core/test_elision.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from attrs import evolve, frozen

from sidecar.core.errors import InvalidParams
from sidecar.core.estimators import default_estimate
from sidecar.core.jsontext import Json, dumps
from sidecar.core.measures import measure_text
from sidecar.core.media_headers import describe
from sidecar.core.messages import (
    Assistant,
    Audio,
    Block,
    Entry,
    File,
    Image,
    JsonBlock,
    Message,
    Note,
    Refusal,
    Summary,
    System,
    Text,
    Tool,
    User,
)

SMALLEST: Final = 256
"""Tokens below which a result is not worth a placeholder."""


def check_policy(policy: Json) -> None:
    """Raise `InvalidParams`, placed under `/policy`, for what is no policy: no object, an unknown key, no count."""
    if policy is None:
        return
    if not isinstance(policy, dict):
        raise InvalidParams.at("/policy", "must be an object")
    for key, value in policy.items():
        if key != "preview":
            raise InvalidParams.at("/policy", "has a key that is not known; its one key is `preview`")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InvalidParams.at("/policy/preview", "must be an integer from 0")


def elide_entry(entry: Entry, policy: Json = None) -> Entry:
    """Return the entry as models see it while it is elided; a pinned entry is returned as it is.

    `policy` may hold `preview`, how many characters of the start and of the end of a text stay.
    """
    if entry.pinned:
        return entry
    message = entry.message
    preview = _preview(policy)
    if isinstance(message, System | Summary):
        return entry
    if isinstance(message, Note):
        return evolve(entry, message=evolve(message, text=_short(message.text, "note", entry, preview)))
    blocks = message.blocks if isinstance(message, Assistant) else message.content
    what = "text"
    if isinstance(message, Tool):
        what = f"tool output, {message.name}" if message.name else "tool output"
    shown = tuple(_shown(block, what, entry, preview) for block in blocks)
    if shown == blocks:
        return entry
    changed: Message = evolve(message, content=shown)
    return evolve(entry, message=changed)


@frozen(kw_only=True)
class Candidate:
    """One entry as the choice sees it: where it stands and what it costs whole and elided."""

    entry: Entry
    tokens: int
    elided_tokens: int
    elided: bool = False
    """It is elided already."""


@frozen(kw_only=True)
class ElisionRules:
    """Which results may be elided."""

    keep_results: int = 5
    keep_turns: int = 2
    exempt: Collection[str] = ()
    """Names of tools whose results stay."""
    clear_at_least: int = 20_000


def choose_elisions(
    candidates: Sequence[Candidate],
    rules: ElisionRules,
    *,
    excess: int,
    pinned: Collection[str] = (),
) -> tuple[int, ...]:
    """Return the indices to elide, in order: the oldest eligible results that free `excess` tokens together.

    Nothing where they would free less than `rules.clear_at_least` or `excess` is not positive. Never chosen: pinned or
    failed results, results of exempt tools, the newest `keep_results` results and `keep_turns` turns, the newest of
    several results of one tool with the same arguments, and small ones.
    """
    if excess <= 0:
        return ()
    chosen: list[int] = []
    freed = 0
    goal = max(excess, rules.clear_at_least)
    for index in _eligible(candidates, rules, pinned):
        if freed >= goal:
            break
        chosen.append(index)
        freed += candidates[index].tokens - candidates[index].elided_tokens
    return tuple(chosen) if chosen and freed >= rules.clear_at_least else ()


def _eligible(candidates: Sequence[Candidate], rules: ElisionRules, pinned: Collection[str]) -> list[int]:
    entries = [candidate.entry for candidate in candidates]
    results = [index for index, entry in enumerate(entries) if isinstance(entry.message, Tool)]
    newest = set(results[len(results) - rules.keep_results :] if rules.keep_results else ())
    users = [index for index, entry in enumerate(entries) if isinstance(entry.message, User)]
    border = len(entries)
    if rules.keep_turns:
        border = users[-rules.keep_turns] if len(users) >= rules.keep_turns else 0
    asked: dict[str, tuple[str, str]] = {}
    same: dict[tuple[str, str], list[int]] = {}
    for index, entry in enumerate(entries):
        for call in entry.tool_calls:
            asked[call.id] = (call.name, call.arguments)
        if isinstance(entry.message, Tool):
            call_id, name = entry.message.call_id, entry.message.name or ""
            same.setdefault(asked.get(call_id, (name, call_id)), []).append(index)
    # Of a call that was repeated the newest result is the one the model goes on with.
    newest.update(places[-1] for places in same.values() if len(places) > 1)
    names = {index: key[0] for key, places in same.items() for index in places}
    held = set(pinned)
    return [
        index
        for index in results
        if index < border
        and index not in newest
        and not candidates[index].elided
        and not entries[index].pinned
        and entries[index].id not in held
        and not _failed(entries[index])
        and names[index] not in rules.exempt
        and candidates[index].tokens > SMALLEST
        and candidates[index].elided_tokens < candidates[index].tokens
    ]


def _failed(entry: Entry) -> bool:
    # Failures are small and tell the model what not to do again (neo-code#161).
    return isinstance(entry.message, Tool) and entry.message.is_error


def _preview(policy: Json) -> int:
    preview = policy.get("preview") if isinstance(policy, dict) else None
    return min(preview, 10_000) if isinstance(preview, int) and not isinstance(preview, bool) and preview > 0 else 0


def _shown(block: Block, what: str, entry: Entry, preview: int) -> Block:
    if isinstance(block, Text | Refusal):
        short = _short(block.text, what, entry, preview)
        return block if short == block.text else evolve(block, text=short)
    if isinstance(block, JsonBlock):
        text = dumps(block.value)
        short = _short(text, what, entry, preview)
        return block if short == text else Text(short)
    if isinstance(block, Image | File | Audio):
        return Text(_medium(block, entry))
    return block


def _short(text: str, what: str, entry: Entry, preview: int) -> str:
    if _is_mark(text, entry):
        return text  # eliding twice is eliding once
    size = len(text.encode("utf-8", "surrogatepass"))
    tokens = default_estimate(measure_text(text))
    label = what.partition(", ")
    facts = ", ".join(filter(None, (label[2], f"{size:,} bytes", f"{tokens:,} tokens")))
    mark = f"[{label[0]} elided: {facts}; ask for entry {entry.id} to see it]"
    if preview and len(text) > 2 * preview:
        mark = f"{text[:preview]}\n{mark}\n{text[-preview:]}"
    return mark if len(mark.encode("utf-8", "surrogatepass")) < size else text


def _is_mark(text: str, entry: Entry) -> bool:
    ends = (f"; ask for entry {entry.id} to see it]", f", entry {entry.id}]")
    return text.startswith("[") and " elided: " in text and text.endswith(ends) and "\n" not in text


def _medium(block: Image | File | Audio, entry: Entry) -> str:
    found = describe(block)
    kind = found.mime_type.rpartition("/")[2]
    if found.kind == "image":
        facts = [f"{found.width}x{found.height}" if found.width and found.height else "", kind]
    elif found.kind == "file":
        name = block.name if isinstance(block, File) else None
        facts = [name or "", kind, f"{found.pages} pages" if found.pages else ""]
    else:
        facts = [kind, f"{found.milliseconds // 1000} s" if found.milliseconds else ""]
    words = " ".join(filter(None, facts)) or "unknown"
    return f"[{found.kind} elided: {words}, entry {entry.id}]"
