"""Other importers beside ours on the same files: where we differ, this says who is right and why.

Run where the two packages (and node, for the second) are installed; neither is a dependency of ours.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from truths import read_file, text_of

DATA = Path(__file__).parent / "data"
OTHER = os.environ.get("SIDECAR_TRANSCRIPTS")
ROOTS = [DATA, *([Path(OTHER)] if OTHER else [])]

Fact = tuple[str, str]

MIGRATE = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
MIGRATE_DIFFERS = {
    "codex/replacement-history.jsonl": "it keeps what stood before the compaction; the"
    " model saw the replacement, and so do we",
    "codex/rolled-back.jsonl": "it keeps turns that were rolled back; Codex itself drops them on resume",
    "codex/early.jsonl": "it does not know the rollouts of 2025-05",
    "codex/early-unwrapped.jsonl": "it does not know the rollouts of 2025-05",
    "codex/function_calls.jsonl": "it drops items without a `type`, which early Codex wrote",
    "codex/standard_session.jsonl": "it drops items without a `type`, which early Codex wrote",
    "codex/basic-0.144.4-compacted.jsonl": "it keeps what stood before the compaction",
    "codex/one-turn-then-compacted-0.171.jsonl": "it keeps what stood before the compaction",
    "claude-code/representative_messages.jsonl": "it needs `parentUuid`, which old logs lack, and sees one record",
    "claude-code/sample_session.jsonl": "it needs `parentUuid`, which old logs lack, and sees one record",
}
"""File -> why ours is right. Every other file must agree."""

TRAJECTORY = {"claude-code": "claude-code", "codex": "codex", "gemini-cli": "gemini-cli", "opencode": "opencode"}
TRAJECTORY_DIFFERS = {
    "claude-code/rewound.jsonl": "it reads the file from top to bottom; the abandoned branch is not what the model saw",
    "claude-code/compacted-with-agent.jsonl": "it keeps what stood before the compaction",
    "claude-code/no-parents.jsonl": "it drops content that is a list of plain texts",
    "claude-code/edge_cases.jsonl": "it drops what it takes for output of local commands; the model saw it",
    "codex/replacement-history.jsonl": "it keeps what stood before the compaction",
    "codex/rolled-back.jsonl": "it keeps turns that were rolled back",
    "codex/basic-0.144.4-compacted.jsonl": "it keeps what stood before the compaction",
    "codex/one-turn-then-compacted-0.171.jsonl": "it keeps what stood before the compaction",
    "opencode/steps-and-revert.json": "it keeps messages that were reverted",
}


def _files(formats: dict[str, str]) -> list[Any]:
    return [
        pytest.param(path, form, id=f"{form}/{path.name}")
        for root in ROOTS
        for form in formats
        for path in sorted((root / form).iterdir())
    ]


def _ours(path: Path, form: str) -> list[Fact]:
    facts: list[Fact] = []
    for entry in read_file(path, form)[0]:
        if entry.role in ("user", "assistant") and (text := text_of(entry).strip()):
            facts.append((entry.role, text))
        facts += [("call", call.name) for call in entry.tool_calls]
        facts += [("result", entry.tool_call_id)] if entry.role == "tool" else []
    return facts


def _judge(name: str, ours: list[Fact], theirs: list[Fact], differs: dict[str, str]) -> None:
    if differs.get(name):
        assert sorted(ours) != sorted(theirs), f"{name} agrees by now: take it off the list"
    else:
        # Text and calls of one answer are one entry with us, so only the order between entries is comparable.
        assert sorted(ours) == sorted(theirs)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "form"), _files(MIGRATE))
def test_session_migrate(path: Path, form: str) -> None:
    """We see the same messages, calls and results as `session-migrate`, or the list says why not."""
    conversion = pytest.importorskip("session_migrate.conversion")
    model = pytest.importorskip("session_migrate.model")
    try:
        session = conversion.load_session(path, model.AgentFormat(MIGRATE[form]))
    except Exception as error:
        # It gives up on torn lines, repeated ids and foreign records, where we go on.
        pytest.skip(f"refused by the oracle: {type(error).__name__}")
    theirs: list[Fact] = []
    for event in session.events:
        kind = event.kind.value
        if kind == "message" and event.text and event.role.value in ("user", "assistant"):
            theirs.append((event.role.value, event.text.strip()))
        elif kind == "tool_call":
            theirs.append(("call", event.tool_name))
        elif kind == "tool_result":
            theirs.append(("result", event.tool_call_id))
    _judge(f"{form}/{path.name}", _ours(path, form), theirs, MIGRATE_DIFFERS)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "form"), _files(TRAJECTORY))
def test_agent_trajectory(path: Path, form: str) -> None:
    """We see the same messages, calls and results as `agent-trajectory`, or the list says why not."""
    trajectory = pytest.importorskip("trajectory")
    if shutil.which("node") is None:
        pytest.skip("needs node")
    try:
        result = trajectory.normalize_transcript(source=TRAJECTORY[form], transcript=path.read_text(encoding="utf-8"))
    except trajectory.NormalizationError as error:
        pytest.skip(f"refused by the oracle: {type(error).__name__}")
    theirs = list(_records(result["records"]))
    _judge(f"{form}/{path.name}", _ours(path, form), theirs, TRAJECTORY_DIFFERS)


def _records(records: list[dict[str, Any]]) -> Iterator[Fact]:
    for record in records:
        if record["role"] in ("user", "assistant") and (record.get("content") or "").strip():
            yield record["role"], record["content"].strip()
        for call in record.get("tool_calls") or ():
            yield "call", call["name"]
        if record["role"] == "tool":
            yield "result", record["tool_call_id"]
