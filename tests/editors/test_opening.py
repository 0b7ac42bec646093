"""A long history opens by its newest page: what each editor asks for before it shows something."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor_opening import EDITORS, LENGTH, TEXT, asked, open_in, seed
from editor_stage import Stage


@pytest.mark.parametrize("editor", EDITORS)
def test_a_long_history_is_shown_after_one_page(editor: str, tmp_path: Path) -> None:
    """Of 10 000 entries of 1 KB, one page is asked for, once, and less than a tenth of the bytes is sent."""
    stage = Stage(tmp_path)
    try:
        seed(stage)
        stage.record()
        open_in(editor, stage)
        openings = [part for part in asked(stage) if "workspace/textDocumentContent" in part.methods]
        long = openings[-1]
        print(editor, long)
        assert long.methods.count("workspace/textDocumentContent") == 1
        assert 100 <= long.entries <= 500
        assert long.bytes < LENGTH * len(TEXT) / 10
        if editor == "vscode":
            [tree] = [part for part in asked(stage) if part.methods[:1] == ("history/outline",)]
            assert (tree.entries, tree.bytes < 50_000) == (100, True)
    finally:
        stage.close()
