"""What one connection does with histories: every use-case of the protocol over values.

Rules:
- Names, limits and entries are checked before anything waits or is stored; a refused call changes nothing.
- The order per history is kept by `lanes`: calls that are started in order take effect in order.
- Entries go in as `core.messages.Entry` and come out as stored bytes, or as values through `parsed`.
- Positions count stored entries only; only `snapshot` and `items` show what is injected (`overlay`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

from sidecar.core.elision import elide_entry
from sidecar.core.errors import (
    EntryExists,
    HistoryNotFound,
    LimitExceeded,
    OperationReused,
    VersionMismatch,
    VersionUnavailable,
)
from sidecar.core.estimators import DEFAULT
from sidecar.core.jsontext import Json, dumpb, dumps, loads
from sidecar.core.ledger import Estimate
from sidecar.core.message_json import entry_to_json
from sidecar.core.messages import ABSENT, Absent, Entry
from sidecar.core.names import check_name, may_start_a_name
from sidecar.core.plan import Plan, Request, idle_plan
from sidecar.service.digest import digest_of, plain_edit, plain_entry
from sidecar.service.heavy import compute
from sidecar.service.lanes import Kind
from sidecar.service.overlay import Overlay, Placed
from sidecar.service.parsed import Parsed, Part, Projections
from sidecar.service.subscriptions import Notification, Sink, Subscriptions
from sidecar.service.tokens import Question, calibration_after, costs_of, estimate_of, plan_of
from sidecar.store.base import (
    Append,
    Applied,
    ApplyEdits,
    ChangeEvent,
    Delete,
    Delta,
    Elide,
    EntryEdit,
    Fork,
    Head,
    Import,
    Mutation,
    Operation,
    Page,
    Pruned,
    RecordTokens,
    Rename,
    Replace,
    Revert,
    Row,
    SetMetadata,
    SetText,
    Splice,
    SplicePrefix,
    Truncate,
    Unelide,
)
from sidecar.store.bodies import entry_of, naming
from sidecar.wire.base import Item

if TYPE_CHECKING:
    from sidecar.service.service import HistoryService


@frozen(kw_only=True)
class Conditions:
    """What a mutation may ask for: a version to be at, a name to be recognised by when it is repeated."""

    if_version: int | None = None
    operation_id: str | None = None


ANYWAY = Conditions()


@frozen(kw_only=True)
class Window:
    """A part of one version. `bodies` are stored bytes from index `start` on, with injected entries among them."""

    version: int
    len: int
    start: int
    bodies: Sequence[bytes]


@frozen(kw_only=True)
class Unchanged:
    """The reader holds the newest version already."""

    version: int
    len: int


class _Nobody:
    congested = False

    def notify(self, notification: Notification) -> None:
        """Nobody listens."""


class Session:
    """See the module. Made by `HistoryService.session`."""

    def __init__(self, service: HistoryService, client: str | None, sink: Sink | None) -> None:
        self.client = client
        self._service = service
        self._store = service.store
        self._lanes = service.lanes
        self._limits = service.limits
        self._overlay = Overlay()
        self._subscriptions = Subscriptions(sink or _Nobody())

    @property
    def entries_per_call(self) -> int:
        """How many entries one change may bring."""
        return self._limits.entries_per_call

    @property
    def filters(self) -> Sequence[Callable[[Entry], Entry]]:
        """What every entry goes through before it is stored."""
        return self._service.filters

    def now(self) -> int:
        """Return the service's time, Unix milliseconds."""
        return self._service.now()

    # --- changing -----------------------------------------------------------------------------------------------------

    async def append(
        self, history: str, entries: Sequence[Entry], conditions: Conditions = ANYWAY, *, kind: str = "append"
    ) -> Applied:
        """Add entries at the end as one change; auto-injected ones go to this session's overlay.

        `entry_ids` of the answer has an id for each of `entries`.
        """
        plain = [plain_entry(entry) for entry in entries] if conditions.operation_id else []
        stamped = self._stamp(entries)
        stored = tuple(entry for entry in stamped if not entry.auto_injected)
        if not stored:
            return await self._inject(history, stamped, conditions, plain)
        fresh = not any(entry.id for entry in entries)
        beside = tuple(entry.id for entry in stamped if entry.auto_injected)
        operation = Append(stored, kind, fresh, beside)
        # What is injected is known only once it is stored what it stands beside.
        applied = await self._apply(history, operation, conditions, plain, turn="alone" if beside else "write")
        if not beside and not any(entry.sender for entry in stamped):
            return applied
        digest = self._digest(operation.KIND, history, conditions, plain)
        if applied.replayed and (first := self._overlay.recall(history, conditions.operation_id, digest)):
            return first
        kept = iter(applied.entry_ids)
        stamped = tuple(entry if entry.auto_injected else evolve(entry, id=next(kept)) for entry in stamped)
        applied = evolve(applied, entry_ids=tuple(entry.id for entry in stamped))
        if applied.replayed:  # by another process or before the entries were cleared: they are injected again
            taken = self._overlay.injected_ids(history)
            stamped = tuple(entry for entry in stamped if not entry.auto_injected or entry.id not in taken)
        self._overlay.take(history, stamped, None)
        if beside:
            self._overlay.remember(history, conditions.operation_id, digest, applied)
        return applied

    async def import_prepared(
        self, history: str, operation: Import, conditions: Conditions = ANYWAY, *, params: Json = None
    ) -> Applied:
        """Take over entries of a transcript as one change, or nothing; `params` name the transcript for a repeat.

        Which entries are new depends on the history, so they cannot tell whether an operation id is repeated.
        """
        if len(operation.rows) > self._limits.entries_per_call:
            raise LimitExceeded("entriesPerCall", len(operation.rows), self._limits.entries_per_call)
        return await self._apply(history, operation, conditions, ["import", params])

    async def splice_prefix(
        self,
        history: str,
        drop_count: int,
        summary: Entry,
        conditions: Conditions = ANYWAY,
        *,
        align: Literal["exact", "turn"] = "exact",
        carry: Sequence[str] = (),
        if_prefix: int | None = None,
    ) -> Applied:
        """Put `carry` and then `summary` in place of the first `drop_count` entries."""
        (stamped,) = self._stamp([evolve(summary, auto_injected=False)])
        operation = SplicePrefix(
            drop_count=drop_count, summary=stamped, align=align, carry=tuple(carry), if_prefix=if_prefix
        )
        params = [drop_count, plain_entry(summary), align, list(carry), if_prefix]
        return await self._apply(history, operation, conditions, params)

    async def replace(self, history: str, entries: Sequence[Entry], conditions: Conditions = ANYWAY) -> Applied:
        """Put a new list in place of the whole one."""
        stamped = self._stamp([evolve(entry, auto_injected=False) for entry in entries])
        return await self._apply(history, Replace(stamped), conditions, [plain_entry(entry) for entry in entries])

    async def truncate(
        self,
        history: str,
        conditions: Conditions = ANYWAY,
        *,
        len: int | None = None,
        after_entry: str | None = None,
    ) -> Applied:
        """Keep the first `len` entries, or everything up to and including `after_entry`."""
        return await self._apply(history, Truncate(len=len, after_entry=after_entry), conditions, [len, after_entry])

    async def apply_edits(self, history: str, edits: Sequence[EntryEdit], conditions: Conditions = ANYWAY) -> Applied:
        """Apply edits in order as one change."""
        params = [plain_edit(edit) for edit in edits]
        stamped = tuple(
            evolve(edit, entries=self._stamp([evolve(entry, auto_injected=False) for entry in edit.entries]))
            if isinstance(edit, Splice)
            else evolve(edit, text=self._filtered(edit.text))
            if isinstance(edit, SetText) and self._service.filters
            else edit
            for edit in edits
        )
        return await self._apply(history, ApplyEdits(stamped), conditions, params)

    async def revert(self, history: str, to_version: int, conditions: Conditions = ANYWAY) -> Applied:
        """Make a new version with the content of an older one."""
        return await self._apply(history, Revert(to_version), conditions, [to_version])

    async def rename(self, history: str, to: str, conditions: Conditions = ANYWAY) -> Applied:
        """Give a history another name."""
        applied = await self._apply(history, Rename(check_name(to)), conditions, [to], to)
        self._overlay.rename(history, to)
        return applied

    async def delete(self, history: str, conditions: Conditions = ANYWAY) -> Applied:
        """Delete a history; its version stays as a tombstone."""
        applied = await self._apply(history, Delete(), conditions, [])
        self._overlay.forget(history)
        return applied

    async def fork(
        self,
        history: str,
        to: str,
        conditions: Conditions = ANYWAY,
        *,
        at_version: int | None = None,
        len: int | None = None,
    ) -> Applied:
        """Start the history `to` with what this one held at a version, or its first `len` entries."""
        operation = Fork(to=check_name(to), at_version=at_version, len=len)
        return await self._apply(history, operation, conditions, [to, at_version, len], to)

    async def elide(
        self, history: str, entry_ids: Sequence[str], policy: Json = None, conditions: Conditions = ANYWAY
    ) -> Applied:
        """Show entries to models as a placeholder."""
        operation = Elide(tuple(entry_ids), dumps({} if policy is None else policy))
        return await self._apply(history, operation, conditions, [list(entry_ids), policy])

    async def unelide(self, history: str, entry_ids: Sequence[str], conditions: Conditions = ANYWAY) -> Applied:
        """Show them whole again."""
        return await self._apply(history, Unelide(tuple(entry_ids)), conditions, [list(entry_ids)])

    async def set_metadata(
        self,
        history: str,
        *,
        title: str | None | Absent = ABSENT,
        tags: Sequence[str] | None | Absent = ABSENT,
        metadata: Mapping[str, Json] | None | Absent = ABSENT,
        operation_id: str | None = None,
    ) -> Applied:
        """Patch title, tags and metadata; the version stays."""
        given = {"title": title, "tags": tags, "metadata": metadata}
        params = {name: value for name, value in given.items() if value is not ABSENT}
        if (size := len(dumpb(params))) > self._limits.metadata_bytes:
            raise LimitExceeded("metadataBytes", size, self._limits.metadata_bytes)
        kept = tags if tags is None or tags is ABSENT else tuple(tags)
        operation = SetMetadata(title=title, tags=kept, metadata=metadata)
        return await self._apply(history, operation, Conditions(operation_id=operation_id), [params])

    async def record_tokens(
        self, history: str, tokens: int, question: Question | None = None, *, at_version: int | None = None
    ) -> Head:
        """Bind a measured input size to a version; it becomes the baseline of estimates, and calibrates them.

        `question` says whose tokens were counted. Raises HistoryNotFound, VersionUnavailable.
        """
        asked = question or Question(counter=DEFAULT)
        # A read's turn waits for the appends before it and holds those behind it back, so the newest version is the
        # one that the caller saw; nothing but the estimate changes.
        async with self._lanes.turn("read", check_name(history)):
            head = await self._store.head(history)
            if head is None:
                raise HistoryNotFound(history)
            measured = await self._service.parsed.read(history, at_version)
            calibration = await compute(
                len(measured.rows), calibration_after, asked, measured.version, measured.rows, measured.entries, tokens,
                head,
            )  # fmt: skip
            operation = RecordTokens(tokens=tokens, at_version=measured.version, calibration=calibration)
            mutation = Mutation(history=history, operation=operation, at=self._service.now(), actor=self.client)
            return (await self._store.apply(mutation)).head

    async def token_estimate(self, history: str, question: Question) -> tuple[int, Estimate]:
        """Return the newest version and its estimate; version 0 where the history is absent."""
        async with self._lanes.turn("read", check_name(history)):
            head = await self._store.head(history)
            if head is None:
                return 0, estimate_of(question, (0,), None)
            sums = await self._service.counted.sums(head, question.counter)
        return head.version, estimate_of(question, sums, head)

    async def plan_splice(
        self, history: str, question: Question, request: Request, *, version: int | None = None
    ) -> tuple[int, Plan, Estimate]:
        """Plan a compaction of the newest version; changes nothing. Reads no entries where it is too early for a plan.

        Raises HistoryNotFound, VersionMismatch where the newest version is not `version`.
        """
        async with self._lanes.turn("read", check_name(history)):
            while True:
                head = await self._store.head(history)
                if head is None:
                    raise HistoryNotFound(history)
                if version is not None and version != head.version:
                    raise VersionMismatch(history, version, head.version)
                sums = await self._service.counted.sums(head, question.counter)
                found = estimate_of(question, sums, head)
                costs = await compute(head.len, costs_of, found, sums)
                idle = idle_plan(costs, request)
                if idle is not None:
                    return head.version, idle, found
                parsed = await self._service.parsed.read(history)
                if parsed.version == head.version:  # else another process has changed it meanwhile
                    break
        rows, entries = parsed.rows, parsed.entries
        plan = await compute(len(rows), plan_of, question, found, costs, rows, entries, request)
        return parsed.version, plan, found

    async def prune(
        self, history: str | None, *, keep_versions: int | None, before: int | None, dry_run: bool
    ) -> Pruned:
        """Destroy old versions and what only they hold."""
        turn = self._lanes.turn_behind_all() if history is None else self._lanes.turn("write", check_name(history))
        async with turn:
            return await self._store.prune(history, keep_versions=keep_versions, before=before, dry_run=dry_run)

    async def clear_injected(self, history: str) -> int:
        """Drop this session's auto-injected entries of a history; return how many there were."""
        async with self._lanes.turn("write", check_name(history)):
            return self._overlay.clear(history)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def find(self, history: str) -> Head | None:
        """Return the head of a live history, or `None`."""
        async with self._lanes.turn("read", check_name(history)):
            head = await self._store.head(history)
            return None if head is None else await self._service.counted.shown(head)

    async def head(self, history: str) -> Head:
        """Return the head of a live history. Raises HistoryNotFound."""
        found = await self.find(history)
        if found is None:
            raise HistoryNotFound(history)
        return found

    async def snapshot(
        self,
        history: str,
        *,
        start: int | None = None,
        count: int | None = None,
        since_version: int | None = None,
        at_version: int | None = None,
        references: bool = False,
    ) -> Window | Delta | Unchanged:
        """Read entries, or what changed since a version; a window or an older version is always read in full.

        `references` leaves large media out as blob references.
        A window is shorter than asked where the reply would grow beyond `Limits.reply_bytes`.
        """
        async with self._lanes.turn("read", check_name(history)):
            if at_version is None and await self._is_overlay_only(history):
                alone = self._overlay.place(history, {}).front
                return Window(version=0, len=0, start=0, bodies=[_injected_body(entry) for entry in alone])
            if since_version is not None and at_version is None and start is None and count is None:
                since = await self._since(history, since_version, references)
                if since is not None:
                    return since
            return await self._window(history, start or 0, count, at_version, references)

    async def entries(self, history: str, at_version: int | None = None) -> Parsed:
        """Return a whole version as values, without injected entries."""
        async with self._lanes.turn("read", check_name(history)):
            return await self._service.parsed.read(history, at_version)

    async def part(
        self, history: str, *, start: int | None = None, count: int | None = None, at_version: int | None = None
    ) -> Part:
        """Return a window of a version as values, without injected entries."""
        async with self._lanes.turn("read", check_name(history)):
            return await self._service.parsed.read_part(history, start or 0, count, at_version)

    async def items(
        self, history: str, at_version: int | None = None, *, injected: bool = True
    ) -> tuple[int, list[Item]]:
        """Return a version as projection, checks and plans want it, injected entries in their places."""
        async with self._lanes.turn("read", check_name(history)):
            shown = injected and self._overlay.has_injected(history)
            if shown and at_version is None and await self._is_overlay_only(history):
                return 0, [Item(entry=entry, index=0) for entry in self._overlay.place(history, {}).front]
            parsed = await self._service.parsed.read(history, at_version)
            placed = await self._placed(history, parsed.version) if shown else Placed()
        items = [Item(entry=entry, index=0) for entry in placed.front]
        for row, entry in zip(parsed.rows, parsed.entries, strict=True):
            items += [Item(entry=other, index=row.index) for other in placed.before.get(row.index, ())]
            items.append(_item(row, entry))
            items += [Item(entry=other, index=row.index) for other in placed.behind.get(row.index, ())]
        return parsed.version, items

    async def positions(self, history: str, entry_ids: Sequence[str]) -> dict[str, int]:
        """Return the index of each of these entries that the newest version holds."""
        async with self._lanes.turn("read", check_name(history)):
            return await self._store.positions(history, entry_ids)

    def projections(self, history: str) -> AbstractContextManager[Projections | None]:
        """Lend what projections of a history go on from (`ParsedEntries.projections`)."""
        return self._service.parsed.projections(history)

    async def versions(self, history: str, *, cursor: str | None = None, limit: int | None = None) -> Page:
        """Return a page of `VersionRow`, newest first."""
        async with self._lanes.turn("read", check_name(history)):
            if await self._store.head(history) is None:
                raise HistoryNotFound(history)
            return await self._store.versions(history, cursor=cursor, limit=self._page(limit))

    async def list(
        self, *, prefix: str = "", cursor: str | None = None, limit: int | None = None, order_by: str = "name"
    ) -> Page:
        """Return a page of `Head`."""
        async with self._lanes.turn_behind_all():
            if not may_start_a_name(prefix):
                return Page(rows=(), cursor=None)
            page = await self._store.list(prefix=prefix, cursor=cursor, limit=self._page(limit), order_by=order_by)
            return evolve(page, rows=tuple([await self._service.counted.shown(head) for head in page.rows]))

    async def search(
        self, query: str, *, prefix: str = "", cursor: str | None = None, limit: int | None = None
    ) -> Page:
        """Return a page of `Hit`, best first."""
        async with self._lanes.turn_behind_all():
            return await self._store.search(query, prefix=prefix, cursor=cursor, limit=self._page(limit))

    def sender(self, history: str, entry_id: str) -> str:
        """Return who sent an entry, as far as this session knows."""
        return self._overlay.sender(history, entry_id)

    # --- subscriptions ------------------------------------------------------------------------------------------------

    async def subscribe(
        self, history: str | None = None, prefix: str = "", *, with_entries: bool = True
    ) -> tuple[str, int | None]:
        """Tell the sink of every change from now on; return the subscription's id and the version it starts from."""
        if history is not None:
            check_name(history)
        if len(self._subscriptions) >= (most := self._limits.subscriptions):
            raise LimitExceeded("subscriptions", most + 1, most)
        self._service.listen()
        subscription = self._subscriptions.add(history, prefix, with_entries=with_entries)
        if history is None:
            self._subscriptions.start(subscription, -1)
            return subscription, None
        try:
            head = await self.find(history)
        except BaseException:
            self._subscriptions.remove(subscription)
            raise
        version = head.version if head is not None else 0
        self._subscriptions.start(subscription, version)
        return subscription, version

    def unsubscribe(self, subscription_id: str) -> bool:
        """End a subscription; say whether there was one."""
        return self._subscriptions.remove(subscription_id)

    def hear(self, event: ChangeEvent) -> None:
        """Take a committed change; called by the service."""
        self._subscriptions.take(event)

    def catch_up(self) -> None:
        """The sink is no longer congested: tell it what it missed."""
        self._subscriptions.catch_up()

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _apply(
        self,
        history: str,
        operation: Operation,
        conditions: Conditions,
        params: Json,
        *others: str,
        turn: Kind = "write",
    ) -> Applied:
        digest = self._digest(operation.KIND, history, conditions, params)
        mutation = Mutation(
            history=check_name(history),
            operation=operation,
            at=self._service.now(),
            if_version=conditions.if_version,
            operation_id=conditions.operation_id,
            digest=digest,
            actor=self.client,
        )
        async with self._lanes.turn(turn, history, *others):
            self._overlay.recall(history, conditions.operation_id, digest)  # refuses what was another call
            if self._overlay.has_injected(history):
                mutation = evolve(mutation, taken=self._overlay.injected_ids(history))
            applied = await self._store.apply(mutation)
            if not applied.head.marks:
                return applied
            return evolve(applied, head=await self._service.counted.shown(applied.head))

    @staticmethod
    def _digest(kind: str, history: str, conditions: Conditions, params: Json) -> bytes:
        return b"" if conditions.operation_id is None else digest_of(kind, history, params)

    def _stamp(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        if len(entries) > self._limits.entries_per_call:
            raise LimitExceeded("entriesPerCall", len(entries), self._limits.entries_per_call)
        now, make = self._service.now(), self._service.ids.make
        stamped = tuple(
            entry
            if entry.id and entry.ts is not None
            else evolve(entry, id=entry.id or make(), ts=now if entry.ts is None else entry.ts)
            for entry in entries
        )
        for change in self._service.filters:
            stamped = tuple(change(entry) for entry in stamped)
        return stamped

    def _filtered(self, text: str) -> str:
        """Return a text as the filters would store it."""
        entry = Entry.user(text)
        for change in self._service.filters:
            entry = change(entry)
        return entry.text

    async def _inject(self, history: str, entries: tuple[Entry, ...], conditions: Conditions, params: Json) -> Applied:
        """Take entries that are all auto-injected: no change, but what an append refuses is refused."""
        digest = self._digest(Append.KIND, history, conditions, params)
        async with self._lanes.turn("alone", check_name(history)):
            if (first := self._overlay.recall(history, conditions.operation_id, digest)) is not None:
                return first
            if conditions.operation_id is not None and await self._store.recall(history, conditions.operation_id):
                raise OperationReused(conditions.operation_id)  # what was stored under it was another call
            head = await self._store.head(history)
            version = head.version if head is not None else 0
            if conditions.if_version is not None and conditions.if_version != version:
                raise VersionMismatch(history, conditions.if_version, version)
            last_id = None
            if head is not None and head.len:
                last = await self._store.read(history, version=version, start=head.len - 1)
                with naming(history):
                    last_id = entry_of(last.rows[0].body).id
                for entry_id in await self._store.positions(history, [entry.id for entry in entries], version):
                    raise EntryExists(history, entry_id)  # the first of them
            if head is None:
                now = self._service.now()
                head = Head(history=history, version=0, len=0, estimate=0, created_at=now, updated_at=now)
            self._overlay.take(history, entries, last_id)
            ids = tuple(entry.id for entry in entries)
            applied = Applied(head=head, previous_version=version, changed=False, entry_ids=ids)
            self._overlay.remember(history, conditions.operation_id, digest, applied)
            return applied

    async def _since(self, history: str, version: int, references: bool) -> Delta | Unchanged | None:
        """Return what changed, or `None` where only a full read can tell."""
        head = await self._store.head(history)
        if head is None:
            raise HistoryNotFound(history)
        if head.version == version:
            return Unchanged(version=head.version, len=head.len)
        try:
            delta = await self._store.delta(history, version, references=references)
        except VersionUnavailable:
            return None
        size = sum(len(body) for edit in delta.edits for body in edit.bodies)
        return delta if size <= self._limits.reply_bytes else None

    async def _window(
        self, history: str, start: int, count: int | None, at_version: int | None, references: bool
    ) -> Window:
        if start < 0:
            whole = await self._store.bodies(history, version=at_version, start=0, stop=0)
            at_version, start = whole.version, max(0, whole.len + start)
        stop = None if count is None else start + count
        bodies: Sequence[bytes] = []
        size = 0
        while True:
            found = await self._store.bodies(
                history,
                version=at_version,
                start=start + len(bodies),
                stop=stop,
                max_bytes=min(self._limits.chunk_bytes, self._limits.reply_bytes - size),
                references=references,
            )
            bodies = [*bodies, *found.bodies] if bodies else found.bodies
            size += sum(map(len, found.bodies))
            at_version = found.version
            wanted = found.len if stop is None else min(stop, found.len)
            if not found.bodies or start + len(bodies) >= wanted or size >= self._limits.reply_bytes:
                break
        start = min(start, found.len)
        if self._overlay.has_injected(history):
            bodies = await self._with_injected(history, found.version, start, bodies)
        return Window(version=found.version, len=found.len, start=start, bodies=bodies)

    async def _with_injected(self, history: str, version: int, start: int, bodies: Sequence[bytes]) -> Sequence[bytes]:
        placed = await self._placed(history, version)
        shown = [_injected_body(entry) for entry in placed.front] if start == 0 else []
        for index, body in enumerate(bodies, start):
            shown += [_injected_body(entry) for entry in placed.before.get(index, ())]
            shown.append(body)
            shown += [_injected_body(entry) for entry in placed.behind.get(index, ())]
        return shown

    async def _is_overlay_only(self, history: str) -> bool:
        """Say whether this session injected entries into a history that nobody made yet."""
        return self._overlay.stands_alone(history) and await self._store.head(history) is None

    async def _placed(self, history: str, version: int) -> Placed:
        anchors = [anchor for anchor in self._overlay.anchors(history) if anchor]
        positions = await self._store.positions(history, anchors, version) if anchors else {}
        return self._overlay.place(history, positions)

    def _page(self, limit: int | None) -> int:
        return min(limit or self._limits.default_page, self._limits.page_size)


def _item(row: Row, entry: Entry) -> Item:
    if row.elided is None:
        return Item(entry=entry, index=row.index, prefix_changed=row.prefix_changed)
    shown = elide_entry(entry, loads(row.elided))
    return Item(entry=shown, index=row.index, prefix_changed=row.prefix_changed, elided=shown is not entry)


def _injected_body(entry: Entry) -> bytes:
    return dumpb({**entry_to_json(entry), "autoInjected": True})
