"""How large the next input is: the last recorded total, what came after it, and what records taught.

Rules:
- `baseline` and `delta` are those of the source documents (seeds.md §8.9): a record sets the baseline and zeroes the
  delta, appends add to the delta, any rewrite clears both. The delta is the estimate of the entries behind the
  `len` that was measured, so an append never waits for a rescan.
- On top, per model: `ratio` = decayed sum of counted over estimated growth, and `overhead` = counted total minus the
  estimate of *exactly the covered entries*, worked out when it is recorded. Working it out later, from a number that
  described an older list, reports dropped messages as overhead and compacts for ever (tokens.md §2.5).
- The estimators of the source documents are never calibrated: they answer what their documents say.
- The calibration of `DEFAULT_KEY` is relative to the default estimator, of which a store keeps a running sum; it
  answers where nobody said for which model. Those of models are relative to the model's profile.
- A calibration is plain JSON; what is not understood is treated as none.

How a service uses it:
1. `recordInputTokens`: count the entries of the measured version with `estimators.counter(vendor=..., model=...)`
   and with the default, `recorded(head.calibration, key_of(vendor, model), ...)` once for each, store the result with
   the total (`RecordTokens.calibration`).
2. `tokenEstimate`: count the newest entries with the counter asked for, then `estimate`.
3. Answers to mutations: `quick_estimate` over the store's running sums, O(1).

Guard: `tests/core/test_ledger.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from attrs import frozen

from sidecar.core.estimators import SOURCES, Counter
from sidecar.core.jsontext import Json
from sidecar.core.usage import LARGEST_COUNT

Basis: TypeAlias = Literal["exact", "recorded+delta", "rebased", "heuristic"]

DECAY: Final = 0.97
"""How much older growth counts at each record; the best of a sweep (tokens.md §2.5)."""
PRIOR: Final = 1_000
"""Tokens of growth that a new calibration believes to have seen counted as estimated."""
SMALLEST: Final = 0.25
LARGEST: Final = 4.0
"""A ratio outside is no property of a tokenizer."""
DEFAULT_KEY: Final = ""
MAX_MODELS: Final = 16
"""So many models are remembered per history; the least recently recorded goes."""


@frozen(kw_only=True)
class Calibration:
    """What records taught about one model in one history."""

    counted: float = 0.0
    """Decayed sum of the vendor's counts of what was added."""
    estimated: float = 0.0
    """Decayed sum of our estimates of the same."""
    overhead: int = 0
    """Tokens of a request that are in no entry: tools, a system parameter."""
    recorded: bool = False
    """Whether there was a record at all."""

    @property
    def ratio(self) -> float:
        """Counted over estimated, held to what a tokenizer can be."""
        return min(LARGEST, max(SMALLEST, (self.counted + PRIOR) / (self.estimated + PRIOR)))


@frozen(kw_only=True)
class Recorded:
    """A recorded total that still describes the first `len` entries."""

    tokens: int
    len: int


@frozen(kw_only=True)
class Estimate:
    """An answer to `history/tokenEstimate`; `tokens` is `None` only for an empty history without a baseline.

    `tokens` is `baseline + delta`, or `overhead + delta` where there is no baseline.
    """

    tokens: int | None
    low: int | None
    high: int | None
    basis: Basis
    baseline: int | None
    delta: int
    overhead: int
    ratio: float
    estimator: str
    profile: str | None


def key_of(vendor: str | None, model: str | None) -> str:
    """Return the key of a model's calibration."""
    return f"{vendor or ''}/{model or ''}" if vendor or model else DEFAULT_KEY


def calibration_of(stored: Json, key: str) -> Calibration:
    """Return the calibration of a model, else the newest overhead with no ratio, else none.

    Tools and system parameter are about as large for any model; how its tokenizer differs is not known.
    """
    models = _models(stored)
    if key in models:
        return _read(models[key])
    if models:
        return Calibration(overhead=_read(next(reversed(models.values()))).overhead, recorded=True)
    return Calibration()


