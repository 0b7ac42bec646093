"""`history/outline`, `render`, `import` and `export`: histories for people and for other tools."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from sidecar.contract import types as t
from sidecar.core.redaction import Redactor
from sidecar.render import Rendered, outline, render_html, render_markdown
from sidecar.server.files import open_file, write_file
from sidecar.server.history import conditions
from sidecar.server.progress import progress
from sidecar.server.protocol import SidecarProtocol
from sidecar.server.wire import losses
from sidecar.service import Part, Session, compute, entry_tokens, token_estimate


class Served(Protocol):
    """What these handlers need of the server."""

    session: Session
    folders: tuple[Path, ...]
    """Where files may be read and written."""
    protocol: SidecarProtocol
    """How the client is told how far a long request is."""


class TransferHandlers:
    """Named after the verbs of their methods."""

    def __init__(self, server: Served) -> None:
        self._server = server

    async def outline(self, params: t.OutlineParams) -> t.OutlineResult:
        part = await self._part(params)
        shown = await compute(
            len(part.rows),
            outline,
            part.entries,
            start=part.start,
            tokens=[entry_tokens(row) for row in part.rows],
            elided=_elided(part),
        )
        data = [
            t.OutlineItem(
                id=row.id,
                index=row.index,
                role=row.role,
                kind=row.kind,
                line=row.line,
                tokens=row.tokens or 0,
                ts=row.ts,
                call_ids=row.call_ids,
                elided=row.elided,
                pinned=row.pinned,
            )
            for row in shown
        ]
        return t.OutlineResult(version=part.version, len=part.len, data=data)

    async def render(self, params: t.RenderParams) -> t.RenderResult:
        part = await self._part(params)
        rendered = await compute(len(part.rows), _render, part, params)
        places = [
            t.RenderedEntry(entry_id=span.entry_id, start_line=span.start_line, end_line=span.end_line)
            for span in rendered.map
        ]
        return t.RenderResult(version=part.version, text=rendered.text, map=places)

    async def _part(self, params: t.OutlineParams | t.RenderParams) -> Part:
        return await self._server.session.part(
            params.history, start=params.start, count=params.count, at_version=params.at_version
        )

    async def export(self, params: t.ExportParams) -> t.ExportResult:
        from sidecar.formats.transfer import export

        version, items = await self._server.session.items(params.history, params.at_version, injected=False)
        entries = [item.entry for item in items]
        exported = await compute(
            len(items),
            export,
            entries,
            params.format,
            redact=params.redact,
            title=params.history,
            version=version,
            items=items,
        )
        content = exported.text.encode("utf-8", "backslashreplace")
        if params.uri is None:
            return t.ExportResult(text=exported.text, uri=None, bytes=len(content), losses=losses(exported.losses))
        write_file(params.uri, self._server.folders, content)
        return t.ExportResult(text=None, uri=params.uri, bytes=len(content), losses=losses(exported.losses))

    async def import_(self, params: t.ImportParams) -> t.ImportResult:
        from sidecar.formats.source import Source
        from sidecar.service.transfer import Importing

        with ExitStack() as stack:
            if params.uri is not None:
                source = stack.enter_context(open_file(params.uri, self._server.folders))
                asked = [params.format, "uri", params.uri]
            else:
                text = (params.text or "").encode("utf-8", "surrogatepass")
                source = Source.of(text)
                asked = [params.format, "text", hashlib.sha256(text).hexdigest()]
            title = f"importing into {params.history}"
            told = stack.enter_context(progress(self._server.protocol, params.work_done_token, title))
            importing = Importing(
                self._server.session,
                params.history,
                params.format,
                source,
                conditions(params),
                params=asked,
                on_progress=told.report,
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


def _render(part: Part, params: t.RenderParams) -> Rendered:
    write = render_html if params.format == "html" else render_markdown
    return write(
        Redactor().entries(part.entries) if params.redact else part.entries,
        start=part.start,
        title=params.history,
        tokens=[entry_tokens(row) for row in part.rows],
        elided=_elided(part),
    )


def _elided(part: Part) -> frozenset[str]:
    return frozenset(entry.id for row, entry in zip(part.rows, part.entries, strict=True) if row.elided is not None)
