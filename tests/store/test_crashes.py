"""Nothing acknowledged is lost: kill -9, power loss, failing input and output, replaced files, foreign closers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from sidecar.core.errors import SidecarError, StorageCorrupt, StorageUnavailable
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation, Operation, Replace, Truncate
from sidecar.store.events import events_since
from sidecar.store.sqlite import engine
from sidecar.store.sqlite.care import check
from tests.store.running import entry

# --- kill -9 ----------------------------------------------------------------------------------------------------------

WRITER = """
import asyncio, random, sys
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation, Replace, SplicePrefix, Truncate
from tests.store.running import entry, summary

async def work(path, who, seed):
    draw = random.Random(seed)
    store = open_store(path)
    await store.open()
    number = 0
    async def one(lane):
        nonlocal number
        name = f"{who}/{lane}"
        while True:
            number += 1
            new = [entry(f"{seed}.{number}.{i}", "y" * draw.randint(0, 3000)) for i in range(draw.randint(1, 4))]
            operation = draw.choice([Append(tuple(new))] * 7 + [
                Replace(tuple(new)), SplicePrefix(drop_count=3, summary=summary(f"s{seed}.{number}")), Truncate(len=9)])
            try:
                done = await store.apply(Mutation(history=name, operation=operation, at=number))
            except Exception as error:
                if getattr(error, "kind", "") == "historyNotFound":
                    continue
                raise
            print(name, done.head.version, done.head.len, flush=True)
    await asyncio.gather(*(one(lane) for lane in range(4)))

