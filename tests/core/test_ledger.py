"""Baseline, delta and calibration: the source documents' rules, and what records teach."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.estimators import DEFAULT, counter
from sidecar.core.ledger import (
    DEFAULT_KEY,
    LARGEST,
    MAX_MODELS,
    SMALLEST,
    Recorded,
    calibration_of,
    estimate,
    key_of,
    quick_estimate,
    recorded,
)

BYTES4 = counter("bytes4")
COUNTS = st.lists(st.integers(0, 5000), max_size=8)


@given(COUNTS, COUNTS, st.integers(0, 10**6))
def test_seed_semantics(covered: list[int], added: list[int], tokens: int) -> None:
    """A source estimator answers baseline plus the plain sum of what came after, or the plain sum, or nothing."""
    stored = recorded(None, DEFAULT_KEY, tokens=tokens, counts=covered, previous=None)
    with_baseline = estimate(BYTES4, covered + added, baseline=Recorded(tokens=tokens, len=len(covered)), stored=stored)
    assert (with_baseline.tokens, with_baseline.delta) == (tokens + sum(added), sum(added))
    cleared = estimate(BYTES4, covered, baseline=None, stored=stored)
    assert (cleared.tokens, cleared.baseline) == (sum(covered) if covered else None, None)


@given(COUNTS, COUNTS, st.integers(0, 10**6))
def test_an_answer_adds_up(covered: list[int], added: list[int], tokens: int) -> None:
    """`tokens` is `baseline + delta`, lies between `low` and `high`, and the quick answer is the same."""
    stored = recorded(None, DEFAULT_KEY, tokens=tokens, counts=covered, previous=None)
    found = estimate(DEFAULT, covered + added, baseline=Recorded(tokens=tokens, len=len(covered)), stored=stored)
    assert found.tokens == tokens + found.delta
    assert found.low is not None and found.high is not None
    assert found.low <= found.tokens <= found.high
    assert found.tokens == quick_estimate(
        baseline=tokens, since=sum(added), entries=len(covered + added), stored=stored
    )


@given(COUNTS.filter(any), st.integers(0, 50_000))
def test_overhead_is_what_is_in_no_entry(counts: list[int], overhead: int) -> None:
    """A first record tells overhead from text, so the same list after a rewrite is estimated as counted."""
    tokens = sum(counts) + overhead
    stored = recorded(None, DEFAULT_KEY, tokens=tokens, counts=counts, previous=None)
    found = estimate(DEFAULT, counts, baseline=None, stored=stored)
    assert (found.tokens, found.overhead, found.basis) == (tokens, overhead, "rebased")


@given(st.lists(st.tuples(COUNTS, st.integers(0, 10**7)), max_size=6))
def test_a_ratio_stays_what_a_tokenizer_can_be(records: list[tuple[list[int], int]]) -> None:
    """Whatever is recorded, ratio and overhead stay in range."""
    stored = None
    previous = None
    for counts, tokens in records:
        stored = recorded(stored, DEFAULT_KEY, tokens=tokens, counts=counts, previous=previous)
        previous = Recorded(tokens=tokens, len=len(counts))
        found = calibration_of(stored, DEFAULT_KEY)
        assert SMALLEST <= found.ratio <= LARGEST
        assert found.overhead >= 0


def test_an_old_number_never_becomes_overhead() -> None:
    """Records after a splice describe the new list: dropped messages are not reported as overhead (suzent#190)."""
    long, short = [5000] * 40, [2000, 5000]
    stored = recorded(None, DEFAULT_KEY, tokens=sum(long) + 3000, counts=long, previous=None)
    after = estimate(DEFAULT, short, baseline=None, stored=stored)
    assert after.tokens == sum(short) + 3000
    stored = recorded(stored, DEFAULT_KEY, tokens=sum(short) + 3000, counts=short, previous=None)
    assert calibration_of(stored, DEFAULT_KEY).overhead == 3000


@pytest.mark.parametrize("true_ratio", [0.7, 1.3, 1.8])
def test_a_session_with_the_wrong_profile_converges(true_ratio: float) -> None:
    """Fifty turns with a tokenizer that differs from ours: the next call comes within 1 %, a splice within 4 %."""
    dice = random.Random(7)
    counts: list[int] = []
    overhead, tokens, stored, previous = 9000, 0, None, None
    errors = []
    for turn in range(50):
        counts += [dice.randrange(20, 900) for _ in range(3)]
        truth = overhead + sum(round(count * true_ratio * (1 + 0.1 * ((place * 37) % 7 - 3) / 3))
                               for place, count in enumerate(counts))  # fmt: skip
        if turn > 5:
            found = estimate(DEFAULT, counts, baseline=previous, stored=stored).tokens
            assert found is not None
            errors.append(abs(found - truth) / truth)
        tokens = truth
        stored = recorded(stored, DEFAULT_KEY, tokens=tokens, counts=counts, previous=previous)
        previous = Recorded(tokens=tokens, len=len(counts))
    assert sum(errors) / len(errors) < 0.01
    kept = counts[-30:]
    first = len(counts) - 30
    truth = overhead + sum(round(count * true_ratio * (1 + 0.1 * (((first + place) * 37) % 7 - 3) / 3))
                           for place, count in enumerate(kept))  # fmt: skip
    after = estimate(DEFAULT, kept, baseline=None, stored=stored).tokens
    assert after is not None
    assert abs(after - truth) / truth < 0.04


def test_models_are_calibrated_apart() -> None:
    """A model that was never recorded gets the newest overhead and no ratio; the number of models is bounded."""
    assert key_of(None, None) == DEFAULT_KEY
    stored = recorded(None, key_of("xai", "grok"), tokens=5000, counts=[1000], previous=None)
    other = calibration_of(stored, key_of("gemini", None))
    assert (other.overhead, other.ratio) == (4000, 1.0)
    for number in range(40):
        stored = recorded(stored, key_of("xai", str(number)), tokens=5000, counts=[1000], previous=None)
    assert len(stored["models"]) == MAX_MODELS


@pytest.mark.parametrize("stored", [None, 3, {"version": 2}, {"version": 1, "models": {"": "x"}}, {"models": {}}])
def test_what_is_not_understood_teaches_nothing(stored: object) -> None:
    """A calibration of another release or a damaged one is no error."""
    found = calibration_of(stored, DEFAULT_KEY)
    assert (found.ratio, found.overhead) == (1.0, 0)


def test_an_estimate_stays_what_an_integer_can_say() -> None:
    """A record at the very end of the protocol's integers, and growth after it."""
    most = 2**53 - 1
    answer = estimate(DEFAULT, [1, 500], baseline=Recorded(tokens=most, len=1), stored=None)
    assert (answer.tokens, answer.low, answer.high) == (most, most, most)
    assert quick_estimate(baseline=most, since=500, entries=2, stored=None) == most
