"""Editors on real sidecar processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lsp_editor import RICH, Editor


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    """A rich editor."""
    with Editor(RICH) as editor:
        yield editor


@pytest.fixture
def plain() -> Iterator[Editor]:
    """An editor that announces nothing, as a small client does."""
    with Editor({}) as editor:
        yield editor
