"""What vendors would refuse in the stored entries as they are.

Rules:
- Written from the wire rules and `constraints.py`, never from the projector, so that each can judge the other.
- The question is: would the vendor refuse these entries if each were sent in its plain form, in order? Results of
  one turn count as one run, since every vendor has a form for that; a `note` and a `summary` have a legal form
  everywhere, so their place is never a violation by itself.
- `error`: the request would be refused. `warning`: some models or servers of the vendor refuse it, or the model sees
  less. `info`: the vendor has no place for it, and nothing breaks.
- Deterministic and linear in the entries for each vendor; sorted by index, then rule.
- A sentence names call ids and tool names, never conversation text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import evolve

from sidecar.wire.base import Item, Options, Violation
from sidecar.wire.checks import calls, content, media, pairs, places, replay
from sidecar.wire.checks.judge import Judge
from sidecar.wire.constraints import CONSTRAINTS, OUTSIDE, Constraints, for_caller
from sidecar.wire.registry import get_vendor
from sidecar.wire.survey import survey

_CHECKS: Final[tuple[Callable[[Judge], None], ...]] = (
    pairs.pairs,
    pairs.ids,
    calls.names,
    calls.arguments,
    content.texts,
    content.unicode,
    content.markers,
    content.keys,
    content.unprojectable,
    places.system_places,
    places.ends,
    places.alternation,
    replay.reasoning,
    media.media,
)
_ADVICE = Options()


def check(
    items: Sequence[Item],
    vendors: Sequence[str],
    options: Options = _ADVICE,
    constraints: Mapping[str, Constraints] = CONSTRAINTS,
) -> tuple[Violation, ...]:
    """Return what each of the vendors would refuse, in the order of the vendors given.

    `options` gives the model and the capabilities that rules depend on; without them a rule that only some models
    have is a warning. A vendor may be named by an alias; one of an outside package is asked the common chat rules.
    Raises `UnknownVendor`.
    """
    asked = [_limits(vendor, constraints) for vendor in vendors]
    facts = survey(items)
    found: list[Violation] = []
    for limits in asked:
        judge = Judge(facts, for_caller(limits, options.capabilities), options)
        for look in _CHECKS:
            look(judge)
        found.extend(sorted(judge.found, key=lambda violation: (violation.index, int(violation.rule[1:]))))
    return tuple(found)


def _limits(vendor: str, constraints: Mapping[str, Constraints]) -> Constraints:
    known = constraints.get(vendor)
    if known is None:
        name = get_vendor(vendor).id
        known = constraints.get(name) or evolve(OUTSIDE, vendor=name)
    return known
