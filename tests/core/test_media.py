"""Prices of pictures, documents and sounds: every example that a vendor published."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.media import media_tokens
from sidecar.core.media_headers import Medium
from sidecar.core.profiles import data_file, profile_ids, profile_of


def image(width: int, height: int, model: str, detail: str = "") -> int:
    medium = Medium(kind="image", width=width, height=height, detail=detail)
    return media_tokens(medium, profile_of(None, model).id, model)


@pytest.mark.parametrize(
    ("width", "height", "model", "detail", "tokens"),
    [
        (1024, 1024, "gpt-4o", "high", 765),
        (2048, 4096, "gpt-4o", "high", 1105),
        (4096, 8192, "gpt-4o", "low", 85),
        (1024, 1024, "gpt-5.4", "", 1229),
        (1000, 1000, "claude-sonnet-4-5", "", 1296),
        (1920, 1080, "gpt-4o", "", 1105),
        (1920, 1080, "gpt-5", "", 910),
        (1920, 1080, "gpt-5.4", "", 2448),
        (1920, 1080, "claude-opus-4-5", "", 1560),
        (1920, 1080, "claude-opus-4-7", "", 2691),
        (1920, 1080, "gemini-2.5-pro", "", 1548),
        (1920, 1080, "gemini-3-pro", "", 1120),
        (1920, 1080, "gemini-3-pro", "low", 280),
        (384, 384, "gemini-2.0-flash", "", 258),
        (1920, 1080, "gpt-4o-mini", "low", 2833),
    ],
)
def test_published_examples(width: int, height: int, model: str, detail: str, tokens: int) -> None:
    """The formulas give the numbers that the vendors' guides give."""
    assert image(width, height, model, detail) == tokens


@pytest.mark.parametrize(("width", "height", "patches"), [(1024, 1024, 1024), (1800, 2400, 1452)])
def test_published_patches(width: int, height: int, patches: int) -> None:
    """The patch examples of the OpenAI guide, before the model's multiplier of 1.62."""
    assert image(width, height, "gpt-4.1-mini") == -(-patches * 162 // 100)


@given(st.integers(1, 9000), st.integers(1, 9000))
def test_budgets_hold(width: int, height: int) -> None:
    """No picture costs nothing, or more than its vendor's budget."""
    assert 0 < image(width, height, "claude-3-5-sonnet") <= 1568
    assert 0 < image(width, height, "claude-opus-5-5") <= 4784
    assert 0 < image(width, height, "gpt-4.1-mini") <= 1536 * 1.62 + 1
    assert 0 < image(width, height, "gpt-5.4") <= 2500 * 1.2 + 1
    assert 85 < image(width, height, "gpt-4o") <= 85 + 170 * 8


def test_documents_and_sounds() -> None:
    """Pages and seconds are priced; what is not known is not free."""
    document, sound = Medium(kind="file", pages=3), Medium(kind="audio", milliseconds=2500)
    assert media_tokens(document, "anthropic-v4.8") == 3 * 2188
    assert media_tokens(document, "google-gemma", "gemini-2.5-pro") == 3 * 258
    assert media_tokens(sound, "google-gemma") == 3 * 32
    for profile_id in profile_ids():
        for medium in (Medium(kind="image"), Medium(kind="file"), Medium(kind="audio")):
            assert media_tokens(medium, profile_id) > 0


def test_every_number_has_a_source() -> None:
    """Each rule in the data names where it comes from and when that was read."""
    rules = [rule for part in ("images", "pages", "seconds") for rule in data_file("media_tokens")[part]]
    rules += data_file("model_tokens")["framing"]
    assert len(rules) > 20
    assert all(rule["source"] and rule["date"] for rule in rules)
