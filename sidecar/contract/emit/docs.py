"""Reference text: the docstrings of contract classes, of their fields and of the named unions.

Python keeps no docstring of a field, so the source of the module is read. Only the emitters do that.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from types import ModuleType

COMMON: dict[str, str] = {
    "history": "The name of the history.",
    "if_version": "Change only if the history is at this version; 0 means that it must not exist.",
    "operation_id": "A key the client makes: a repeat with equal params answers the first result and changes nothing.",
    "meta": "Free data; keys carry a prefix, such as `example.com/x`.",
    "version": "The version.",
    "at_version": "Read this version; the newest where left out.",
    "len": "How many entries are stored.",
    "token_estimate": "Estimated input tokens; null where there is nothing to estimate.",
    "replayed": "The answer of an earlier request with the same `operationId`; nothing was changed now.",
    "cursor": "Where to go on: `nextCursor` of the page before.",
    "limit": "How many items at most.",
    "next_cursor": "Where the next page starts; null on the last one.",
    "title": "A title for people.",
    "tags": "Tags.",
    "created_at": "When the history was made, Unix milliseconds.",
    "updated_at": "When it last changed, Unix milliseconds.",
    "metadata": "Free metadata.",
    "kind": "The tag.",
    "type": "The tag.",
    "role": "The tag.",
    "retryable": "Whether the same request can succeed later.",
}
"""Text of fields that mean the same everywhere; a docstring under the field wins."""


def class_doc(kind: type) -> str:
    """Return the docstring of a contract class."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    assert doc, f"{kind.__name__} has no docstring"
    return doc


def field_doc(kind: type, field: str) -> str:
    """Return the text of one field; raise `LookupError` where there is none."""
    own = _documented(importlib.import_module(kind.__module__))[1].get((kind.__name__, field))
    text = own or COMMON.get(field)
    if text is None:
        raise LookupError(f"{kind.__name__}.{field} has no docstring")
    return text


def alias_doc(module: ModuleType, name: str) -> str:
    """Return the docstring under a module-level alias."""
    text = _documented(module)[0].get(name)
    if text is None:
        raise LookupError(f"{module.__name__}.{name} has no docstring")
    return text


@cache
def _documented(module: ModuleType) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    aliases: dict[str, str] = {}
    fields: dict[tuple[str, str], str] = {}
    tree = ast.parse(inspect.getsource(module))
    for name, text in _pairs(tree.body):
        aliases[name] = text
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for name, text in _pairs(node.body):
                fields[node.name, name] = text
    return aliases, fields


def _pairs(body: list[ast.stmt]) -> list[tuple[str, str]]:
    found = []
    for node, after in zip(body, body[1:], strict=False):
        documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and documented:
            assert isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if isinstance(after.value.value, str):
                found.append((node.target.id, inspect.cleandoc(after.value.value)))
    return found
