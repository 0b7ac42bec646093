"""Transcripts as LSP documents: what an editor gets with no plugin of ours (`protocol.md` §10).

Rules:
- A request is answered against the text that the client shows: the last texts served for a URI are kept, and the one
  that equals the client's is used.
- Refreshes are coalesced: after a change of a history its open documents are refreshed once per `REFRESH_DELAY`, and
  never again before the client has answered the refresh before. A client that shows nothing costs nothing.
- A client that pulls diagnostics is told to pull again; to another they are pushed.
- A document that cannot be read is an empty answer, never an error pop-up: editors ask on every cursor move.

A change reaches `Documents.history_changed` whoever committed it, in this process or another.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import evolve, field, frozen
from lsprotocol import types

from sidecar import wire
from sidecar.core.errors import InvalidParams, SidecarError
from sidecar.core.jsontext import Json
from sidecar.server import documents_features as features
from sidecar.server.documents_checks import actions, diagnostics, loss_diagnostics
from sidecar.server.documents_hover import Facts, Views, hover_text
from sidecar.server.documents_model import FILE_SUFFIX, Document, Ruler, file_document, history_uri, parse_uri
from sidecar.server.documents_source import read_document, version_before
from sidecar.server.failures import Refusal, log_incident
from sidecar.service import compute
from sidecar.wire.base import Loss, Options, Repair

if TYPE_CHECKING:
    from sidecar.server.app import SidecarServer
    from sidecar.service import Notification

log = logging.getLogger(__name__)

REFRESH_DELAY = 0.1
"""Seconds between a change and the refresh: long enough for a burst of appends, short enough to look live."""

CLIENT_PATIENCE = 10.0
"""Seconds after which a refresh that the client does not answer no longer holds up the next."""

MAX_DOCUMENTS = 64
"""Addresses whose texts are remembered; the least recently used go first."""

DEFAULT_VENDORS = ("openai-chat", "anthropic-messages", "gemini")
"""Checked where the user configured none, so that a plain editor shows something."""


@frozen(kw_only=True)
class Settings:
    """What a user may configure, by `initializationOptions.sidecar.defaults` or `workspace/didChangeConfiguration`."""

    vendors: tuple[str, ...] = DEFAULT_VENDORS
    code_lens: bool = False
    inlay_hints: bool = False

    @classmethod
    def read(cls, value: Json, known: Sequence[str]) -> Settings:
        """Read `{vendors, codeLens, inlayHints}`; what is not understood is left at its default."""
        if not isinstance(value, dict):
            return cls()
        vendors = value.get("vendors")
        chosen = [vendor for vendor in vendors if vendor in known] if isinstance(vendors, list) else DEFAULT_VENDORS
        return cls(
            vendors=tuple(chosen),
            code_lens=value.get("codeLens") is True,
            inlay_hints=value.get("inlayHints") is True,
        )


@frozen
class _Served:
    """The last texts of one URI, newest last."""

    documents: deque[Document] = field(factory=lambda: deque(maxlen=3))


class Documents:
    """The documents of one client."""

    def __init__(self, server: SidecarServer) -> None:
        self._server = server
        self._served: OrderedDict[str, _Served] = OrderedDict()
        self._open: set[str] = set()
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._checking: dict[str, asyncio.TimerHandle] = {}
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._listening = False
        self._views = Views(self.call, self._changes)
        self.settings = Settings()

    # --- reading ------------------------------------------------------------------------------------------------------

    async def call(self, method: str, params: dict[str, Json]) -> Json:
        """Answer one of the sidecar's own methods, as a client would get it."""
        return await self._server.protocol.answer(method, params)

    @property
    def ruler(self) -> Ruler:
        """Positions in the encoding that was negotiated."""
        return Ruler(str(getattr(self._encoding, "value", self._encoding)))

    @property
    def _encoding(self) -> Any:
        return self._server.protocol.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16

    @property
    def _client(self) -> types.ClientCapabilities:
        return self._server.protocol.client_capabilities

    def _vendors(self) -> list[str]:
        from sidecar.wire.registry import vendor_ids

        return list(vendor_ids())

    async def read(self, uri: str) -> Document | None:
        """Read a virtual document afresh."""
        address = parse_uri(uri, self._vendors())
        if address is None:
            return None
        await self._listen()
        document = await read_document(self.call, uri, address, with_tokens=not self.settings.inlay_hints)
        served = self._served.setdefault(uri, _Served())
        served.documents.append(document)
        self._served.move_to_end(uri)
        while len(self._served) > MAX_DOCUMENTS:
            self._served.popitem(last=False)
        return document

    async def shown(self, uri: str) -> Document | None:
        """Return the document as the client has it."""
        source = self._source(uri)
        if uri.split("#", maxsplit=1)[0].endswith(FILE_SUFFIX) and source is not None:
            return await self._file(uri, source)
        served = self._served.get(uri)
        if served is not None and served.documents:
            if source is None:
                return served.documents[-1]
            text = source.replace("\r\n", "\n")
            for document in reversed(served.documents):
                if document.text == text:
                    return document
        try:
            return await self.read(uri)
        except SidecarError:
            return None

    async def _file(self, uri: str, source: str) -> Document | None:
        document = file_document(uri, source)
        if document is None or document.version:
            return document
        # A file that does not say its version shows the newest, as far as anybody can tell.
        answer = await self.call("history/len", {"history": document.history})
        return evolve(document, version=int(answer["version"]))

    def _source(self, uri: str) -> str | None:
        held = self._server.protocol.workspace.text_documents.get(uri)
        return held.source if held is not None else None

    # --- content ------------------------------------------------------------------------------------------------------

    async def content(self, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        """Answer `workspace/textDocumentContent`."""
        document = await self.read(params.uri.split("#")[0])
        if document is None:
            raise InvalidParams.at("/uri", "names no history")
        return types.TextDocumentContentResult(text=document.text)

    def start(self, defaults: Json) -> None:
        """Take the settings that came with `initialize`."""
        self.settings = Settings.read(defaults, self._vendors())

    def configure(self, params: types.DidChangeConfigurationParams) -> None:
        """Take settings that the user changed."""
        value = params.settings
        if isinstance(value, dict) and isinstance(value.get("historySidecar"), dict):
            self.settings = Settings.read(value["historySidecar"], self._vendors())
            for uri in sorted(self._open):
                if (history := self._history_of(uri)) is not None:
                    self.history_changed(history)

    # --- text synchronisation -----------------------------------------------------------------------------------------

    async def did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Check a document that the client shows now."""
        uri = params.text_document.uri
        self._open.add(uri)
        await self._listen()
        self._push_soon(uri)

    def did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Check again: a refreshed virtual document arrives as a change as well."""
        self._push_soon(params.text_document.uri)

    def did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        uri = params.text_document.uri
        self._open.discard(uri)
        self._served.pop(uri, None)
        if not self._pulls:
            self._publish(uri, [])

    # --- live ---------------------------------------------------------------------------------------------------------

    congested: ClassVar[bool] = False

    def notify(self, notification: Notification) -> None:
        """Hear of a change (`service.Sink`)."""
        self.history_changed(notification.event.history)

    async def _listen(self) -> None:
        """Hear of changes from now on; a client that opens no document never gets here."""
        if not self._listening:
            self._listening = True
            await self._server.service.session(None, self).subscribe(None, "", with_entries=False)

    def history_changed(self, history: str) -> None:
        """Refresh the documents of this history soon."""
        if history in self._due or not any(self._history_of(uri) == history for uri in (*self._served, *self._open)):
            return
        loop = asyncio.get_running_loop()
        self._due[history] = loop.call_later(REFRESH_DELAY, self._start_refresh, history)

    def _start_refresh(self, history: str) -> None:
        if history in self._refreshing:
            # The client is still busy with the last one; look again later.
            loop = asyncio.get_running_loop()
            self._due[history] = loop.call_later(REFRESH_DELAY, self._start_refresh, history)
            return
        del self._due[history]
        task = asyncio.ensure_future(self._refresh(history))
        self._refreshing[history] = task
        task.add_done_callback(lambda _: self._refreshing.pop(history, None))

    async def _refresh(self, history: str) -> None:
        try:
            for uri in [uri for uri in self._served if self._history_of(uri) == history and "atVersion" not in uri]:
                if self._content_support is not None:
                    params = types.TextDocumentContentRefreshParams(uri=uri)
                    await self._ask(self._server.workspace_text_document_content_refresh_async(params))
            await self._recheck(history)
        except Exception as error:  # noqa: BLE001 - nobody waits for this task
            log_incident(error, "refresh")

    async def _recheck(self, history: str) -> None:
        if self._pulls:
            workspace = self._client.workspace
            if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
                await self._ask(self._server.workspace_diagnostic_refresh_async(None))
            return
        for uri in self._open:
            if self._history_of(uri) == history:
                self._push_soon(uri)

    async def _ask(self, request: Any) -> None:
        try:
            await asyncio.wait_for(request, CLIENT_PATIENCE)
        except TimeoutError:
            log.warning("the client did not answer a refresh")

    def _history_of(self, uri: str) -> str | None:
        address = parse_uri(uri, self._vendors())
        if address is not None:
            return address.history
        served = self._served.get(uri)
        if served is not None and served.documents:
            return served.documents[-1].history
        if uri.endswith(FILE_SUFFIX) and (source := self._source(uri)) is not None:
            document = file_document(uri, source)
            return document.history if document is not None else None
        return None

    @property
    def _content_support(self) -> Any:
        return self._client.workspace.text_document_content if self._client.workspace else None

    # --- structure ----------------------------------------------------------------------------------------------------

    async def symbols(self, params: types.DocumentSymbolParams) -> Sequence[Any]:
        """Answer `textDocument/documentSymbol`."""
        document = await self.shown(params.text_document.uri)
        if document is None:
            return []
        text = self._client.text_document
        nested = text and text.document_symbol and text.document_symbol.hierarchical_document_symbol_support
        return features.symbols(document, self.ruler) if nested else features.flat_symbols(document, self.ruler)

    async def folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        """Answer `textDocument/foldingRange`."""
        document = await self.shown(params.text_document.uri)
        return features.folds(document) if document is not None else []

    async def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        """Answer `textDocument/definition`: call to result and back, summary to what it replaced."""
        document = await self.shown(params.text_document.uri)
        if document is None:
            return []
        found = features.definition(document, self.ruler, params.position.line)
        return found or await self._spliced(document, params.position.line)

    async def _spliced(self, document: Document, line: int) -> list[types.Location]:
        at = document.at(line)
        if at is None or document.rows[at]["role"] != "summary" or document.version == 0:
            return []
        entry_id = str(document.rows[at]["id"])
        try:
            before = await version_before(self.call, document.history, entry_id, document.version)
            if before is None:
                return []
            old = await self.read(f"{history_uri(document.history, at_version=before)}&start=0")
        except SidecarError:
            return []
        kept = {row["id"] for row in document.rows}
        gone = [span for span, row in zip(old.spans, old.rows, strict=True) if row["id"] not in kept] if old else []
        if old is None or not gone:
            return []
        return [types.Location(uri=old.uri, range=self.ruler.lines(old, gone[0].start_line, gone[-1].end_line))]

    async def references(self, params: types.ReferenceParams) -> list[types.Location]:
        """Answer `textDocument/references`."""
        document = await self.shown(params.text_document.uri)
        if document is None:
            return []
        found = features.references(document, self.ruler, params.position.line)
        return found or await self._spliced(document, params.position.line)

    async def highlights(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        """Answer `textDocument/documentHighlight`."""
        document = await self.shown(params.text_document.uri)
        return features.highlights(document, self.ruler, params.position.line) if document is not None else []

    async def lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """Answer `textDocument/codeLens`, where the user asked for lenses."""
        document = await self.shown(params.text_document.uri) if self.settings.code_lens else None
        return features.lenses(document, self.ruler) if document is not None else []

    async def hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        """Answer `textDocument/inlayHint`, where the user asked for hints."""
        document = await self.shown(params.text_document.uri) if self.settings.inlay_hints else None
        if document is None:
            return []
        return features.hints(document, self.ruler, params.range.start.line, params.range.end.line)

    # --- checks -------------------------------------------------------------------------------------------------------

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Answer `textDocument/hover`."""
        document = await self.shown(params.text_document.uri)
        at = document.at(params.position.line) if document is not None else None
        if document is None or at is None:
            return None
        try:
            known = await self._known(document, at)
            vendors = self.settings.vendors if document.version else ()
            text = await hover_text(self._views, document, at, vendors, known)
        except SidecarError:
            return None
        return types.Hover(
            contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text),
            range=self.ruler.line(document, document.spans[at].start_line),
        )

    async def _known(self, document: Document, at: int) -> Facts:
        history, entry_id = document.history, document.spans[at].entry_id
        sender = self._server.session.sender(history, entry_id)
        if document.version == 0:
            return Facts(sender=sender)
        store = self._server.service.store
        # A rendered file may have been edited: where the entry stands is what the store says.
        index = (await store.positions(history, [entry_id], document.version)).get(entry_id)
        if index is None:
            return Facts(sender=sender)
        before = await store.estimate(history, 0, index, document.version)
        tokens = await store.estimate(history, index, index + 1, document.version)
        return Facts(sender=sender, tokens=tokens, total=before + tokens)

    async def _changes(self, vendor: str, history: str, version: int) -> tuple[Sequence[Loss], Sequence[Repair]]:
        """Project without making JSON of the payload, which is most of the cost of `wire/project`."""
        session = self._server.session
        newest, items = await session.items(history)
        if newest != version:
            _, items = await session.items(history, version)
        with session.projections(history) as caches:
            cache = caches.newest if caches is not None and newest == version else None
            projected = await compute(len(items), wire.project, items, vendor, Options(), cache)
        return projected.losses, projected.repairs

    async def violations(self, document: Document, vendors: Sequence[str]) -> list[Mapping[str, Json]]:
        """Return what the vendors would refuse in the history, at the version that the document shows."""
        if not vendors or document.version == 0:
            return []
        # Shielded: who asked may be cancelled, while others wait for the same.
        return await asyncio.shield(self._views.violations(document, vendors))

    async def _diagnostics(self, uri: str) -> tuple[Document | None, list[types.Diagnostic]]:
        document = await self.shown(uri)
        if document is None:
            return None, []
        try:
            if document.form == "projection":
                answer = await self.call("wire/project", {"history": document.history, "vendor": document.vendor})
                return document, loss_diagnostics(document, self.ruler, answer)
            found = diagnostics(document, self.ruler, await self.violations(document, self.settings.vendors))
        except SidecarError:
            return document, []
        return document, found + await self._outdated(document)

    async def _outdated(self, document: Document) -> list[types.Diagnostic]:
        """A rendered file does not follow its history; say so."""
        if document.live or document.uri.startswith("history:"):
            return []
        answer = await self.call("history/len", {"history": document.history})
        if int(answer["version"]) == document.version:
            return []
        message = f"this file shows version {document.version}, the history is at {answer['version']}"
        return [
            types.Diagnostic(
                range=self.ruler.line(document, 0),
                severity=types.DiagnosticSeverity.Hint,
                source="history-sidecar",
                code="outdated",
                message=message,
            )
        ]

    async def pull(self, params: types.DocumentDiagnosticParams) -> Any:
        """Answer `textDocument/diagnostic`."""
        document, found = await self._diagnostics(params.text_document.uri)
        result_id = f"{document.version}:{','.join(self.settings.vendors)}" if document is not None else None
        if result_id is not None and params.previous_result_id == result_id and document is not None and document.live:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=found, result_id=result_id)

    @property
    def _pulls(self) -> bool:
        text = self._client.text_document
        return text is not None and text.diagnostic is not None

    def _push_soon(self, uri: str) -> None:
        """Check once the client is idle: what it asks for next should not wait for a check of a long history."""
        if not self._pulls and uri not in self._checking:
            loop = asyncio.get_running_loop()
            self._checking[uri] = loop.call_later(REFRESH_DELAY, lambda: asyncio.ensure_future(self._push(uri)))

    async def _push(self, uri: str) -> None:
        self._checking.pop(uri, None)
        try:
            document, found = await self._diagnostics(uri)
        except Exception as error:  # noqa: BLE001 - nobody waits for this task
            log_incident(error, "diagnostics")
            return
        if document is not None and uri in self._open:
            self._publish(uri, found)

    def _publish(self, uri: str, found: list[types.Diagnostic]) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found)
        self._server.text_document_publish_diagnostics(params)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Answer `textDocument/codeAction`."""
        document = await self.shown(params.text_document.uri)
        if document is None:
            return []
        vendors = self.settings.vendors
        lines = range(params.range.start.line, params.range.end.line + 1)
        try:
            found = await self.violations(document, vendors)
        except SidecarError:
            return []
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only] if params.context.only else None
        return actions(document, self.ruler, found, lines, only, vendors)

    # --- the workspace ------------------------------------------------------------------------------------------------

    async def workspace_symbols(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """Answer `workspace/symbol`: names and titles that contain the query, then entries whose text does."""
        query = params.query.strip()
        found: list[types.WorkspaceSymbol] = []
        listed = await self.call("history/list", {"limit": 200})
        for info in listed["data"]:
            title = str(info.get("title") or "")
            if query.lower() in f"{info['history']} {title}".lower():
                found.append(
                    types.WorkspaceSymbol(
                        name=str(info["history"]),
                        kind=types.SymbolKind.File,
                        container_name=title or None,
                        location=_top(history_uri(str(info["history"]))),
                    )
                )
        if len(query) >= 2:
            try:
                hits = (await self.call("history/search", {"query": query, "limit": 50}))["data"]
            except (SidecarError, Refusal):
                hits = []  # the query is no query, or this server cannot search
            for hit in hits:
                uri = history_uri(str(hit["history"]), entry_id=str(hit["entryId"]))
                found.append(
                    types.WorkspaceSymbol(
                        name=str(hit["snippet"]).replace("\n", " "),
                        kind=types.SymbolKind.String,
                        container_name=f"{hit['history']} · {hit['index']}",
                        location=_top(uri) if not self._resolves_symbols else types.LocationUriOnly(uri=uri),
                        data={"history": hit["history"], "entryId": hit["entryId"]},
                    )
                )
        return found

    @property
    def _resolves_symbols(self) -> bool:
        symbol = self._client.workspace.symbol if self._client.workspace else None
        return bool(symbol and symbol.resolve_support)

    async def resolve_symbol(self, symbol: types.WorkspaceSymbol) -> types.WorkspaceSymbol:
        """Answer `workspaceSymbol/resolve` with the line of the entry."""
        data = symbol.data if isinstance(symbol.data, dict) else {}
        history, entry_id = data.get("history"), data.get("entryId")
        location = symbol.location
        if isinstance(history, str) and isinstance(entry_id, str):
            uri = history_uri(history)
            document = await self.shown(uri)
            at = document.place(entry_id) if document is not None else None
            line = self.ruler.line(document, document.spans[at].start_line) if document and at is not None else _LINE_0
            location = types.Location(uri=uri, range=line)
        return evolve(symbol, location=location)


_LINE_0 = types.Range(start=types.Position(line=0, character=0), end=types.Position(line=0, character=0))


def _top(uri: str) -> types.Location:
    return types.Location(uri=uri, range=_LINE_0)
