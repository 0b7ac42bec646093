"""Where the store is when nobody says so."""

from __future__ import annotations

import pytest

from sidecar.config import default_store, settings_from


@pytest.mark.parametrize(
    ("environment", "platform", "path"),
    [
        ({"HOME": "/h"}, "linux", "/h/.local/share/history-sidecar/store.db"),
        ({"HOME": "/h", "XDG_DATA_HOME": "/d"}, "linux", "/d/history-sidecar/store.db"),
        ({"HOME": "/h", "XDG_DATA_HOME": "relative"}, "linux", "/h/.local/share/history-sidecar/store.db"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/history-sidecar/store.db"),
        ({"HOME": "/h", "LOCALAPPDATA": "/l"}, "win32", "/l/history-sidecar/store.db"),
    ],
)
def test_the_default_is_the_users_data_directory(environment: dict[str, str], platform: str, path: str) -> None:
    """One file, so that every editor and agent of a user shares it."""
    assert default_store(environment, platform).as_posix() == path


def test_the_flag_beats_the_environment_and_both_beat_the_client() -> None:
    """Only a store that nobody named may be chosen by the client."""
    named = {"HOME": "/h", "HISTORY_SIDECAR_STORE": "postgresql://x/y", "HISTORY_SIDECAR_LOG": "debug"}
    got = [settings_from("a.db", named), settings_from(None, named), settings_from(None, {"HOME": "/h"})]
    assert [(item.store, item.store_is_default, item.log_level) for item in got] == [
        ("a.db", False, "DEBUG"),
        ("postgresql://x/y", False, "DEBUG"),
        ("/h/.local/share/history-sidecar/store.db", True, "WARNING"),
    ]
