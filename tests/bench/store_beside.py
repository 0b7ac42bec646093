"""Beside us in one run: what agents keep their messages in today. Run: `python -m tests.bench.store_beside [FOLDER]`.

openai-agents `SQLiteSession`, LangChain `SQLChatMessageHistory` and LangGraph `SqliteSaver` (extra `bench`), each as
its documentation shows it, called inside this process; we are called twice, inside this process (`Store`) and through
the real protocol, which they do not have. FOLDER is on the disk that matters.

All hold the same 10 000 messages, half of them below 600 characters, one in a hundred above 8 000, written 200 at a
time. The files are weighed after a checkpoint. LangGraph's saver is called directly, without the
graph that would call it several times per message. The calls of all alternate in a drawn order, each on a disk that has
settled.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from attrs import evolve

from sidecar.core.messages import Entry
from sidecar.service.ids import EntryIds
from sidecar.store import open_store
from sidecar.store.base import Append, Applied, Mutation, Operation, SplicePrefix
from tests.bench.transport_client import Client, median, sidecar, timed

IDS = EntryIds()
SIZE = 10_000
BATCH = 200
ROUNDS = 40
TEXT = "the agent reads the file and then it writes what was asked for "
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def texts(first: int, count: int) -> list[str]:
    """Distinct messages, the same for everybody."""
    out = []
    for number in range(first, first + count):
        size = 10 + int(random.Random(number).lognormvariate(6.4, 1.1))
        out.append(f"{number:06} {TEXT * (size // len(TEXT) + 1)}"[:size])
    return out


def stamped(entry: Entry) -> Entry:
    """Give an entry what the service gives it."""
    return evolve(entry, id=IDS.make(), ts=time.time_ns() // 1_000_000)


class Kept(Protocol):
    """One way to keep a conversation."""

    name: str
    sync = "one sync per commit (counted)"

    def append(self, messages: Sequence[str]) -> None:
        """Add user messages, durably."""

    def read(self) -> int:
        """Read everything; return how many."""

    def splice(self, count: int, summary: str) -> None:
        """Put one message in place of the first `count`."""

    def close(self) -> None:
        """Let go."""


class OurStore(Kept):
    name = "history-sidecar, in process"

    def __init__(self, path: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.store = open_store(str(path))
        self.loop.run_until_complete(self.store.open())

    def do(self, operation: Operation) -> Applied:
        return self.loop.run_until_complete(self.store.apply(Mutation(history="h", operation=operation, at=1)))

    def append(self, messages: Sequence[str]) -> None:
        self.do(Append(tuple(stamped(Entry.user(text)) for text in messages), fresh=True))

    def read(self) -> int:
        return len(self.loop.run_until_complete(self.store.bodies("h")).bodies)

    def splice(self, count: int, summary: str) -> None:
        self.do(SplicePrefix(drop_count=count, summary=stamped(Entry.summary(summary))))

    def close(self) -> None:
        self.loop.run_until_complete(self.store.close())


class OurProtocol(Kept):
    name = "history-sidecar, over stdio"

    def __init__(self, path: Path) -> None:
        self.client = Client(sidecar(str(path)))

    def append(self, messages: Sequence[str]) -> None:
        entries = [{"message": {"role": "user", "content": text}} for text in messages]
        self.client.result("history/append", json.dumps({"history": "h", "entries": entries}))

    def read(self) -> int:
        return len(json.loads(self.client.result("history/snapshot", '{"history":"h"}'))["result"]["entries"])

    def splice(self, count: int, summary: str) -> None:
        params = {"history": "h", "dropCount": count, "summary": summary}
        self.client.result("history/splicePrefix", json.dumps(params))

    def close(self) -> None:
        self.client.__exit__(None, None, None)


class OpenAIAgents(Kept):
    name = "openai-agents SQLiteSession"

    def __init__(self, path: Path) -> None:
        from agents import SQLiteSession

        self.loop = asyncio.new_event_loop()
        self.session = SQLiteSession("h", path)
        mode, level = pragmas(self.session._get_connection())
        self.sync = f"{mode}, synchronous={level}"

    def append(self, messages: Sequence[str]) -> None:
        self.loop.run_until_complete(self.session.add_items([{"role": "user", "content": text} for text in messages]))

    def read(self) -> int:
        return len(self.loop.run_until_complete(self.session.get_items()))

    def splice(self, count: int, summary: str) -> None:
        # There is no such call: read, clear, write anew. A crash in between loses the conversation.
        items = self.loop.run_until_complete(self.session.get_items())
        self.loop.run_until_complete(self.session.clear_session())
        self.loop.run_until_complete(self.session.add_items([{"role": "user", "content": summary}, *items[count:]]))


class LangChain(Kept):
    name = "LangChain SQLChatMessageHistory"

    def __init__(self, path: Path) -> None:
        from langchain_community.chat_message_histories import SQLChatMessageHistory
        from langchain_core.messages import HumanMessage

        self.message = HumanMessage
        self.history = SQLChatMessageHistory("h", connection=f"sqlite:///{path}")
        with self.history.engine.connect() as connection:
            mode, level = pragmas(connection.connection.driver_connection)
            self.sync = f"{mode}, synchronous={level}"

    def append(self, messages: Sequence[str]) -> None:
        self.history.add_messages([self.message(text) for text in messages])

    def read(self) -> int:
        return len(self.history.messages)

    def splice(self, count: int, summary: str) -> None:
        # There is no such call: read, clear, write anew. A crash in between loses the conversation.
        messages = self.history.messages
        self.history.clear()
        self.history.add_messages([self.message(summary), *messages[count:]])


class LangGraph(Kept):
    name = "LangGraph SqliteSaver"

    def __init__(self, path: Path) -> None:
        from langchain_core.messages import HumanMessage
        from langgraph.checkpoint.base import empty_checkpoint
        from langgraph.checkpoint.sqlite import SqliteSaver

        self.message, self.empty = HumanMessage, empty_checkpoint
        connection = sqlite3.connect(path, check_same_thread=False)
        self.saver = SqliteSaver(connection)
        self.saver.setup()
        mode, level = pragmas(connection)
        self.sync = f"{mode}, synchronous={level}"
        self.config: Any = {"configurable": {"thread_id": "h", "checkpoint_ns": ""}}
        self.messages: list[Any] = []
        self.step = 0

    def put(self) -> None:
        self.step += 1
        checkpoint = {**self.empty(), "channel_values": {"messages": self.messages}}
        config = {"configurable": {"thread_id": "h", "checkpoint_ns": ""}}
        self.saver.put(config, checkpoint, {"source": "loop", "step": self.step, "parents": {}}, {})

    def append(self, messages: Sequence[str]) -> None:
        self.messages = [*self.messages, *(self.message(text) for text in messages)]
        self.put()

    def read(self) -> int:
        found = self.saver.get_tuple(self.config)
        assert found is not None
        return len(found.checkpoint["channel_values"]["messages"])

    def splice(self, count: int, summary: str) -> None:
        self.messages = [self.message(summary), *self.messages[count:]]
        self.put()


def pragmas(connection: Any) -> tuple[str, str]:
    """Return the journal mode and the sync level of a connection of theirs."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    (level,) = connection.execute("PRAGMA synchronous").fetchone()
    return mode.upper(), SYNCHRONOUS[level]


