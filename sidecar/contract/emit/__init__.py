"""Print the contract for other languages: `python -m sidecar.contract.emit --out protocol [--check]`.

Rules: an emitter prints from `model` only; the same contract gives the same bytes. Nothing here is imported by a
running server but `openrpc`, when a client asks `rpc.discover`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final

ARTEFACTS: Final[dict[str, str]] = {
    "schema.json": "schema",
    "openrpc.json": "openrpc",
    "types.ts": "typescript",
    "types.lua": "lua",
    "methods.md": "markdown",
}
"""File under `protocol/` -> the module that prints it."""


def artefact(name: str) -> str:
    """Return the text of one artefact."""
    emit: Callable[[], str] = importlib.import_module(f"{__name__}.{ARTEFACTS[name]}").emit
    return emit()
