"""What every operation does, written once over the primitives of `store.transaction`.

Rules:
- Checks come before any write: the remembered operation, then the history, then `ifVersion`, then the operation's
  own. A refused operation leaves the transaction as it found it.
- A change of content costs O(new entries + ranges), never O(entries) (`core.layouts`).
- A new layout is numbered one above the last; entries remember the layout and the elision marks they were made
  under, which is what `prefix_changed` is computed from.
- A layout of more than `MAX_RANGES` ranges (append/roll-back loops make them) is copied into one range. Copied
  entries count as moved, so signed reasoning in them is not replayed: dropping it is always legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from attrs import evolve, frozen

from sidecar.core.edit_text import set_text
from sidecar.core.errors import (
    EntryExists,
    EntryNotFound,
    HistoryExists,
    HistoryNotFound,
    InvalidParams,
    OperationReused,
    VersionMismatch,
    VersionUnavailable,
)
from sidecar.core.jsontext import dumpb, loads
from sidecar.core.layouts import Layout, Range, clip, common_prefix, cut, index_of, join, length, open_end
from sidecar.core.messages import ABSENT, Assistant, Entry, Tool
from sidecar.store import base
from sidecar.store.blobs import Blob, is_hash, references
from sidecar.store.bodies import entry_of
from sidecar.store.measuring import entry_row, place
from sidecar.store.outcomes import applied_from_json, applied_to_json
from sidecar.store.transaction import USER, HistoryRow, Reader, Transaction, VersionRecord

_T = TypeVar("_T")

MAX_RANGES = 256
PAIR_WINDOW = 256
"""How many entries around a cut are looked at for a split tool pair."""


def apply(tx: Transaction, mutation: base.Mutation) -> base.Applied:
    """Carry out one mutation inside a transaction."""
    name, key = mutation.history, mutation.operation_id
    if key is not None and (kept := tx.recall(name, key)) is not None:
        digest, result = kept
        if digest != mutation.digest:
            raise OperationReused(key)
        return evolve(applied_from_json(loads(result)), replayed=True)
    row = tx.find(name)
    actual = 0 if row is None else row.version
    if mutation.if_version is not None and mutation.if_version != actual:
        raise VersionMismatch(name, mutation.if_version, actual)
    applied = _Change(tx, mutation, row).run()
    if key is not None:
        tx.remember(name, key, mutation.digest, dumpb(applied_to_json(applied)), mutation.at)
    return applied


def head_of(row: HistoryRow) -> base.Head:
    """Return what a client may know of a history row."""
    return base.Head(
        history=row.name,
        version=row.version,
        len=row.len,
        estimate=row.estimate,
        created_at=row.created_at,
        updated_at=row.updated_at,
        title=row.title,
        tags=row.tags,
        metadata=row.metadata,
        baseline=row.baseline,
        calibration=row.calibration,
        content=(row.hid, row.layout),
        marks=row.marks,
    )


def find_version(tx: Reader, row: HistoryRow, version: int) -> VersionRecord:
    """Return the journal row of a version, or raise `VersionUnavailable`."""
    record = tx.version(row.hid, version) if 0 < version <= row.version else None
    if record is None:
        raise VersionUnavailable(row.name, version, tx.oldest_version(row.hid))
    return record


@frozen
class _View:
    """The closed ranges of a version."""

    ranges: Layout
    marks: int

    @property
    def len(self) -> int:
        return length(self.ranges)


class _Change:
    """One mutation under way; `row` is the history as it was."""

    def __init__(self, tx: Transaction, mutation: base.Mutation, row: HistoryRow | None) -> None:
        self.tx = tx
        self.mutation = mutation
        self.row = row
        self.tail = 0
        self.cumulative = 0

    def run(self) -> base.Applied:
        operation = self.mutation.operation
        match operation:
            case base.Append():
                return self.append(operation)
            case base.Import():
                return self.import_(operation)
            case base.Replace():
                return self.replace(operation)
            case base.Delete():
                return self.delete()
        row = self.existing()
        match operation:
            case base.SplicePrefix():
                return self.splice_prefix(row, operation)
            case base.Truncate():
                return self.truncate(row, operation)
            case base.ApplyEdits():
                return self.apply_edits(row, operation)
            case base.Revert():
                return self.revert(row, operation)
            case base.Rename():
                return self.rename(row, operation)
            case base.Fork():
                return self.fork(row, operation)
            case base.Elide() | base.Unelide():
                return self.mark(row, operation)
            case base.SetMetadata():
                return self.set_metadata(row, operation)
            case base.RecordTokens():
                return self.record_tokens(row, operation)
        raise AssertionError(operation)

    # --- operations ---------------------------------------------------------------------------------------------------

    def append(self, operation: base.Append) -> base.Applied:
        row = self.row or self.created(self.mutation.history)
        old = () if operation.fresh or row.len == 0 else self.tx.layout(row.hid, row.layout)
        self.start(row)
        if not operation.fresh:
            self.refuse_duplicates((*(entry.id for entry in operation.entries), *operation.beside), old, row.len)
        self.write(row, operation.entries, row.layout, row.marks)
        return self.grow(row, operation.kind, tuple(entry.id for entry in operation.entries))

    def import_(self, operation: base.Import) -> base.Applied:
        row = self.row or (self.created(self.mutation.history) if operation.rows else self.existing())
        kept = cut(self.view(row).ranges, 0, row.len - min(operation.drop, row.len)) if row.len else ()
        known = self.shown(kept, [prepared.id for prepared in operation.rows])
        new: dict[str, base.Prepared] = {}
        for prepared in operation.rows:
            if prepared.id not in known:
                new.setdefault(prepared.id, prepared)
        told = evolve(
            row,
            title=row.title or operation.title,
            metadata=row.metadata if operation.metadata is None else _merged(row.metadata, operation.metadata),
        )
        dropped = row.len - length(kept)
        if not new and not dropped:
            if (told.title, told.metadata) != (row.title, row.metadata):
                told = evolve(told, updated_at=self.mutation.at)
                self.tx.save(told)
            return base.Applied(head=head_of(told), previous_version=row.version, changed=False)
        self.start(row)
        if dropped:
            added = self.write_prepared(row, new.values(), row.layout + 1)
            return self.reshape(told, operation.kind, join(kept, added), dropped=dropped, entry_ids=tuple(new))
        self.write_prepared(row, new.values(), row.layout)
        return self.grow(told, operation.kind, tuple(new))

    def replace(self, operation: base.Replace) -> base.Applied:
        row = self.row or self.created(self.mutation.history)
        self.start(row)
        self.refuse_duplicates([entry.id for entry in operation.entries], (), 0)
        new = self.write(row, operation.entries, row.layout + 1, row.marks)
        return self.reshape(row, "replace", new, entry_ids=tuple(entry.id for entry in operation.entries))

    def splice_prefix(self, row: HistoryRow, operation: base.SplicePrefix) -> base.Applied:
        view = self.view(row)
        count = min(operation.drop_count, row.len)
        if operation.align == "turn":
            count = self.turn_boundary(view.ranges, count)
        prefix, rest = cut(view.ranges, 0, count), cut(view.ranges, count, row.len)
        if operation.if_prefix is not None:
            self.require_prefix(row, prefix, operation.if_prefix)
        carried = self.carried(row, prefix, operation.carry)
        warnings = self.split_pairs(prefix, rest)
        self.start(row)
        self.refuse_duplicates((operation.summary.id,), join(carried, rest), length(carried) + length(rest))
        summary = self.write(row, (operation.summary,), row.layout + 1, row.marks)
        return self.reshape(
            row,
            "splicePrefix",
            join(carried, summary, rest),
            dropped=count,
            warnings=warnings,
            entry_ids=(operation.summary.id,),
        )

    def truncate(self, row: HistoryRow, operation: base.Truncate) -> base.Applied:
        view = self.view(row)
        if operation.after_entry is not None:
            keep = self.position(row, view.ranges, operation.after_entry) + 1
        else:
            assert operation.len is not None
            keep = operation.len
        if keep >= row.len:
            return base.Applied(head=head_of(row), previous_version=row.version, changed=False)
        self.start(row)
        return self.reshape(row, "truncate", cut(view.ranges, 0, keep), dropped=row.len - keep)

    def apply_edits(self, row: HistoryRow, operation: base.ApplyEdits) -> base.Applied:
        self.start(row)
        ranges = self.view(row).ranges
        new_ids: list[str] = []
        for number, edit in enumerate(operation.edits):
            path = f"/edits/{number}"
            size = length(ranges)
            match edit:
                case base.Splice():
                    if edit.start > size or edit.start + edit.delete_count > size:
                        raise InvalidParams.at(path, f"reaches beyond the {size} entries there are")
                    added = self.write(row, edit.entries, row.layout + 1, row.marks)
                    new_ids += [entry.id for entry in edit.entries]
                    start, stop = edit.start, edit.start + edit.delete_count
                case base.SetText():
                    start = self.position(row, ranges, edit.entry_id)
                    entry = self.entry(cut(ranges, start, start + 1))
                    changed = set_text(entry, edit.text, edit.block, path)
                    added, stop = self.write(row, (changed,), row.layout + 1, row.marks), start + 1
                case base.Remove():
                    start = self.position(row, ranges, edit.entry_id)
                    added, stop = (), start + 1
            ranges = join(cut(ranges, 0, start), added, cut(ranges, stop, size))
        for entry_id in new_ids:
            if entry_id in self.mutation.taken or len(self.positions(ranges, entry_id)) > 1:
                raise EntryExists(row.name, entry_id)
        return self.reshape(row, "applyEdits", ranges, entry_ids=tuple(new_ids))

    def revert(self, row: HistoryRow, operation: base.Revert) -> base.Applied:
        record = find_version(self.tx, row, operation.to_version)
        self.start(row)
        target = clip(self.tx.layout(record.hid, record.layout), record.len)
        return self.reshape(row, "revert", target, marks=record.marks)

    def rename(self, row: HistoryRow, operation: base.Rename) -> base.Applied:
        self.require_free(operation.to)
        # A former life of the new name must not be mistaken for this history by a stale ifVersion.
        version = max(row.version, self.tx.tombstone(operation.to)) + 1
        after = evolve(row, name=operation.to, version=version, updated_at=self.mutation.at)
        self.tx.bury(row.name, version)
        self.tx.rename(after)
        return self.commit(row, after, "rename")

    def delete(self) -> base.Applied:
        row = self.row
        if row is None:
            gone = base.Head(
                history=self.mutation.history, version=0, len=0, estimate=0, created_at=0, updated_at=self.mutation.at
            )
            return base.Applied(head=gone, previous_version=0, changed=False, existed=False)
        after = evolve(row, version=row.version + 1, updated_at=self.mutation.at)
        self.tx.bury(row.name, after.version)
        applied = self.commit(row, after, "delete")
        self.tx.remove(after)
        return applied

    def fork(self, row: HistoryRow, operation: base.Fork) -> base.Applied:
        self.require_free(operation.to)
        layout, size, marks = row.layout, row.len, row.marks
        if operation.at_version is not None:
            record = find_version(self.tx, row, operation.at_version)
            layout, size, marks = record.layout, record.len, record.marks
        if operation.len is not None:
            size = min(size, operation.len)
        ranges = clip(self.tx.layout(row.hid, layout), size)
        marked = self.tx.marks(row.hid, marks)
        new = self.created(operation.to)
        self.start(new)
        new = evolve(
            new, title=row.title, tags=row.tags, metadata=row.metadata, marks=self.tx.add_marks(new.hid, marked)
        )
        return self.reshape(new, "fork", ranges)

    def mark(self, row: HistoryRow, operation: base.Elide | base.Unelide) -> base.Applied:
        ranges = self.view(row).ranges
        for entry_id in operation.entry_ids:
            self.position(row, ranges, entry_id)
        before = dict(self.tx.marks(row.hid, row.marks))
        marked = {k: v for k, v in before.items() if k not in operation.entry_ids}
        if isinstance(operation, base.Elide):
            marked.update(dict.fromkeys(operation.entry_ids, operation.policy))
        if marked == before:
            return base.Applied(head=head_of(row), previous_version=row.version, changed=False)
        after = evolve(
            row,
            version=self.next_version(row),
            marks=self.tx.add_marks(row.hid, marked),
            baseline=None,  # what was measured was the input before
            updated_at=self.mutation.at,
        )
        return self.commit(row, after, operation.KIND, entry_ids=operation.entry_ids)

    def set_metadata(self, row: HistoryRow, patch: base.SetMetadata) -> base.Applied:
        after = evolve(row, updated_at=self.mutation.at)
        if patch.title is not ABSENT:
            after = evolve(after, title=patch.title)
        if patch.tags is not ABSENT:
            after = evolve(after, tags=patch.tags or ())
        if patch.metadata is not ABSENT:
            after = evolve(after, metadata=_merged(row.metadata, patch.metadata))
        self.tx.save(after)
        return base.Applied(head=head_of(after), previous_version=row.version)

    def record_tokens(self, row: HistoryRow, operation: base.RecordTokens) -> base.Applied:
        size, version = row.len, row.version
        ranges = self.view(row).ranges
        baseline: base.Baseline | None = None
        if operation.at_version is not None:
            record = find_version(self.tx, row, operation.at_version)
            measured = clip(self.tx.layout(record.hid, record.layout), record.len)
            size, version = record.len, record.version
            fits = common_prefix(measured, ranges) >= size and record.marks == row.marks
        else:
            fits = True
        if fits:
            # A list that was rewritten since it was measured gets no baseline: the number is about another list.
            estimate = self.estimate(cut(ranges, 0, size))
            baseline = base.Baseline(tokens=operation.tokens, version=version, len=size, estimate=estimate)
        after = evolve(row, baseline=baseline if fits else row.baseline)
        if operation.calibration is not None:
            after = evolve(after, calibration=operation.calibration)
        self.tx.save(after)
        return base.Applied(head=head_of(after), previous_version=row.version)

    # --- steps --------------------------------------------------------------------------------------------------------

    def existing(self) -> HistoryRow:
        if self.row is None:
            raise HistoryNotFound(self.mutation.history)
        return self.row

    def created(self, name: str) -> HistoryRow:
        row = self.tx.create(name, self.mutation.at)
        layout = 1
        self.tx.add_layout(row.hid, layout, open_end((), row.hid, 0))
        return evolve(row, layout=layout)

    def next_version(self, row: HistoryRow) -> int:
        return (row.version or self.tx.tombstone(row.name)) + 1

    def start(self, row: HistoryRow) -> None:
        self.tail, self.cumulative = row.tail, row.cumulative

    def view(self, row: HistoryRow) -> _View:
        return _View(clip(self.tx.layout(row.hid, row.layout), row.len), row.marks)

    def write(self, row: HistoryRow, entries: Sequence[Entry], layout: int, marks: int) -> Layout:
        """Add entries to the own log; return their range."""
        rows = []
        first = self.tail + 1
        for entry in entries:
            self.tail += 1
            made = entry_row(entry, seq=self.tail, cumulative=self.cumulative, layout=layout, marks=marks)
            self.cumulative = made.cumulative
            rows.append(made)
            if made.places:
                self.refuse_unknown_blobs(entry, len(rows) - 1, [row.blobs for row in rows])
        self.tx.add_entries(row.hid, rows)
        return (Range(row.hid, first, self.tail + 1),) if rows else ()

    def write_prepared(self, row: HistoryRow, entries: Iterable[base.Prepared], layout: int) -> Layout:
        """Add prepared entries to the own log; return their range."""
        rows = []
        first = self.tail + 1
        brought = {blob.hash for prepared in entries for blob in prepared.blobs}
        for number, prepared in enumerate(entries):
            self.tail += 1
            made = place(prepared, seq=self.tail, cumulative=self.cumulative, layout=layout, marks=row.marks)
            self.cumulative = made.cumulative
            rows.append(made)
            for digest in {digest for _, digest in prepared.places} - brought:
                if not is_hash(digest) or self.tx.find_blob(digest) is None:
                    raise InvalidParams.at(f"/entries/{number}", "refers to a blob that is not stored")
        self.tx.add_entries(row.hid, rows)
        return (Range(row.hid, first, self.tail + 1),) if rows else ()

    def grow(self, row: HistoryRow, kind: str, entry_ids: tuple[str, ...]) -> base.Applied:
        """Commit what was written at the end of the own log, under the layout there is."""
        after = evolve(
            row,
            version=self.next_version(row),
            len=row.len + len(entry_ids),
            tail=self.tail,
            cumulative=self.cumulative,
            estimate=row.estimate + self.cumulative - row.cumulative,
            updated_at=self.mutation.at,
        )
        return self.commit(row, after, kind, entry_ids=entry_ids)

    def reshape(
        self,
        row: HistoryRow,
        kind: str,
        ranges: Layout,
        *,
        marks: int | None = None,
        dropped: int = 0,
        warnings: tuple[base.Warning, ...] = (),
        entry_ids: tuple[str, ...] = (),
    ) -> base.Applied:
        """Commit a new layout; anything but an append ends here, and clears the token baseline."""
        layout = row.layout + 1
        if len(ranges) > MAX_RANGES:
            entries = [entry_of(body) for body in self.bodies(ranges)]
            ranges = self.write(row, entries, layout, row.marks)
        self.tx.add_layout(row.hid, layout, open_end(ranges, row.hid, self.tail))
        after = evolve(
            row,
            version=self.next_version(row),
            layout=layout,
            len=length(ranges),
            tail=self.tail,
            cumulative=self.cumulative,
            estimate=self.estimate(ranges),
            marks=row.marks if marks is None else marks,
            baseline=None,
            updated_at=self.mutation.at,
        )
        return self.commit(row, after, kind, dropped=dropped, warnings=warnings, entry_ids=entry_ids)

    def commit(
        self,
        before: HistoryRow,
        after: HistoryRow,
        kind: str,
        *,
        dropped: int = 0,
        warnings: tuple[base.Warning, ...] = (),
        entry_ids: tuple[str, ...] = (),
    ) -> base.Applied:
        self.tx.save(after)
        self.tx.journal(
            VersionRecord(
                hid=after.hid,
                version=after.version,
                previous=before.version,
                kind=kind,
                layout=after.layout,
                len=after.len,
                marks=after.marks,
                at=self.mutation.at,
                actor=self.mutation.actor,
                operation_id=self.mutation.operation_id,
                renamed_from=before.name if before.name != after.name else None,
            )
        )
        return base.Applied(
            head=head_of(after),
            previous_version=before.version,
            dropped=dropped,
            warnings=warnings,
            entry_ids=entry_ids,
        )

    # --- checks and look-ups ------------------------------------------------------------------------------------------

    def require_free(self, name: str) -> None:
        taken = self.tx.find(name)
        if taken is not None:
            raise HistoryExists(name, taken.version)

    def require_prefix(self, row: HistoryRow, prefix: Layout, version: int) -> None:
        record = find_version(self.tx, row, version)
        then = clip(self.tx.layout(record.hid, record.layout), record.len)
        if common_prefix(prefix, then) < length(prefix):
            raise VersionMismatch(row.name, version, row.version)

    def refuse_duplicates(self, entry_ids: Iterable[str], ranges: Layout, size: int) -> None:
        """No new entry may have the id of another new one, of one that the caller injected, or that is shown.

        Shown are the first `size` entries.
        """
        seen = set(self.mutation.taken)
        shown = clip(ranges, size)
        for entry_id in entry_ids:
            if entry_id in seen or self.positions(shown, entry_id):
                raise EntryExists(self.mutation.history, entry_id)
            seen.add(entry_id)

    def refuse_unknown_blobs(self, entry: Entry, number: int, brought: Iterable[Sequence[Blob]]) -> None:
        """A reference that a client sent must name a blob of the store, or one that the same call brings."""
        known = {blob.hash for blobs in brought for blob in blobs}
        for index, digest in references(entry):
            if digest not in known and (not is_hash(digest) or self.tx.find_blob(digest) is None):
                path = f"/entries/{number}/message/content/{index}/blob"
                raise InvalidParams.at(path, "is not the hash of a stored blob")

    def shown(self, ranges: Layout, entry_ids: Sequence[str]) -> set[str]:
        return set(indices(self.tx, ranges, entry_ids))

    def positions(self, ranges: Layout, entry_id: str) -> list[int]:
        return positions(self.tx, ranges, entry_id)

    def position(self, row: HistoryRow, ranges: Layout, entry_id: str) -> int:
        found = self.positions(ranges, entry_id)
        if not found:
            raise EntryNotFound(row.name, entry_id)
        return found[0]

    def carried(self, row: HistoryRow, prefix: Layout, entry_ids: Iterable[str]) -> Layout:
        found = sorted({self.position(row, prefix, entry_id) for entry_id in entry_ids})
        return join(*(cut(prefix, index, index + 1) for index in found))

    def turn_boundary(self, ranges: Layout, count: int) -> int:
        """Walk back from a cut to the start of a turn: a user entry, the end, or nothing dropped at all."""
        if count >= length(ranges):
            return count
        while count > 0:
            first = max(0, count + 1 - PAIR_WINDOW)
            roles = self.roles(cut(ranges, first, count + 1))
            while roles and count > 0:
                if roles.pop() == USER:
                    return count
                count -= 1
        return 0

    def split_pairs(self, prefix: Layout, rest: Layout) -> tuple[base.Warning, ...]:
        """Find results right behind the cut whose call is right before it."""
        size = length(prefix)
        if not size or not rest:
            return ()
        behind = self.until_user(cut(rest, 0, PAIR_WINDOW))
        results = [(entry.id, entry.message.call_id) for entry in behind if isinstance(entry.message, Tool)]
        if not results:
            return ()
        before = [entry_of(body) for body in self.bodies(cut(prefix, size - min(size, PAIR_WINDOW), size))]
        answered = {entry.message.call_id for entry in before if isinstance(entry.message, Tool)}
        called = {call.id for entry in before if isinstance(entry.message, Assistant) for call in entry.tool_calls}
        return tuple(
            base.Warning(
                kind="pairSplit",
                entry_id=entry_id,
                message="the result stays while its call is dropped; projection will drop the result too",
            )
            for entry_id, call_id in results
            if call_id in called - answered
        )

    def until_user(self, ranges: Layout) -> list[Entry]:
        roles = self.roles(ranges)
        end = roles.index(USER) if USER in roles else len(roles)
        return [entry_of(body) for body in self.bodies(cut(ranges, 0, end))]

    def entry(self, ranges: Layout) -> Entry:
        (body,) = self.bodies(ranges)
        return entry_of(body)

    def bodies(self, ranges: Layout) -> list[bytes]:
        return _each(ranges, self.tx.bodies)

    def roles(self, ranges: Layout) -> list[int]:
        return _each(ranges, self.tx.roles)

    def estimate(self, ranges: Layout) -> int:
        return sum(self.tx.estimate(part.log, part.lo, part.lo + part.size) for part in ranges)


def positions(tx: Reader, ranges: Layout, entry_id: str) -> list[int]:
    """Return the indices at which closed ranges show an entry id, ascending."""
    found: list[int] = []
    for log in {part.log for part in ranges}:
        for seq in tx.lookup(log, entry_id):
            index = index_of(ranges, log, seq)
            if index is not None:
                found.append(index)
    return sorted(found)


def indices(tx: Reader, ranges: Layout, entry_ids: Sequence[str]) -> dict[str, int]:
    """Return the first index at which closed ranges show each of these entries, those that they show."""
    found: dict[str, int] = {}
    for log in {part.log for part in ranges}:
        for entry_id, seqs in tx.lookup_all(log, entry_ids).items():
            for seq in seqs:
                index = index_of(ranges, log, seq)
                if index is not None:
                    found[entry_id] = min(index, found.get(entry_id, index))
    return found


def _each(ranges: Layout, read: Callable[[int, int, int], list[_T]]) -> list[_T]:
    out: list[_T] = []
    for part in ranges:
        out += read(part.log, part.lo, part.lo + part.size)
    return out


def _merged(old: Mapping[str, object], patch: Mapping[str, object] | None) -> dict[str, object]:
    if patch is None:
        return {}
    both = {**old, **patch}
    return {key: value for key, value in both.items() if value is not None}
