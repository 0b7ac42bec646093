"""Reading another program's SQLite file: one statement, read-only, on a connection of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

BUSY_MS = 2000
"""How long another program may hold its file before reading it is given up."""


def is_sqlite(path: Path) -> bool:
    """Say whether a file begins like a SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def rows_of(path: Path, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]] | None:
    """Return what a query answers; `None` where the file is no such database or cannot be read now."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return None
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection.execute(statement, values).fetchall()
    except apsw.Error:
        return None
    finally:
        connection.close()
