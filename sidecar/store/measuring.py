"""The one seam between the store and token measures: what is computed once when an entry is written."""

from __future__ import annotations

from sidecar.core.jsontext import dumpb
from sidecar.core.messages import Entry, entry_to_json
from sidecar.store.transaction import ROLE_CODES, EntryRow


def entry_row(entry: Entry, *, seq: int, cumulative: int, layout: int, marks: int) -> EntryRow:
    """Encode and measure one stamped entry. `cumulative` is the estimate sum of the log before it."""
    measure, estimate = _measure(entry)
    return EntryRow(
        seq=seq,
        entry_id=entry.id,
        body=dumpb(entry_to_json(entry)),
        measure=measure,
        estimate=estimate,
        cumulative=cumulative + estimate,
        role=ROLE_CODES[entry.role],
        layout=layout,
        marks=marks,
    )


def _measure(entry: Entry) -> tuple[bytes, int]:
    # Until `core.measures` is there, the seed's bytes/4.
    return b"", len(dumpb(entry_to_json(entry))) // 4
