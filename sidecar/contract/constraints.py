"""What a contract field may be beyond its Python type: the markers inside `Annotated[…]`.

Rules: a marker is data. `codec` enforces it, the emitters print it, so a range is written once.
`Shape` names the contract class that describes a field which the codec leaves as parsed JSON: entries are read by
`core.message_json`, which knows the three states of content, and must not be copied on the way.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from attrs import frozen

MAX_INTEGER = 2**53 - 1
"""Largest magnitude of an integer on the wire: what a double holds exactly."""


@frozen
class Range:
    """Bounds of an integer or a number, both included."""

    minimum: int
    maximum: int = MAX_INTEGER


@frozen
class Length:
    """Length of a string in UTF-8 bytes, or of an array in items."""

    minimum: int = 0
    maximum: int | None = None


@frozen
class Open:
    """Well-known values of an open string: others are legal, and a reader must expect them."""

    values: tuple[str, ...]


@frozen
class Pattern:
    """The grammar of a string. `kind` is the domain error that breaking it raises, so the codec leaves it alone."""

    regex: str
    kind: str


@frozen
class Shape:
    """The contract type (a class name in `types`) that describes a value left as parsed JSON."""

    name: str


Count: TypeAlias = Annotated[int, Range(0)]
"""An integer from 0."""

HistoryName: TypeAlias = Annotated[
    str, Pattern("^[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*$", "invalidName")
]
"""A history name."""

OperationId: TypeAlias = Annotated[str, Length(1, 64)]
"""An idempotency key."""

EntryId: TypeAlias = Annotated[str, Length(1)]
"""The id of an entry, opaque."""

PageSize: TypeAlias = Annotated[int, Range(1)]
"""How many items a page may hold; the server may return fewer."""

Object: TypeAlias = Any
"""Any JSON value."""

EntryInput: TypeAlias = Annotated[Any, Shape("EntryInput")]
"""An entry as a client sends it."""

EntryOutput: TypeAlias = Annotated[Any, Shape("Entry")]
"""An entry as the server answers it."""


@frozen
class OtherThan:
    """An open string that is none of these."""

    values: tuple[str, ...]


@frozen
class Either:
    """A value of one of several forms told apart by their JSON type: the few places where input is wider than output.

    The codec leaves it as parsed; the emitters print it under `name`.
    """

    name: str
    members: tuple[Any, ...]
    doc: str
