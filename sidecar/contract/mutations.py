"""Params and results of every method that changes a history (`history/append` … `history/unelide`).

Every mutation takes `history`, `ifVersion`, `operationId` and `_meta`, and answers `history`, `version`, `len`,
`tokenEstimate` and `replayed`. A field without a docstring has its text in `emit.docs.COMMON`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from attrs import frozen

from sidecar.contract.constraints import Count, EntryId, EntryInput, HistoryName, Length, Open, OperationId, Shape
from sidecar.core.messages import ABSENT, Absent


@frozen(kw_only=True)
class AppendParams:
    """Add entries to the end of a history, as one change. Creates the history unless `ifVersion` forbids it.

    Auto-injected entries go to the overlay of the connection, at the place where they stand.
    """

    history: HistoryName
    entries: Annotated[Sequence[EntryInput], Length(1)]
    """The entries, oldest first; at least one."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class AppendResult:
    """What an append did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    entry_ids: Sequence[EntryId]
    """Ids of the appended entries, in order; made by the server where the client sent none."""


@frozen(kw_only=True)
class ReplaceParams:
    """Put a new list of entries in place of the whole history. The token baseline is reset."""

    history: HistoryName
    entries: Sequence[EntryInput]
    """The new entries; may be empty."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ReplaceResult:
    """What a replace did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    entry_ids: Sequence[EntryId]
    """Ids of the new entries, in order."""


@frozen(kw_only=True)
class SplicePrefixParams:
    """Put one summary in place of the first `dropCount` entries: compaction. What is dropped stays readable."""

    history: HistoryName
    drop_count: Count
    """How many stored entries to drop from the front; clamped to the length."""
    summary: Annotated[Any, Shape("SummaryInput")]
    """What takes their place: an entry, a message of any role, or a plain string, which means a `summary` message."""
    align: Literal["exact", "turn"] = "exact"
    """`exact` cuts where asked and warns when a tool call and its result were parted; `turn` moves the cut back to
    the start of a turn."""
    carry: Sequence[EntryId] = ()
    """Ids of dropped entries to insert again, verbatim and in history order, before the summary."""
    if_prefix: Count | None = None
    """The dropped prefix must still be what it was at this version; entries appended behind it are fine."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class SpliceWarning:
    """Something a careful client wants to know about a splice that was carried out."""

    kind: Annotated[str, Open(("pairSplit", "turnSplit"))]
    """What was noticed."""
    entry_id: EntryId | None
    """The entry it is about."""
    message: str
    """One sentence for a person."""


@frozen(kw_only=True)
class SplicePrefixResult:
    """What a splice did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    dropped: Count
    """How many entries left the front, those in `carry` included."""
    warnings: Sequence[SpliceWarning]
    """What the cut broke, if anything."""


@frozen(kw_only=True)
class TruncateParams:
    """Cut the history back. A `len` at or above the length changes nothing and keeps version and baseline."""

    ONE_OF = ("len", "after_entry")
    history: HistoryName
    len: Count | None = None
    """How many entries to keep."""
    after_entry: EntryId | None = None
    """Keep everything up to and including this entry."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class TruncateResult:
    """What a truncate did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    dropped: Count
    """How many entries left the end."""


@frozen(kw_only=True)
class SpliceEdit:
    """Remove `deleteCount` entries at `start` and insert `entries` there."""

    kind: Literal["splice"]
    start: Count
    """0-based index."""
    delete_count: Count
    """How many entries to remove."""
    entries: Sequence[EntryInput]
    """What to insert."""


@frozen(kw_only=True)
class SetTextEdit:
    """Give one text of one entry a new value; everything else of the entry stays byte for byte."""

    kind: Literal["setText"]
    entry_id: EntryId
    """The entry."""
    text: str
    """The new text."""
    block: Count | None = None
    """Index of the content block, which must be text; the only text block where omitted."""


@frozen(kw_only=True)
class RemoveEdit:
    """Remove one entry."""

    kind: Literal["remove"]
    entry_id: EntryId
    """The entry."""


HistoryEdit: TypeAlias = SpliceEdit | SetTextEdit | RemoveEdit
"""One edit of a history, tagged by `kind`."""

HistoryEdits: TypeAlias = Sequence[HistoryEdit]
"""Edits, applied in order."""


@frozen(kw_only=True)
class ApplyEditsParams:
    """Apply edits in order, each seeing the result of those before, as one atomic change.

    `ifVersion` is required. Editors use `setText` and `remove` only: nobody writes back an entry it has read.
    """

    history: HistoryName
    if_version: Count
    edits: Annotated[Sequence[HistoryEdit], Length(1)]
    """The edits; at least one."""
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ApplyEditsResult:
    """What the edits did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool
    entry_ids: Sequence[EntryId]
    """Ids of the entries that were inserted, in order."""


