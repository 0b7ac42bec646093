"""What an import reads, in pieces of bounded size, and what makes an entry ready to be stored.

Rules: reading runs in a thread, one piece ahead of the store, or for a large file in a process of its own
(`service.apart`), which uses the second processor that parsing in a thread cannot. Both yield the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar

from attrs import frozen

from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry
from sidecar.formats.base import ImportedHistory, Restart
from sidecar.formats.pieces import cut, stamped
from sidecar.store.base import Prepared
from sidecar.store.measuring import prepare, prepare_body

T = TypeVar("T")


@frozen
class Written:
    """One stamped entry, encoded but not measured yet."""

    id: str
    body: bytes


Row: TypeAlias = Entry | Written | Prepared
"""An entry on its way into the store."""

Piece: TypeAlias = Sequence[Row] | Restart


class Conversation(Protocol):
    """One conversation of a transcript, read once; title and facts are known when it is at its end."""

    @property
    def source_id(self) -> str | None:
        """The tool's own id of it."""

    @property
    def branch(self) -> str | None:
        """Names a side arm of the conversation before it."""

    def pieces(self) -> AsyncGenerator[Piece, None]:
        """Yield entries, at most as many together as one change may bring."""

    def title(self) -> str | None:
        """What the tool called it."""

    def facts(self) -> Mapping[str, Json]:
        """What the tool said about it."""


@frozen
class InProcess:
    """A conversation that is read in a thread."""

    found: ImportedHistory
    limit: int

    @property
    def source_id(self) -> str | None:
        return self.found.source_id

    @property
    def branch(self) -> str | None:
        return self.found.branch

    def pieces(self) -> AsyncGenerator[Piece, None]:
        return ahead(cut(self.found.entries, self.limit))

    def title(self) -> str | None:
        return self.found.title()

    def facts(self) -> Mapping[str, Json]:
        return self.found.metadata()


def prepared(rows: Sequence[Row], now: int, filters: Sequence[Callable[[Entry], Entry]] = ()) -> list[Prepared]:
    """Make entries ready to be stored; those that know no time get `now`."""
    ready = []
    for row in rows:
        if isinstance(row, Written):
            ready.append(prepare_body(row.id, row.body))
        elif isinstance(row, Prepared):
            ready.append(row)
        else:
            entry = stamped(row, now)
            for change in filters:
                entry = change(entry)
            ready.append(prepare(entry))
    return ready


async def ahead(stream: Iterator[T]) -> AsyncGenerator[T, None]:
    """Yield from a generator that runs in a thread, one item ahead, so that reading goes on while a store writes."""
    coming = asyncio.ensure_future(asyncio.to_thread(next, stream, None))
    try:
        while (item := await coming) is not None:
            coming = asyncio.ensure_future(asyncio.to_thread(next, stream, None))
            yield item
    finally:
        # A generator cannot be stopped while it runs; what is cancelled waits for the piece under way.
        await asyncio.wait([coming])
        if not coming.cancelled():
            coming.exception()  # nobody else will look at it
