"""The synchronous primitives that an engine brings, and the rows they move.

Rules: a transaction is used by one thread; nothing here knows operations. A row is what is stored, so adding a field
is a migration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from sidecar.core.jsontext import Json
from sidecar.core.layouts import Layout
from sidecar.store.base import Baseline
from sidecar.store.blobs import Blob, Place
from sidecar.store.words import Phrase

ROLE_CODES = {"system": 0, "user": 1, "assistant": 2, "tool": 3, "note": 4, "summary": 5}
USER = ROLE_CODES["user"]


@frozen(kw_only=True)
class HistoryRow:
    """One live history. `tail` and `cumulative` are the last sequence number and the estimate sum of its own log."""

    hid: int
    name: str
    version: int
    layout: int
    len: int
    tail: int
    cumulative: int
    estimate: int
    marks: int
    created_at: int
    updated_at: int
    title: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(factory=dict)
    baseline: Baseline | None = None
    calibration: Json = None


@frozen(kw_only=True)
class EntryRow:
    """One entry to write. `layout` and `marks` are those of the version it was made in."""

    seq: int
    entry_id: str
    body: bytes
    measure: bytes
    estimate: int
    cumulative: int
    role: int
    layout: int
    marks: int
    places: tuple[Place, ...] = ()
    """Where `body` refers to blobs."""
    blobs: tuple[Blob, ...] = ()
    """The blobs it brings."""


@frozen(kw_only=True)
class StoredEntry:
    """One entry as read."""

    log: int
    seq: int
    body: bytes
    measure: bytes
    layout: int
    marks: int


@frozen(kw_only=True)
class VersionRecord:
    """One change of a history in the journal."""

    hid: int
    version: int
    previous: int
    kind: str
    layout: int
    len: int
    marks: int
    at: int
    actor: str | None
    operation_id: str | None
    renamed_from: str | None = None


@frozen
class Match:
    """One entry of a log that a search found; a lower score is better."""

    score: float
    log: int
    seq: int


class Reader(Protocol):
    """What reading needs."""

    def find(self, name: str) -> HistoryRow | None:
        """Return the live history of this name."""

    def tombstone(self, name: str) -> int:
        """Return the version that a former life of this name ended with, 0 where there was none."""

    def version(self, hid: int, version: int) -> VersionRecord | None:
        """Return the journal row of one version."""

    def oldest_version(self, hid: int) -> int:
        """Return the oldest version that can be read."""

    def layout(self, hid: int, layout: int) -> Layout:
        """Return one layout."""

    def marks(self, hid: int, marks: int) -> Mapping[str, str]:
        """Return elided entry id -> policy."""

    def entries(
        self, log: int, lo: int, hi: int, *, references: bool = False, most: int | None = None
    ) -> list[StoredEntry]:
        """Return the entries `lo` to `hi` (exclusive) of a log, in order; large strings as references on request.

        It stops behind the entry that passes `most` bytes: a thousand pictures do not fit into memory.
        """

    def bodies(self, log: int, lo: int, hi: int, *, references: bool = False, most: int | None = None) -> list[bytes]:
        """Return their bodies alone."""

    def present(self, log: int, lo: int, hi: int) -> list[StoredEntry]:
        """Return those of the entries that were not pruned and read back, with references in place of large strings."""

    def recall(self, name: str, operation_id: str) -> tuple[bytes, bytes] | None:
        """Return (digest, result) of a remembered operation."""

    def find_blob(self, digest: str) -> Blob | None:
        """Return one blob, or `None`."""

    def roles(self, log: int, lo: int, hi: int) -> list[int]:
        """Return their role codes alone."""

    def estimate(self, log: int, lo: int, hi: int) -> int:
        """Return the sum of their estimates, in O(1)."""

    def lookup(self, log: int, entry_id: str) -> list[int]:
        """Return the sequence numbers at which a log holds an entry id, ascending."""

    def lookup_all(self, log: int, entry_ids: Sequence[str]) -> dict[str, list[int]]:
        """Return what `lookup` returns for each of many entries, without those that the log does not hold."""

    def records_below(self, hid: int, version: int, limit: int) -> list[tuple[VersionRecord, bool]]:
        """Return journal rows below a version, newest first, and whether this process wrote them."""

    def histories(self, prefix: str, order_by: str, after: tuple[Any, ...] | None, limit: int) -> list[HistoryRow]:
        """Return live histories in an order of `ORDERS`, behind the key `after`: (name) or (time, name)."""

    def last_change(self) -> tuple[int, int]:
        """Return the cursor behind the newest change."""

    def changes_since(self, last: tuple[int, int]) -> list[tuple[tuple[int, int], str, VersionRecord, bool]]:
        """Return (cursor, newest name of the history, row, whether it is ours) behind a cursor, in commit order."""

    def next_rename(self, hid: int, version: int) -> str | None:
        """Return the name that the first rename behind a version took away, `None` where there is none."""

    # Search (`store.searching`).

    def unindexed(self) -> tuple[int, int, int] | None:
        """Return (log, first sequence number that is not indexed, last one) of some log, or `None`."""

    def matches(self, phrases: Sequence[Phrase], start: tuple[float, int, int] | None, limit: int) -> list[Match]:
        """Return matches in order of (score, log, sequence number), from the key `start` on, that one included."""

    def shown_by(self, log: int) -> list[HistoryRow]:
        """Return the live histories whose layouts may name a log, in name order."""

    # Pruning (`store.retention`).

    def lives(self, name: str | None) -> list[tuple[HistoryRow, bool]]:
        """Return every life of a name, or of all, and whether it is the living one."""

    def count_versions(self, hid: int, below: int) -> int:
        """Return how many versions below `below` there are."""

    def version_back(self, hid: int, count: int) -> int:
        """Return the oldest of the newest `count` versions."""

    def version_from(self, hid: int, at: int) -> int:
        """Return the oldest version that is not older than a time, 0 for none."""

    def spans(self, hid: int, first: int) -> list[tuple[int, int]]:
        """Return (layout, greatest length) of the versions from `first` on."""

    def borrowers(self, log: int) -> list[int]:
        """Return every history, living or not, whose layouts may name a log; itself included."""

    def tail(self, log: int) -> int:
        """Return the last sequence number of a log."""

    def weigh(self, log: int, lo: int, hi: int) -> int:
        """Return the bytes that the entries of a range hold."""

    def weigh_blobs(self, gaps: Sequence[tuple[int, int, int]]) -> int:
        """Return the bytes of the blobs that only entries in these ranges (log, lo, hi) refer to."""


class Transaction(Reader, Protocol):
    """What writing needs on top."""

    def create(self, name: str, at: int) -> HistoryRow:
        """Make a history row with a fresh `hid`, version 0, layout 0 and no entries."""

    def save(self, row: HistoryRow) -> None:
        """Write a history row, except its name: an unchanged name would still rewrite a page of its index."""

    def rename(self, row: HistoryRow) -> None:
        """Write the name of a history row."""

    def remove(self, row: HistoryRow) -> None:
        """Take a history out of the live names; its entries stay."""

    def bury(self, name: str, version: int) -> None:
        """Remember the version that this name ended with."""

    def remember(self, name: str, operation_id: str, digest: bytes, result: bytes, at: int) -> None:
        """Keep a result for at least the last `REMEMBERED` operations of this name."""

    def journal(self, record: VersionRecord) -> None:
        """Write one change."""

    def add_layout(self, hid: int, layout: int, ranges: Layout) -> None:
        """Write one layout."""

    def add_marks(self, hid: int, marks: Mapping[str, str]) -> int:
        """Write one set of elision marks and return its number; 0 is the empty set."""

    def add_entries(self, hid: int, rows: Sequence[EntryRow]) -> None:
        """Write entries to the log of a history, with the blobs they bring."""

    def add_words(self, log: int, rows: Sequence[tuple[int, str]]) -> None:
        """Index the words of entries (sequence number, words separated by spaces)."""

    def set_indexed(self, log: int, seq: int) -> None:
        """Remember up to which entry a log is indexed."""

    def drop_versions(self, hid: int, below: int) -> None:
        """Forget the versions below `below`; of a deleted history also what it said about itself."""

    def drop_entries(self, log: int, lo: int, hi: int, limit: int) -> int:
        """Destroy up to `limit` entries of a range, their words, and blobs that nothing refers to any more."""

    def drop_layouts(self, log: int) -> None:
        """Destroy layouts and marks that neither a version nor an entry refers to."""

    def forget_operations(self, name: str) -> None:
        """Destroy the remembered results of a name."""


REMEMBERED = 1000
"""How many operation results are kept per history name (`protocol.md` §5)."""

ORDERS = {"name": "name", "updatedAt": "updated_at", "createdAt": "created_at"}
"""`orderBy` of `history/list` -> field; times are newest first."""
