"""Params and results of the methods that read histories, and the notifications about their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from attrs import frozen

from sidecar.contract.constraints import Count, EntryId, EntryOutput, HistoryName, Open, PageSize
from sidecar.core.messages import ABSENT, Absent

# --- snapshot ---------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SnapshotParams:
    """Read entries: all of them, a window, an older version, or only what changed since a version one holds."""

    history: HistoryName
    start: int | None = None
    """0-based index of the first entry wanted; negative counts from the end."""
    count: Count | None = None
    """How many entries at most."""
    since_version: Count | None = None
    """The version the client holds: answer `unchanged` or a `delta` where possible."""
    at_version: Count | None = None
    references: bool = False
    """Leave large pictures, files and audio out: such a block has `blob`, their hash, in place of `data`."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class Edit:
    """One step from a version to a later one; edits apply in order."""

    start: Count
    """0-based index."""
    delete_count: Count
    """How many entries go."""
    entries: Sequence[EntryOutput]
    """What comes in their place."""


@frozen(kw_only=True)
class SnapshotFull:
    """Entries themselves."""

    kind: Literal["full"] = "full"
    version: Count
    len: Count
    start: Count
    """Index of the first entry in `entries`."""
    entries: Sequence[EntryOutput]
    """The entries; fewer than asked where the message limit would be passed: ask again with `atVersion`."""


@frozen(kw_only=True)
class SnapshotDelta:
    """What changed since `fromVersion`."""

    kind: Literal["delta"] = "delta"
    version: Count
    from_version: Count
    """The version the edits start from."""
    len: Count
    edits: Sequence[Edit]
    """The changes, in order."""


@frozen(kw_only=True)
class SnapshotUnchanged:
    """The client holds the newest version."""

    kind: Literal["unchanged"] = "unchanged"
    version: Count
    len: Count


SnapshotResult: TypeAlias = SnapshotFull | SnapshotDelta | SnapshotUnchanged
"""What a snapshot answers, tagged by `kind`; a client accepts any kind."""

# --- small facts ------------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class LenParams:
    """Ask length and version: the mark to roll back to. An absent history is no error."""

    history: HistoryName
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class LenResult:
    """Length and version; 0, 0 and true where the history is absent."""

    len: Count
    version: Count
    is_empty: bool
    """Whether there are no entries."""


@frozen(kw_only=True)
class HistoryInfoParams:
    """Describe one history."""

    history: HistoryName
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class HistoryInfo:
    """One history, without its entries."""

    history: HistoryName
    version: Count
    len: Count
    title: str | None
    tags: Sequence[str]
    created_at: int
    updated_at: int
    token_estimate: Count | None
    metadata: Mapping[str, Any]


@frozen(kw_only=True)
class ListParams:
    """List histories, a page at a time."""

    prefix: str | None = None
    """Only names that start with this text."""
    cursor: str | None = None
    limit: PageSize | None = None
    order_by: Annotated[str, Open(("name", "updatedAt", "createdAt"))] | None = None
    """`name` (default), or the newest first by `updatedAt` or `createdAt`."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ListResult:
    """One page of histories."""

    data: Sequence[HistoryInfo]
    """The histories."""
    next_cursor: str | None


@frozen(kw_only=True)
class ChangeOrigin:
    """Who made a change."""

    local: bool
    """True where it came through the process that tells it; an earlier process of the same client is another one."""
    client: str | None
    """The name the client gave itself at `initialize`."""


@frozen(kw_only=True)
class VersionsParams:
    """List the versions of a history, newest first."""

    history: HistoryName
    cursor: str | None = None
    limit: PageSize | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class VersionInfo:
    """One version."""

    version: Count
    kind: Annotated[
        str,
        Open(
            (
                "append",
                "splicePrefix",
                "replace",
                "truncate",
                "applyEdits",
                "revert",
                "rename",
                "fork",
                "elide",
                "unelide",
                "import",
                "delete",
            )
        ),
    ]
    """Which kind of change made it: the verb of the method."""
    ts: int
    """When, Unix milliseconds."""
    len: Count
    origin: ChangeOrigin
    """Who made it."""


@frozen(kw_only=True)
class VersionsResult:
    """One page of versions."""

    data: Sequence[VersionInfo]
    """The versions, newest first."""
    next_cursor: str | None


@frozen(kw_only=True)
class PruneParams:
    """Destroy old versions and what only they hold, for ever. Nothing else ever destroys.

    DELETED histories go whole, also without `keepVersions` and `before`: only a `before` spares those that were deleted
    later. Live histories keep their newest version always, and all versions where neither is given.
    """

    history: HistoryName | None = None
    """Only this history, or what was deleted under this name; all where omitted."""
    keep_versions: PageSize | None = None
    """How many of the newest versions of a live history to keep; deleted histories go whatever it is."""
    before: int | None = None
    """Only versions replaced, and histories deleted, before this time, Unix milliseconds."""
    dry_run: bool = False
    """Say what would be freed and change nothing."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class PruneResult:
    """What pruning freed, or would free."""

    freed_bytes: Count
    """Bytes of entries that no version shows any more."""
    versions_dropped: Count
    """How many versions can no longer be read."""


