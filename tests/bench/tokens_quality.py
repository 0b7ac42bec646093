"""How near the estimates come, by tokenizer family and class of text.

Without arguments on `tests/core/token_sample.jsonl`, whose counts are stored. With folders, on their files: a class for
each kind of file, up to `--texts` windows of 1 500 characters of each, counted now. That needs splintr-rs, and ctok for
Claude (Python 3.12 or newer): `python tests/bench/tokens_quality.py FOLDER=CLASS ... [--by-class]`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from sidecar.core.estimators import counter  # noqa: E402
from sidecar.core.measures import measure  # noqa: E402
from sidecar.core.messages import Entry  # noqa: E402
from sidecar.core.profiles import profile  # noqa: E402

FAMILIES = ("openai-o200k", "anthropic-v4.8", "anthropic-v3", "google-gemma", "deepseek")
CJK = ("chinese", "japanese", "korean")
WINDOW = 1_500

Sample = list[tuple[str, str, dict[str, int]]]


def stored() -> Sample:
    """Read the sample of the tests."""
    lines = (ROOT / "tests" / "core" / "token_sample.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["class"], row["text"], row["tokens"]) for row in map(json.loads, lines)]


def counted(folders: list[str], limit: int) -> Sample:
    """Cut windows from the files of each `FOLDER=CLASS[:GLOB]` and count them."""
    from tokens_sample import truths

    counting = {name: count for name, count in truths().items() if name in FAMILIES}
    found: Sample = []
    for each in folders:
        folder, _, rest = each.partition("=")
        name, _, pattern = rest.partition(":")
        dice = random.Random(name)
        paths = [path for path in sorted(Path(folder).rglob(pattern or "*")) if path.is_file()]
        dice.shuffle(paths)
        taken = 0
        for path in paths:
            body = path.read_text(encoding="utf-8", errors="ignore")
            if len(body) < WINDOW // 3 or taken == limit:
                continue
            at = dice.randrange(max(1, len(body) - WINDOW))
            text = body[at : at + WINDOW]
            found.append((name, text, {family: count(text) for family, count in counting.items()}))
            taken += 1
    return found


def errors(sample: Sample, family: str) -> dict[str, list[float]]:
    """Return signed relative errors by class."""
    counting, framing = counter(family), profile(family).message
    found = defaultdict(list)
    for name, text, tokens in sample:
        found[name].append((counting.count(measure(Entry.user(text))) - framing) / tokens[family] - 1)
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--texts", type=int, default=25)
    parser.add_argument("--by-class", action="store_true")
    chosen = parser.parse_args()
    sample = counted(chosen.folders, chosen.texts) if chosen.folders else stored()
    print(f"{len(sample)} texts, {len({name for name, _, _ in sample})} classes")
    print(f"{'family':>15} {'MAPE':>7} {'macro':>7} {'under':>7} {'chars/4':>8}  " + "  ".join(CJK))
    for family in FAMILIES:
        found = errors(sample, family)
        every = [error for each in found.values() for error in each]
        simple = defaultdict(list)
        for name, text, tokens in sample:
            simple[name].append(len(text) / 4 / tokens[family] - 1)
        biases = [f"{sum(found[name]) / len(found[name]):+8.1%}" if name in found else "       -" for name in CJK]
        print(
            f"{family:>15} {sum(map(abs, every)) / len(every):>7.1%} {macro(found):>7.1%} "
            f"{sum(error < -0.2 for error in every) / len(every):>7.1%} {macro(simple):>8.1%}  " + " ".join(biases)
        )
    if chosen.by_class:
        print(
            f"\n{'class':>15} {'texts':>5} "
            + " ".join(f"{family:>16}" for family in FAMILIES)
            + "   (mean error, bias)"
        )
        by_family = {family: errors(sample, family) for family in FAMILIES}
        for name in sorted(by_family[FAMILIES[0]]):
            cells = [by_family[family][name] for family in FAMILIES]
            print(
                f"{name:>15} {len(cells[0]):>5} "
                + " ".join(f"{sum(map(abs, cell)) / len(cell):>7.1%} {sum(cell) / len(cell):>+8.1%}" for cell in cells)
            )


def macro(found: dict[str, list[float]]) -> float:
    """Mean absolute error, each class counting alike."""
    return sum(sum(map(abs, each)) / len(each) for each in found.values()) / len(found)


if __name__ == "__main__":
    main()
