"""One test on every engine: `@opened` runs an async test with an open store of each."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define

from sidecar.store import open_store
from sidecar.store.base import Applied, Mutation, Operation, Store
from tests.store.postgres_server import fresh_database

ENGINES = ("memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres))


@define
class Opened:
    """An open store with a clock that ticks by one per mutation."""

    store: Store
    location: str
    now: int = 1000

    async def do(self, history: str, operation: Operation, **conditions: Any) -> Applied:
        self.now += 1
        return await self.store.apply(Mutation(history=history, operation=operation, at=self.now, **conditions))

    async def bodies(self, history: str, version: int | None = None, **how: Any) -> list[bytes]:
        return [row.body for row in (await self.store.read(history, version=version, **how)).rows]


def place(engine: str, folder: Path) -> str:
    """Return the location of a new store."""
    if engine == "memory":
        return ":memory:"
    return fresh_database() if engine == "postgres" else str(folder / "s" / "store.db")


def opened(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test of one `Opened` on every engine."""

    async def with_store(location: str, values: dict[str, Any]) -> None:
        store = open_store(location)
        await store.open()
        try:
            await test(Opened(store, location), **values)
        finally:
            await store.close()

    @pytest.mark.parametrize("engine", ENGINES)
    def run(engine: str, tmp_path: Path, **values: Any) -> None:
        asyncio.run(with_store(place(engine, tmp_path), values))

    functools.update_wrapper(run, test)
    del run.__wrapped__  # type: ignore[attr-defined]
    own = list(inspect.signature(test).parameters.values())[1:]
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in ("engine", "tmp_path")),
         *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own)]
    )  # fmt: skip
    return run
