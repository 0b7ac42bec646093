"""`history-sidecar protocol`: print the contract for other languages, from whatever is installed."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from sidecar.contract.emit import ARTEFACTS, artefact

_NAMES = {name.removesuffix(".json").removesuffix(".md"): name for name in ARTEFACTS}
_SPECIFICATION = "README.md"


@click.command(name="protocol")
@click.argument("what", type=click.Choice([*_NAMES, "spec"]), default="openrpc")
def command(what: str) -> int:
    """Print one artefact of the protocol.

    openrpc (default), schema (JSON Schema), types.ts, types.lua, methods (reference), or spec (the specification).
    """
    click.echo(_specification() if what == "spec" else artefact(_NAMES[what]), nl=False)
    return 0


def _specification() -> str:
    """The wheel carries the page; in a checkout it stands in `protocol/`."""
    package = resources.files("sidecar")
    shipped = package.joinpath("contract", "protocol", _SPECIFICATION)
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    return (Path(str(package)).parent / "protocol" / _SPECIFICATION).read_text(encoding="utf-8")
