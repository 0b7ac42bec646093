"""Every test here drives a real editor on a temporary store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from editor_stage import HERE, Stage


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.editor)
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A seeded stage."""
    stage = Stage(tmp_path)
    stage.seed()
    yield stage
    stage.close()
