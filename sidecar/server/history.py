"""`history/*`: params to a call of the session, its answer to a result. One method per method, named after its verb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sidecar.contract import types as t
from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, dumpb
from sidecar.core.message_json import entry_from_json, message_from_json
from sidecar.core.messages import Entry
from sidecar.server.notifications import edit_with_entries
from sidecar.server.protocol import Spliced
from sidecar.service import (
    Applied,
    Conditions,
    Delta,
    EntryEdit,
    Head,
    Remove,
    Session,
    SetText,
    Splice,
    Unchanged,
    VersionRow,
    Window,
    token_estimate,
)


class Served(Protocol):
    """What handlers need of the server."""

    session: Session
    """The connection's session; there once `initialize` was answered."""


class HistoryHandlers:
    """The handlers of `history/*`."""

    def __init__(self, server: Served) -> None:
        self._server = server

    @property
    def _session(self) -> Session:
        return self._server.session

    # --- changing -----------------------------------------------------------------------------------------------------

    async def append(self, params: t.AppendParams) -> t.AppendResult:
        entries = _entries(params.entries)
        applied = await self._session.append(params.history, entries, conditions(params))
        return t.AppendResult(**common(applied), entry_ids=applied.entry_ids)

    async def splice_prefix(self, params: t.SplicePrefixParams) -> t.SplicePrefixResult:
        applied = await self._session.splice_prefix(
            params.history,
            params.drop_count,
            _summary(params.summary),
            conditions(params),
            align=params.align,
            carry=params.carry,
            if_prefix=params.if_prefix,
        )
        warnings = [
            t.SpliceWarning(kind=found.kind, entry_id=found.entry_id, message=found.message)
            for found in applied.warnings
        ]
        return t.SplicePrefixResult(**common(applied), dropped=applied.dropped, warnings=warnings)

    async def replace(self, params: t.ReplaceParams) -> t.ReplaceResult:
        applied = await self._session.replace(params.history, _entries(params.entries), conditions(params))
        return t.ReplaceResult(**common(applied), entry_ids=applied.entry_ids)

    async def truncate(self, params: t.TruncateParams) -> t.TruncateResult:
        applied = await self._session.truncate(
            params.history, conditions(params), len=params.len, after_entry=params.after_entry
        )
        return t.TruncateResult(**common(applied), dropped=applied.dropped)

    async def apply_edits(self, params: t.ApplyEditsParams) -> t.ApplyEditsResult:
        edits = [_edit(edit, f"/edits/{index}") for index, edit in enumerate(params.edits)]
        applied = await self._session.apply_edits(params.history, edits, conditions(params))
        return t.ApplyEditsResult(**common(applied), entry_ids=applied.entry_ids)

    async def revert(self, params: t.RevertParams) -> t.RevertResult:
        applied = await self._session.revert(params.history, params.to_version, conditions(params))
        return t.RevertResult(**common(applied))

    async def rename(self, params: t.RenameParams) -> t.RenameResult:
        applied = await self._session.rename(params.history, params.to, conditions(params))
        return t.RenameResult(**common(applied))

    async def delete(self, params: t.DeleteParams) -> t.DeleteResult:
        applied = await self._session.delete(params.history, conditions(params))
        return t.DeleteResult(
            history=params.history, existed=applied.existed, version=applied.head.version, replayed=applied.replayed
        )

    async def fork(self, params: t.ForkParams) -> t.ForkResult:
        demanded = Conditions(operation_id=params.operation_id)
        applied = await self._session.fork(
            params.history, params.to, demanded, at_version=params.at_version, len=params.len
        )
        return t.ForkResult(**common(applied))

    async def set_metadata(self, params: t.SetMetadataParams) -> t.SetMetadataResult:
        patch = params.patch
        applied = await self._session.set_metadata(
            params.history,
            title=patch.title,
            tags=patch.tags,
            metadata=patch.metadata,
            operation_id=params.operation_id,
        )
        return t.SetMetadataResult(**_info(applied.head), replayed=applied.replayed)

    async def clear_injected(self, params: t.ClearInjectedParams) -> t.ClearInjectedResult:
        return t.ClearInjectedResult(dropped=await self._session.clear_injected(params.history))

    async def prune(self, params: t.PruneParams) -> t.PruneResult:
        pruned = await self._session.prune(
            params.history, keep_versions=params.keep_versions, before=params.before, dry_run=params.dry_run
        )
        return t.PruneResult(freed_bytes=pruned.freed_bytes, versions_dropped=pruned.versions_dropped)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def snapshot(self, params: t.SnapshotParams) -> Spliced:
        return _spliced(
            await self._session.snapshot(
                params.history,
                start=params.start,
                count=params.count,
                since_version=params.since_version,
                at_version=params.at_version,
                references=params.references,
            )
        )

    async def len(self, params: t.LenParams) -> t.LenResult:
        head = await self._session.find(params.history)
        if head is None:
            return t.LenResult(len=0, version=0, is_empty=True)
        return t.LenResult(len=head.len, version=head.version, is_empty=not head.len)

    async def info(self, params: t.HistoryInfoParams) -> t.HistoryInfo:
        return t.HistoryInfo(**_info(await self._session.head(params.history)))

    async def list(self, params: t.ListParams) -> t.ListResult:
        page = await self._session.list(
            prefix=params.prefix or "", cursor=params.cursor, limit=params.limit, order_by=_order(params.order_by)
        )
        return t.ListResult(data=[t.HistoryInfo(**_info(head)) for head in page.rows], next_cursor=page.cursor)

    async def versions(self, params: t.VersionsParams) -> t.VersionsResult:
        page = await self._session.versions(params.history, cursor=params.cursor, limit=params.limit)
        return t.VersionsResult(data=[_version(row) for row in page.rows], next_cursor=page.cursor)

    async def search(self, params: t.SearchParams) -> t.SearchResult:
        page = await self._session.search(
            params.query, prefix=params.prefix or "", cursor=params.cursor, limit=params.limit
        )
        hits = [
            t.SearchHit(history=hit.history, entry_id=hit.entry_id, index=hit.index, snippet=hit.snippet, rank=hit.rank)
            for hit in page.rows
        ]
        return t.SearchResult(data=hits, next_cursor=page.cursor)

    async def subscribe(self, params: t.SubscribeParams) -> t.SubscribeResult:
        subscription, version = await self._session.subscribe(
            params.history, params.prefix or "", with_entries=params.entries
        )
        return t.SubscribeResult(subscription_id=subscription, version=version)

    async def unsubscribe(self, params: t.UnsubscribeParams) -> t.UnsubscribeResult:
        self._session.unsubscribe(params.subscription_id)
        return t.UnsubscribeResult()


