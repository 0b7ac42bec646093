"""The tables and the ordered steps from one schema to the next, under an advisory lock.

Rules: the columns are those of SQLite (`store.sql` speaks to both). Text is compared bytewise (`COLLATE "C"`), bodies
are `bytea`, never `jsonb`, which reorders keys, rewrites numbers and refuses NUL. `change.xid` is what the feed's
cursor runs over: row numbers are given out before the commit, so a cursor over them would skip (measured: 77 of 300).
"""

from __future__ import annotations

import re
import secrets
from typing import Any

from psycopg import Connection, errors

from sidecar.core.errors import StorageUnavailable
from sidecar.store.postgres.functions import APPEND_ENTRIES
from sidecar.store.steps import Step, min_writer

_TABLES = """
CREATE TABLE meta(k text COLLATE "C" PRIMARY KEY, v text NOT NULL);
CREATE TABLE history(
  hid bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL, live integer NOT NULL DEFAULT 1,
  version bigint NOT NULL, layout bigint NOT NULL, len bigint NOT NULL,
  tail bigint NOT NULL, cumulative bigint NOT NULL, estimate bigint NOT NULL, marks bigint NOT NULL,
  base_tokens bigint, base_version bigint, base_len bigint, base_estimate bigint, calibration text,
  title text, tags text, metadata text,
  created_at bigint NOT NULL, updated_at bigint NOT NULL) WITH (fillfactor = 60);
CREATE UNIQUE INDEX history_name ON history(name) WHERE live = 1;
CREATE TABLE tombstone(name text COLLATE "C" PRIMARY KEY, version bigint NOT NULL);
CREATE TABLE entry(
  id bigint PRIMARY KEY, key bigint NOT NULL,
  layout bigint NOT NULL, marks bigint NOT NULL, role integer NOT NULL,
  estimate bigint NOT NULL, cumulative bigint NOT NULL, measure bytea NOT NULL, body bytea NOT NULL,
  places text);
ALTER TABLE entry ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX entry_key ON entry(key);
CREATE TABLE layout(hid bigint NOT NULL, layout bigint NOT NULL, ranges text NOT NULL, PRIMARY KEY(hid, layout));
CREATE TABLE marks(hid bigint NOT NULL, marks bigint NOT NULL, entries text NOT NULL, PRIMARY KEY(hid, marks));
CREATE TABLE change(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  hid bigint NOT NULL, version bigint NOT NULL, previous bigint NOT NULL, kind text NOT NULL,
  layout bigint NOT NULL, len bigint NOT NULL, marks bigint NOT NULL,
  at bigint NOT NULL, writer bigint NOT NULL, actor text, operation_id text, renamed_from text COLLATE "C");
CREATE UNIQUE INDEX change_version ON change(hid, version);
CREATE INDEX change_feed ON change(xid, id);
CREATE TABLE operation(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL, operation_id text COLLATE "C" NOT NULL, digest bytea NOT NULL,
  result bytea NOT NULL, at bigint NOT NULL);
CREATE UNIQUE INDEX operation_key ON operation(name, operation_id);
CREATE TABLE blob(hash text COLLATE "C" PRIMARY KEY, size bigint NOT NULL, coded integer NOT NULL, data bytea NOT NULL);
ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE entry_blob(hash text COLLATE "C" NOT NULL, entry bigint NOT NULL, PRIMARY KEY(hash, entry));
CREATE INDEX entry_blob_entry ON entry_blob(entry);
CREATE TABLE borrow(log bigint NOT NULL, hid bigint NOT NULL, PRIMARY KEY(log, hid));
CREATE TABLE indexed(log bigint PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE words(id bigint PRIMARY KEY, words tsvector NOT NULL);
CREATE INDEX words_index ON words USING gin(words);
"""

STEPS = [Step(_TABLES, additive=False), Step(APPEND_ENTRIES, additive=True)]
SCHEMA = len(STEPS)
TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", _TABLES))
_LOCK = 0x48535430  # "HST0"


def migrate(connection: Connection[Any]) -> None:
    """Bring the database to the newest schema, or refuse a newer one.

    A role that may not do so goes on with the schema there is, as long as its rows are those of this release.
    """
    try:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            found = schema_of(connection)
            if found > SCHEMA and int(_meta(connection, "min_writer")) > SCHEMA:
                raise StorageUnavailable("the store was written by a newer release", "postgresql", detail="newerSchema")
            for step in STEPS[found:]:
                connection.execute(step.script.encode())
            if found == 0:
                _set(connection, "store_id", secrets.token_hex(8))
            if found < SCHEMA:
                for key, value in (
                    ("schema", SCHEMA),
                    *((key, min_writer(STEPS)) for key in ("min_reader", "min_writer")),
                ):
                    _set(connection, key, str(value))
    except errors.InsufficientPrivilege:
        if schema_of(connection) < min_writer(STEPS):
            raise


def schema_of(connection: Connection[Any]) -> int:
    """Return the schema of the database, 0 where there is none yet."""
    present = connection.execute("SELECT to_regclass('meta') IS NOT NULL").fetchone()
    return int(_meta(connection, "schema")) if present is not None and present[0] else 0


def _meta(connection: Connection[Any], key: str) -> str:
    row = connection.execute("SELECT v FROM meta WHERE k = %s", (key,)).fetchone()
    if row is None:
        raise StorageUnavailable("the database holds other tables of these names", "postgresql", detail="cannotOpen")
    return str(row[0])


def _set(connection: Connection[Any], key: str, value: str) -> None:
    connection.execute("INSERT INTO meta VALUES(%s, %s) ON CONFLICT(k) DO UPDATE SET v = excluded.v", (key, value))
