"""What an editor asks about a transcript that needs nothing but the document: symbols, folds, jumps, lenses, hints.

Rules: pure functions of a `Document`; no request to the store, so that an answer takes microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lsprotocol import types

from sidecar.core.jsontext import Json
from sidecar.render import Part
from sidecar.render.escape import one_line
from sidecar.server.documents_model import Document, Ruler

_KINDS = {
    "system": types.SymbolKind.Module,
    "user": types.SymbolKind.Event,
    "assistant": types.SymbolKind.Class,
    "tool": types.SymbolKind.Constant,
    "note": types.SymbolKind.String,
    "summary": types.SymbolKind.Package,
}


def symbols(document: Document, ruler: Ruler) -> list[types.DocumentSymbol]:
    """Return the turns, each with its entries and their calls and reasoning below it."""
    roots: list[types.DocumentSymbol] = []
    turn: types.DocumentSymbol | None = None
    parts: dict[str, list[Part]] = {}
    for part in document.parts:
        parts.setdefault(part.entry_id, []).append(part)
    for at, row in enumerate(document.rows):
        symbol = _entry_symbol(document, ruler, at, parts.get(str(row["id"]), ()))
        if row["role"] in ("user", "system", "summary") or turn is None:
            roots.append(symbol)
            turn = symbol if row["role"] == "user" else None
        else:
            turn.children = [*(turn.children or ()), symbol]
            turn.range = types.Range(start=turn.range.start, end=symbol.range.end)
    return roots


def flat_symbols(document: Document, ruler: Ruler) -> list[types.SymbolInformation]:
    """Return one symbol per entry, for editors that know no hierarchy."""
    return [
        types.SymbolInformation(
            name=entry_label(row),
            kind=_KINDS.get(str(row["role"]), types.SymbolKind.String),
            location=types.Location(
                uri=document.uri,
                range=ruler.lines(document, document.spans[at].start_line, document.spans[at].end_line),
            ),
        )
        for at, row in enumerate(document.rows)
    ]


def entry_label(row: Mapping[str, Json]) -> str:
    """Return `3. assistant: first line`."""
    line = str(row.get("line") or "")
    label = f"{row['index']}. {row['role']}"
    return f"{label}: {one_line(line, 60)}" if line else label


def _entry_symbol(document: Document, ruler: Ruler, at: int, parts: Sequence[Part]) -> types.DocumentSymbol:
    row, span = document.rows[at], document.spans[at]
    tokens = row.get("tokens")
    return types.DocumentSymbol(
        name=entry_label(row),
        detail=f"{tokens} tokens" if tokens is not None else None,
        kind=_KINDS.get(str(row["role"]), types.SymbolKind.String),
        range=ruler.lines(document, span.start_line, span.end_line),
        selection_range=ruler.line(document, span.start_line),
        children=[_part_symbol(document, ruler, part) for part in parts if part.kind != "result"],
    )


def _part_symbol(document: Document, ruler: Ruler, part: Part) -> types.DocumentSymbol:
    call = part.kind == "call"
    return types.DocumentSymbol(
        name=one_line(f"call {part.name}") if call else part.kind,
        kind=types.SymbolKind.Function if call else types.SymbolKind.String,
        range=ruler.lines(document, part.start_line, part.end_line),
        selection_range=ruler.line(document, part.start_line),
    )


def folds(document: Document) -> list[types.FoldingRange]:
    """Return a fold per turn, entry and part; a fold that would hide nothing is left out."""
    found: list[types.FoldingRange] = []

    def add(start: int, end: int, kind: types.FoldingRangeKind | None) -> None:
        end = min(end, len(document.lines))
        while end > start + 1 and not document.lines[end - 1].strip():
            end -= 1
        if end - 1 > start:
            found.append(types.FoldingRange(start_line=start, end_line=end - 1, kind=kind))

    turn: int | None = None
    for at, row in enumerate(document.rows):
        span = document.spans[at]
        if row["role"] == "user":
            if turn is not None and at - turn > 1:
                add(document.spans[turn].start_line, span.start_line, types.FoldingRangeKind.Region)
            turn = at
        add(span.start_line, span.end_line, types.FoldingRangeKind.Region)
    if turn is not None and len(document.rows) - turn > 1:
        add(document.spans[turn].start_line, document.spans[-1].end_line, types.FoldingRangeKind.Region)
    for part in document.parts:
        kind = types.FoldingRangeKind.Comment if part.kind == "reasoning" else types.FoldingRangeKind.Region
        add(part.start_line, part.end_line, kind)
    unique = {(fold.start_line, fold.end_line): fold for fold in found}
    return [unique[key] for key in sorted(unique)]


def partners(document: Document, line: int) -> tuple[Part, list[Part]] | None:
    """Return the call or result at the line, and what it belongs to: its result, or its call."""
    part = document.part_at(line)
    if part is None or not part.call_id:
        return None
    other = document.partner_of.get(part)
    return part, [] if other is None else [other]


def definition(document: Document, ruler: Ruler, line: int) -> list[types.Location]:
    """Return the result of a call, or the call of a result."""
    found = partners(document, line)
    return [_location(document, ruler, part) for part in found[1]] if found else []


def references(document: Document, ruler: Ruler, line: int) -> list[types.Location]:
    """Return call and result, in the order of the text."""
    found = partners(document, line)
    if found is None:
        return []
    both = sorted([found[0], *found[1]], key=lambda part: part.start_line)
    return [_location(document, ruler, part) for part in both]


def highlights(document: Document, ruler: Ruler, line: int) -> list[types.DocumentHighlight]:
    """Return the first lines of call and result."""
    return [
        types.DocumentHighlight(range=location.range, kind=types.DocumentHighlightKind.Text)
        for location in references(document, ruler, line)
    ]


def _location(document: Document, ruler: Ruler, part: Part) -> types.Location:
    line = part.start_line
    if part.kind == "result" and (at := document.place(part.entry_id)) is not None:
        line = document.spans[at].start_line
    return types.Location(uri=document.uri, range=ruler.line(document, line))


def lenses(document: Document, ruler: Ruler) -> list[types.CodeLens]:
    """Return fork and cut at every entry, and undo at the top."""
    found: list[types.CodeLens] = []

    def add(line: int, title: str, command: str, **arguments: Json) -> None:
        arguments = {"history": document.history, **arguments}
        found.append(
            types.CodeLens(
                range=ruler.line(document, line),
                command=types.Command(title=title, command=command, arguments=[arguments]),
            )
        )

    if document.form != "transcript" or not document.live:
        return []
    if document.version > 1:
        to_version, if_version = document.version - 1, document.version
        add(0, "undo last change", "history.revert", toVersion=to_version, ifVersion=if_version)
    for row, span in zip(document.rows, document.spans, strict=True):
        add(span.start_line, "fork here", "history.fork", len=int(row["index"]) + 1, atVersion=document.version)
        add(span.start_line, "cut back to here", "history.truncate", afterEntry=row["id"], ifVersion=document.version)
    return found


def hints(document: Document, ruler: Ruler, start: int, end: int) -> list[types.InlayHint]:
    """Return the token count behind the heading of every entry in the lines `start` to `end`."""
    return [
        types.InlayHint(
            position=ruler.line(document, span.start_line).end,
            label=f"{row['tokens']} tokens",
            padding_left=True,
        )
        for row, span in zip(document.rows, document.spans, strict=True)
        if row.get("tokens") is not None and start <= span.start_line <= end
    ]
