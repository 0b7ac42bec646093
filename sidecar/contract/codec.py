"""Parsed JSON to params, results to JSON: the one place where camelCase meets snake_case.

Rules:
- Primitives are strict: nothing is coerced, a boolean is no integer, `1.0` is no integer, integers fit ±(2^53−1).
- In params `null` means omitted, except in patch classes (`PATCH`), where the two differ. Unknown keys are ignored.
- A failure names every problem at once, by JSON Pointer in wire names (`InvalidParams`).
- Entries and other values marked `Shape` are passed through as parsed; `core.message_json` judges entries.
- Results write every field, `null` where empty; only a field whose value is `ABSENT` is left out.
- pygls and lsprotocol are never imported here, so that the contract costs nothing at start.

Two cattrs converters do the reading: a fast one that stops at the first problem, and one with detailed validation that
is asked only to explain a failure. Guard: `tests/contract/test_codec.py`.
"""

from __future__ import annotations

import collections.abc
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.errors import ClassValidationError, IterableValidationError
from cattrs.fns import identity
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from sidecar.contract.constraints import MAX_INTEGER, Length, Range
from sidecar.core.errors import InvalidParams
from sidecar.core.jsontext import Json
from sidecar.core.messages import ABSENT, Absent

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]


def read_params(kind: type[T], raw: Json) -> T:
    """Turn the `params` of a request into `kind`; missing, `null` and `[]` mean `{}`.

    Raises `InvalidParams` with every problem.
    """
    return read(kind, {} if raw is None or raw == [] else raw)


def read(kind: type[T], raw: Json) -> T:
    """Turn one JSON value into the contract class or tagged union `kind`; raise `InvalidParams` with every problem."""
    try:
        return _FAST.structure(raw, kind)
    except Exception as error:  # noqa: BLE001 - whatever it was, the explaining converter says it in wire names
        raise _explain(kind, raw, error) from None


def to_json(value: Any) -> dict[str, Json]:
    """Turn a result or notification into its JSON object."""
    written: dict[str, Json] = _WRITER.unstructure(value)
    return written


def given(value: Any) -> dict[str, Json]:
    """Return the fields of a contract object that are set, in wire names: neither `None` nor left out."""
    return {name: item for name, item in to_json(value).items() if item is not None}


@cache
def wire_name(name: str) -> str:
    """Return the wire name of an attribute: `at_version` is `atVersion`, `meta` is `_meta`."""
    if name == "meta":
        return "_meta"
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


