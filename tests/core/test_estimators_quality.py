"""How near the estimates come on texts that were not used for fitting, against counts of the real vocabularies.

The counts were made by `tests/bench/tokens_sample.py`. Claude has no open vocabulary: its counts come from a
reconstruction that its maker measured against the vendor's answers.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest

from sidecar.core.estimators import counter
from sidecar.core.exact import count_exactly
from sidecar.core.ledger import DEFAULT_KEY, Recorded, estimate, recorded
from sidecar.core.measures import measure
from sidecar.core.messages import Entry
from sidecar.core.profiles import profile

SAMPLE = [
    json.loads(line) for line in Path(__file__).with_name("token_sample.jsonl").read_text(encoding="utf-8").splitlines()
]
FAMILIES = sorted(SAMPLE[0]["tokens"])


def errors(profile_id: str) -> dict[str, list[float]]:
    """Signed relative errors of a profile by class of text."""
    counting = counter(profile_id)
    framing = profile(profile_id).message
    found = defaultdict(list)
    for row in SAMPLE:
        estimate = counting.count(measure(Entry.user(row["text"]))) - framing
        found[row["class"]].append(estimate / row["tokens"][profile_id] - 1)
    return found


def bytes4_error(profile_id: str) -> float:
    """Mean absolute error of bytes by four, macro over classes."""
    found = defaultdict(list)
    for row in SAMPLE:
        found[row["class"]].append(abs(len(row["text"].encode()) / 4 / row["tokens"][profile_id] - 1))
    return sum(sum(each) / len(each) for each in found.values()) / len(found)


@pytest.mark.parametrize("profile_id", ["openai-o200k", "anthropic-v4.8", "anthropic-v3", "google-gemma", "deepseek"])
def test_mean_error_over_classes_of_text(profile_id: str) -> None:
    """At most 9 % on average over classes, less than half of bytes by four, and CJK within 15 % either way."""
    found = errors(profile_id)
    assert {"go", "rust", "ruby", "chinese"} < set(found)
    assert len(found) >= 25
    macro = sum(sum(map(abs, each)) / len(each) for each in found.values()) / len(found)
    assert macro <= 0.09
    assert macro < bytes4_error(profile_id) / 2
    for language in ("chinese", "japanese", "korean"):
        assert abs(sum(found[language]) / len(found[language])) <= 0.15, language


@pytest.mark.parametrize("profile_id", FAMILIES)
def test_bounds_hold_for_nine_of_ten_texts(profile_id: str) -> None:
    """The share by which a profile says it may be off covers about nine of ten texts of the sample."""
    every = [abs(error) for each in errors(profile_id).values() for error in each]
    within = sum(error <= profile(profile_id).spread for error in every) / len(every)
    assert within >= 0.87


def test_the_sample_is_what_the_vocabularies_count() -> None:
    """The stored counts are those of the installed vocabularies."""
    pytest.importorskip("splintr")
    for row in SAMPLE[::7]:
        for profile_id in ("openai-o200k", "deepseek"):
            vocabulary = profile(profile_id).exact
            assert vocabulary is not None
            assert count_exactly(vocabulary, row["text"]) == row["tokens"][profile_id]


@pytest.mark.parametrize("estimator", ["matching", "generic"])
@pytest.mark.parametrize("profile_id", ["openai-o200k", "google-gemma", "deepseek"])
def test_sessions_of_real_texts(profile_id: str, estimator: str) -> None:
    """With recorded totals the next call comes within 1 % on average, and right after a splice within 4 %."""
    counting = counter(profile_id if estimator == "matching" else "generic")
    next_call, spliced = [], []
    for seed in range(20):
        dice = random.Random(seed)
        rows = dice.choices(SAMPLE, k=60)
        overhead = dice.randrange(2_500, 19_000)
        counts = [counting.count(measure(Entry.user(row["text"]))) for row in rows]
        truths = [row["tokens"][profile_id] + 4 for row in rows]
        stored, previous = None, None
        for size in range(2, 61, 2):
            truth = overhead + sum(truths[:size])
            if previous is not None:
                found = estimate(counting, counts[:size], baseline=previous, stored=stored)
                assert found.tokens is not None
                next_call.append(abs(found.tokens / truth - 1))
            stored = recorded(stored, DEFAULT_KEY, tokens=truth, counts=counts[:size], previous=previous)
            previous = Recorded(tokens=truth, len=size)
        after = estimate(counting, counts[40:], baseline=None, stored=stored)
        assert after.tokens is not None
        spliced.append(abs(after.tokens / (overhead + sum(truths[40:])) - 1))
    assert sum(next_call) / len(next_call) < 0.01
    assert sum(spliced) / len(spliced) < 0.04
