"""`call METHOD JSON`: one request to a sidecar of its own, as a client would send it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sidecar.cli.output import Failed, failed, print_json, store_option
from sidecar.client import ConnectionLost, RequestRefused, Sidecar
from sidecar.core.errors import SidecarError
from sidecar.core.jsontext import Json, loads


@click.command()
@click.argument("method")
@click.argument("params", default="{}")
@click.option("--timeout", default=60.0, show_default=True, type=click.FloatRange(0.1), help="Seconds to wait.")
@click.option("--json", "as_json", is_flag=True, help="Print errors as JSON too; results always are.")
@store_option
def call(method: str, params: str, timeout: float, as_json: bool, store: str | None) -> int:
    """Send one request, such as `call history/len '{"history": "a"}'`; PARAMS may be `-` or `@FILE`."""
    given = _params(params)
    try:
        with Sidecar.spawn(store=store, name="history-sidecar call", timeout=timeout) as sidecar:
            print_json(sidecar.call(method, **given))
    except SidecarError as error:
        if as_json:
            print_json({"error": {"code": error.code, "message": error.message, "data": error.to_data()}})
            return 1
        raise failed(error) from None
    except RequestRefused as error:
        if as_json:
            print_json({"error": {"code": error.code, "message": error.message, "data": error.data}})
            return 1
        hint = "`history-sidecar call rpc.discover` lists the methods" if error.code == -32601 else ""
        raise Failed(f"{error.message} ({error.code})", hint) from None
    except (ConnectionLost, TimeoutError) as error:
        raise Failed(str(error) or "no answer in time", "`history-sidecar doctor` looks closer") from None
    return 0


def _params(text: str) -> dict[str, Json]:
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    elif text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise Failed(f"{text[1:]} cannot be read") from None
    try:
        value = loads(text)
    except ValueError as error:
        raise Failed(f"params are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Failed("params must be a JSON object")
    return value
