"""What may change an entry before it is stored: masking of secrets, where the user asks for it.

Rules: off by default, since a store keeps raw truth. What was masked is told to the log by kind and count, never the
secret and never the text around it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from sidecar.core.messages import Entry
from sidecar.core.redaction import Redactor
from sidecar.core.secrets import SECRETS

log = logging.getLogger(__name__)


class SecretFilter:
    """A `service.Filter` that masks secrets; `kinds` are ids of `core.secrets.SECRETS`, `None` for all."""

    def __init__(self, kinds: Collection[str] | None = None) -> None:
        for unknown in set(kinds or ()) - {secret.id for secret in SECRETS}:
            log.warning("no kind of secret is called %s", unknown)
        self._redactor = Redactor(kinds)

    def __call__(self, entry: Entry) -> Entry:
        """Return the entry with secrets masked; signatures and opaque bytes stay as they are."""
        masked = self._redactor.entry(entry)
        for kind, count in self._redactor.found.items():
            log.warning("masked before storing: %d %s", count, kind)
        self._redactor.found.clear()
        return masked


def filters_of(mask: Collection[str] | None) -> tuple[SecretFilter, ...]:
    """Return the filters of a setting: `None` for none, empty for every kind of secret, else the kinds named."""
    return () if mask is None else (SecretFilter(mask or None),)
