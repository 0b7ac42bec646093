"""Estimators by name: how many input tokens one entry costs.

Rules:
- A count is arithmetic over a `Measure`; only `exact` looks at text. Counts are per entry and integers, so a total is
  the sum of its parts whichever way it is added.
- `bytes4`, `bytes4-min1`, `chars4-plus4` and `cjk` are those of the source documents, to the letter (seeds.md §2).
- `classes` is the default: weighted byte classes with the profile of vendor and model, framing for each message and
  call, and media by formula. A profile's own id selects it whatever the model.
- `exact` is there where the extra `tokens` is installed and the profile has an open vocabulary.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import attrgetter, mul
from typing import Final

from attrs import frozen

from sidecar.core import exact
from sidecar.core.errors import InvalidParams
from sidecar.core.measures import Measure, measure, strings_of
from sidecar.core.media import media_tokens
from sidecar.core.messages import Entry
from sidecar.core.profiles import GENERIC, SCALE, Profile, drops_reasoning, profile, profile_ids, profile_of

if sys.version_info >= (3, 12):
    from math import sumprod
else:

    def sumprod(weights: Sequence[int], counts: Sequence[int], /) -> int:
        """Do what `math.sumprod` does, which is not there before Python 3.12."""
        return sum(map(mul, weights, counts))


CLASSES: Final = "classes"
EXACT: Final = "exact"
SOURCES: Final = {
    "bytes4": attrgetter("bytes4"),
    "bytes4-min1": attrgetter("bytes4_min1"),
    "chars4-plus4": attrgetter("chars4_plus4"),
    "cjk": attrgetter("cjk"),
}
"""The estimators of the source documents, by id."""

SOURCE_SPREAD: Final = 0.5
"""chars/4 and its kin are 22 to 46 % off on average (tokens.md §2.4)."""


def estimator_ids() -> tuple[str, ...]:
    """List the ids that `counter` takes here and now; the default comes first."""
    return (CLASSES, *SOURCES, *profile_ids(), *((EXACT,) if exact.is_installed() else ()))


@frozen(kw_only=True)
class Counter:
    """Counts entries one way."""

    estimator: str
    profile: Profile | None = None
    """The tokenizer profile; none for the estimators of the source documents."""
    model: str | None = None
    thought: bool = True
    """Whether plain and opaque reasoning comes back as input."""

    @property
    def needs_text(self) -> bool:
        """Whether `count_entry` has to be used."""
        return self.estimator == EXACT

    @property
    def spread(self) -> float:
        """Nine of ten counts are within this share of the truth."""
        if self.profile is None:
            return SOURCE_SPREAD
        return 0.0 if self.needs_text else self.profile.spread

    def count(self, measured: Measure) -> int:
        """Return the tokens of one measured entry."""
        if self.profile is None:
            return int(SOURCES[self.estimator](measured))
        weights = self.profile.weights
        weight = int(sumprod(weights, measured.text)) if measured.text else 0
        if self.thought and measured.thought:
            weight += int(sumprod(weights, measured.thought))
        return max(0, (weight + SCALE // 2) // SCALE) + self._beside_text(measured, self.profile)

    def count_entry(self, entry: Entry) -> int:
        """Return the tokens of one entry; with `exact` from its text."""
        if not self.needs_text:
            return self.count(measure(entry))
        assert self.profile is not None
        assert self.profile.exact is not None
        said, thought = strings_of(entry)
        strings = said + thought if self.thought else said
        text = sum(exact.count_exactly(self.profile.exact, each.decode("utf-8", "replace")) for each in strings)
        return text + self._beside_text(measure(entry), self.profile)

    def _beside_text(self, measured: Measure, known: Profile) -> int:
        framing = known.message * measured.messages + known.call * measured.calls
        sealed = measured.sealed_bytes // 4 if self.thought else 0
        if not measured.media:
            return framing + sealed
        return framing + sealed + sum([media_tokens(medium, known.id, self.model) for medium in measured.media])


DEFAULT: Final = Counter(estimator=CLASSES, profile=profile(GENERIC))
"""Counts where nobody said for which model; the store keeps its running sum."""


def default_estimate(measured: Measure) -> int:
    """Return the default estimate of one entry."""
    return DEFAULT.count(measured)


def counter(estimator: str | None = None, vendor: str | None = None, model: str | None = None) -> Counter:
    """Return the counter of an estimator for a vendor and model; the default estimator where none is named.

    Raises `InvalidParams` for an estimator that is not known, not installed, or has no vocabulary for the model.
    """
    name = CLASSES if estimator is None else estimator
    if name in SOURCES:
        return Counter(estimator=name)
    thought = not drops_reasoning(vendor)
    if name in profile_ids():
        return Counter(estimator=name, profile=profile(name), model=model, thought=thought)
    found = profile_of(vendor, model)
    if name == EXACT:
        if not exact.is_installed():
            raise InvalidParams.at("/estimator", "exact counting needs the extra `tokens`")
        if found.exact is None:
            raise InvalidParams.at("/estimator", f"there is no vocabulary to count {found.id} exactly")
    elif name != CLASSES:
        raise InvalidParams.at("/estimator", f"must be one of {', '.join(estimator_ids())}")
    return Counter(estimator=name, profile=found, model=model, thought=thought)