def weight(folder: Path) -> int:
    """Bytes of the database of one of them, once everything has left the log."""
    checkpoint = "import apsw, sys; apsw.Connection(sys.argv[1]).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)"
    # In a process of its own: two SQLite libraries on one file in one process drop each other's locks.
    subprocess.run([sys.executable, "-c", checkpoint, str(folder / "h.db")], check=True)
    return (folder / "h.db").stat().st_size


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        root = Path(name)
        kinds = (OurStore, OurProtocol, OpenAIAgents, LangChain, LangGraph)
        folders = [root / kind.__name__ for kind in kinds]
        for folder in folders:
            folder.mkdir(mode=0o700)
        them = [kind(folder / "h.db") for kind, folder in zip(kinds, folders, strict=True)]
        table: dict[str, dict[str, float | str]] = {each.name: {"sync": each.sync} for each in them}
        with (root / "floor").open("ab", buffering=0) as floor:
            measure(them, folders, table, floor.fileno())
    print(json.dumps(table, indent=2))


def measure(kept: Sequence[Kept], folders: Sequence[Path], table: dict[str, Any], floor: int) -> None:
    """Fill in the columns."""
    bodies = sum(len(text) for text in texts(0, SIZE))
    first = [timed(lambda each=each: each.append(texts(0, 1))) for each in kept]  # makes tables, imports
    assert len(first) == len(kept)
    for each, folder in zip(kept, folders, strict=True):
        for start in range(1, SIZE, BATCH):
            each.append(texts(start, min(BATCH, SIZE - start)))
        assert each.read() == SIZE
        table[each.name]["file / texts"] = round(weight(folder) / bodies, 2)
    columns: dict[str, list[list[float]]] = {}

    def write_bare() -> None:
        os.write(floor, b"x" * 1024)
        os.fdatasync(floor)

    def round_of(column: str, number: int) -> None:
        work: list[Callable[[], object]] = [
            {
                "append": lambda each=each: each.append(texts(SIZE + number, 1)),
                "read": each.read,
                "splice": lambda each=each: each.splice(100, "what was"),
            }[column]
            for each in kept
        ]
        if column == "append":
            work.append(write_bare)
        seconds = columns.setdefault(column, [[] for _ in work])
        for index in order.sample(range(len(work)), len(work)):
            os.sync()  # what somebody wrote before must not be waited for by somebody else
            seconds[index].append(timed(work[index]))

    order = random.Random(1)
    for column, rounds in (("append", ROUNDS), ("read", 5), ("splice", 3)):
        for number in range(rounds):
            round_of(column, number)
    table["bare write and fdatasync"] = {"append, ms": round(median(columns["append"].pop()) * 1000, 2)}
    for column, values in columns.items():
        for each, seconds in zip(kept, values, strict=True):
            table[each.name][f"{column}, ms"] = round(median(seconds) * 1000, 2)
    sizes = {each.read() for each in kept}
    assert len(sizes) == 1, sizes  # everybody did the same
    for each in kept:
        each.close()


if __name__ == "__main__":
    main()
