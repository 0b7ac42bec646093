"""Every importer meets the hand-counted truths of transcripts made by the real tools."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from truths import problems, read_file

from sidecar.formats.registry import scores
from sidecar.formats.source import Source

DATA = Path(__file__).parent / "data"
FOLDERS = [DATA, *map(Path, filter(None, [os.environ.get("SIDECAR_TRANSCRIPTS")]))]
CASES = [
    pytest.param(folder / name, truth, id=f"{folder.name}/{name}")
    for folder in FOLDERS
    for name, truth in sorted(json.loads((folder / "truths.json").read_text()).items())
]


@pytest.mark.parametrize(("path", "truth"), CASES)
def test_meets_truth(path: Path, truth: dict) -> None:
    """An import holds exactly what is in the file, and says what it left out."""
    entries, report = read_file(path, truth["format"])
    assert list(problems(truth, entries, report)) == []


@pytest.mark.parametrize(("path", "truth"), CASES)
def test_detected(path: Path, truth: dict) -> None:
    """`auto` finds the format by content, without a tie."""
    found = scores(Source.of(path.read_bytes()))
    best = max(found.values())
    assert [name for name, score in found.items() if score == best] == [truth["format"]]


@pytest.mark.parametrize(("path", "truth"), CASES)
def test_repeatable(path: Path, truth: dict) -> None:
    """A second import gives the same entries under the same ids, and ids are unique."""
    first, _ = read_file(path, truth["format"])
    second, _ = read_file(path, truth["format"])
    assert first == second
    assert len({entry.id for entry in first}) == len(first) and all(entry.id for entry in first)
