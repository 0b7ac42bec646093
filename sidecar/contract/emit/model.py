"""The contract as plain data, free of Python: what every emitter prints from.

`definitions()` walks `sidecar.contract.types`; an emitter never looks at a Python annotation itself.
"""

from __future__ import annotations

import collections.abc
import importlib
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

import attrs
from attrs import frozen

from sidecar.contract import types
from sidecar.contract.codec import resolved, tag_of, union_members, wire_name
from sidecar.contract.constraints import MAX_INTEGER, Either, Length, Open, OtherThan, Pattern, Range, Shape
from sidecar.contract.emit import docs
from sidecar.core.messages import ABSENT


@frozen(kw_only=True)
class Primitive:
    """`string`, `integer`, `number` or `boolean`, with its bounds."""

    name: str
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    known: tuple[str, ...] = ()
    """Well-known values of an open string."""
    other_than: tuple[str, ...] = ()


@frozen
class Constant:
    """One of a closed set of values."""

    values: tuple[str | bool, ...]


@frozen(kw_only=True)
class Array:
    """An array."""

    item: Kind
    min_items: int = 0


@frozen
class Map:
    """An object with free keys."""

    value: Kind


@frozen
class Ref:
    """A named definition."""

    name: str


@frozen
class Anything:
    """Any JSON value."""


Kind: TypeAlias = Primitive | Constant | Array | Map | Ref | Anything


@frozen(kw_only=True)
class Field:
    """One member of an object. `default` is the JSON value that holds where it is left out, `None` for none."""

    name: str
    kind: Kind
    required: bool
    nullable: bool
    doc: str
    default: Any = None


@frozen(kw_only=True)
class Record:
    """An object type."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    one_of: tuple[str, ...] = ()
    """Exactly one of these is given."""
    any_of: tuple[str, ...] = ()
    """At least one of these is given."""
    needs: tuple[tuple[str, str], ...] = ()
    """Where the first is given, the second is."""


@frozen(kw_only=True)
class Tagged:
    """A union of records, told apart by the member `tag`."""

    name: str
    doc: str
    tag: str
    members: tuple[str, ...]


@frozen(kw_only=True)
class Choice:
    """A union told apart by JSON type."""

    name: str
    doc: str
    members: tuple[Kind, ...]


Definition: TypeAlias = Record | Tagged | Choice


@cache
def definitions() -> dict[str, Definition]:
    """Return every named type of the contract, by name, in alphabetical order."""
    found: dict[str, Definition] = {}
    for name in sorted(vars(types)):
        value = getattr(types, name)
        if isinstance(value, type) and attrs.has(value):
            found[name] = _record(value)
        elif isinstance(value, Either):
            found[value.name] = Choice(name=value.name, doc=value.doc, members=tuple(map(_kind, value.members)))
        elif len(union_members(value) or ()) > 1:
            found[name] = _tagged(name, value)
    return found


def name_of(kind: Any) -> str:
    """Return the name of a contract class or named union, as `METHODS` holds it."""
    return kind.__name__ if isinstance(kind, type) else _union_names()[kind]


@cache
def _union_names() -> dict[Any, str]:
    return {value: name for name, value in vars(types).items() if len(union_members(value) or ()) > 1}


def _tagged(name: str, value: Any) -> Tagged:
    members = union_members(value)
    assert members
    home = importlib.import_module(members[0].__module__)
    tag = tag_of(members[0])
    assert tag
    return Tagged(
        name=name, doc=docs.alias_doc(home, name), tag=tag[0], members=tuple(member.__name__ for member in members)
    )


def _record(kind: type) -> Record:
    return Record(
        name=kind.__name__,
        doc=docs.class_doc(kind),
        fields=tuple(_field(kind, field) for field in resolved(kind)),
        one_of=tuple(map(wire_name, getattr(kind, "ONE_OF", ()))),
        any_of=tuple(map(wire_name, getattr(kind, "ANY_OF", ()))),
        needs=tuple((wire_name(name), wire_name(other)) for name, other in getattr(kind, "NEEDS", {}).items()),
    )


def _field(owner: type, field: attrs.Attribute[Any]) -> Field:
    constant = get_origin(field.type) is Literal and len(get_args(field.type)) == 1
    optional = field.default is not attrs.NOTHING and not constant
    spelled_null = NoneType in get_args(field.type)
    # `None`, an empty list and a word are defaults of params, where `null` means left out.
    nullable = spelled_null or (optional and field.default is not ABSENT)
    default = field.default if optional and type(field.default) in (str, int, bool) else None
    return Field(
        name=wire_name(field.name),
        kind=_kind(field.type),
        required=not optional,
        nullable=nullable,
        doc=docs.field_doc(owner, field.name),
        default=default,
    )


def _kind(kind: Any, markers: tuple[Any, ...] = ()) -> Kind:
    origin, args = get_origin(kind), get_args(kind)
    if isinstance(kind, Either):
        return Ref(kind.name)
    if origin is Annotated:
        return _kind(args[0], (*args[1:], *markers))
    members = union_members(kind)
    if members is not None:
        return _kind(members[0], markers) if len(members) == 1 else Ref(_union_names()[kind])
    if kind is Any:
        return _marked_any(markers)
    if origin is Literal:
        return Constant(args)
    if origin is collections.abc.Sequence:
        length = _marker(markers, Length)
        return Array(item=_kind(args[0]), min_items=length.minimum if length else 0)
    if origin is collections.abc.Mapping:
        return Map(_kind(args[1]))
    if attrs.has(kind):
        return Ref(kind.__name__)
    return _primitive(kind, markers)


def _marked_any(markers: tuple[Any, ...]) -> Kind:
    either, shape = _marker(markers, Either), _marker(markers, Shape)
    if either is not None:
        return Ref(either.name)
    if shape is None or shape.name == "Any":
        return Anything()
    return _kind(getattr(types, shape.name))


def _primitive(kind: Any, markers: tuple[Any, ...]) -> Primitive:
    bounds, length = _marker(markers, Range), _marker(markers, Length)
    pattern, known, other = _marker(markers, Pattern), _marker(markers, Open), _marker(markers, OtherThan)
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    limit = MAX_INTEGER if kind is int else None
    return Primitive(
        name=names[kind],
        minimum=bounds.minimum if bounds else limit and -limit,
        maximum=limit,
        min_length=length.minimum if length else None,
        max_length=length.maximum if length else None,
        pattern=pattern.regex if pattern else None,
        known=known.values if known else (),
        other_than=other.values if other else (),
    )


def _marker(markers: tuple[Any, ...], kind: type) -> Any:
    return next((marker for marker in markers if isinstance(marker, kind)), None)
