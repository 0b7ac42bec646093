"""A store of its own for each test, and a sidecar on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from peer import Peer


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "data" / "store.db")


@pytest.fixture
def peer(store: str) -> Iterator[Peer]:
    found = Peer(store)
    yield found
    found.end()
