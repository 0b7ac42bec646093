"""What a store is: the operations it applies, what it answers, and the promise it keeps.

Rules:
- A store knows entries as bytes. It encodes an `Entry` once (`core.jsontext.dumpb(entry_to_json(entry))`) and gives
  those bytes back without ever parsing them, except to edit the text of one entry.
- `apply` answers only after the change is durable. All checks (`operationId` first, then `ifVersion`) and the change
  itself happen in one transaction; a refused operation changes nothing.
- Versions of one history are gapless: +1 per change. Nothing but `prune` and `purge` destroys.
- The logic is written once (`store.logic`) over the synchronous primitives of `store.transaction`; an engine brings
  the primitives and the durability.

Errors are those of `core.errors`; everything here is in terms of the service, not of JSON-RPC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from attrs import field, frozen

from sidecar.core.jsontext import Json
from sidecar.core.messages import ABSENT, Absent, Entry

if TYPE_CHECKING:
    from sidecar.store.blobs import Blob, Place  # it loads msgspec, which serving does not need before it opens a store

# --- operations -------------------------------------------------------------------------------------------------------


@frozen
class Append:
    """Add stamped entries at the end; creates the history."""

    KIND: ClassVar[str] = "append"
    entries: tuple[Entry, ...]
    kind: str = "append"
    """What `history/versions` calls the change; an import says `import`."""
    fresh: bool = False
    """The ids were made for this call, so that no entry can have one of them yet."""
    beside: tuple[str, ...] = ()
    """Ids of runtime-only entries of the same call: refused like those of `entries`, but not stored."""


@frozen(kw_only=True)
class Prepared:
    """One stamped entry, encoded and measured (`store.measuring.prepare`): all that storing needs but its place."""

    id: str
    body: bytes
    measure: bytes
    estimate: int
    role: int
    """One of `store.transaction.ROLE_CODES`."""
    places: tuple[Place, ...] = ()
    """Where `body` refers to blobs."""
    blobs: tuple[Blob, ...] = ()
    """The blobs it brings."""


@frozen(kw_only=True)
class Import:
    """Take `drop` entries off the end, then add those of `rows` whose ids the rest does not show, as one change.

    Creates the history. Title and metadata are written in the same transaction, so that what was imported and how far
    it came are never told apart by a crash; a title is only given to a history that has none, metadata are merged as by
    `SetMetadata`. Where nothing is dropped and nothing new, the version stays.
    """

    KIND: ClassVar[str] = "import"
    rows: tuple[Prepared, ...]
    drop: int = 0
    title: str | None = None
    metadata: Mapping[str, Json] | None = None
    kind: str = "import"
    """What `history/versions` calls the change."""


@frozen(kw_only=True)
class SplicePrefix:
    """Put `carry` and then `summary` in place of the first `drop_count` entries (clamped)."""

    KIND: ClassVar[str] = "splicePrefix"
    drop_count: int
    summary: Entry
    align: Literal["exact", "turn"] = "exact"
    carry: tuple[str, ...] = ()
    if_prefix: int | None = None


@frozen
class Replace:
    """Put a new list in place of the whole one; creates the history."""

    KIND: ClassVar[str] = "replace"
    entries: tuple[Entry, ...]


@frozen(kw_only=True)
class Truncate:
    """Keep the first `len` entries, or everything up to and including `after_entry`; exactly one is set."""

    KIND: ClassVar[str] = "truncate"
    len: int | None = None
    after_entry: str | None = None


@frozen(kw_only=True)
class Splice:
    """An edit: remove `delete_count` entries at `start`, insert `entries` there."""

    start: int
    delete_count: int
    entries: tuple[Entry, ...]


@frozen(kw_only=True)
class SetText:
    """An edit: give one text of one entry a new value (`core.edit_text`)."""

    entry_id: str
    text: str
    block: int | None = None


@frozen(kw_only=True)
class Remove:
    """An edit: remove one entry."""

    entry_id: str


EntryEdit: TypeAlias = Splice | SetText | Remove


@frozen
class ApplyEdits:
    """Apply edits in order, each seeing the result of those before, as one change."""

    KIND: ClassVar[str] = "applyEdits"
    edits: tuple[EntryEdit, ...]


@frozen
class Revert:
    """Make a new version with the content of `to_version`."""

    KIND: ClassVar[str] = "revert"
    to_version: int


@frozen
class Rename:
    """Give the history another name; the old name keeps a tombstone."""

    KIND: ClassVar[str] = "rename"
    to: str


@frozen
class Delete:
    """Leave a tombstone that keeps the version."""

    KIND: ClassVar[str] = "delete"


@frozen(kw_only=True)
class Fork:
    """Make the history `to` with the content of this one at a version, or its first `len` entries; O(1) in entries."""

    KIND: ClassVar[str] = "fork"
    to: str
    at_version: int | None = None
    len: int | None = None


@frozen
class Elide:
    """Mark entries as elided under a policy; the entries stay whole."""

    KIND: ClassVar[str] = "elide"
    entry_ids: tuple[str, ...]
    policy: str


@frozen
class Unelide:
    """Take the marks off again."""

    KIND: ClassVar[str] = "unelide"
    entry_ids: tuple[str, ...]


@frozen(kw_only=True)
class SetMetadata:
    """A patch in three states: ABSENT leaves, `None` clears, a value sets. No new version.

    `metadata` is merged key by key, a `None` value removes the key.
    """

    KIND: ClassVar[str] = "setMetadata"
    title: str | None | Absent = ABSENT
    tags: tuple[str, ...] | None | Absent = ABSENT
    metadata: Mapping[str, Json] | None | Absent = ABSENT


@frozen(kw_only=True)
class RecordTokens:
    """Bind a measured input size to the version it measured. No new version.

    `calibration` is what the ledger wants kept for this history and model (`core.ledger`), opaque to the store.
    """

    KIND: ClassVar[str] = "recordTokens"
    tokens: int
    at_version: int | None = None
    calibration: Json = None


Operation: TypeAlias = (
    Append
    | Import
    | SplicePrefix
    | Replace
    | Truncate
    | ApplyEdits
    | Revert
    | Rename
    | Delete
    | Fork
    | Elide
    | Unelide
    | SetMetadata
    | RecordTokens
)


@frozen(kw_only=True)
class Mutation:
    """One operation on one history with its conditions. `digest` identifies the params, for `operation_id`."""

    history: str
    operation: Operation
    at: int
    """Now, Unix milliseconds."""
    if_version: int | None = None
    operation_id: str | None = None
    digest: bytes = b""
    actor: str | None = None
    """The client's name, for `history/versions`."""
    taken: frozenset[str] = frozenset()
    """Ids of runtime-only entries that the caller sees in this history: no new entry may have one of them."""


