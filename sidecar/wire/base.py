"""What a projection takes and gives: the types shared by the projector, the checker and the parser.

Rules: sans-IO, deterministic, no clock and no randomness. Nothing is ever changed silently: each difference between
the stored entries and the payload is a `Loss` (the model will not see it) or a `Repair` (it was made legal).
Rule ids are `X1` to `X22` (see `protocol/vendors.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from sidecar.core.jsontext import Json
from sidecar.core.messages import Entry

Severity: TypeAlias = Literal["info", "warning", "error"]
Action: TypeAlias = Literal["dropped", "merged", "synthesized", "moved", "rewritten"]


@frozen(kw_only=True)
class Item:
    """One entry of the list to project, with what the history knows about it.

    `entry` is already shown the way an elision asks (`elided` says so). `prefix_changed` says that something before
    this entry changed after it was produced, so signed reasoning in it is stale (tokens.md §3.4).
    """

    entry: Entry
    index: int
    elided: bool = False
    prefix_changed: bool = False


@frozen(kw_only=True)
class Loss:
    """Something the model will not see; `path` points into the entry."""

    rule: str
    severity: Severity
    entry_id: str | None
    message: str
    path: str | None = None


@frozen(kw_only=True)
class Repair:
    """A change that made the list legal and lost nothing the model needs."""

    rule: str
    entry_id: str | None
    action: Action
    message: str


@frozen(kw_only=True)
class Violation:
    """What a vendor would refuse in the entries as they are; `fixes` are `history/applyEdits` payloads."""

    vendor: str
    rule: str
    severity: Severity
    entry_id: str | None
    index: int
    message: str
    fixes: tuple[Mapping[str, Json], ...] = ()


@frozen(kw_only=True)
class Options:
    """How to project. `capabilities` overrides what the vendor's table says of `model` (protocol.md §6)."""

    model: str | None = None
    scope: str | None = None
    capabilities: Mapping[str, Any] = field(factory=dict)
    reasoning: Literal["auto", "drop"] = "auto"
    guests: Literal["wrap", "plain"] = "wrap"
    images: Literal["keep", "elide"] = "keep"
    on_loss: Literal["report", "error"] = "report"
    cache_markers: int = 0
    placeholder: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Projected:
    """A payload for one vendor, merged by the caller into its request."""

    vendor: str
    body: dict[str, Json]
    losses: tuple[Loss, ...] = ()
    repairs: tuple[Repair, ...] = ()


@frozen(kw_only=True)
class Parsed:
    """The inverse of a projection: entries read out of a vendor's request or response body."""

    entries: tuple[Entry, ...]
    losses: tuple[Loss, ...] = ()
    usage: Mapping[str, Json] | None = None