# --- params -----------------------------------------------------------------------------------------------------------


def conditions(params: Any) -> Conditions:
    """Return what a mutation demands."""
    return Conditions(if_version=params.if_version, operation_id=params.operation_id)


def _entries(values: Sequence[Json], path: str = "/entries") -> list[Entry]:
    return [entry_from_json(value, f"{path}/{index}") for index, value in enumerate(values)]


def _summary(value: Json) -> Entry:
    """An entry, a message of any role, or a plain string, which means a `summary` message."""
    if isinstance(value, str):
        return Entry.summary(value)
    if isinstance(value, dict) and "message" not in value and "role" in value:
        return Entry.from_message(message_from_json(value, "/summary"))
    return entry_from_json(value, "/summary")


def _edit(edit: t.HistoryEdit, path: str) -> EntryEdit:
    if isinstance(edit, t.SpliceEdit):
        return Splice(
            start=edit.start,
            delete_count=edit.delete_count,
            entries=tuple(_entries(edit.entries, f"{path}/entries")),
        )
    if isinstance(edit, t.SetTextEdit):
        return SetText(entry_id=edit.entry_id, text=edit.text, block=edit.block)
    return Remove(entry_id=edit.entry_id)


def _order(order_by: str | None) -> str:
    if order_by not in (None, "name", "updatedAt", "createdAt"):
        raise InvalidParams.at("/orderBy", "must be one of name, updatedAt, createdAt")
    return order_by or "name"


# --- results ----------------------------------------------------------------------------------------------------------


def common(applied: Applied) -> dict[str, Any]:
    """Return the fields that the result of every mutation has."""
    head = applied.head
    return {
        "history": head.history,
        "version": head.version,
        "len": head.len,
        "token_estimate": token_estimate(head),
        "replayed": applied.replayed,
    }


def _info(head: Head) -> dict[str, Any]:
    return {
        "history": head.history,
        "version": head.version,
        "len": head.len,
        "title": head.title,
        "tags": head.tags,
        "created_at": head.created_at,
        "updated_at": head.updated_at,
        "token_estimate": token_estimate(head),
        "metadata": head.metadata,
    }


def _version(row: VersionRow) -> t.VersionInfo:
    origin = t.ChangeOrigin(local=row.local, client=row.actor)
    return t.VersionInfo(version=row.version, kind=row.kind, ts=row.at, len=row.len, origin=origin)


def _spliced(read: Window | Delta | Unchanged) -> Spliced:
    if isinstance(read, Window):
        facts = b'{"kind":"full","version":%d,"len":%d,"start":%d,"entries":[' % (read.version, read.len, read.start)
        return Spliced(facts, b",".join(read.bodies), b"]}")
    if isinstance(read, Delta):
        facts = b'{"kind":"delta","version":%d,"fromVersion":%d,"len":%d,"edits":[' % (
            read.version,
            read.from_version,
            read.len,
        )
        return Spliced(facts, b",".join(map(edit_with_entries, read.edits)), b"]}")
    return Spliced(dumpb({"kind": "unchanged", "version": read.version, "len": read.len}))
