"""How much one call may ask for; `sidecar/info` tells them to clients."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Limits:
    """Bounds of one call; exceeding one raises `LimitExceeded` with its name."""

    entries_per_call: int = 10_000
    page_size: int = 1000
    """Most rows of one page; a larger `limit` is cut to it."""
    default_page: int = 100
    """Rows of a page where no `limit` is given."""
    reply_bytes: int = 32 * 1024 * 1024
    """A snapshot stops before it grows beyond this; what is missing is asked for again."""
    chunk_bytes: int = 4 * 1024 * 1024
    """A long read may be cancelled after each such piece."""
    metadata_bytes: int = 256 * 1024
    """Title, tags and metadata of one patch."""
    subscriptions: int = 1000
    """Subscriptions of one connection."""


DEFAULT_LIMITS = Limits()
