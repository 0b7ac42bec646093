"""The hand-written page of the protocol is true: its examples are executed, its numbers are recomputed."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sidecar.contract.emit.model import name_of
from sidecar.contract.emit.schema import document
from sidecar.contract.methods import BY_NAME, METHODS
from sidecar.core.errors import ERRORS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))

from frames import SIDECAR, Process, frame  # noqa: E402 - test helpers are found by path

PAGE = (ROOT / "protocol" / "README.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "protocol" / "CHANGELOG.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_page_was_read_against_the_contract() -> None:
    """A change of the contract needs a look at the page: then the first line gets the new value."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "sidecar" / "contract").glob("*.py")):
        digest.update(path.read_bytes())
    expected = f"<!-- contract: {digest.hexdigest()[:16]} "
    assert PAGE.startswith(expected), f"protocol/README.md: is the page still true? Then start it with `{expected}`"


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_every_method_is_told(method: str) -> None:
    """A method has an example on the page and a line in the changelog."""
    shown = [example for example in examples() if method in (example.get("method"), example.get("notification"))]
    if method != "history/didDelete":
        assert shown, f"{method} has no example"
    assert f"`{method}`" in PAGE
    verb = method.partition("/")[2]
    assert f"`{method}`" in CHANGELOG or f"`{verb}`" in CHANGELOG


def test_every_error_is_told() -> None:
    """The error table has each kind with its code."""
    rows = dict(re.findall(r"^\| (−?\d+) \| `(\w+)` \|", PAGE, re.MULTILINE))
    told = {kind: int(code.replace("−", "-")) for code, kind in rows.items()}
    assert {kind: error.code for kind, error in ERRORS.items()}.items() <= told.items()


def test_first_session_byte_by_byte() -> None:
    """The frames of the page, sent as they stand, are answered as the page says."""
    frames = [block.partition("\n\n") for block in blocks("http")]
    assert len(frames) >= 8
    with Process((*SIDECAR, "--store", ":memory:"), initialize=False) as process:
        for header, _, body in frames:
            body = body.rstrip("\n")
            assert header == f"Content-Length: {len(body.encode())}"
            message = json.loads(body)
            if "method" in message:
                process.send_raw(frame(body.encode()))
            else:
                like(message, process.recv())
        assert process.wait() == 0


def examples() -> Iterator[dict[str, Any]]:
    """Yield the lines of every JSON block."""
    for block in blocks("json"):
        for line in block.splitlines():
            yield json.loads(line)


def test_examples_run() -> None:
    """Every example, from top to bottom against one sidecar, gets the answer that the page shows."""
    with Process((*SIDECAR, "--store", ":memory:"), initialize=False) as process:
        answer: Any = None
        method = ""
        served = set(BY_NAME)
        for number, example in enumerate(examples()):
            if "method" in example:
                method = example["method"]
                process.send({"jsonrpc": "2.0", "id": number, **example})
                answer = reply(process, number)
                if method == "rpc.discover":
                    served = {found["name"] for found in answer["result"]["methods"]}
            elif "notification" in example:
                (edit,) = example["params"]["change"]["edits"]
                process.send(append(example["params"]["history"], edit["entries"]))
                like({"method": example["notification"], "params": example["params"]}, process.recv())
                reply(process, "again")
            elif method in served:
                like(example, answer, method)
                judge(method, answer)


def reply(process: Process, message_id: int | str) -> Any:
    """Return the answer to a request, passing notifications by."""
    while (message := process.recv()).get("id") != message_id:
        pass
    return message


def judge(method: str, answer: Any) -> None:
    """A result has the shape that the contract says."""
    if "result" in answer and method in BY_NAME:
        schema = {**document(), "$ref": f"#/$defs/{name_of(BY_NAME[method].result)}"}
        errors = [error.message for error in Draft202012Validator(schema).iter_errors(answer["result"])]
        assert not errors, (method, errors)


def append(history: str, entries: Any) -> dict[str, Any]:
    """The request whose change the page shows as a notification."""
    params = {"history": history, "entries": entries}
    return {"jsonrpc": "2.0", "id": "again", "method": "history/append", "params": params}


def like(shown: Any, value: Any, path: str = "") -> None:
    """Compare with what the page shows: objects may have more members, `"…"` is anything."""
    if shown == "…":
        return
    if isinstance(shown, dict):
        assert isinstance(value, dict), f"{path} is {value}"
        for key, part in shown.items():
            assert key in value, f"{path}/{key} is not in {value}"
            if key != "tokenEstimate":  # estimates get better
                like(part, value[key], f"{path}/{key}")
    elif isinstance(shown, list):
        assert isinstance(value, list), f"{path} is {value}"
        assert len(shown) == len(value), f"{path} is {value}"
        for index, part in enumerate(shown):
            like(part, value[index], f"{path}/{index}")
    else:
        assert (type(shown), shown) == (type(value), value), f"{path} is {value!r}"