# --- answers ----------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Baseline:
    """A recorded input size: `tokens` measured for the first `len` entries of `version`."""

    tokens: int
    version: int
    len: int
    estimate: int
    """The default estimate of those entries when it was recorded, so that the delta is a subtraction."""


@frozen(kw_only=True)
class Head:
    """A live history without its entries."""

    history: str
    version: int
    len: int
    estimate: int
    """Sum of `Measure.default_estimate` over the entries."""
    created_at: int
    updated_at: int
    title: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(factory=dict)
    baseline: Baseline | None = None
    calibration: Json = None
    content: tuple[int, int] = (0, 0)
    """Names the content: two heads of one history with equal `content` have the same entries as far as both reach."""
    marks: int = 0
    """Names the set of elision marks; 0 is the empty one."""


@frozen(kw_only=True)
class Warning:
    """Something a careful client wants to know; `kind` is `pairSplit` or `turnSplit`."""

    kind: str
    entry_id: str | None
    message: str


@frozen(kw_only=True)
class Applied:
    """What a mutation did. `head` is that of the history it left behind (of `to`, for fork and rename)."""

    head: Head
    previous_version: int
    changed: bool = True
    """False for a no-op, such as a truncate at or above the length."""
    replayed: bool = False
    entry_ids: tuple[str, ...] = ()
    dropped: int = 0
    existed: bool = True
    """For delete: whether there was a history."""
    warnings: tuple[Warning, ...] = ()


@frozen(kw_only=True)
class Row:
    """One entry as stored, with what the history knows of it."""

    index: int
    body: bytes
    measure: bytes = b""
    """`core.measures.Measure.pack()`."""
    elided: str | None = None
    """The elision policy, where it is elided."""
    prefix_changed: bool = False
    """Something before it changed after it was appended (elision included)."""


@frozen(kw_only=True)
class Slice:
    """Entries `start` to `start + len(rows)` of one version; `len` is the length of that version."""

    history: str
    version: int
    len: int
    start: int
    rows: tuple[Row, ...]
    content: tuple[int, int] = (0, 0)


@frozen(kw_only=True)
class Bodies:
    """A `Slice` of bodies alone: what a snapshot needs, without an object per entry."""

    version: int
    len: int
    start: int
    bodies: list[bytes]


@frozen(kw_only=True)
class StoredEdit:
    """One step of a delta: bodies in wire order."""

    start: int
    delete_count: int
    bodies: tuple[bytes, ...]


