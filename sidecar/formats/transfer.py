"""Import and export as the service and the command line use them: text or chunks in, entries out, and back.

Rules: pure. An import is judged whole before anything is stored; what is written is deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from sidecar import wire
from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json, dumps
from sidecar.core.messages import Entry
from sidecar.core.redaction import Redactor
from sidecar.core.secrets import SECRETS
from sidecar.formats import markdown, own_jsonl
from sidecar.formats.base import ReadOptions, Report
from sidecar.formats.registry import format_of
from sidecar.formats.source import Source
from sidecar.render import render_html
from sidecar.wire.base import Item, Loss, Options
from sidecar.wire.registry import vendor_ids

WRITABLE: Final = ("own-jsonl", "markdown", "html")
"""Formats that export writes, beside every vendor's request body."""


@frozen(kw_only=True)
class Imported:
    """One conversation of a file, ready to be stored. `branch` names a side arm of the one before it."""

    format: str
    entries: tuple[Entry, ...]
    source_id: str | None = None
    title: str | None = None
    metadata: Mapping[str, Json] = {}
    branch: str | None = None


@frozen(kw_only=True)
class Import:
    """All conversations of a file, at least one, and what was lost on the way."""

    format: str
    histories: tuple[Imported, ...]
    losses: tuple[Loss, ...]


@frozen(kw_only=True)
class Exported:
    """A transcript, or a vendor's request body, as text."""

    format: str
    text: str
    losses: tuple[Loss, ...] = ()


def read_histories(form: str, source: Source, report: Report, *, all_branches: bool = False) -> Iterator[Imported]:
    """Read one conversation after the other, for files that hold many; losses gather in `report`.

    Raises `InvalidParams` for an unknown format, `Unparsable` where the text is nothing like the format.
    """
    found = format_of(form, source)
    for history in found.read(source, report, ReadOptions(all_branches=all_branches)):
        entries = tuple(history.live(report))
        yield Imported(
            format=found.id,
            entries=entries,
            source_id=history.source_id,
            title=history.title(),
            metadata=history.metadata(),
            branch=history.branch,
        )


def import_text(form: str, source: Source | str | bytes, *, all_branches: bool = False) -> Import:
    """Read a whole file. Raises like `read_histories`."""
    report = Report()
    source = source if isinstance(source, Source) else Source.of(source)
    histories = tuple(read_histories(form, source, report, all_branches=all_branches))
    return Import(format=format_of(form, source).id, histories=histories, losses=report.losses)


def exportable() -> tuple[str, ...]:
    """Return every format that `export` writes."""
    return (*WRITABLE, *vendor_ids())


def export(
    entries: Sequence[Entry],
    form: str,
    *,
    redact: bool = False,
    title: str | None = None,
    version: int | None = None,
    items: Sequence[Item] | None = None,
) -> Exported:
    """Write entries in a format or as a vendor's request body; `items` carries what the history knows of them.

    `title` and `version` go into a document that says which history it shows.

    Raises `InvalidParams` for a format that can only be read.
    """
    redactor = Redactor()
    if redact:
        entries = redactor.entries(entries)
    masked = _masked(redactor.found)
    if form == "own-jsonl":
        text = b"".join(own_jsonl.write(entries)).decode("utf-8")
        return Exported(format=form, text=text, losses=masked)
    if form == "markdown":
        text = markdown.write(entries, title=title, version=version)
        return Exported(format=form, text=text, losses=masked)
    if form == "html":
        text = render_html(entries, title=title).text
        return Exported(format=form, text=text, losses=masked)
    if form not in vendor_ids():
        known = ", ".join(exportable())
        raise InvalidParams.at("/format", f"can be written as one of {known}")
    shown = [
        evolve(item, entry=entry)
        for item, entry in zip(
            items or [Item(entry=entry, index=index) for index, entry in enumerate(entries)], entries, strict=True
        )
    ]
    projected = wire.project(shown, form, Options())
    losses = (*projected.losses, *masked)
    return Exported(format=form, text=dumps(projected.body), losses=losses)


def _masked(found: Counter[str]) -> tuple[Loss, ...]:
    """One loss per kind of secret that was masked."""
    return tuple(
        Loss(
            rule="redacted",
            severity="info",
            entry_id=None,
            message=f"{found[secret.id]} {secret.id} {'was' if found[secret.id] == 1 else 'were'} masked",
        )
        for secret in SECRETS
        if found[secret.id]
    )
