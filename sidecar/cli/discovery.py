"""Where other tools keep their conversations on this machine.

Rules: read-only; looks only at the places that a tool documents or is known to use, and at nothing else. A tool's own
environment variable moves its place. Names of histories are made of the format, the folder and the file, so that the
same file always goes to the same history.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from sidecar.cli.opencode import StoredSession, stored_sessions
from sidecar.core.names import MAX_NAME_BYTES


@frozen(kw_only=True)
class Place:
    """A tool's folder: `root` may begin with `~`, `$data` or `$config`; `variable` overrides it."""

    format: str
    root: str
    globs: tuple[str, ...]
    variable: str | None = None


PLACES: Final = (
    Place(format="claude-code", root="~/.claude", globs=("projects/*/*.jsonl",), variable="CLAUDE_CONFIG_DIR"),
    Place(format="claude-code", root="$config/claude", globs=("projects/*/*.jsonl",)),
    Place(
        format="codex",
        root="~/.codex",
        globs=("sessions/**/*.jsonl", "archived_sessions/**/*.jsonl"),
        variable="CODEX_HOME",
    ),
    Place(
        format="copilot",
        root="~/.copilot",
        globs=("session-state/*/events.jsonl", "session-state/*.jsonl"),
        variable="COPILOT_HOME",
    ),
    Place(format="gemini-cli", root="~/.gemini", globs=("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl")),
    Place(format="goose", root="$data/goose", globs=("sessions/*.jsonl",)),
    Place(format="codecompanion", root="$data/nvim/codecompanion-history", globs=("chats/*.json",)),
    *(
        Place(
            format="vscode-chat",
            root=f"$config/{name}/User",
            globs=(
                "workspaceStorage/*/chatSessions/*.json",
                "workspaceStorage/*/chatSessions/*.jsonl",
                "globalStorage/emptyWindowChatSessions/*.json",
                "globalStorage/emptyWindowChatSessions/*.jsonl",
            ),
        )
        for name in ("Code", "Code - Insiders", "VSCodium")
    ),
    Place(format="aider", root=".", globs=(".aider.chat.history.md",)),
    Place(format="aider", root="~", globs=(".aider.chat.history.md",)),
)

# Sub-agents of Claude Code write files of their own beside the session that started them.
_SKIPPED: Final = re.compile(r"^agent-")


@frozen(kw_only=True)
class Found:
    """One conversation file of a tool."""

    format: str
    path: Path
    history: str
    size: int
    changed: float
    """Unix seconds."""
    read: Callable[[], bytes] | None = None
    """Returns the transcript, where it is not simply what the file holds."""


def discover(
    environment: Mapping[str, str] = os.environ, folder: Path | None = None, platform: str = sys.platform
) -> Iterator[Found]:
    """Yield every file found, tool by tool, newest first; `folder` stands for the current one."""
    seen: set[Path] = set()
    for place in PLACES:
        root = _root(place, environment, folder or Path.cwd(), platform)
        if not root.is_dir():
            continue
        found: list[Found] = []
        for pattern in place.globs:
            for path in root.glob(pattern):
                try:
                    real, facts = path.resolve(), path.stat()
                except OSError:
                    continue
                if real in seen or not path.is_file() or not facts.st_size or _SKIPPED.match(path.name):
                    continue
                seen.add(real)
                found.append(
                    Found(
                        format=place.format,
                        path=path,
                        history=history_name(place.format, path, root),
                        size=facts.st_size,
                        changed=facts.st_mtime,
                    )
                )
        yield from sorted(found, key=lambda file: file.changed, reverse=True)
    # opencode keeps to the XDG folders on every platform.
    data = _home(environment) / ".local" / "share"
    if named := environment.get("XDG_DATA_HOME"):
        data = Path(named)
    sessions = map(found_session, stored_sessions(data / "opencode", environment))
    yield from sorted(sessions, key=lambda file: file.changed, reverse=True)


def found_session(session: StoredSession) -> Found:
    """Return where a session of opencode's own storage goes."""
    return Found(
        format="opencode",
        path=session.path,
        history=_joined("opencode", re.split(r"[/\\\\]", session.directory.rstrip("/\\"))[-1], session.id),
        size=session.size,
        changed=session.changed,
        read=session.read,
    )


def _root(place: Place, environment: Mapping[str, str], folder: Path, platform: str) -> Path:
    if place.variable and environment.get(place.variable):
        return Path(environment[place.variable])
    home = _home(environment)
    mac = home / "Library" / "Application Support"
    windows = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    config = mac if platform == "darwin" else windows if platform == "win32" else home / ".config"
    data = windows if platform == "win32" else home / ".local" / "share"
    if named := environment.get("XDG_CONFIG_HOME"):
        config = Path(named)
    if named := environment.get("XDG_DATA_HOME"):
        data = Path(named)
    first, _, rest = place.root.partition("/")
    base = {"~": home, "$config": config, "$data": data, ".": folder}[first]
    return base / rest if rest else base


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def history_name(form: str, path: Path, root: Path | None = None) -> str:
    """Return the name of the history that a file goes to: format, folder, file."""
    parts = [path.parent.name, _stem(path)]
    if path.name == "events.jsonl":
        parts = [path.parent.name]
    elif path.name == ".aider.chat.history.md":
        parts = [path.resolve().parent.name]
    elif root is not None and path.parent.name in ("chats", "chatSessions", "sessions", "emptyWindowChatSessions"):
        parts[0] = path.parent.parent.name if path.parent.parent != root else ""
    elif form == "codex":
        parts = [_stem(path)]
    return _joined(form, *parts)


def _joined(form: str, *parts: str) -> str:
    slugs = [slug for slug in map(_slug, parts) if slug]
    if len(slugs) > 1 and slugs[0] == form:
        del slugs[0]  # a folder called after its tool says nothing more
    return "/".join((form, *slugs))[:MAX_NAME_BYTES].rstrip("/")


def _stem(path: Path) -> str:
    name = path.name
    for ending in (".aider.chat.history.md", ".events.jsonl", ".jsonl", ".json", ".md", ".org", ".txt"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def _slug(text: str) -> str:
    """Return the text as one segment of a history name; what the grammar has no place for becomes `-`."""
    return re.sub(r"[^A-Za-z0-9._~-]+", "-", text).lstrip("._~-")[:100].rstrip("-")
