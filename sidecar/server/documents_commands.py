"""Commands that an editor runs by `workspace/executeCommand`: the ones that actions and lenses name, and a few more.

Rules: a command takes one object (an editor's command line may give the history's name as a bare string instead), and
answers an object. What fails raises the same error as the method it stands for. No command takes entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lsprotocol import types

from sidecar.core.errors import EntryNotFound, HistoryExists, InvalidParams, VersionMismatch
from sidecar.core.jsontext import Json
from sidecar.core.message_json import entry_from_json
from sidecar.core.messages import Assistant, Entry, Note, Refusal, Summary, System, Text
from sidecar.render.document import pretty
from sidecar.server.documents import Documents
from sidecar.server.documents_checks import names
from sidecar.server.documents_fix import fix_all
from sidecar.server.documents_model import Document, history_uri

if TYPE_CHECKING:
    from sidecar.server.app import SidecarServer

_FORKS = 1000
"""Names tried for a fork that was given none."""


class Commands:
    """The commands of one client."""

    def __init__(self, server: SidecarServer, documents: Documents) -> None:
        self._server = server
        self._documents = documents
        self._call = documents.call

    async def open(self, *arguments: Json) -> Json:
        """Show a history; `{history, entryId?, vendor?, raw?}`."""
        params = _params(arguments)
        history = _text(params, "history")
        uri = history_uri(history, entry_id=None if params.get("entryId") is None else _text(params, "entryId"))
        if params.get("vendor"):
            uri = f"history:///{history}.{_text(params, 'vendor')}.json"
        elif params.get("raw"):
            uri = f"history:///{history}.jsonl"
        await self._show(uri)
        return {"uri": uri}

    async def fork(self, *arguments: Json) -> Json:
        """Fork a history and show the fork; `{history, to?, atVersion?, len? | afterEntry?}`."""
        params = _params(arguments)
        history = _text(params, "history")
        if (after := params.pop("afterEntry", None)) is not None:
            params["len"] = await self._length_after(history, after, params.get("atVersion"))
        if params.get("to"):
            result = await self._call("history/fork", params)
        else:
            result = await self._fork_to_free_name(history, params)
        await self._show(history_uri(str(result["history"])))
        return result

    async def _fork_to_free_name(self, history: str, params: dict[str, Json]) -> Json:
        for number in range(1, _FORKS):
            try:
                return await self._call("history/fork", {**params, "to": f"{history}-fork-{number}"})
            except HistoryExists:
                continue
        raise InvalidParams.at("/to", "is required: every default name is taken")

    async def _length_after(self, history: str, entry_id: str, at_version: int | None) -> int:
        start = 0
        version: Json = {} if at_version is None else {"atVersion": at_version}
        while True:
            answer = await self._call("history/outline", {"history": history, "start": start, "count": 1000, **version})
            for row in answer["data"]:
                if row["id"] == entry_id:
                    return int(row["index"]) + 1
            start += len(answer["data"])
            if not answer["data"] or start >= int(answer["len"]):
                raise EntryNotFound(history, entry_id)

    async def truncate(self, *arguments: Json) -> Json:
        """Cut a history back; the params of `history/truncate`."""
        return await self._call("history/truncate", _params(arguments))

    async def revert(self, *arguments: Json) -> Json:
        """Bring a version back; the params of `history/revert`; without `toVersion`, the version before."""
        params = _params(arguments)
        if params.get("toVersion") is None:
            at = await self._call("history/len", {"history": _text(params, "history")})
            params |= {"toVersion": int(at["version"]) - 1, "ifVersion": at["version"]}
        return await self._call("history/revert", params)

    async def apply_edits(self, *arguments: Json) -> Json:
        """Edit a history; the params of `history/applyEdits`."""
        return await self._call("history/applyEdits", _params(arguments))

    async def apply_fix(self, *arguments: Json) -> Json:
        """Apply one fix of one violation; the arguments that a code action carries."""
        params = _params(arguments)
        history, version = _text(params, "history"), params.get("version")
        if isinstance(version, bool) or not isinstance(version, int):
            raise InvalidParams.at("/arguments/0/version", "must be an integer")
        at = await self._call("history/len", {"history": history})
        if at["version"] != version:
            raise VersionMismatch(history, version, int(at["version"]))
        answer = await self._call("wire/check", {"history": history, "vendors": [_text(params, "vendor")]})
        violation = next((item for item in answer["violations"] if names(params, item)), None)
        fixes = violation["fixes"] if violation is not None else []
        number = params.get("fix", 0)
        if not isinstance(number, int) or not 0 <= number < len(fixes):
            raise InvalidParams.at("/fix", "names no fix")
        edits = {"history": history, "ifVersion": version, "edits": fixes[number]["edits"]}
        return await self._call("history/applyEdits", edits)

    async def fix_all(self, *arguments: Json) -> Json:
        """Apply a fix for every violation, as one change; `{history, ifVersion?, vendors?}`."""
        params = _params(arguments)
        vendors = params.get("vendors") or list(self._documents.settings.vendors)
        if not isinstance(vendors, list):
            raise InvalidParams.at("/arguments/0/vendors", "must be an array")
        return await fix_all(self._call, _text(params, "history"), vendors, params.get("ifVersion"))

    async def copy_projection(self, *arguments: Json) -> Json:
        """Return what a vendor would be sent as text for the clipboard; the params of `wire/project`."""
        answer = await self._call("wire/project", _params(arguments))
        return {"vendor": answer["vendor"], "version": answer["version"], "text": pretty(answer["body"])}

    async def export(self, *arguments: Json) -> Json:
        """Export a history; the params of `history/export`, Markdown where no format is named."""
        return await self._call("history/export", {"format": "markdown", **_params(arguments)})

    async def entry_at(self, *arguments: Json) -> Json:
        """Say what stands at a line of a document: `{uri, line | entryId, move?, role?}`.

        The answer holds the texts of the entry with their block index, so that an editor can change one by `setText`
        and never has to write back an entry. `move` counts entries forward or back, only those of `role` if given.
        """
        params = _params(arguments)
        uri = _text(params, "uri").split("#")[0]
        document = await self._documents.shown(uri)
        if document is None or not document.rows:
            raise InvalidParams.at("/arguments/0/uri", "shows no entries")
        if "entryId" in params:
            at = document.place(_text(params, "entryId"))
            if at is None:
                # The document may show an older version, or another page, than the one that is asked about.
                found = await self._documents.read(uri)
                document = found or document
                at = document.place(_text(params, "entryId"))
            if at is None:
                raise EntryNotFound(document.history, _text(params, "entryId"))
        else:
            line = params.get("line")
            at = document.at(line) if isinstance(line, int) else None
            if at is None:
                at = 0 if isinstance(params.get("move"), int) else None
            if at is None:
                raise InvalidParams.at("/arguments/0/line", "stands in no entry")
        at = _moved(document, at, params)
        return await self._described(document, at)

    async def _described(self, document: Document, at: int) -> Json:
        row, span = document.rows[at], document.spans[at]
        entry = await self._entry(document, at)
        return {
            "history": document.history,
            "version": document.version,
            "entryId": span.entry_id,
            "index": row["index"],
            "role": row["role"],
            "startLine": span.start_line,
            "endLine": span.end_line,
            "texts": [{"block": block, "text": text} for block, text in _texts(entry)] if entry is not None else [],
        }

    async def _entry(self, document: Document, at: int) -> Entry | None:
        answer = await self._call(
            "history/snapshot",
            {
                "history": document.history,
                "start": document.rows[at]["index"],
                "count": 1,
                "atVersion": document.version,
            },
        )
        stored = [item for item in answer["entries"] if item.get("id") == document.spans[at].entry_id]
        return entry_from_json(stored[0]) if stored else None

    async def _show(self, uri: str) -> None:
        window = self._server.protocol.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            # Not awaited: some clients answer only after their own command call has returned.
            self._server.window_show_document(types.ShowDocumentParams(uri=uri, take_focus=True), lambda _: None)


def _moved(document: Document, at: int, params: Mapping[str, Json]) -> int:
    move, role = params.get("move"), params.get("role")
    if not isinstance(move, int) or move == 0:
        return at
    step = 1 if move > 0 else -1
    left, found = abs(move), at
    while left and 0 <= at + step < len(document.rows):
        at += step
        if role is None or document.rows[at]["role"] == role:
            found, left = at, left - 1
    return found


def _texts(entry: Entry) -> list[tuple[int | None, str]]:
    message = entry.message
    if isinstance(message, System | Note | Summary):
        return [(None, message.text)]
    blocks = message.blocks if isinstance(message, Assistant) else message.content
    return [(index, block.text) for index, block in enumerate(blocks) if isinstance(block, Text | Refusal)]


def _params(arguments: tuple[Json, ...]) -> dict[str, Json]:
    first = arguments[0] if arguments else {}
    if isinstance(first, str):
        return {"history": first}
    if not isinstance(first, Mapping):
        raise InvalidParams.at("/arguments/0", "must be an object")
    return {key: value for key, value in first.items() if value is not None}


def _text(params: Mapping[str, Json], key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise InvalidParams.at(f"/arguments/0/{key}", "must be a string")
    return value