@frozen(kw_only=True)
class DeleteParams:
    """Delete a history. A tombstone keeps its version, so a stale `ifVersion` cannot bring it back."""

    history: HistoryName
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class DeleteResult:
    """What a delete did; deleting what does not exist is no error."""

    history: HistoryName
    existed: bool
    """Whether there was a history of this name."""
    version: Count
    """The version of the tombstone it left; 0 where there was nothing to delete."""
    replayed: bool


@frozen(kw_only=True)
class RenameParams:
    """Give a history another name. The old name is free afterwards."""

    history: HistoryName
    to: HistoryName
    """The new name; must not be taken."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class RenameResult:
    """What a rename did; `history` is the new name."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool


@frozen(kw_only=True)
class ForkParams:
    """Start a new history from an old one, copy-on-write: nothing is copied, neither sees the other's changes."""

    history: HistoryName
    to: HistoryName
    """The new name; must not be taken."""
    at_version: Count | None = None
    len: Count | None = None
    """Take only the first so many entries; all where omitted."""
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ForkResult:
    """What a fork did; `history`, `version` and `len` are those of the new history."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool


@frozen(kw_only=True)
class RevertParams:
    """Make a new version that has the content of an older one, so that a compaction can be undone."""

    history: HistoryName
    to_version: Count
    """The version whose content comes back."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class RevertResult:
    """What a revert did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool


@frozen(kw_only=True)
class MetadataPatch:
    """A three-state patch: an omitted field stays, `null` clears it, a value sets it."""

    PATCH = True
    title: str | None | Absent = ABSENT
    """A title for people."""
    tags: Sequence[str] | None | Absent = ABSENT
    """Tags, the whole list."""
    metadata: Mapping[str, Any] | None | Absent = ABSENT
    """Free metadata: each key of the object is itself three-state, so `{"a": null}` removes `a`."""


@frozen(kw_only=True)
class SetMetadataParams:
    """Change title, tags and metadata of a history. The version stays."""

    history: HistoryName
    patch: MetadataPatch
    """What to change."""
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class SetMetadataResult:
    """The history afterwards: the fields of `HistoryInfo`, and `replayed`."""

    history: HistoryName
    version: Count
    len: Count
    title: str | None
    tags: Sequence[str]
    created_at: int
    updated_at: int
    token_estimate: Count | None
    metadata: Mapping[str, Any]
    replayed: bool


@frozen(kw_only=True)
class ElideParams:
    """Show entries to the model as a short placeholder; the entries themselves stay whole."""

    history: HistoryName
    entry_ids: Annotated[Sequence[EntryId], Length(1)]
    """The entries to elide; pinned ones are left alone."""
    policy: Annotated[Any, Shape("Any")] = None
    """How to elide, kept with the marker: `{"preview": n}` keeps n characters of the start and the end.

    Its one key is `preview`, an integer from 0; anything else is refused."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ElideResult:
    """What an elision did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool


@frozen(kw_only=True)
class UnelideParams:
    """Take elision markers away, so that the entries are shown whole again."""

    history: HistoryName
    entry_ids: Annotated[Sequence[EntryId], Length(1)]
    """The entries to show again."""
    if_version: Count | None = None
    operation_id: OperationId | None = None
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class UnelideResult:
    """What it did."""

    history: HistoryName
    version: Count
    len: Count
    token_estimate: Count | None
    replayed: bool


@frozen(kw_only=True)
class ClearInjectedParams:
    """Drop the auto-injected entries of this connection, as before each new run; no stored entry is touched."""

    history: HistoryName
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class ClearInjectedResult:
    """How many were there."""

    dropped: Count
    """How many auto-injected entries were dropped."""