asyncio.run(work(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def child(code: str, *args: str) -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )


def kill_rounds(path: Path, rounds: int) -> int:
    """Kill two writers at random moments, again and again; return how many acknowledged changes were looked for."""
    draw = random.Random(5)
    acked: dict[str, dict[int, int]] = {}
    for number in range(rounds):
        writers = [child(WRITER, str(path), who, str(number * 2 + at)) for at, who in enumerate("ab")]
        first = [writer.stdout.readline() for writer in writers]  # type: ignore[union-attr]
        time.sleep(draw.random() * 0.4)
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        for writer, line in zip(writers, first, strict=True):
            assert writer.stdout is not None
            rest = writer.stdout.read()  # `communicate` would miss what `readline` has buffered
            writer.communicate()
            for ack in (line + rest).splitlines(keepends=True):
                if ack.endswith("\n"):
                    name, version, length = ack.split()
                    acked.setdefault(name, {})[int(version)] = int(length)
        asyncio.run(everything_is_there(str(path), acked))
    assert check(path) == ()
    return sum(map(len, acked.values()))


async def everything_is_there(path: str, acked: dict[str, dict[int, int]]) -> None:
    store = open_store(path)
    await store.open()
    for name, versions in acked.items():
        head = await store.head(name)
        assert head is not None and head.version >= max(versions), f"{name} lost acknowledged changes"
        for version in list(versions)[-5:]:
            found = await store.bodies(name, version=version)
            assert (found.len, len(found.bodies)) == (versions[version], versions[version])
    await store.close()


def test_kill(tmp_path: Path) -> None:
    """Whatever was acknowledged before a kill -9 is there after it, and the store opens as if nothing had been."""
    assert kill_rounds(tmp_path / "store.db", 3) > 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kill_often(tmp_path: Path) -> None:
    """The same forty times."""
    assert kill_rounds(tmp_path / "store.db", 40) > 1000


# --- power loss -------------------------------------------------------------------------------------------------------


class Disk(apsw.VFS):
    """A file system that knows which writes a power cut may still lose."""

    def __init__(self) -> None:
        self.name = f"power{id(self)}"
        self.files: dict[str, tuple[bytearray, list[tuple[int | None, Any]]]] = {}
        self.event: Callable[[], None] = lambda: None
        super().__init__(self.name, "unix")

    def xOpen(self, name: Any, flags: Any) -> Any:
        return _File(self, name, flags)

    def xDelete(self, path: str, sync: bool) -> None:
        super().xDelete(path, sync)
        self.files.pop(path, None)

    def image(self, draw: random.Random) -> dict[str, bytes]:
        """Return what the disk may hold after a power cut now: un-synced writes lost, kept, reordered or torn."""
        out = {}
        for name, (durable, waiting) in self.files.items():
            kept = list(waiting)
            match draw.choice(("none", "all", "prefix", "some")):
                case "none":
                    kept = []
                case "prefix":
                    kept = kept[: draw.randint(0, len(kept))]
                case "some":
                    kept = [each for each in kept if draw.random() < 0.5]
                    draw.shuffle(kept)
            torn: list[tuple[int | None, Any]] = []
            for offset, data in kept:
                if offset is None or draw.random() > 0.3:
                    torn.append((offset, data))
                else:
                    sectors = range(0, len(data), 512)
                    torn += [(offset + at, data[at : at + 512]) for at in sectors if draw.random() < 0.5]
            out[os.path.basename(name)] = bytes(_written(bytearray(durable), torn))
        return out


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.disk = disk
        self.parts = disk.files.setdefault(path, (bytearray(), [])) if path else (bytearray(), [])

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self.parts[1].append((offset, bytes(data)))
        self.disk.event()

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self.parts[1].append((None, size))
        self.disk.event()

    def xSync(self, flags: int) -> None:
        self.disk.event()
        super().xSync(flags)
        _written(self.parts[0], self.parts[1])
        self.parts[1].clear()


def _written(image: bytearray, writes: list[tuple[int | None, Any]]) -> bytearray:
    for offset, data in writes:
        if offset is None:
            del image[data:]
            continue
        image.extend(b"\0" * (offset - len(image)))
        image[offset : offset + len(data)] = data
    return image


@contextlib.contextmanager
def on_disk(monkeypatch: pytest.MonkeyPatch, name: str, synchronous: str = "FULL") -> Iterator[None]:
    """Let the engine's connections use a file system of ours."""
    real = apsw.Connection

    def connect(path: str, **more: Any) -> apsw.Connection:
        return real(path, vfs=name, **more)

    configure = engine.schema.configure

    def configured(connection: apsw.Connection, *, writer: bool) -> None:
        configure(connection, writer=writer)
        connection.execute(f"PRAGMA synchronous={synchronous}")

    with monkeypatch.context() as patch:
        patch.setattr(engine.apsw, "Connection", connect)
        patch.setattr(engine.schema, "configure", configured)
        patch.setattr(engine, "CHECKPOINT_PAGES", 30)
        yield


Image = tuple[dict[str, bytes], int]


async def power_cuts(path: Path, disk: Disk, operations: int, share: float) -> tuple[list[Image], dict[int, int]]:
    """Run a script of changes; return what power cuts at random writes would leave, and every acknowledged length."""
    draw = random.Random(11)
    store = open_store(str(path))
    await store.open()
    acked: dict[int, int] = {}
    images: list[Image] = []

    def event() -> None:
        if draw.random() < share:
            images.append((disk.image(draw), max(acked, default=0)))

    for number in range(operations):
        new = tuple(entry(f"e{number}.{i}", "z" * draw.randint(0, 6000)) for i in range(draw.randint(1, 3)))
        operation: Operation = (
            draw.choice([Append(new)] * 7 + [Replace(new), Truncate(len=1)]) if number else Append(new)
        )
        done = await store.apply(Mutation(history="h", operation=operation, at=number))
        acked[done.head.version] = done.head.len
        disk.event = event  # the first change makes the tables
    disk.event = lambda: None
    await store.close()
    return images, acked


async def judged(path: Path, acked: int, lengths: dict[int, int]) -> str:
    """Open what a power cut left, and say whether it holds every change acknowledged before the cut."""
    store = open_store(str(path))
    try:
        await store.open()
    except SidecarError:
        return "damaged"
    try:
        head = await store.head("h")
        if head is None or head.version < acked:
            return "lost"
        for version in range(max(1, acked - 2), acked + 1):
            if len((await store.bodies("h", version=version)).bodies) != lengths[version]:
                return "damaged"
        return "damaged" if check(path) else "whole"
    except StorageCorrupt:
        return "damaged"
    finally:
        await store.close()


def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str, operations: int, share: float) -> set[str]:
    disk = Disk()
    with on_disk(monkeypatch, disk.name, synchronous):
        images, acked = asyncio.run(power_cuts(tmp_path / synchronous / "store.db", disk, operations, share))
    assert len(images) > 20
    results: dict[str, int] = {}
    for number, (image, version) in enumerate(images):
        folder = tmp_path / f"{synchronous}{number}"
        folder.mkdir(mode=0o700)
        for name, data in image.items():
            (folder / name).write_bytes(data)
        result = asyncio.run(judged(folder / "store.db", version, acked))
        results[result] = results.get(result, 0) + 1
        shutil.rmtree(folder)
    print(synchronous, results)
    return set(results)


