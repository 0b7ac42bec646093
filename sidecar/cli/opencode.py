"""opencode's own storage, session by session, as the documents that `opencode export` writes.

Sources: opencode before 1.2 kept JSON files below `storage/`; 1.2 copied them into `opencode.db` and let them lie.
Builds of other channels write `opencode-<channel>.db`, and `OPENCODE_DB` names another file (anomalyco/opencode,
`storage/json-migration.ts`, `session/session.sql.ts`, read 2026-12-01).

Rules: read-only. A session is read when it is imported, not when it is listed. What a database has is not looked for in
the files. Sessions of sub-agents are left out: what they answered is in the session that started them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from sidecar.core.jsontext import Json, dumpb
from sidecar.formats.source import parse
from sidecar.store.sqlite.foreign import is_sqlite, rows_of

_SESSIONS: Final = (
    "SELECT id, directory,"
    " max(time_updated, coalesce((SELECT max(time_updated) FROM message WHERE session_id = s.id), 0)),"
    " (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = s.id)"
    " FROM session AS s WHERE parent_id IS NULL ORDER BY id"
)
_INFO: Final = (
    "SELECT id, slug, project_id, directory, title, version, revert, time_created, time_updated"
    " FROM session WHERE id = ?"
)
_MESSAGES: Final = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS: Final = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"


@frozen(kw_only=True)
class StoredSession:
    """One session. `read` returns its document, or raises `OSError`."""

    id: str
    path: Path
    """The file that it is in, or that begins it."""
    directory: str
    size: int
    changed: float
    """Unix seconds."""
    read: Callable[[], bytes]


def stored_sessions(data: Path, environment: Mapping[str, str]) -> Iterator[StoredSession]:
    """Yield the sessions in opencode's data folder."""
    databases = sorted(data.glob("opencode*.db"))
    if named := environment.get("OPENCODE_DB"):
        databases = [data / named]
    seen: set[str] = set()
    for database in databases:
        for session in sessions_of(database):
            if session.id not in seen:
                seen.add(session.id)
                yield session
    for session in _in_files(data / "storage"):
        if session.id not in seen:
            yield session


def sessions_of(database: Path) -> Iterator[StoredSession]:
    """Yield the sessions of one database; none where it is no database of opencode."""
    if not is_sqlite(database):
        return
    for session_id, directory, updated, size in rows_of(database, _SESSIONS) or ():
        yield StoredSession(
            id=session_id,
            path=database,
            directory=directory,
            size=size,
            changed=updated / 1000,
            read=partial(_from_database, database, session_id),
        )


def _from_database(database: Path, session_id: str) -> bytes:
    found = rows_of(database, _INFO, (session_id,))
    messages, parts = (rows_of(database, statement, (session_id,)) for statement in (_MESSAGES, _PARTS))
    if not found or messages is None or parts is None:
        raise OSError(5, "the session cannot be read from opencode's database")
    name, slug, project, directory, title, version, revert, created, updated = found[0]
    info = {"id": name, "slug": slug, "projectID": project, "directory": directory, "title": title, "version": version}
    info |= {"time": {"created": created, "updated": updated}, "revert": _value(revert) if revert else None}
    by_message: dict[str, list[Json]] = {}
    for message_id, part_id, data in parts:
        by_message.setdefault(message_id, []).append(_record(data, id=part_id, messageID=message_id, sessionID=name))
    return dumpb(
        {
            "info": info,
            "messages": [
                {"info": _record(data, id=message_id, sessionID=name), "parts": by_message.get(message_id, [])}
                for message_id, data in messages
            ],
        }
    )


def _in_files(storage: Path) -> Iterator[StoredSession]:
    for path in sorted(storage.glob("session/*/*.json")):
        try:
            info = _value(path.read_bytes())
            if not isinstance(info, dict) or info.get("parentID"):
                continue
            files = [path, *_files(storage, path.stem)]
            facts = [file.stat() for file in files]
        except OSError:
            continue
        yield StoredSession(
            id=path.stem,
            path=path,
            directory=str(info.get("directory") or ""),
            size=sum(fact.st_size for fact in facts),
            changed=max(fact.st_mtime for fact in facts),
            read=partial(_from_files, storage, path),
        )


def _files(storage: Path, session_id: str) -> Iterator[Path]:
    for message in sorted((storage / "message" / session_id).glob("*.json")):
        yield message
        yield from sorted((storage / "part" / message.stem).glob("*.json"))


def _from_files(storage: Path, path: Path) -> bytes:
    messages = []
    for message in (storage / "message" / path.stem).glob("*.json"):
        info = _record(message.read_bytes(), id=message.stem, sessionID=path.stem)
        parts = [
            _record(part.read_bytes(), id=part.stem, messageID=message.stem, sessionID=path.stem)
            for part in sorted((storage / "part" / message.stem).glob("*.json"))
        ]
        messages.append({"info": info, "parts": parts})
    return dumpb({"info": _record(path.read_bytes(), id=path.stem), "messages": sorted(messages, key=_order)})


def _order(message: dict[str, Any]) -> tuple[float, str]:
    info = message["info"]
    time = info.get("time") if isinstance(info, dict) else None
    created = time.get("created") if isinstance(time, dict) else None
    return (created if isinstance(created, int | float) else 0, str(info.get("id")) if isinstance(info, dict) else "")


def _record(data: str | bytes, **ids: str) -> Json:
    """Return a stored record with the ids that its place tells; what is no record is left as it is."""
    value = _value(data)
    return {**value, **ids} if isinstance(value, dict) else value


def _value(data: str | bytes) -> Json:
    """Parse a stored text; a torn one stays a text, which the reader of the format reports."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        return parse(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
