"""What a picture, document or sound costs, by the vendors' published formulas.

Rules:
- The formulas' shapes are here, their numbers with source and date in `data/media_tokens.json`.
- Costs follow from width, height, pages and duration, never from the length of the base64.
- Where a size is not known a usual one stands for it, so that nothing is ever free.

Guard: `tests/core/test_media.py` has every published example.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor, sqrt
from typing import Any, Final, TypeAlias

from sidecar.core.media_headers import Medium
from sidecar.core.profiles import data_file, rule_for

Rule: TypeAlias = dict[str, Any]

UNKNOWN_SIDE: Final = 1_024
"""Pixels of a side that is not known."""
UNKNOWN_SECONDS: Final = 30


@lru_cache(maxsize=4096)
def media_tokens(medium: Medium, profile_id: str, model: str | None = None) -> int:
    """Return the input tokens of one medium for a tokenizer profile and, where given, a model."""
    rules = data_file("media_tokens")
    name = (model or "").lower()
    if medium.kind == "image":
        rule = rule_for(rules["images"], profile_id, name)
        shape = _IMAGES[rule["kind"]]
        return shape(rule, medium.width or UNKNOWN_SIDE, medium.height or UNKNOWN_SIDE, medium.detail)
    if medium.kind == "file":
        return max(1, medium.pages) * int(rule_for(rules["pages"], profile_id, name)["page"])
    seconds = ceil(medium.milliseconds / 1000) if medium.milliseconds else UNKNOWN_SECONDS
    return seconds * int(rule_for(rules["seconds"], profile_id, name)["second"])


def _tiles(rule: Rule, width: int, height: int, detail: str) -> int:
    """Fit into 2048 x 2048, bring the short side to 768, count squares of 512."""
    if detail == "low":
        return int(rule["base"])
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    columns, rows = (max(1, ceil(round(side * scale, 6) / 512)) for side in (width, height))
    return int(rule["base"] + rule["tile"] * columns * rows)


def _patches(rule: Rule, width: int, height: int, detail: str) -> int:
    """Count patches; a picture over the budget is shrunk until it fits."""
    budget = rule["original"] if detail == "original" and "original" in rule else rule["budget"]
    if "side" in rule:
        return int(ceil(_cells_within(rule["patch"], rule["side"], budget, width, height) * rule["multiplier"]))
    patch = rule["patch"]
    columns, rows = ceil(width / patch), ceil(height / patch)
    if columns * rows > budget:
        # The guide shrinks to the budget and then to a whole number of patches on the tighter side.
        scale = sqrt(patch * patch * budget / (width * height))
        across, down = width * scale / patch, height * scale / patch
        scale *= min(max(1, floor(across)) / across, max(1, floor(down)) / down)
        columns, rows = (max(1, ceil(round(side * scale / patch, 6))) for side in (width, height))
    return int(ceil(round(columns * rows * rule["multiplier"], 6)))


def _cells_within(patch: int, side: int, budget: int, width: int, height: int) -> int:
    """Return the patches of the largest scaling, one at most, that keeps both the longest side and the budget."""
    longest = max(width, height)
    scaled = (width, height) if longest <= side else (width * side / longest, height * side / longest)
    columns, rows = (int(ceil(round(each / patch, 6))) for each in scaled)
    if columns * rows <= budget:
        return columns * rows
    # The number of patches changes only where a side is a whole number of patches; the largest such scale wins.
    by_columns = ((count / width, count, ceil(count * height / width)) for count in range(columns, 0, -1))
    by_rows = ((count / height, ceil(count * width / height), count) for count in range(rows, 0, -1))
    fitting = [next((each for each in sizes if each[1] * each[2] <= budget), None) for sizes in (by_columns, by_rows)]
    _, columns, rows = max(each for each in fitting if each is not None)
    return columns * rows


def _squares(rule: Rule, width: int, height: int, detail: str) -> int:
    if width <= rule["small"] and height <= rule["small"]:
        return int(rule["tokens"])
    return int(ceil(width / rule["square"]) * ceil(height / rule["square"]) * rule["tokens"])


def _levels(rule: Rule, width: int, height: int, detail: str) -> int:
    level = detail if detail in ("low", "medium", "high", "ultra") else "high"
    return int(rule[level])


_IMAGES: Final[dict[str, Callable[[Rule, int, int, str], int]]] = {
    "tiles": _tiles,
    "patches": _patches,
    "squares": _squares,
    "levels": _levels,
}
