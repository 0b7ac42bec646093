"""`pytest tests/wire --update-golden` writes the golden payloads anew; review the difference before you commit it."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites goldens."""
    parser.addoption("--update-golden", action="store_true", default=False, help="write golden files anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Say whether goldens are to be written."""
    return bool(request.config.getoption("--update-golden", default=False))
