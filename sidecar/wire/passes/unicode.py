"""Well-formed Unicode in the payload (X14): a lone surrogate has no UTF-8 form, so vendors refuse the whole body.

The store keeps the original; only the payload shows U+FFFD. NUL stays: no vendor is known to refuse it.
"""

from __future__ import annotations

import re

from sidecar.core.jsontext import Json

_SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def is_well_formed(text: str) -> bool:
    """Say whether UTF-8 has a form for `text`; to try it is far quicker than to look for a surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def scrub(text: str) -> str:
    """Return `text` with each lone surrogate replaced; the very same object where there is none."""
    if is_well_formed(text):
        return text
    return _SURROGATE.sub(REPLACEMENT, text)


def scrub_json(value: Json) -> Json:
    """Return `value` with every string in it scrubbed, keys too; the very same object where nothing changes."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        items = [scrub_json(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        pairs = {scrub(key): scrub_json(item) for key, item in value.items()}
        same = pairs.keys() == value.keys() and all(pairs[key] is value[key] for key in value)
        return value if same else pairs
    return value
