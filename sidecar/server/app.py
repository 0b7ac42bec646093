"""The server object: pygls' `LanguageServer` on our transport and protocol."""

from __future__ import annotations

import logging
from typing import Any

from pygls.lsp.server import LanguageServer

from sidecar import __version__
from sidecar.config import Settings
from sidecar.core.jsontext import Json
from sidecar.server.logs import configure_logging
from sidecar.server.lsp_codec import make_converter
from sidecar.server.protocol import SidecarProtocol
from sidecar.server.stdio import serve_stdio

log = logging.getLogger(__name__)


class SidecarServer(LanguageServer):
    """A language server for one client over stdio; features are added as pygls documents it."""

    protocol: SidecarProtocol

    def __init__(self) -> None:
        super().__init__("history-sidecar", __version__, protocol_cls=SidecarProtocol, converter_factory=make_converter)

    def start_io(self, stdin: Any = None, stdout: Any = None) -> int:
        """Serve stdio until the client goes; return the exit code, which pygls would swallow."""
        return serve_stdio(self)

    def describe(self) -> dict[str, Json]:
        """Return what `capabilities.experimental.sidecar` says."""
        return {}

    async def close(self) -> None:
        """Finish what must not be lost; called once, after the last reply."""
        self.shutdown()  # type: ignore[no-untyped-call]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log only: pygls would open a message box in the editor."""
        log.error("%s: %s", getattr(source, "__name__", source), type(error).__name__)


def build_server(settings: Settings) -> SidecarServer:
    """Return a server that is ready to `start_io`."""
    configure_logging(settings.log_level)
    return SidecarServer()
