"""Import `lsprotocol.types` without generating 554 classes, and convert its classes with hooks made on first use.

Why: running `attrs.define` on every class of `lsprotocol.types` is four fifths of what starting a pygls server costs,
and a session uses a few dozen of them (microsoft/lsprotocol#441). Here `attrs.define` only leaves a mark on each class
while that one module is imported; the first look at a marked class, by a constructor or through `attrs.fields`, runs
the real `attrs.define` on it. The classes are the same classes with the same fields; they differ only in having no
`__slots__`, since attrs makes slots by replacing the class (guarded by `tests/server/test_lazy_lsp.py`).

Rules: `defer_lsp_types()` runs before anything imports `lsprotocol.types`, else it does nothing. Nothing else in the
product depends on whether it ran.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import attrs
from cattrs import Converter

_MARKS = ("__init__", "__attrs_attrs__")
_completing = threading.RLock()


class _Mark:
    """Stands for an attribute that attrs will make; looking at it completes the class."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        with _completing:
            if any(isinstance(vars(owner).get(name), _Mark) for name in _MARKS):
                _complete(owner)
        return getattr(owner if instance is None else instance, self.name)


def defer_lsp_types() -> None:
    """Import `lsprotocol.types` with its attrs classes marked instead of generated."""
    if "lsprotocol.types" in sys.modules:
        return
    define = attrs.define
    attrs.define = _mark  # type: ignore[assignment]
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        attrs.define = define
    from lsprotocol import _hooks

    # `_complete` resolves the annotations of each class; lsprotocol would resolve (and so complete) all of them.
    _hooks._resolved_forward_references = True


def _mark(cls: type) -> type:
    for name in _MARKS:
        setattr(cls, name, _Mark(name))
    return cls


def _complete(cls: type) -> None:
    from lsprotocol import types

    for name in _MARKS:
        delattr(cls, name)
    attrs.define(cls, slots=False)
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
