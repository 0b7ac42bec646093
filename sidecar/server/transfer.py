"""`history/outline`, `render`, `import` and `export`: histories for people and for other tools."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from sidecar.contract import types as t
from sidecar.render import outline, redact_secrets, render_html, render_markdown
from sidecar.server.files import open_file, write_file
from sidecar.server.history import conditions
from sidecar.server.wire import losses
from sidecar.service import Parsed, Session, compute, entry_tokens, token_estimate

_KINDS = {"call": "toolCall", "result": "toolResult", "error": "toolResult", "empty": "text"}


class Served(Protocol):
    """What these handlers need of the server."""

    session: Session
    folders: tuple[Path, ...]
    """Where files may be read and written."""


class TransferHandlers:
    """Named after the verbs of their methods."""

    def __init__(self, server: Served) -> None:
        self._server = server

    async def outline(self, params: t.OutlineParams) -> t.OutlineResult:
        parsed = await self._server.session.entries(params.history, params.at_version)
        start, stop = _window(parsed, params.start, params.count)
        rows = parsed.rows[start:stop]
        shown = await compute(
            stop - start,
            outline,
            parsed.entries[start:stop],
            start=start,
            tokens=[entry_tokens(row) for row in rows],
            elided=_elided(parsed),
        )
        data = [
            t.OutlineItem(
                id=row.id,
                index=row.index,
                role=row.role,
                kind=row.role if row.role in ("summary", "note") else _KINDS.get(row.kind, row.kind),
                line=row.line,
                tokens=row.tokens or 0,
                ts=row.ts,
                call_ids=row.call_ids,
                elided=row.elided,
                pinned=row.pinned,
            )
            for row in shown
        ]
        return t.OutlineResult(version=parsed.version, len=len(parsed.rows), data=data)

    async def render(self, params: t.RenderParams) -> t.RenderResult:
        parsed = await self._server.session.entries(params.history, params.at_version)
        start, stop = _window(parsed, params.start, params.count)
        write = render_html if params.format == "html" else render_markdown
        rendered = await compute(
            stop - start,
            write,
            parsed.entries[start:stop],
            start=start,
            title=params.history,
            tokens=[entry_tokens(row) for row in parsed.rows[start:stop]],
            elided=_elided(parsed),
            redact=redact_secrets if params.redact else None,
        )
        places = [
            t.RenderedEntry(entry_id=span.entry_id, start_line=span.start_line, end_line=span.end_line)
            for span in rendered.map
        ]
        return t.RenderResult(version=parsed.version, text=rendered.text, map=places)

    async def export(self, params: t.ExportParams) -> t.ExportResult:
        from sidecar.formats.transfer import export

        version, items = await self._server.session.items(params.history, params.at_version, injected=False)
        entries = [item.entry for item in items]
        exported = await compute(
            len(items), export, entries, params.format, redact=params.redact, title=params.history, items=items
        )
        content = exported.text.encode("utf-8", "backslashreplace")
        if params.uri is None:
            return t.ExportResult(text=exported.text, uri=None, bytes=len(content), losses=losses(exported.losses))
        write_file(params.uri, self._server.folders, content)
        return t.ExportResult(text=None, uri=params.uri, bytes=len(content), losses=losses(exported.losses))

    async def import_(self, params: t.ImportParams) -> t.ImportResult:
        from sidecar.formats.source import Source
        from sidecar.service.transfer import Importing

        with ExitStack() as files:
            if params.uri is not None:
                source = Source(files.enter_context(open_file(params.uri, self._server.folders)))
                asked = [params.format, "uri", params.uri]
            else:
                text = (params.text or "").encode("utf-8", "surrogatepass")
                source = Source.of(text)
                asked = [params.format, "text", hashlib.sha256(text).hexdigest()]
            importing = Importing(
                self._server.session, params.history, params.format, source, conditions(params), params=asked
            )
            outcomes = [outcome async for outcome in importing]
        first, head = outcomes[0], outcomes[0].head
        more = [
            t.Loss(
                rule="moreHistories",
                severity="info",
                entry_id=None,
                path=None,
                message=f"another conversation of the text went to history {outcome.history!r}",
            )
            for outcome in outcomes[1:]
        ]
        return t.ImportResult(
            history=params.history,
            version=head.version if head is not None else 0,
            len=head.len if head is not None else 0,
            token_estimate=token_estimate(head) if head is not None else None,
            replayed=first.replayed,
            format=importing.format,
            entry_ids=first.entry_ids,
            losses=[*more, *losses(importing.losses)],
        )


def _window(parsed: Parsed, start: int | None, count: int | None) -> tuple[int, int]:
    length = len(parsed.rows)
    first = start or 0
    if first < 0:
        first += length
    first = min(max(0, first), length)
    return first, length if count is None else min(length, first + count)


def _elided(parsed: Parsed) -> frozenset[str]:
    return frozenset(entry.id for row, entry in zip(parsed.rows, parsed.entries, strict=True) if row.elided is not None)
