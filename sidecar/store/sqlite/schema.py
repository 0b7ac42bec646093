"""The tables, the connection settings, and the ordered steps from one schema to the next.

Rules:
- `entry` is clustered by history: its key is `hid << 32 | seq`, so a history is one range scan (storage evidence: 4 to
  6 times faster than a second index).
- `STEPS` grow at the end and never change (`store.steps`).
- Nobody opens the database files except through this SQLite library: a stray `close()` drops POSIX locks and can lose
  acknowledged writes. Guarded by `tests/store/test_house_rules.py`.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import apsw

from sidecar.core.errors import StorageCorrupt, StorageUnavailable
from sidecar.store.steps import Step, min_writer

APPLICATION_ID = 0x48535430  # "HST0"
_TABLES = """
CREATE TABLE meta(k TEXT PRIMARY KEY, v ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE history(
  hid INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL, live INTEGER NOT NULL DEFAULT 1,
  version INTEGER NOT NULL, layout INTEGER NOT NULL, len INTEGER NOT NULL,
  tail INTEGER NOT NULL, cumulative INTEGER NOT NULL, estimate INTEGER NOT NULL, marks INTEGER NOT NULL,
  base_tokens INTEGER, base_version INTEGER, base_len INTEGER, base_estimate INTEGER, calibration TEXT,
  title TEXT, tags TEXT, metadata TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX history_name ON history(name) WHERE live = 1;
CREATE TABLE tombstone(name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  layout INTEGER NOT NULL, marks INTEGER NOT NULL, role INTEGER NOT NULL,
  estimate INTEGER NOT NULL, cumulative INTEGER NOT NULL,
  measure BLOB NOT NULL, body BLOB NOT NULL, places TEXT) STRICT;
CREATE INDEX entry_key ON entry(key);
CREATE TABLE layout(
  hid INTEGER NOT NULL, layout INTEGER NOT NULL, ranges TEXT NOT NULL,
  PRIMARY KEY(hid, layout)) STRICT, WITHOUT ROWID;
CREATE TABLE marks(
  hid INTEGER NOT NULL, marks INTEGER NOT NULL, entries TEXT NOT NULL,
  PRIMARY KEY(hid, marks)) STRICT, WITHOUT ROWID;
CREATE TABLE change(
  id INTEGER PRIMARY KEY,
  hid INTEGER NOT NULL, version INTEGER NOT NULL, previous INTEGER NOT NULL, kind TEXT NOT NULL,
  layout INTEGER NOT NULL, len INTEGER NOT NULL, marks INTEGER NOT NULL,
  at INTEGER NOT NULL, writer INTEGER NOT NULL, actor TEXT, operation_id TEXT, renamed_from TEXT) STRICT;
CREATE UNIQUE INDEX change_version ON change(hid, version);
CREATE TABLE operation(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, operation_id TEXT NOT NULL, digest BLOB NOT NULL, result BLOB NOT NULL,
  at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX operation_key ON operation(name, operation_id);
CREATE TABLE blob(
  hash TEXT PRIMARY KEY, size INTEGER NOT NULL, coded INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
CREATE TABLE entry_blob(hash TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY(hash, entry)) STRICT, WITHOUT ROWID;
CREATE INDEX entry_blob_entry ON entry_blob(entry);
CREATE TABLE borrow(log INTEGER NOT NULL, hid INTEGER NOT NULL, PRIMARY KEY(log, hid)) STRICT, WITHOUT ROWID;
CREATE TABLE indexed(log INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='unicode61');
"""

MERGE_WORDS = "INSERT INTO words(words) VALUES('optimize')"
"""Rewrites the full-text index without what was deleted from it."""

STEPS = [Step(_TABLES, additive=False)]
SCHEMA = len(STEPS)


def require_safe_library(version: str) -> None:
    """Refuse a SQLite library that can lose committed pages when a checkpoint races with a commit.

    The WAL-reset bug: 3.7.0 to 3.51.2, fixed in 3.51.3, 3.50.7 and 3.44.6; 3.52.0 was withdrawn (sqlite.org/changes).
    """
    found = tuple(int(part) for part in version.split("."))[:3]
    backported = found[:2] in ((3, 50), (3, 44)) and found[2] >= (7 if found[1] == 50 else 6)
    if (found < (3, 51, 3) and not backported) or found == (3, 52, 0):
        raise StorageUnavailable("this SQLite library is not safe for a shared store", "sqlite", detail="library")


def configure(connection: apsw.Connection, *, writer: bool) -> None:
    """Apply the settings of every connection; each has its reason in the design evidence for storage."""
    execute = connection.execute
    connection.set_busy_timeout(10_000)  # last resort only: the turn lock keeps our own processes apart
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "wal_autocheckpoint=0", "journal_size_limit=16777216",
                   "trusted_schema=OFF", "cell_size_check=ON", "fullfsync=1", "checkpoint_fullfsync=1"):  # fmt: skip
        execute(f"PRAGMA {pragma}")
    for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
        connection.config(option, 0)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    execute("PRAGMA secure_delete=FAST" if writer else "PRAGMA query_only=1")


def is_ours(connection: apsw.Connection) -> bool:
    """Say whether this is a store that `migrate` would open as it is."""
    try:
        facts = [
            connection.execute(f"PRAGMA {name}").get for name in ("application_id", "user_version", "quick_check(1)")
        ]
    except apsw.Error:
        return False
    return bool(facts[0] == APPLICATION_ID and 0 < facts[1] <= SCHEMA and facts[2] == "ok")


def migrate(connection: apsw.Connection) -> None:
    """Bring the database to the newest schema, or refuse a newer one. Call it inside the turn.

    Before a step that is not additive the store is kept as it was, in a file beside it.
    """
    execute = connection.execute
    found = int(execute("PRAGMA user_version").get)
    if found > SCHEMA:
        needed = int(execute("SELECT v FROM meta WHERE k = 'min_writer'").get or found)
        if needed > SCHEMA:
            raise StorageUnavailable("the store was written by a newer release", "sqlite", detail="newerSchema")
        return
    if found == SCHEMA:
        execute("PRAGMA journal_mode=WAL")  # a backup that is now the store was written without a log
        return
    if found == 0:
        execute("PRAGMA page_size=4096")
        execute("PRAGMA auto_vacuum=INCREMENTAL")
        execute("PRAGMA journal_mode=WAL")
        execute(f"PRAGMA application_id={APPLICATION_ID}")
    elif found < min_writer(STEPS) and connection.filename:
        save_as(connection, Path(f"{connection.filename}.v{found}.bak"))
    with connection:
        for step in STEPS[found:]:
            execute(step.script)
        execute(f"PRAGMA user_version={SCHEMA}")
        execute("INSERT OR IGNORE INTO meta VALUES('store_id', ?)", (secrets.token_hex(8),))
        for key in ("min_reader", "min_writer"):
            execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, min_writer(STEPS)))


def save_as(connection: apsw.Connection, target: Path) -> None:
    """Write one consistent copy of the store and check it before it gets its name; a file of that name is replaced."""
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    try:
        # The name must exist with its mode before there is content in it.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection.execute("VACUUM INTO ?", (str(part),))
        copy = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        try:
            if copy.execute("PRAGMA integrity_check(1)").get != "ok":
                raise StorageCorrupt("the copy did not read back", detail="backup")
        finally:
            copy.close()
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
        for suffix in ("-wal", "-shm"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)
