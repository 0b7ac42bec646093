"""`history/import` of a long file through a real sidecar: progress, and what a cancelled import leaves."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from sidecar.client import RequestRefused, Sidecar
from sidecar.core.errors import InvalidParams

ENTRIES = 620


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of 9 MB, which comes in several changes."""
    path = tmp_path_factory.mktemp("long") / "session.jsonl"
    with path.open("w") as file:
        for number in range(ENTRIES):
            role = ("user", "assistant")[number % 2]
            message = {"role": role, "content": f"{number} " + "word " * 3000}
            file.write(json.dumps({"type": role, "uuid": f"e{number}", "sessionId": "s", "message": message}) + "\n")
    return path


class Told:
    """The values of `$/progress`, and something to do once the import is told to be under way."""

    def __init__(self, sidecar: Sidecar) -> None:
        self.values: list[dict[str, Any]] = []
        self.tokens: set[object] = set()
        self.under_way = threading.Event()
        sidecar.listen(self.hear)

    def hear(self, method: str, params: Any) -> None:
        if method == "$/progress":
            self.tokens.add(params["token"])
            self.values.append(params["value"])
            if params["value"]["kind"] == "report":
                self.under_way.set()


def spawn(path: Path, store: Path) -> Sidecar:
    return Sidecar.spawn(store=str(store), env={**os.environ, "HISTORY_SIDECAR_FOLDERS": str(path.parent)})


def test_progress_is_told(long_file: Path, tmp_path: Path) -> None:
    """Begin, rising percentages and end come before the reply; without a token nothing comes."""
    with spawn(long_file, tmp_path / "s.db") as sidecar:
        told = Told(sidecar)
        done = sidecar.call(
            "history/import", history="h", format="auto", uri=long_file.as_uri(), workDoneToken="token-1"
        )
        assert (done["len"], len(done["entryIds"])) == (ENTRIES, ENTRIES)
        again = sidecar.call("history/import", history="h", format="auto", uri=long_file.as_uri())
        assert (again["entryIds"], again["version"]) == ([], done["version"])
        sidecar.call("sidecar/info")  # every notification before this reply was heard
        first, *reports, last = told.values
        title = "importing into h"
        assert first == {"kind": "begin", "title": title, "cancellable": True, "percentage": 0}
        assert last == {"kind": "end"} and told.tokens == {"token-1"}
        shares = [report["percentage"] for report in reports]
        assert reports and shares == sorted(set(shares)) and shares[0] > 0 and shares[-1] <= 100
        with pytest.raises(InvalidParams):
            sidecar.call("history/import", history="h", format="auto", text="x", workDoneToken=1.5)


@pytest.mark.parametrize("way", ["$/cancelRequest", "window/workDoneProgress/cancel"])
def test_a_cancelled_import_leaves_whole_batches(long_file: Path, tmp_path: Path, way: str) -> None:
    """A cancelled import is answered as cancelled, told to have ended, and finished by the next one."""
    with spawn(long_file, tmp_path / "s.db") as sidecar:
        told = Told(sidecar)
        uri = long_file.as_uri()
        reply = sidecar.send("history/import", history="h", format="claude-code", uri=uri, workDoneToken=7)
        assert told.under_way.wait(30)
        (request_id,) = sidecar._waiting  # noqa: SLF001 - the id of the request that is open
        sidecar.notify(way, **({"id": request_id} if way == "$/cancelRequest" else {"token": 7}))
        with pytest.raises(RequestRefused) as refused:
            reply.result(30)
        assert refused.value.code == -32800
        sidecar.call("sidecar/info")
        assert told.values[-1] == {"kind": "end"}
        left = sidecar.call("history/len", history="h")
        assert left["len"] < ENTRIES
        ids = [f"e{number}" for number in range(ENTRIES)]
        if left["len"]:
            rows = sidecar.call("history/outline", history="h")["data"]
            assert [row["id"] for row in rows] == ids[: left["len"]]
        done = sidecar.call("history/import", history="h", format="claude-code", uri=uri)
        assert (done["len"], done["entryIds"]) == (ENTRIES, ids[left["len"] :])
