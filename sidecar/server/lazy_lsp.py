"""Import attrs classes without generating them, and convert them with hooks that are made on first use.

Why: running `attrs.define` on all 554 classes of `lsprotocol.types` is four fifths of what starting a pygls server
costs, and a session uses a few dozen of them (microsoft/lsprotocol#441); our own 250 classes cost half of what is left.
Inside `deferred_classes()`, `attrs.define` and `attrs.frozen` only leave a mark on classes of these two packages; the
first look at a marked class, by a constructor or through `attrs.fields`, runs the real decorator on it. They are the
same classes with the same fields, but without `__slots__`, since attrs makes slots by replacing the class (guarded by
`tests/server/test_lazy_lsp.py`).

Rules: it works for modules that are imported for the first time inside. Nothing else in the product depends on whether
it did.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
from cattrs import Converter

_MARKS = ("__init__", "__attrs_attrs__")
_PACKAGES = ("lsprotocol.", "sidecar.")
_completing = threading.RLock()
_define = attrs.define  # `attrs.define` itself is another while modules are imported


class _Mark:
    """Stands for an attribute that attrs will make; looking at it completes the class."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self.name, self.options = name, options

    def __get__(self, instance: object, owner: type) -> Any:
        with _completing:
            for cls in owner.__mro__:
                if any(isinstance(vars(cls).get(name), _Mark) for name in _MARKS):
                    _complete(cls)
        return getattr(owner if instance is None else instance, self.name)


@contextmanager
def deferred_classes() -> Iterator[None]:
    """Mark the classes of modules that are imported inside."""
    define, frozen = attrs.define, attrs.frozen
    attrs.define, attrs.frozen = _marking(define, {}), _marking(frozen, {"frozen": True})
    try:
        yield
    finally:
        attrs.define, attrs.frozen = define, frozen


def defer_lsp_types() -> None:
    """Import `lsprotocol.types` that way."""
    if "lsprotocol.types" in sys.modules:
        return
    with deferred_classes():
        importlib.import_module("lsprotocol.types")
    from lsprotocol import _hooks

    # `_complete` resolves the annotations of each class; lsprotocol would resolve (and so complete) all of them.
    _hooks._resolved_forward_references = True


def _marking(real: Callable[..., Any], defaults: dict[str, Any]) -> Callable[..., Any]:
    def decorator(cls: type | None = None, **options: Any) -> Any:
        def mark(cls: type) -> type:
            if not cls.__module__.startswith(_PACKAGES):
                decorated: type = real(cls, **options)
                return decorated
            for name in _MARKS:
                setattr(cls, name, _Mark(name, {**defaults, **options}))
            return cls

        return mark if cls is None else mark(cls)

    return decorator


def _complete(cls: type) -> None:
    options = vars(cls)[_MARKS[0]].options
    for name in _MARKS:
        delattr(cls, name)
    _define(cls, slots=False, **options)
    if cls.__module__ == "lsprotocol.types":
        from lsprotocol import types

        attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})


class LazyConverter(Converter):
    """A cattrs converter whose per-class hooks are generated on first call, not when another class refers to them."""

    def register_structure_hook_factory(self, predicate: Any, factory: Any = None) -> Any:
        """Register `factory(cls) -> hook`, to be called when the hook is."""
        return super().register_structure_hook_factory(predicate, _lazily(factory))

    def register_unstructure_hook_factory(self, predicate: Any, factory: Any = None) -> Any:
        """Register `factory(cls) -> hook`, to be called when the hook is."""
        return super().register_unstructure_hook_factory(predicate, _lazily(factory))


def _lazily(factory: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    def make_later(cls: Any) -> Callable[..., Any]:
        made: list[Callable[..., Any]] = []

        def hook(*args: Any) -> Any:
            if not made:
                made.append(factory(cls))
            return made[0](*args)

        return hook

    return make_later
