"""The one seam between the store and token measures: what is computed once when an entry is written."""

from __future__ import annotations

from sidecar.core.estimators import default_estimate
from sidecar.core.measures import measure
from sidecar.core.messages import Entry
from sidecar.store.blobs import encode
from sidecar.store.transaction import ROLE_CODES, EntryRow


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