def test_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No power cut loses or damages what was acknowledged; with fewer syncs the same test finds losses."""
    assert cut(tmp_path, monkeypatch, "FULL", 40, 0.1) == {"whole"}
    assert "lost" in cut(tmp_path, monkeypatch, "NORMAL", 40, 0.15)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_power_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with many more cuts."""
    assert cut(tmp_path, monkeypatch, "FULL", 250, 0.5) == {"whole"}
    assert "lost" in cut(tmp_path, monkeypatch, "NORMAL", 250, 0.5)


# --- failing input and output -----------------------------------------------------------------------------------------


class Failing(apsw.VFS):
    """A file system whose n-th write, sync or truncate fails, once."""

    def __init__(self) -> None:
        self.name = f"failing{id(self)}"
        self.left = 1 << 60
        super().__init__(self.name, "unix")

    def xOpen(self, name: Any, flags: Any) -> Any:
        return _FailingFile(self, name, flags)

    def step(self, error: type[apsw.Error]) -> None:
        self.left -= 1
        if self.left == 0:
            raise error("injected")


class _FailingFile(apsw.VFSFile):
    def __init__(self, disk: Failing, name: Any, flags: Any) -> None:
        super().__init__("unix", name, flags)
        self.disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.step(apsw.FullError)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self.disk.step(apsw.IOError)
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        self.disk.step(apsw.IOError)
        super().xTruncate(size)


async def swept(path: Path, disk: Failing, at: int) -> bool:
    """Fail one call of a script; say whether the script was long enough to meet it."""
    store = open_store(str(path))
    await store.open()
    disk.left = at
    acked: dict[int, str] = {}
    refused = 0
    for number in range(6):
        key = f"k{number}"
        mutation = Mutation(
            history="h",
            operation=Append((entry(f"e{number}", "w" * 5000),)),
            at=number,
            operation_id=key,
            digest=key.encode(),
        )
        for _ in range(5):
            try:
                done = await store.apply(mutation)
                acked[done.head.version] = key
                break
            except SidecarError as error:
                assert error.kind in ("storageUnavailable", "storageReadOnly"), error.kind
                refused += 1
        else:
            raise AssertionError("the store did not come back")
    disk.left = 1 << 60
    assert sorted(acked) == [1, 2, 3, 4, 5, 6], "a retry with the same key never makes a second change"
    assert (await store.bodies("h")).len == 6
    await store.close()
    return refused > 0


