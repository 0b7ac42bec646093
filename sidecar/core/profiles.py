"""Which tokenizer a model has, and what is known of it: weights, framing, how far an estimate may be off.

Rules:
- What is known is data (`data/token_profiles.json`, `data/model_tokens.json`) with source and date; nothing here names
  a number of a vendor.
- The model's own name decides before the vendor does, since gateways serve anything; an unknown model gets the profile
  of its vendor, an unknown vendor `generic`.
- Weights are integers in ten-thousandths of a token, so that sums are exact and the order of adding cannot matter.
"""

from __future__ import annotations

import json
import pkgutil
import re
from functools import cache
from typing import Any, Final

from attrs import field, frozen

from sidecar.core.features import FEATURES

GENERIC: Final = "generic"
SCALE: Final = 10_000


@frozen(kw_only=True)
class Profile:
    """One family of tokenizers."""

    id: str
    title: str
    weights: tuple[int, ...] = field(repr=False)
    """One weight for each of `measures.FEATURES`, in ten-thousandths of a token."""
    message: int
    """Tokens of framing for each message."""
    call: int
    """Tokens of framing for each tool call."""
    spread: float
    """Nine of ten texts are estimated within this share of the truth (`tests/bench/tokens_quality.py`)."""
    exact: str | None = None
    """The name of the vocabulary that counts exactly, in the package of the extra `tokens`."""


def profile_ids() -> tuple[str, ...]:
    """List the profiles."""
    return tuple(data_file("token_profiles")["profiles"])


@cache
def profile(profile_id: str) -> Profile:
    """Return one profile; raise `KeyError` where there is none of this id."""
    known = data_file("token_profiles")["profiles"][profile_id]
    weights: dict[str, int] = known["weights"]
    frame = rule_for(data_file("model_tokens")["framing"], profile_id, "")
    return Profile(
        id=profile_id,
        title=known["title"],
        weights=tuple(weights.get(name, 0) for name in FEATURES),
        message=frame["message"],
        call=frame["call"],
        spread=known["spread"],
        exact=known.get("exact"),
    )


@cache
def profile_of(vendor: str | None, model: str | None) -> Profile:
    """Return the profile of a model at a vendor."""
    known = data_file("model_tokens")
    if model:
        for row in known["models"]:
            if re.search(row["pattern"], model.lower()):
                return profile(row["profile"])
    return profile(known["vendors"].get(vendor or "", GENERIC))


def drops_reasoning(vendor: str | None) -> bool:
    """Say whether the vendor's interface has no place for reasoning, so that it is never input again."""
    return vendor in data_file("model_tokens")["reasoningDropped"]["vendors"]


def compacts_itself(vendor: str | None, *, binds_reasoning: bool) -> bool:
    """Say whether the vendor has a compaction of its own that keeps reasoning which a splice would cost.

    `binds_reasoning` says whether the model refuses signed reasoning whose prefix has changed.
    """
    rule = data_file("model_tokens")["compaction"].get(vendor)
    return rule is not None and (binds_reasoning or not rule["onlyWhereReasoningIsBound"])


def rule_for(rules: list[dict[str, Any]], profile_id: str, model: str) -> dict[str, Any]:
    """Return the first rule whose pattern finds the model, or which names the profile; the last rule names none."""
    for rule in rules:
        pattern = rule.get("pattern")
        if pattern is not None:
            if re.search(pattern, model):
                return rule
        elif not rule["profiles"] or profile_id in rule["profiles"]:
            return rule
    raise KeyError(profile_id)


@cache
def data_file(name: str) -> Any:
    """Return one of the data files of this package."""
    data = pkgutil.get_data("sidecar.core", f"data/{name}.json")
    assert data is not None
    return json.loads(data)
