"""A service on each store that needs no server of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sidecar.service import HistoryService, Session, open_store


@pytest.fixture(params=["memory", "sqlite"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store is."""
    return ":memory:" if request.param == "memory" else str(tmp_path / "data" / "store.db")


@pytest_asyncio.fixture
async def service(location: str) -> AsyncIterator[HistoryService]:
    """An open service whose clock stands at 1 000."""
    async with HistoryService(open_store(location), now=lambda: 1000) as opened:
        yield opened


@pytest.fixture
def session(service: HistoryService) -> Session:
    """A session of it."""
    return service.session("tester")
