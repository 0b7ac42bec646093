"""Open an empty and a long history in a real editor: what it asks for, and how long it takes."""

from __future__ import annotations

import re
from typing import Any

from attrs import frozen
from editor_programs import with_script
from editor_stage import Stage, run_editor

EDITORS = ("vscode", "neovim", "emacs", "vim")
LENGTH = 10_000
TEXT = "lorem ipsum dolor sit amet " * 37  # some 1 KB


def seed(stage: Stage) -> None:
    """Make a history of 10 000 entries of 1 KB; the history `empty` is one that does not exist."""
    with stage.sidecar() as sidecar:
        for start in range(0, LENGTH, 1_000):
            sidecar.append("long", [_entry(number) for number in range(start, start + 1_000)])


def _entry(number: int) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"id": f"n{number}", "message": {"role": role, "content": f"{number} {TEXT}"}}


def open_in(editor: str, stage: Stage) -> dict[str, float]:
    """Return the seconds that opening took, by what was opened."""
    report = stage.folder / "report"
    report.unlink(missing_ok=True)
    argv, env = with_script(editor, "opening")
    run_editor(argv, stage, timeout=200, **env).check(stage)
    return {name: float(seconds) for name, seconds in (line.split() for line in report.read_text().splitlines())}


@frozen
class Asked:
    """What one opening asked for: methods, entries in the replies, bytes of the replies."""

    methods: tuple[str, ...]
    entries: int
    bytes: int


def asked(stage: Stage) -> list[Asked]:
    """What was asked for between the marks that the scripts set before and after each opening."""
    parts: list[list[tuple[dict[str, Any], bytes]]] = [[]]
    for message, reply in stage.exchange():
        if message.get("method") == "sidecar/info":
            parts.append([])
        else:
            parts[-1].append((message, reply))
    return [
        Asked(
            methods=tuple(message["method"] for message, _ in part if "method" in message),
            entries=sum(_entries(reply) for _, reply in part),
            bytes=sum(len(reply) for _, reply in part),
        )
        for part in parts
    ]


def _entries(reply: bytes) -> int:
    # Each entry of the long history has its number before its text, once, wherever it is written.
    return len(set(re.findall(rb"(\d+) lorem ipsum", reply)))
