"""Diagnostics of a document and the actions that cure them.

Rules: a diagnostic stands on the heading of the entry it is about. An action never carries entries: an editor's JSON
library would damage them on the way (`{}` becomes null, 1.0 becomes 1), so its arguments name the violation, and the
server finds the fix again and applies it at the version that was checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lsprotocol import types

from sidecar.core.jsontext import Json
from sidecar.server.documents_features import partners
from sidecar.server.documents_model import Document, Ruler

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}

Violation = Mapping[str, Json]


def diagnostics(document: Document, ruler: Ruler, violations: Sequence[Violation]) -> list[types.Diagnostic]:
    """Return the violations of entries that the document shows; what several vendors would say is said once."""
    found: list[types.Diagnostic] = []
    for same in _grouped(document, violations):
        first = same[0]
        line = _line(document, first)
        if line is None:
            continue
        rule = str(first["rule"])
        link = _rule_link(rule)
        found.append(
            types.Diagnostic(
                range=ruler.line(document, line),
                severity=_SEVERITIES.get(str(first["severity"]), types.DiagnosticSeverity.Warning),
                source=f"history-sidecar ({', '.join(str(violation['vendor']) for violation in same)})",
                code=rule,
                code_description=types.CodeDescription(href=link) if link else None,
                message=str(first["message"]),
                related_information=_related(document, ruler, line),
                data=reference(document, first),
            )
        )
    return found


def _grouped(document: Document, violations: Sequence[Violation]) -> list[list[Violation]]:
    groups: dict[tuple[Json, ...], list[Violation]] = {}
    for violation in violations:
        key = tuple([violation[name] for name in ("entryId", "index", "rule", "severity", "message")])
        groups.setdefault(key, []).append(violation)
    return list(groups.values())


def loss_diagnostics(document: Document, ruler: Ruler, answer: Mapping[str, Json]) -> list[types.Diagnostic]:
    """Return what a projection left out or repaired, at the top of its document."""
    found: list[types.Diagnostic] = []
    for kind in ("losses", "repairs"):
        for item in answer.get(kind) or ():
            entry = f" (entry {item['entryId']})" if item.get("entryId") else ""
            found.append(
                types.Diagnostic(
                    range=ruler.line(document, 0),
                    severity=_SEVERITIES.get(str(item.get("severity")), types.DiagnosticSeverity.Information),
                    source=f"history-sidecar ({document.vendor})",
                    code=str(item["rule"]),
                    message=f"{item['message']}{entry}",
                )
            )
    return found


def reference(document: Document, violation: Violation) -> dict[str, Json]:
    """Return what names a violation: no text of the conversation, nothing that a client could damage."""
    return {
        "history": document.history,
        "version": document.version,
        "vendor": violation["vendor"],
        "rule": violation["rule"],
        "entryId": violation["entryId"],
        "index": violation["index"],
    }


def names(reference: Mapping[str, Json], violation: Violation) -> bool:
    """Say whether the reference means this violation."""
    return all(violation[key] == reference.get(key) for key in ("vendor", "rule", "entryId", "index"))


def actions(
    document: Document,
    ruler: Ruler,
    violations: Sequence[Violation],
    lines: range,
    only: Sequence[str] | None,
    vendors: Sequence[str],
) -> list[types.CodeAction]:
    """Return the fixes of violations in these lines, and one that applies every fix of the document."""
    found: list[types.CodeAction] = []
    if not document.live or document.form == "projection":
        return []
    if _wanted(types.CodeActionKind.QuickFix, only):
        for same in _grouped(document, violations):
            line = _line(document, same[0])
            at = document.at(line) if line is not None else None
            if at is None or not set(lines) & set(range(document.spans[at].start_line, document.spans[at].end_line)):
                continue
            offered: list[Json] = []
            for violation in same:
                for number, fix in enumerate(violation.get("fixes") or ()):
                    if fix["edits"] in offered:
                        continue
                    offered.append(fix["edits"])
                    title = str(fix.get("title") or "fix")
                    found.append(
                        types.CodeAction(
                            title=title if len(same) > 1 else f"{title} ({violation['vendor']})",
                            kind=types.CodeActionKind.QuickFix,
                            diagnostics=diagnostics(document, ruler, same),
                            is_preferred=len(offered) == 1,
                            command=types.Command(
                                title=title,
                                command="history.applyFix",
                                arguments=[{**reference(document, violation), "fix": number}],
                            ),
                        )
                    )
    if _wanted(types.CodeActionKind.SourceFixAll, only) and any(violation.get("fixes") for violation in violations):
        title = "Fix everything that a vendor would refuse"
        arguments = {"history": document.history, "ifVersion": document.version, "vendors": list(vendors)}
        found.append(
            types.CodeAction(
                title=title,
                kind=types.CodeActionKind.SourceFixAll,
                command=types.Command(title=title, command="history.fixAll", arguments=[arguments]),
            )
        )
    return found


def _wanted(kind: types.CodeActionKind, only: Sequence[str] | None) -> bool:
    return only is None or any(kind.value == asked or kind.value.startswith(f"{asked}.") for asked in only)


def _line(document: Document, violation: Violation) -> int | None:
    at = document.place(violation["entryId"])
    if at is None and document.spans:
        # A violation of the list as a whole (an empty list, a missing first message) has an index and no entry.
        first = int(document.rows[0]["index"])
        offset = int(violation["index"]) - first
        at = offset if violation["entryId"] is None and 0 <= offset < len(document.spans) else None
    return None if at is None else document.spans[at].start_line


def _related(document: Document, ruler: Ruler, line: int) -> list[types.DiagnosticRelatedInformation] | None:
    at = document.at(line)
    if at is None:
        return None
    found: list[types.DiagnosticRelatedInformation] = []
    entry_id = document.spans[at].entry_id
    for part in document.parts:
        if part.entry_id != entry_id or part.kind == "reasoning":
            continue
        pair = partners(document, part.start_line)
        for other in pair[1] if pair else ():
            where = "the result" if part.kind == "call" else "the call"
            found.append(
                types.DiagnosticRelatedInformation(
                    location=types.Location(uri=document.uri, range=ruler.line(document, other.start_line)),
                    message=f"{where} of {part.call_id}",
                )
            )
    return found or None


def _rule_link(rule: str) -> str | None:
    from sidecar.wire.rules import RULES

    known = RULES.get(rule)
    return known.sources[0] if known is not None and known.sources else None
