"""The one policy for JSON text."""

from __future__ import annotations

import pytest

from sidecar.core.jsontext import loads, too_deep


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b"[" * 129 + b"]" * 129, True),
        (b"[" * 128 + b"]" * 128, False),
        (b"[" + b"[],{}," * 500 + b"1]", False),
        (b'"' + b"[" * 500 + b'"', False),
        (b'{"a\\"[":' + b"[" * 128 + b"]" * 128 + b"}", True),
        (b"]" * 500, False),
    ],
)
def test_depth_is_measured_without_parsing(body: bytes, deep: bool) -> None:
    """Brackets inside strings do not count; 128 levels pass, 129 do not."""
    assert too_deep(body) is deep


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "1e400", "[" * 5000, b"\xff", "{'a':1}"])
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    """A number that cannot be written back as JSON is refused on input."""
    with pytest.raises(ValueError):
        loads(text)