@frozen(kw_only=True)
class SearchParams:
    """Find entries by full text. Tool arguments, and results of entries marked private, are never indexed."""

    query: str
    """Words that must all occur; `"quoted words"` must occur side by side."""
    prefix: str | None = None
    """Only histories whose names start with this text."""
    cursor: str | None = None
    limit: PageSize | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class SearchHit:
    """One entry that matches."""

    history: HistoryName
    entry_id: EntryId
    """The entry."""
    index: Count
    """Its 0-based index in the newest version."""
    snippet: str
    """A piece of its text around the match, plain text."""
    rank: float
    """Higher is better; comparable within one answer only."""


@frozen(kw_only=True)
class SearchResult:
    """One page of hits, best first."""

    data: Sequence[SearchHit]
    """The hits."""
    next_cursor: str | None


# --- subscriptions ----------------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class SubscribeParams:
    """Ask to be told of every change of one history, or of all whose names start with a prefix."""

    ONE_OF = ("history", "prefix")
    history: HistoryName | None = None
    """One history; it need not exist yet."""
    prefix: str | None = None
    """All histories whose names start with this text; `""` means all."""
    entries: bool = True
    """Whether changes carry the new entries; without them, only how many there are."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class SubscribeResult:
    """The subscription."""

    subscription_id: str
    """Its id."""
    version: Count | None
    """Changes after this version follow without a gap; null for a prefix."""


@frozen(kw_only=True)
class UnsubscribeParams:
    """End a subscription; no notification for it follows the answer."""

    subscription_id: str
    """The id that `history/subscribe` gave."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class UnsubscribeResult:
    """Empty."""


@frozen(kw_only=True)
class ChangeEdit:
    """One step of a change; edits apply in order."""

    start: Count
    """0-based index."""
    delete_count: Count
    """How many entries went."""
    entries: Sequence[EntryOutput] | Absent = ABSENT
    """What came in their place; left out where the subscription asked for no entries."""
    insert_count: Count | Absent = ABSENT
    """How many entries came, where `entries` is left out."""


@frozen(kw_only=True)
class EditsChange:
    """The change itself."""

    kind: Literal["edits"] = "edits"
    edits: Sequence[ChangeEdit]
    """The steps from `previousVersion` to `version`."""


@frozen(kw_only=True)
class ResyncChange:
    """The receiver was slow: read with `sinceVersion`."""

    kind: Literal["resync"] = "resync"


Change: TypeAlias = EditsChange | ResyncChange
"""What changed, tagged by `kind`."""


@frozen(kw_only=True)
class DidChangeNotification:
    """A history has a new version. It follows the commit; the author is told as well."""

    subscription_ids: Sequence[str]
    """The subscriptions of this connection that it answers."""
    history: HistoryName
    version: Count
    previous_version: Count
    """The version the edits start from."""
    len: Count
    change: Change
    """What changed."""
    operation_id: str | None
    """The operation id of the mutation, where it had one."""
    origin: ChangeOrigin
    """Who made the change."""


@frozen(kw_only=True)
class DidDeleteNotification:
    """A history was deleted, or has another name now."""

    subscription_ids: Sequence[str]
    """The subscriptions of this connection that it answers."""
    history: HistoryName
    version: Count
    """The version of the tombstone."""
    renamed_to: HistoryName | None
    """The new name, where it was renamed."""
    operation_id: str | None
    """The operation id of the mutation, where it had one."""
    origin: ChangeOrigin
    """Who did it."""
