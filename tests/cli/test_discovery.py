"""`import --discover`: the folders of every known tool, in homes of every system."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import apsw
import pytest
from test_commands import DATA, Shell

from sidecar.cli.discovery import discover, history_name
from sidecar.cli.opencode import sessions_of

SESSION = json.loads((DATA / "opencode/steps-and-revert.json").read_text())
"""An export, which the two storages below hold in their own ways."""

TABLES = """
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL,
  directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
"""
"""What is read of the tables of opencode 1.2 to 1.18."""


def in_database(path: Path, session: str, messages: int, parent: str | None = None) -> None:
    """Write a session as opencode does since 1.2; `messages` of the export are there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL")
    if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
        connection.execute(TABLES)
    info = SESSION["info"]
    connection.execute(
        "INSERT OR REPLACE INTO session VALUES(?, 'global', ?, 'tea', ?, ?, ?, ?, 1, 2)",
        (session, parent, info["directory"], info["title"], info["version"], json.dumps(info["revert"])),
    )
    for message in SESSION["messages"][:messages]:
        data = {key: value for key, value in message["info"].items() if key not in ("id", "sessionID")}
        created = data["time"]["created"]
        message_id = message["info"]["id"].replace("msg", f"msg_{session}")
        connection.execute(
            "INSERT OR REPLACE INTO message VALUES(?, ?, ?, ?, ?)", (message_id, session, created, 5, json.dumps(data))
        )
        for number, part in enumerate(message["parts"]):
            text = json.dumps(
                {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
            )
            part_id = f"prt_{message_id}_{number}"
            connection.execute(
                "INSERT OR REPLACE INTO part VALUES(?, ?, ?, 0, 0, ?)", (part_id, message_id, session, text)
            )
    connection.close()


def in_files(storage: Path, session: str) -> None:
    """Write a session as opencode did before 1.2."""

    def write(path: Path, value: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    write(storage / "session/global" / f"{session}.json", {**SESSION["info"], "id": session})
    for message in SESSION["messages"]:
        name = message["info"]["id"]
        write(storage / "message" / session / f"{name}.json", {**message["info"], "sessionID": session})
        for number, part in enumerate(message["parts"]):
            write(storage / "part" / name / f"prt_{number}.json", part)


PLACES = {
    "claude-code/rewound.jsonl": ".claude/projects/-srv-tea/1111.jsonl",
    "codex/two-calls.jsonl": ".codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-abc.jsonl",
    "codex/early.jsonl": ".codex/archived_sessions/rollout-2025-05-01-def.jsonl",
    "copilot/rewind-and-agent.events.jsonl": ".copilot/session-state/s-1/events.jsonl",
    "gemini-cli/log.jsonl": ".gemini/tmp/abc/chats/session-1.jsonl",
    "goose/tools.jsonl": ".local/share/goose/sessions/20261130_1.jsonl",
    "codecompanion/tools.json": ".local/share/nvim/codecompanion-history/chats/17.json",
    "vscode-chat/log.jsonl": ".config/Code/User/workspaceStorage/w1/chatSessions/c1.jsonl",
    "aider/quotes.aider.chat.history.md": ".aider.chat.history.md",
}
"""A transcript -> where its tool keeps it, below the home of a Linux user."""


def test_every_tool_is_found_and_imported_once(tmp_path: Path) -> None:
    """A home with the folders of all tools: each conversation is listed, imported, and not imported again."""
    home = tmp_path / "home"
    for transcript, place in PLACES.items():
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DATA / transcript, home / place)
    opencode = home / ".local/share/opencode"
    in_database(opencode / "opencode.db", "ses_new", 2)
    in_database(opencode / "opencode.db", "ses_agent", 1, parent="ses_new")
    in_files(opencode / "storage", "ses_new")  # what was copied into the database lies there still
    in_files(opencode / "storage", "ses_old")
    shell = Shell(home)
    found = shell.json("import", "--discover")
    names = {
        "claude-code/srv-tea/1111",
        "codex/rollout-2026-11-30T10-00-00-abc",
        "codex/rollout-2025-05-01-def",
        "copilot/s-1",
        "gemini-cli/abc/session-1",
        "goose/20261130_1",
        "codecompanion/17",
        "vscode-chat/w1/c1",
        "aider/home",
        "opencode/tea/ses_new",
        "opencode/tea/ses_old",
    }
    assert {row["history"] for row in found} == names and {row["state"] for row in found} == {"new"}
    first = shell.json("import", "--discover", "--yes")
    new = {file["histories"][0]["history"]: file["histories"][0]["new"] for file in first["files"]}
    assert new.keys() == names and all(new.values())
    assert [row["state"] for row in shell.json("import", "--discover")] == ["imported"] * len(names)
    second = shell.json("import", "--discover", "--yes")
    assert {file["histories"][0]["new"] for file in second["files"]} == {0}
    in_database(opencode / "opencode.db", "ses_new", 3)
    third = shell.json("import", "--discover", "--yes", "--format", "opencode")
    grown = {file["histories"][0]["history"]: file["histories"][0] for file in third["files"]}
    assert grown["opencode/tea/ses_new"]["new"] > 0 and grown["opencode/tea/ses_old"]["new"] == 0
    # Both storages say what the export says.
    shell("import", str(DATA / "opencode/steps-and-revert.json"), "--into", "export")
    told = [json.loads(shell("show", name, "--json")) for name in ("export", "opencode/tea/ses_old")]
    assert [entry["message"] for entry in told[0]["entries"]] == [entry["message"] for entry in told[1]["entries"]]


@pytest.mark.parametrize(
    ("platform", "environment", "place"),
    [
        ("linux", {"XDG_CONFIG_HOME": "{home}/c"}, "c/Code/User/globalStorage/emptyWindowChatSessions/1.json"),
        ("linux", {"CODEX_HOME": "{home}/x"}, "x/sessions/2026/rollout-1.jsonl"),
        ("linux", {"XDG_DATA_HOME": "{home}/d"}, "d/goose/sessions/1.jsonl"),
        ("darwin", {}, "Library/Application Support/Code/User/workspaceStorage/w/chatSessions/1.json"),
        ("win32", {"APPDATA": "{home}/r"}, "r/Code/User/workspaceStorage/w/chatSessions/1.json"),
        ("win32", {}, ".codex/sessions/2026/rollout-1.jsonl"),
    ],
)
def test_places_by_system(tmp_path: Path, platform: str, environment: dict[str, str], place: str) -> None:
    """Each system and each variable moves a tool's folder as the tool says."""
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    given = {"HOME": str(tmp_path), **{key: value.format(home=tmp_path) for key, value in environment.items()}}
    assert [file.path for file in discover(given, tmp_path / "nowhere", platform)] == [path]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_opencode_keeps_to_xdg_everywhere(tmp_path: Path, platform: str) -> None:
    """The database is below `.local/share` on every system; other channels' files and `OPENCODE_DB` count as well."""
    in_database(tmp_path / ".local/share/opencode/opencode-dev.db", "ses_dev", 1)
    in_database(tmp_path / "mine.db", "ses_mine", 1)
    environment = {"HOME": str(tmp_path)}
    assert [file.history for file in discover(environment, tmp_path, platform)] == ["opencode/tea/ses_dev"]
    environment["OPENCODE_DB"] = str(tmp_path / "mine.db")
    assert [file.history for file in discover(environment, tmp_path, platform)] == ["opencode/tea/ses_mine"]


def test_a_database_that_is_none(tmp_path: Path) -> None:
    """A broken database hides nothing else, and one that is named is read like the discovered one."""
    shell = Shell(tmp_path)
    folder = tmp_path / ".local/share/opencode"
    in_files(folder / "storage", "ses_old")
    (folder / "opencode.db").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    (folder / "opencode-x.db").write_text("no database")
    assert [row["history"] for row in shell.json("import", "--discover")] == ["opencode/tea/ses_old"]
    in_database(tmp_path / "copy.db", "ses_1", 3)
    before = (tmp_path / "copy.db").stat().st_mtime_ns
    done = shell.json("import", str(tmp_path / "copy.db"))
    assert [file["histories"][0]["history"] for file in done["files"]] == ["opencode/tea/ses_1"]
    assert (tmp_path / "copy.db").stat().st_mtime_ns == before  # only read
    [session] = sessions_of(tmp_path / "copy.db")
    assert session.size > 0 and session.changed <= time.time()


def test_names() -> None:
    """The same file always goes to the same history; a folder called after its tool is not said twice."""
    assert history_name("aider", Path("/x/aider/chat.md")) == "aider/chat"
    assert history_name("aider", Path("/x/tea/chat.md")) == "aider/tea/chat"
