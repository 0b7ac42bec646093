"""How long real editors take to open 10 000 entries of 1 KB, beside opening a history without any in the same run.

    python tests/bench/editors_open.py [--runs 3] [vscode] [neovim] [emacs] [vim]

Each run starts the editor anew, lets it start its sidecar, and opens the empty history before the long one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "editors")]

from editor_opening import EDITORS, open_in, seed  # noqa: E402
from editor_stage import Stage  # noqa: E402


def main() -> None:
    """Print a row of the table per editor."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("editors", nargs="*", choices=[*EDITORS, []], default=list(EDITORS))
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    print("| editor | empty, s | 10 000 entries, s | ratio |\n|---|---|---|---|")
    for editor in chosen.editors:
        with tempfile.TemporaryDirectory() as folder:
            stage = Stage(Path(folder))
            seed(stage)
            try:
                runs = [open_in(editor, stage) for _ in range(chosen.runs)]
            finally:
                stage.close()
        empty, long = ([run[name] for run in runs] for name in ("empty", "long"))
        ratio = statistics.median(long) / statistics.median(empty)
        print(f"| {editor} | {_span(empty)} | {_span(long)} | {ratio:.1f} |", flush=True)


def _span(seconds: list[float]) -> str:
    low, high = min(seconds), max(seconds)
    return f"{statistics.median(seconds):.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
