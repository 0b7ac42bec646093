"""What a server process is told when it starts: flags first, then the environment, then defaults.

Rules: this is the only place that reads the environment for settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

STORE_VARIABLE = "HISTORY_SIDECAR_STORE"
FOLDERS_VARIABLE = "HISTORY_SIDECAR_FOLDERS"
MASK_VARIABLE = "HISTORY_SIDECAR_MASK"
LOG_VARIABLE = "HISTORY_SIDECAR_LOG"
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@frozen(kw_only=True)
class Settings:
    """How to serve."""

    store: str
    """A SQLite file, `:memory:`, or `postgresql://…`."""

    store_is_default: bool = False
    """Nobody named the store, so a client may (`initializationOptions.sidecar.store`)."""

    folders: tuple[Path, ...] = ()
    """Where import and export may touch files, beside the workspace folders of the client."""

    mask: tuple[str, ...] | None = None
    """Kinds of secrets (`core.secrets`) that are masked before anything is stored; `()` for all, `None` for none."""

    log_level: str = "WARNING"
    """Least severe level that goes to stderr; payloads are logged at DEBUG only."""


def settings_from(store: str | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Combine the `--store` flag with the environment."""
    named = store or environment.get(STORE_VARIABLE)
    level = environment.get(LOG_VARIABLE, "").upper()
    return Settings(
        store=named or str(default_store(environment)),
        store_is_default=not named,
        folders=tuple(Path(name) for name in environment.get(FOLDERS_VARIABLE, "").split(os.pathsep) if name),
        mask=_masked(environment.get(MASK_VARIABLE, "")),
        log_level=level if level in LOG_LEVELS else "WARNING",
    )


def _masked(value: str) -> tuple[str, ...] | None:
    names = tuple(name for name in value.replace(",", " ").split() if name)
    if not names or names[0].lower() in ("0", "no", "off", "false", "none"):
        return None
    return () if names[0].lower() in ("1", "yes", "on", "true", "all") else names


def default_store(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return the one file that every editor and agent of a user shares."""
    home = Path(environment.get("HOME") or Path.home())
    if platform == "win32":
        data = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        data = home / "Library" / "Application Support"
    else:
        named = environment.get("XDG_DATA_HOME", "")
        # A relative XDG_DATA_HOME is invalid and ignored (XDG base directory specification).
        data = Path(named) if os.path.isabs(named) else home / ".local" / "share"
    return data / "history-sidecar" / "store.db"
