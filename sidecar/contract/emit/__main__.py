"""`python -m sidecar.contract.emit`: write or check the generated files of `protocol/`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sidecar.contract.emit import ARTEFACTS, artefact


def main() -> int:
    """Write every artefact, or with `--check` say which are stale."""
    parser = argparse.ArgumentParser(prog="python -m sidecar.contract.emit", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("protocol"), help="the folder (default: protocol)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 where a file is stale")
    options = parser.parse_args()
    stale = [name for name in ARTEFACTS if _read(options.out / name) != artefact(name)]
    if options.check:
        for name in stale:
            sys.stderr.write(
                f"{options.out / name} is stale: run `python -m sidecar.contract.emit --out {options.out}`\n"
            )
        return 1 if stale else 0
    options.out.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (options.out / name).write_text(artefact(name), encoding="utf-8", newline="\n")
        sys.stdout.write(f"wrote {options.out / name}\n")
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main())
