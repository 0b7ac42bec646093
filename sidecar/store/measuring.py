"""The one seam between the store and token measures: what is computed once when an entry is written."""

from __future__ import annotations

from sidecar.core.estimators import default_estimate
from sidecar.core.measures import measure
from sidecar.core.message_json import message_from_json
from sidecar.core.messages import Entry
from sidecar.store.base import Prepared
from sidecar.store.blobs import Encoded, encode, parse_quickly, quick_body
from sidecar.store.transaction import ROLE_CODES, EntryRow


def prepare(entry: Entry) -> Prepared:
    """Encode and measure one stamped entry whose values came from JSON text."""
    return _prepared(entry, encode(entry, quick_body))


def prepare_body(entry_id: str, body: bytes) -> Prepared:
    """Measure one stamped entry that is encoded already, by this release and without blobs."""
    # What is beside the message is not measured.
    message = message_from_json(parse_quickly(body)["message"])
    return _prepared(Entry(message=message, id=entry_id), Encoded(body))


def _prepared(entry: Entry, encoded: Encoded) -> Prepared:
    measured = measure(entry)
    return Prepared(
        id=entry.id,
        body=encoded.body,
        measure=measured.pack(),
        estimate=default_estimate(measured),
        role=ROLE_CODES[entry.role],
        places=encoded.places,
        blobs=encoded.blobs,
    )


def place(entry: Prepared, *, seq: int, cumulative: int, layout: int, marks: int) -> EntryRow:
    """Give a prepared entry its place in a log. `cumulative` is the estimate sum of the log before it."""
    return EntryRow(
        seq=seq,
        entry_id=entry.id,
        body=entry.body,
        measure=entry.measure,
        estimate=entry.estimate,
        cumulative=cumulative + entry.estimate,
        role=entry.role,
        layout=layout,
        marks=marks,
        places=entry.places,
        blobs=entry.blobs,
    )


def entry_row(entry: Entry, *, seq: int, cumulative: int, layout: int, marks: int) -> EntryRow:
    """Encode and measure one stamped entry. `cumulative` is the estimate sum of the log before it."""
    measured, encoded = measure(entry), encode(entry)
    estimate = default_estimate(measured)
    return EntryRow(
        seq=seq,
        entry_id=entry.id,
        body=encoded.body,
        measure=measured.pack(),
        estimate=estimate,
        cumulative=cumulative + estimate,
        role=ROLE_CODES[entry.role],
        layout=layout,
        marks=marks,
        places=encoded.places,
        blobs=encoded.blobs,
    )
