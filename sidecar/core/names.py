"""History names: the grammar, and the `history://` URIs that show a history as a document.

Rules: a name is a key, never a path; it is compared byte by byte. Grammar (`protocol.md` §3): 1 to 255 bytes,
segments `[A-Za-z0-9][A-Za-z0-9._~-]*` joined by `/`, case-sensitive. A segment starts with a letter or digit, so
`.` and `..` cannot occur.
"""

from __future__ import annotations

import re

from sidecar.core.errors import InvalidName

MAX_NAME_BYTES = 255

_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._~-]*"
_START = re.compile(r"[A-Za-z0-9._~/-]*", re.ASCII)
_NAME = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*", re.ASCII)


def check_name(name: str) -> str:
    """Return `name` unchanged, or raise `InvalidName`."""
    if len(name) > MAX_NAME_BYTES or not _NAME.fullmatch(name):
        raise InvalidName(name[:MAX_NAME_BYTES])
    return name


def may_start_a_name(prefix: str) -> bool:
    """Say whether some name can begin with this; nothing else needs to be looked up."""
    return _START.fullmatch(prefix) is not None


def is_name(name: str) -> bool:
    """Say whether `name` fits the grammar."""
    return len(name) <= MAX_NAME_BYTES and _NAME.fullmatch(name) is not None
