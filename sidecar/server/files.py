"""The only place that touches files for a client: import and export.

Rules: a path is judged after symlinks are resolved, and must be inside a folder that the user allowed: the folders of
`HISTORY_SIDECAR_FOLDERS` and the workspace folders that the client named at `initialize`. A file is written whole or
not at all, readable by its owner only. No path is ever repeated in an error.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from sidecar.core.errors import InvalidParams

if TYPE_CHECKING:
    from sidecar.formats.source import Source

_CHUNK = 1 << 20


@contextmanager
def open_file(uri: str, folders: Sequence[Path]) -> Iterator[Source]:
    """Open a regular file inside an allowed folder as a source; it stays open, so that every reading sees the same one.

    Raises `InvalidParams` where that is not possible.
    """
    from sidecar.formats.source import Source  # the formats are loaded where somebody imports

    path = _allowed(uri, folders)
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for somebody to write into it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InvalidParams.at("/uri", f"cannot be read: {_reason(error)}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidParams.at("/uri", "is not a regular file")
    with os.fdopen(descriptor, "rb", buffering=0) as file:

        def chunks() -> Iterator[bytes]:
            try:
                file.seek(0)
                while chunk := file.read(_CHUNK):
                    yield chunk
            except OSError as error:
                raise InvalidParams.at("/uri", f"cannot be read: {_reason(error)}") from None

        yield Source(chunks, size=os.fstat(descriptor).st_size, file=lambda: nullcontext(file))


def write_file(uri: str, folders: Sequence[Path], content: bytes) -> None:
    """Write a file inside an allowed folder, atomically; raise `InvalidParams` where that is not possible."""
    path = _allowed(uri, folders)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".history-sidecar-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidParams.at("/uri", f"cannot be written: {_reason(error)}") from None


def folder_of(uri: str) -> Path | None:
    """Return the folder that a `file:` URI names, or `None`."""
    path = _path_of(uri)
    return path if path is not None and path.is_dir() else None


def _allowed(uri: str, folders: Sequence[Path]) -> Path:
    path = _path_of(uri)
    if path is None or not path.is_absolute():
        raise InvalidParams.at("/uri", "must be a file: URI with an absolute path")
    resolved = path.resolve()
    if not any(resolved.is_relative_to(folder.resolve()) for folder in folders):
        raise InvalidParams.at("/uri", "is not inside an allowed folder")
    return resolved


def _path_of(uri: str) -> Path | None:
    try:
        parts = urlsplit(uri)
        os.fsencode(unquote(parts.path))
    except ValueError:  # a bracket without its pair, a lone surrogate
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in unquote(parts.path):
        return None
    return Path(url2pathname(parts.path))


def _reason(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()