@frozen(kw_only=True)
class Delta:
    """The way from one version to the newest."""

    history: str
    from_version: int
    version: int
    len: int
    edits: tuple[StoredEdit, ...]


@frozen(kw_only=True)
class VersionRow:
    """One row of `history/versions`."""

    version: int
    kind: str
    at: int
    len: int
    actor: str | None
    local: bool


@frozen(kw_only=True)
class Hit:
    """One entry that full-text search found."""

    history: str
    entry_id: str
    index: int
    snippet: str
    rank: float


@frozen(kw_only=True)
class Pruned:
    """What pruning freed, or would free."""

    freed_bytes: int
    versions_dropped: int


@frozen(kw_only=True)
class Page:
    """One page of a listing; `cursor` is opaque, `None` at the end."""

    rows: tuple[Any, ...]
    cursor: str | None


REPLACED = "replaced"
"""The `kind` of an event that is no change: the store was replaced, so a history may be another one at any version."""


@frozen(kw_only=True)
class ChangeEvent:
    """A committed change; those of one history come in order without a gap.

    `kind` is the operation's. `edits` is `None` where the receiver has to read for itself (resync).
    A delete or rename is one event of the old name with `deleted`.
    """

    history: str
    version: int
    previous_version: int
    len: int
    kind: str
    at: int
    local: bool
    edits: tuple[StoredEdit, ...] | None = None
    deleted: bool = False
    renamed_to: str | None = None
    operation_id: str | None = None
    actor: str | None = None


Listener: TypeAlias = Callable[[ChangeEvent], None]
"""Called on the event loop that opened the store, after the commit."""


# --- the store --------------------------------------------------------------------------------------------------------


class Store(Protocol):
    """One store, used from one event loop."""

    engine: str
    """`memory`, `sqlite` or `postgresql`."""
    shared: bool
    """Whether other processes can open the same store."""
    generation: int
    """Raised where another store took the place of this one: what was kept of histories is void."""

    async def open(self) -> None:
        """Open, creating or migrating as needed. Raises the storage errors."""

    async def close(self) -> None:
        """Finish commits under way and let go."""

    async def apply(self, mutation: Mutation) -> Applied:
        """Carry out one mutation; return after it is durable. Cancelling works only while it is queued."""

    async def head(self, history: str) -> Head | None:
        """Return the live history of this name, or `None`."""

    async def read(
        self,
        history: str,
        *,
        version: int | None = None,
        start: int = 0,
        stop: int | None = None,
        max_bytes: int | None = None,
        references: bool = False,
    ) -> Slice:
        """Read entries of a version (newest by default); stops early past `max_bytes` but returns at least one.

        `references` leaves large strings out as blob references. Raises HistoryNotFound, VersionUnavailable.
        """

    async def bodies(
        self,
        history: str,
        *,
        version: int | None = None,
        start: int = 0,
        stop: int | None = None,
        max_bytes: int | None = None,
        references: bool = False,
    ) -> Bodies:
        """Return what `read` returns, as bodies only."""

    async def recall(self, history: str, operation_id: str) -> bytes | None:
        """Return the digest of the remembered operation that was asked of this name under this id, or `None`."""

    async def estimate(self, history: str, start: int, stop: int, version: int | None = None) -> int:
        """Return the sum of `Measure.default_estimate` over entries `start` to `stop` of a version; reads none of them.

        Clamped to the version. Raises HistoryNotFound, VersionUnavailable.
        """

    async def positions(self, history: str, entry_ids: Sequence[str], version: int | None = None) -> dict[str, int]:
        """Return the index of each entry id that the version holds."""

    async def delta(self, history: str, since: int, *, references: bool = False) -> Delta:
        """Return the edits from version `since` to the newest. Raises VersionUnavailable."""

    async def versions(self, history: str, *, cursor: str | None, limit: int) -> Page:
        """Return VersionRow, newest first."""

    async def list(self, *, prefix: str, cursor: str | None, limit: int, order_by: str) -> Page:
        """Return Head rows."""

    async def search(self, query: str, *, prefix: str, cursor: str | None, limit: int) -> Page:
        """Return Hit rows, best first."""

    async def prune(
        self, history: str | None, *, keep_versions: int | None, before: int | None, dry_run: bool
    ) -> Pruned:
        """Destroy old versions and what only they hold (`store.retention` has the rules)."""

    async def purge(self, history: str, *, at: int) -> Pruned:
        """Delete a history and destroy everything that only it holds, without a trace; forks keep what they show."""

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every change of every history from now on; call the result to stop."""