def test_every_call_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever write, sync or truncate fails, the change is refused or done; a retry with its key does it once."""
    disk = Failing()
    with on_disk(monkeypatch, disk.name):
        met = []
        for at in range(1, 200, 3):
            path = tmp_path / f"n{at}" / "store.db"
            met.append(asyncio.run(swept(path, disk, at)))
            assert check(path) == ()
            if not met[-1]:
                break
    assert sum(met) > 5 and not met[-1], met


# --- replaced files and foreign closers -------------------------------------------------------------------------------


def test_replaced_files(tmp_path: Path) -> None:
    """A store whose file was replaced or unlinked refuses, where SQLite would go on writing into nothing."""

    async def work() -> None:
        store = open_store(str(tmp_path / "store.db"))
        await store.open()
        await store.apply(Mutation(history="h", operation=Append((entry("a", "x"),)), at=1))
        (tmp_path / "store.db").unlink()
        with pytest.raises(StorageUnavailable) as refused:
            await store.apply(Mutation(history="h", operation=Append((entry("b", "x"),)), at=1))
        assert refused.value.data["detail"] == "replaced"
        with pytest.raises(StorageUnavailable):
            await store.head("h")
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize("damage", [b"", b"garbage" * 4000], ids=["truncated", "overwritten"])
def test_a_file_overwritten_in_place_acknowledges_nothing(tmp_path: Path, damage: bytes) -> None:
    """The pages are cached and the file is the same one, so SQLite alone would go on committing into a ruin."""

    async def work() -> None:
        store = open_store(str(tmp_path / "store.db"))
        await store.open()
        await store.apply(Mutation(history="h", operation=Append((entry("a", "x"),)), at=1))
        with open(tmp_path / "store.db", "r+b") as file:
            file.truncate(0)
            file.write(damage)
        with pytest.raises(StorageCorrupt):
            await store.apply(Mutation(history="h", operation=Append((entry("b", "x"),)), at=1))
        with pytest.raises(StorageCorrupt):
            await store.head("h")
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\x00",
        b'{"id":"a"',
        b"[]",
        b'{"id":"a","x":tru}',
        b'{"id":"\xff"}',
        b"{}",
        b'{"id":"a","message":{}}',
        b'{"id":"a","message":"\\ud800"}',
        b'{"id":7,"message":{"role":"user"}}',
    ],
)
def test_a_damaged_entry_is_never_handed_out(tmp_path: Path, body: bytes) -> None:
    """Stored bytes go into replies as they are: damaged ones are `storageCorrupt`, and other histories go on."""

    async def work() -> None:
        store = open_store(str(tmp_path / "store.db"))
        await store.open()
        for history in ("h", "k"):
            await store.apply(Mutation(history=history, operation=Append((entry("a", "word \ud800"),)), at=1))
        other = apsw.Connection(str(tmp_path / "store.db"))
        other.execute("UPDATE entry SET body = ? WHERE id = (SELECT min(id) FROM entry)", (body,))
        with pytest.raises(StorageCorrupt) as refused:
            await store.bodies("h")
        assert refused.value.data["history"] == "h"
        with pytest.raises(StorageCorrupt):
            await store.read("h")
        assert len((await store.bodies("k")).bodies) == 1
        page = await store.search("word", prefix="", cursor=None, limit=9)
        assert [hit.history for hit in page.rows] == ["k"]
        await store.apply(Mutation(history="h", operation=Append((entry("b", "x"),)), at=1))
        events, _ = await store._reading(lambda tx: events_since(tx, (0, 0)))
        assert [(event.history, event.version, event.edits is None) for event in events] == [
            ("h", 1, True),
            ("k", 1, False),
            ("h", 2, False),
        ]
        other.close()
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize("location", ["a\0b", "\ud800", "~no-such-user-here/x", "file:///tmp/x.db", "mysql://h/d"])
def test_a_place_that_cannot_be(location: str) -> None:
    """A name that no file can have is refused as a store, not as a defect."""
    with pytest.raises(StorageUnavailable):
        open_store(location)


OTHER = """
import asyncio, sys
from sidecar.store import open_store
from sidecar.store.base import Append, Mutation
from tests.store.running import entry

async def work():
    store = open_store(sys.argv[1])
    await store.open()
    await store.apply(Mutation(history="h", operation=Append((entry(sys.argv[2], "x"),)), at=1))
    await store.close()

asyncio.run(work())
"""


def test_foreign_closers(tmp_path: Path) -> None:
    """Closing the files behind SQLite's back drops its locks; even then another process takes nothing away."""
    path = tmp_path / "store.db"

    async def work() -> None:
        store = open_store(str(path))
        await store.open()
        log = path.with_name("store.db-wal")
        await store.apply(Mutation(history="h", operation=Append((entry("mine0", "x"),)), at=1))
        kept = log.stat().st_ino
        for number in range(3):
            for name in ("", "-wal", "-shm"):
                open(f"{path}{name}", "rb").close()
            assert child(OTHER, str(path), f"other{number}").wait() == 0
            await store.apply(Mutation(history="h", operation=Append((entry(f"mine{number + 1}", "x"),)), at=1))
        assert log.stat().st_ino == kept
        await store.close()

    asyncio.run(work())
    assert check(path) == ()
    expected = ["mine0", "other0", "mine1", "other1", "mine2", "other2", "mine3"]
    assert asyncio.run(ids(path)) == expected


async def ids(path: Path) -> list[str]:
    store = open_store(str(path))
    await store.open()
    bodies = (await store.bodies("h")).bodies
    await store.close()
    return [json.loads(body)["id"] for body in bodies]