@cache
def resolved(kind: type) -> tuple[attrs.Attribute[Any], ...]:
    """Return the fields of a contract class with their annotations evaluated."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(attrs.resolve_types(kind))
    return fields


def tag_of(kind: type) -> tuple[str, str] | None:
    """Return the tag of a member of a tagged union, as (wire name, value)."""
    for field in resolved(kind):
        if _origin(field.type) is Literal and field.name in ("kind", "role", "type"):
            values = get_args(field.type)
            if len(values) == 1:
                return wire_name(field.name), values[0]
    return None


def union_members(kind: Any) -> tuple[Any, ...] | None:
    """Return the members of a union without `None` and `Absent`, or `None` where `kind` is no union."""
    if _origin(kind) not in (Union, types.UnionType):
        return None
    return tuple(member for member in get_args(kind) if member is not type(None) and member != Absent)


def _origin(kind: Any) -> Any:
    return get_origin(kind)


# --- reading ----------------------------------------------------------------------------------------------------------


def _reader(detailed: bool) -> Converter:
    converter = Converter(detailed_validation=detailed)
    converter.register_structure_hook(str, _string)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_factory(
        lambda kind: _origin(kind) is collections.abc.Sequence, lambda kind: _array_hook(kind, converter)
    )
    converter.register_structure_hook_factory(
        lambda kind: _origin(kind) is collections.abc.Mapping, lambda kind: _mapping_hook(kind, converter)
    )
    converter.register_structure_hook_factory(lambda kind: _origin(kind) is Literal, _literal_hook)
    converter.register_structure_hook_factory(
        lambda kind: bool(union_members(kind)), lambda kind: _union_hook(kind, converter)
    )
    converter.register_structure_hook_factory(
        lambda kind: _origin(kind) is Annotated, lambda kind: _annotated_hook(kind, converter)
    )
    converter.register_structure_hook_factory(attrs.has, lambda kind: _object_hook(kind, converter, detailed))
    return converter


def _string(value: Json, _: Any) -> str:
    if type(value) is not str:
        raise ValueError("must be a string")
    return value


def _integer(value: Json, _: Any) -> int:
    if type(value) is not int:
        raise ValueError("must be an integer")
    if not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise ValueError("must fit in 53 bits")
    return value


def _boolean(value: Json, _: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("must be a boolean")
    return value


def _number(value: Json, _: Any) -> float:
    if type(value) is not int and type(value) is not float:
        raise ValueError("must be a number")
    return value


def _array_hook(kind: Any, converter: Converter) -> Hook:
    (item,) = get_args(kind)
    items: Any = types.GenericAlias(list, (item,))
    read_items = converter.get_structure_hook(items)
    plain = _is_any(item)

    def hook(value: Json, _: Any) -> Any:
        if type(value) is not list:
            raise ValueError("must be an array")
        return value if plain else read_items(value, items)

    return hook


def _mapping_hook(kind: Any, converter: Converter) -> Hook:
    _, item = get_args(kind)
    read_item = converter.get_structure_hook(item)
    plain = _is_any(item)

    def hook(value: Json, _: Any) -> Any:
        if type(value) is not dict:
            raise ValueError("must be an object")
        if not plain:
            for key, part in value.items():
                try:
                    read_item(part, item)
                except ValueError as error:
                    raise InvalidParams.at(f"/{_escape(key)}", str(error)) from None
        return value

    return hook


def _literal_hook(kind: Any) -> Hook:
    values = get_args(kind)
    problem = f"must be {values[0]}" if len(values) == 1 else f"must be one of {', '.join(values)}"

    def hook(value: Json, _: Any) -> Any:
        if type(value) is not str or value not in values:
            raise ValueError(problem)
        return value

    return hook


def _union_hook(kind: Any, converter: Converter) -> Hook:
    members = union_members(kind)
    assert members
    nullable = type(None) in get_args(kind)
    if len(members) == 1:
        inner, read_inner = members[0], converter.get_structure_hook(members[0])

        def optional(value: Json, _: Any) -> Any:
            return None if value is None and nullable else read_inner(value, inner)

        return optional

    tags = {value: member for member in members for _, value in [tag_of(member) or ("", "")]}
    readers = {value: converter.get_structure_hook(member) for value, member in tags.items()}
    name = (tag_of(members[0]) or ("", ""))[0]
    problem = f"must be one of {', '.join(tags)}"

    def tagged(value: Json, _: Any) -> Any:
        if type(value) is not dict:
            raise ValueError("must be an object")
        tag = value.get(name)
        if type(tag) is not str or tag not in readers:
            raise InvalidParams.at(f"/{name}", problem if name in value else "is required")
        return readers[tag](value, tags[tag])

    return tagged


def _annotated_hook(kind: Any, converter: Converter) -> Hook:
    base, *markers = get_args(kind)
    read_base: Hook = _pass if base is Any else converter.get_structure_hook(base)
    bounds = next((marker for marker in markers if isinstance(marker, Range)), None)
    length = next((marker for marker in markers if isinstance(marker, Length)), None)
    if bounds is not None and base is int:
        return _bounded_integer(bounds)
    if length is not None and base is str:
        return _bounded_string(length)
    if bounds is not None:
        low, high = bounds.minimum, bounds.maximum

        def ranged(value: Json, _: Any) -> Any:
            value = read_base(value, base)
            if value < low:
                raise ValueError(f"must be at least {low}")
            if value > high:
                raise ValueError(f"must be at most {high}")
            return value

        return ranged
    if length is not None:
        minimum, maximum = length.minimum, length.maximum

        def measured(value: Json, _: Any) -> Any:
            value = read_base(value, base)
            if len(value) < minimum:
                raise ValueError("must not be empty" if minimum == 1 else f"must have at least {minimum} items")
            if maximum is not None and len(value) > maximum:
                raise ValueError(f"must have at most {maximum} items")
            return value

        return measured
    return read_base


def _bounded_integer(bounds: Range) -> Hook:
    low, high = bounds.minimum, bounds.maximum

    def hook(value: Json, _: Any) -> int:
        if type(value) is not int:
            raise ValueError("must be an integer")
        if value < low:
            raise ValueError(f"must be at least {low}")
        if value > high:
            raise ValueError("must fit in 53 bits" if high == MAX_INTEGER else f"must be at most {high}")
        return value

    return hook


def _bounded_string(length: Length) -> Hook:
    minimum, maximum = length.minimum, length.maximum

    def hook(value: Json, _: Any) -> str:
        if type(value) is not str:
            raise ValueError("must be a string")
        if len(value) < minimum:
            raise ValueError("must not be empty")
        if maximum is not None and len(value.encode("utf-8", "surrogatepass")) > maximum:
            raise ValueError(f"must have at most {maximum} bytes")
        return value

    return hook


def _object_hook(kind: type, converter: Converter, detailed: bool) -> Hook:
    fields = resolved(kind)
    patch = getattr(kind, "PATCH", False)
    overrides: dict[str, Any] = {}
    required_nulls = set()
    for field in fields:
        name = wire_name(field.name)
        members = None if patch else union_members(field.type)
        read_field: Hook | None = None
        if field.default is attrs.NOTHING and type(None) in get_args(field.type):
            required_nulls.add(name)  # results have such fields: there `null` is a value
        elif members and len(members) == 1:
            # Nulls are gone before the fields are read, so an optional field is read as what it is when given.
            read_field = converter.get_structure_hook(members[0])
        overrides[field.name] = override(rename=name, struct_hook=read_field)
    keep_nulls = frozenset(required_nulls)
    read_fields: Hook = make_dict_structure_fn(kind, converter, _cattrs_detailed_validation=detailed, **overrides)
    one_of = tuple(wire_name(name) for name in getattr(kind, "ONE_OF", ()))
    needs = {wire_name(name): wire_name(other) for name, other in getattr(kind, "NEEDS", {}).items()}
    choice = f"must have exactly one of {', '.join(one_of)}"

    def hook(value: Json, _: Any) -> Any:
        if type(value) is not dict:
            raise ValueError("must be an object")
        if not patch and None in value.values():
            value = {key: part for key, part in value.items() if part is not None or key in keep_nulls}
        result = read_fields(value, kind)
        if one_of and sum(name in value for name in one_of) != 1:
            raise ValueError(choice)
        for name, other in needs.items():
            if name in value and other not in value:
                raise InvalidParams.at(f"/{other}", f"is required with {name}")
        return result

    return hook


def _pass(value: Json, _: Any) -> Any:
    return value


def _is_any(kind: Any) -> bool:
    if _origin(kind) is Annotated:
        base, *markers = get_args(kind)
        return base is Any and not any(isinstance(marker, Length) for marker in markers)
    return kind is Any


# --- explaining -------------------------------------------------------------------------------------------------------


def _explain(kind: type, raw: Json, first: Exception) -> InvalidParams:
    try:
        _DETAILED.structure(raw, kind)
    except Exception as error:  # noqa: BLE001 - the same failure, told in full
        problems = list(_problems(error, ""))
    else:
        problems = [("", str(first))]
    return InvalidParams.of(problems)


def _problems(error: BaseException, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(error, ClassValidationError):
        noted, rest = error.group_exceptions()
        for part, note in noted:
            yield from _problems(part, f"{path}/{_escape(wire_name(note.name))}")
        for part in rest:
            yield from _problems(part, path)
    elif isinstance(error, IterableValidationError):
        items, rest = error.group_exceptions()
        for part, place in items:
            yield from _problems(part, f"{path}/{place.index}")
        for part in rest:
            yield from _problems(part, path)
    elif isinstance(error, InvalidParams):
        for problem in error.data["errors"]:
            yield path + problem["path"], problem["message"]
    elif isinstance(error, KeyError):
        yield path, "is required"
    else:
        yield path, str(error)


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


# --- writing ----------------------------------------------------------------------------------------------------------


def _make_writer() -> Converter:
    converter = Converter(detailed_validation=False)
    converter.register_unstructure_hook_factory(
        lambda kind: kind is Any or _origin(kind) in (collections.abc.Mapping, Literal), lambda _: identity
    )
    converter.register_unstructure_hook_factory(
        lambda kind: _origin(kind) is collections.abc.Sequence, lambda kind: _write_array(kind, converter)
    )
    converter.register_unstructure_hook_factory(
        lambda kind: bool(union_members(kind)), lambda kind: _write_union(kind, converter)
    )
    converter.register_unstructure_hook_factory(
        lambda kind: _origin(kind) is Annotated,
        lambda kind: converter.get_unstructure_hook(get_args(kind)[0]),
    )
    converter.register_unstructure_hook_factory(attrs.has, lambda kind: _write_object(kind, converter))
    return converter


def _write_array(kind: Any, converter: Converter) -> Callable[[Any], Any]:
    write_item = converter.get_unstructure_hook(get_args(kind)[0])
    if write_item is identity:
        return list
    return lambda value: [write_item(item) for item in value]


def _write_union(kind: Any, converter: Converter) -> Callable[[Any], Any]:
    members = union_members(kind)
    assert members
    if len(members) > 1:
        return converter.unstructure
    write_inner: Callable[[Any], Any] = converter.get_unstructure_hook(members[0])
    if write_inner is identity:
        return identity
    return lambda value: value if value is None or value is ABSENT else write_inner(value)


def _write_object(kind: type, converter: Converter) -> Callable[[Any], dict[str, Any]]:
    names = {
        field.name: override(rename=wire_name(field.name), omit_if_default=field.default is ABSENT)
        for field in resolved(kind)
    }
    return make_dict_unstructure_fn(kind, converter, _cattrs_omit_if_default=False, **names)  # type: ignore[arg-type]


_FAST: Final = _reader(detailed=False)
_DETAILED: Final = _reader(detailed=True)
_WRITER: Final = _make_writer()
