"""JSON-RPC over stdio: the only package that imports pygls and lsprotocol.

Whatever of this package is imported first, `lsprotocol.types` has to come in lazily (`lazy_lsp`).
"""

from sidecar.server.lazy_lsp import defer_lsp_types

defer_lsp_types()
