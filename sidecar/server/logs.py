"""Logging to stderr.

Rules: nothing of a conversation above DEBUG. pygls logs whole payloads at INFO, so its loggers stay at WARNING unless
DEBUG is asked for.
"""

from __future__ import annotations

import logging
import sys


def configure_logging(level: str) -> None:
    """Send records of `level` and above to stderr."""
    logging.basicConfig(stream=sys.stderr, level=level, format="history-sidecar: %(levelname)s: %(message)s")
    if level != "DEBUG":
        logging.getLogger("pygls").setLevel(logging.WARNING)
