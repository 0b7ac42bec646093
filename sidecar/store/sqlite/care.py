"""Looking after a store file: facts, check, backup, recovery. Functions of a path; no console.

Rules: a damaged file is never changed, deleted or created anew on our own. A backup is one consistent file, made by
SQLite and checked before it gets its name; copying the files of a live store is not safe and is not done here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
from attrs import frozen

from sidecar.core.errors import InvalidParams, SidecarError, StorageUnavailable
from sidecar.store import checking
from sidecar.store.sqlite import schema
from sidecar.store.sqlite.failures import storage_error
from sidecar.store.sqlite.transaction import SqliteTransaction

TABLES = ("meta", "history", "tombstone", "blob", "entry", "entry_blob", "layout", "marks", "borrow", "change",
          "operation")  # fmt: skip
"""What recovery copies, in this order; the full-text index is made anew by the next search."""


@frozen(kw_only=True)
class Recovered:
    """What recovery brought over, and what it could not."""

    rows: int
    lost_ranges: int
    findings: tuple[checking.Finding, ...]


def facts(path: Path) -> checking.Facts:
    """Count what a store holds."""
    with _opened(path) as connection:
        one = connection.execute
        return checking.Facts(
            schema=int(one("PRAGMA user_version").get),
            histories=one("SELECT count(*) FROM history WHERE live = 1").get,
            deleted=one("SELECT count(*) FROM history WHERE live = 0").get,
            versions=one("SELECT count(*) FROM change WHERE hid > 0").get,
            entries=one("SELECT count(*) FROM entry").get,
            body_bytes=one("SELECT coalesce(sum(length(body)), 0) FROM entry").get,
            blobs=one("SELECT count(*) FROM blob").get,
            blob_bytes=one("SELECT coalesce(sum(size), 0) FROM blob").get,
            file_bytes=path.stat().st_size,
            log_bytes=_size(path.with_name(path.name + "-wal")),
            free_bytes=one("PRAGMA freelist_count").get * one("PRAGMA page_size").get,
        )


def check(path: Path) -> tuple[checking.Finding, ...]:
    """Check the file's structure and that every version reads back; an empty answer means that all is well."""
    with _opened(path) as connection:
        findings = [
            checking.Finding(history="", version=None, problem=str(text))
            for (text,) in connection.execute("PRAGMA integrity_check(100)").fetchall()
            if text != "ok"
        ]
        findings += checking.check_versions(SqliteTransaction(connection, 0))
        for digest, data, coded in connection.execute("SELECT hash, data, coded FROM blob"):
            if not checking.blob_is_whole(digest, data, bool(coded)):
                findings.append(checking.Finding(history="", version=None, problem="a blob is damaged"))
        return tuple(findings)


def backup(path: Path, target: Path) -> int:
    """Write a consistent copy to a new file and check it; return its size in bytes."""
    _refuse_existing(target)
    with _opened(path, write=True) as connection:  # `query_only` would refuse VACUUM INTO
        schema.save_as(connection, target)
    return target.stat().st_size


def recover(path: Path, target: Path, progress: Callable[[str], None] = lambda _: None) -> Recovered:
    """Copy everything that can be read into a new store; say which versions did not come over whole."""
    _refuse_existing(target)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    rows = lost = 0
    try:
        with _opened(path) as damaged, _opened(target, write=True) as new:
            damaged.execute("SELECT count(*) FROM sqlite_schema")  # refuses what is no database at all
            schema.configure(new, writer=True)
            schema.migrate(new)
            new.execute("DELETE FROM meta")
            for table in TABLES:
                progress(table)
                copied, gaps = _copy(damaged, new, table)
                rows += copied
                lost += gaps
            findings = tuple(checking.check_versions(SqliteTransaction(new, 0)))
            new.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except BaseException:
        for name in (target, target.with_name(target.name + "-wal"), target.with_name(target.name + "-shm")):
            name.unlink(missing_ok=True)
        raise
    return Recovered(rows=rows, lost_ranges=lost, findings=findings)


def _copy(damaged: apsw.Connection, new: apsw.Connection, table: str) -> tuple[int, int]:
    """Copy one table in key order; where a page cannot be read, go on behind it."""
    try:
        columns = [row[1] for row in damaged.execute(f"PRAGMA table_info({table})")]
        names = {row[1] for row in new.execute(f"PRAGMA table_info({table})")}
    except apsw.Error:
        return 0, 1
    shared = ", ".join(name for name in columns if name in names)
    marks = ", ".join("?" for name in columns if name in names)
    insert = f"INSERT OR IGNORE INTO {table}({shared}) VALUES({marks})"
    copied = lost = 0
    with new:
        for row in _rows(damaged, table, shared):
            if row is None:
                lost += 1
            else:
                new.execute(insert, row)
                copied += 1
    return copied, lost


def _rows(damaged: apsw.Connection, table: str, columns: str) -> Iterator[tuple[object, ...] | None]:
    """Yield rows; `None` once for each stretch that cannot be read."""
    if table in ("meta", "tombstone", "entry_blob", "layout", "marks", "borrow"):  # no row numbers to skip by
        try:
            yield from damaged.execute(f"SELECT {columns} FROM {table}")
        except apsw.Error:
            yield None
        return
    at, skip, broken = -1, 1, False
    try:
        top = damaged.execute(f"SELECT max(rowid) FROM {table}").get or 0
    except apsw.Error:
        top = 1 << 62
    while at <= top:
        try:
            for number, *row in damaged.execute(
                f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid", (at,)
            ):
                at, skip, broken = number, 1, False
                yield tuple(row)
            return
        except apsw.Error:
            if not broken:
                yield None
            broken = True
            at += skip
            skip *= 2


class _opened:  # noqa: N801 - reads as a verb in `with`
    """A connection for one errand, that neither checkpoints nor unlinks anything when it closes."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self._path, self._write = path, write

    def __enter__(self) -> apsw.Connection:
        schema.require_safe_library(apsw.sqlite_lib_version())
        if not self._path.is_file():
            raise StorageUnavailable("there is no store file", "sqlite", detail="cannotOpen")
        try:
            self._connection = apsw.Connection(
                str(self._path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
            )
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.set_busy_timeout(10_000)
            if not self._write:
                self._connection.execute("PRAGMA query_only=1")
        except apsw.Error as error:
            raise storage_error(error) from None
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._connection.close(True)
        if isinstance(error, apsw.Error) and not isinstance(error, SidecarError):
            raise storage_error(error) from None


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise InvalidParams.at("/target", "must be a new file; one of this name is there already")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
