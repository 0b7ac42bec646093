"""The server object: pygls' `LanguageServer` on our transport, with a handler for every method that is there.

Rules: a row of `contract.methods.METHODS` is served if a handler class has a method of its name, and what is not
served is not announced. The store is opened by `initialize`, so that whatever is wrong with it is the answer to it.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from sidecar import __version__
from sidecar.config import Settings
from sidecar.contract.codec import read_params, to_json
from sidecar.contract.methods import METHODS, Method
from sidecar.core.jsontext import Json
from sidecar.server.documents_table import DocumentsOnDemand
from sidecar.server.files import folder_of
from sidecar.server.history import HistoryHandlers
from sidecar.server.lifecycle import LifecycleHandlers, capabilities, options_of
from sidecar.server.logs import configure_logging
from sidecar.server.lsp_codec import make_converter
from sidecar.server.notifications import ClientSink
from sidecar.server.protocol import SidecarProtocol
from sidecar.server.stdio import serve_stdio
from sidecar.server.tokens import TokenHandlers
from sidecar.server.transfer import TransferHandlers
from sidecar.server.wire import WireHandlers
from sidecar.service import HistoryService, Session, open_store
from sidecar.service.filters import filters_of

log = logging.getLogger(__name__)

MAX_CLIENT_NAME = 128
"""Characters of a client's name that are kept."""


class SidecarServer(LanguageServer):
    """A language server for one client over stdio; LSP features are added as pygls documents it."""

    protocol: SidecarProtocol
    service: HistoryService
    """There once `initialize` was answered, like `session`."""
    session: Session

    def __init__(self, settings: Settings) -> None:
        super().__init__("history-sidecar", __version__, protocol_cls=SidecarProtocol, converter_factory=make_converter)
        self.settings = settings
        self._store = open_store(settings.store)
        self.folders: tuple[Path, ...] = settings.folders
        self.served: tuple[str, ...] = ()
        self.documents = DocumentsOnDemand(self)
        self._opened = False

        @self.feature(types.INITIALIZE)
        async def initialize(params: types.InitializeParams) -> None:
            await self._initialize(params)

    def start_io(self, stdin: Any = None, stdout: Any = None) -> int:
        """Serve stdio until the client goes; return the exit code, which pygls would swallow."""
        return serve_stdio(self)

    async def _initialize(self, params: types.InitializeParams) -> None:
        options = options_of(params.initialization_options)
        store = self._store
        if options.store is not None and self.settings.store_is_default:
            store = open_store(options.store)
        service = HistoryService(store, filters=filters_of(self.settings.mask))
        await service.open()
        client = options.client.name if options.client is not None else None
        if client is None and params.client_info is not None:
            client = params.client_info.name
        if client is not None:
            client = client[:MAX_CLIENT_NAME]  # it is kept with every change
        self.folders += tuple(folder for uri in _workspace_uris(params) if (folder := folder_of(uri)) is not None)
        self.service = service
        self.session = service.session(client, ClientSink(self.protocol))
        self._opened = True
        self.documents.start(options.defaults)

    def describe(self) -> dict[str, Json]:
        """Return what `capabilities.experimental.sidecar` says."""
        return to_json(capabilities(self))

    def catch_up(self) -> None:
        """The client has read on: tell it what it missed."""
        if self._opened:
            self.session.catch_up()

    async def close(self) -> None:
        """Finish what must not be lost; called once, after the last reply."""
        if self._opened:
            await self.service.close()
        self.shutdown()  # type: ignore[no-untyped-call]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log only: pygls would open a message box in the editor."""
        log.error("%s: %s", getattr(source, "__name__", source), type(error).__name__)


def build_server(settings: Settings) -> SidecarServer:
    """Return a server that is ready to `start_io`."""
    configure_logging(settings.log_level)
    server = SidecarServer(settings)
    lifecycle = LifecycleHandlers(server)
    handlers: dict[str, tuple[object, ...]] = {
        "history": (HistoryHandlers(server), TokenHandlers(server), TransferHandlers(server)),
        "wire": (WireHandlers(server),),
        "sidecar": (lifecycle,),
        "rpc": (lifecycle,),
    }
    served = []
    for method in METHODS:
        found = [
            getattr(noun, _snake(method.verb)) for noun in handlers[method.noun] if hasattr(noun, _snake(method.verb))
        ]
        if method.kind == "request" and found:
            server.protocol.add_method(method.name, partial(_read, method), found[0], to_json)
            served.append(method.name)
    server.served = tuple(served)
    server.documents.register()
    return server


def _workspace_uris(params: types.InitializeParams) -> list[str]:
    folders = params.workspace_folders or ()
    return [folder.uri for folder in folders] or ([params.root_uri] if params.root_uri else [])


def _read(method: Method, params: Json) -> Any:
    return read_params(method.params, params)


def _snake(verb: str) -> str:
    """`splicePrefix` -> `splice_prefix`; `import` is a keyword, so its handler is `import_`."""
    name = re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), verb)
    return name + "_" if name == "import" else name
