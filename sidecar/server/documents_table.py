"""Which document features and commands are announced, and who answers each.

Rule: what answers is imported by the first request or notification that needs it. Most sidecars serve an agent and no
editor, and these modules are a third of what starting costs (`tests/bench/transport_startup.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from sidecar.core.jsontext import Json
from sidecar.server.lazy_lsp import deferred_classes

if TYPE_CHECKING:
    from sidecar.server.app import SidecarServer
    from sidecar.server.documents import Documents
    from sidecar.server.documents_commands import Commands

_NOTIFICATIONS = {
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: "configure",
    types.TEXT_DOCUMENT_DID_CHANGE: "did_change",
    types.TEXT_DOCUMENT_DID_CLOSE: "did_close",
}
"""Those that are taken at once; all else is awaited."""

_REQUESTS: dict[str, tuple[str, Any]] = {
    types.WORKSPACE_TEXT_DOCUMENT_CONTENT: ("content", None),
    types.TEXT_DOCUMENT_DID_OPEN: ("did_open", None),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: ("symbols", None),
    types.TEXT_DOCUMENT_FOLDING_RANGE: ("folds", None),
    types.TEXT_DOCUMENT_HOVER: ("hover", None),
    types.TEXT_DOCUMENT_DEFINITION: ("definition", None),
    types.TEXT_DOCUMENT_REFERENCES: ("references", None),
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: ("highlights", None),
    types.TEXT_DOCUMENT_CODE_LENS: ("lenses", types.CodeLensOptions()),
    types.TEXT_DOCUMENT_INLAY_HINT: ("hints", types.InlayHintOptions()),
    types.TEXT_DOCUMENT_DIAGNOSTIC: (
        "pull",
        types.DiagnosticOptions(
            inter_file_dependencies=False, workspace_diagnostics=False, identifier="history-sidecar"
        ),
    ),
    types.TEXT_DOCUMENT_CODE_ACTION: (
        "actions",
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
    ),
    types.WORKSPACE_SYMBOL: ("workspace_symbols", types.WorkspaceSymbolOptions(resolve_provider=True)),
    types.WORKSPACE_SYMBOL_RESOLVE: ("resolve_symbol", None),
}
_COMMANDS = {
    "history.open": "open",
    "history.fork": "fork",
    "history.truncate": "truncate",
    "history.revert": "revert",
    "history.applyEdits": "apply_edits",
    "history.applyFix": "apply_fix",
    "history.fixAll": "fix_all",
    "history.entryAt": "entry_at",
    "history.copyProjection": "copy_projection",
    "history.export": "export",
}


class DocumentsOnDemand:
    """The documents of one client, made when they are first asked for."""

    def __init__(self, server: SidecarServer) -> None:
        self._server = server
        self._defaults: Json = None
        self._made: tuple[Documents, Commands] | None = None

    def start(self, defaults: Json) -> None:
        """Take the settings that came with `initialize`."""
        self._defaults = defaults

    def register(self) -> None:
        """Announce every feature and command on the server."""
        for method, name in _NOTIFICATIONS.items():
            self._server.feature(method)(self._taken(name))
        for method, (name, options) in _REQUESTS.items():
            self._server.feature(method, options)(self._awaited(0, name))
        for command, name in _COMMANDS.items():
            self._server.command(command)(self._awaited(1, name))

    def _taken(self, name: str) -> Callable[..., None]:
        return lambda *arguments: getattr(self._parts()[0], name)(*arguments)

    def _awaited(self, part: int, name: str) -> Callable[..., Any]:
        async def run(*arguments: Any) -> Any:
            return await getattr(self._parts()[part], name)(*arguments)

        return run

    def _parts(self) -> tuple[Documents, Commands]:
        if self._made is None:
            with deferred_classes():
                from sidecar.server.documents import Documents
                from sidecar.server.documents_commands import Commands
            documents = Documents(self._server)
            documents.start(self._defaults)
            self._made = documents, Commands(self._server, documents)
        return self._made