def recorded(stored: Json, key: str, *, tokens: int, counts: Sequence[int], previous: Recorded | None) -> Json:
    """Return the stored calibration after a record of `tokens` for the entries counted as `counts`.

    `previous` is the last record, where its entries still lead the list.
    """
    models = _models(stored)
    before = _read(models.get(key))
    counted, estimated = before.counted, before.estimated
    if previous is not None and before.recorded and previous.len < len(counts) and tokens > previous.tokens:
        growth = sum(counts[previous.len :])
        counted = DECAY * counted + (tokens - previous.tokens)
        estimated = DECAY * estimated + growth
    covered = sum(counts)
    if tokens < covered and not counted:
        # Nothing can be overhead where the whole is less than its parts: the estimate is too high by that much.
        counted, estimated = float(tokens), float(covered)
    after = Calibration(counted=counted, estimated=estimated, recorded=True)
    overhead = max(0, tokens - round(after.ratio * covered))
    models.pop(key, None)
    models[key] = {"counted": round(counted, 3), "estimated": round(estimated, 3), "overhead": overhead}
    while len(models) > MAX_MODELS:
        models.pop(next(name for name in models if name != DEFAULT_KEY))
    return {"version": 1, "models": models}


def estimate(
    counter: Counter, counts: Sequence[int], *, baseline: Recorded | None, stored: Json, key: str = DEFAULT_KEY
) -> Estimate:
    """Estimate the input that a list of entries makes, from their counts by `counter`."""
    if baseline is None:
        return estimate_since(counter, sum(counts), baseline=None, known=bool(counts), stored=stored, key=key)
    since = sum(counts[baseline.len :])
    return estimate_since(counter, since, baseline=baseline.tokens, known=True, stored=stored, key=key)


def estimate_since(
    counter: Counter, since: int, *, baseline: int | None, known: bool, stored: Json, key: str = DEFAULT_KEY
) -> Estimate:
    """Estimate from the sum of the counts of what came after the baseline, or of everything where there is none.

    `known` is false only for an empty list without a baseline.
    """
    calibration = Calibration() if counter.estimator in SOURCES else calibration_of(stored, key)
    return _estimate(counter, baseline, since, calibration, known=known)


def quick_estimate(*, baseline: int | None, since: int, entries: int, stored: Json) -> int | None:
    """Estimate from running sums of the default estimator.

    `since` is its sum over what came after the baseline, or over everything where there is none.
    """
    calibration = calibration_of(stored, DEFAULT_KEY)
    if baseline is None and not entries:
        return None
    return _sayable((calibration.overhead if baseline is None else baseline) + round(calibration.ratio * since))


def _estimate(counter: Counter, baseline: int | None, since: int, calibration: Calibration, *, known: bool) -> Estimate:
    ratio = 1.0 if counter.needs_text else calibration.ratio
    grown = round(ratio * since)
    # Half of what is left after a few thousand tokens of evidence is chance, which growth averages out.
    off = round(grown * counter.spread / (2 if calibration.estimated >= 5 * PRIOR else 1))
    start = calibration.overhead if baseline is None else baseline
    basis: Basis
    if baseline is not None:
        basis = "recorded+delta"
    elif counter.needs_text and not calibration.recorded:
        basis = "exact"
    else:
        basis = "rebased" if calibration.recorded else "heuristic"
    return Estimate(
        tokens=_sayable(start + grown) if known else None,
        low=_sayable(start + grown - off) if known else None,
        high=_sayable(start + grown + off) if known else None,
        basis=basis,
        baseline=baseline,
        delta=grown,
        overhead=calibration.overhead,
        ratio=round(ratio, 4),
        estimator=counter.estimator,
        profile=counter.profile.id if counter.profile else None,
    )


def _sayable(tokens: int) -> int:
    """Hold a sum to what the protocol's integers can say; a record may stand at their very end."""
    return min(max(0, tokens), LARGEST_COUNT)


def _models(stored: Json) -> dict[str, Json]:
    if isinstance(stored, dict) and stored.get("version") == 1 and isinstance(stored.get("models"), dict):
        return dict(stored["models"])
    return {}


def _read(value: Json) -> Calibration:
    if not isinstance(value, dict):
        return Calibration()
    counted, estimated, overhead = (_number(value.get(key)) for key in ("counted", "estimated", "overhead"))
    return Calibration(counted=counted, estimated=estimated, overhead=int(overhead), recorded=True)


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 2**53 else 0.0
