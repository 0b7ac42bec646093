"""The files that a client may name: nothing outside the allowed folders, nothing half written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sidecar.core.errors import InvalidParams
from sidecar.server.files import folder_of, open_file, write_file


def refused(uri: str, folder: Path) -> str:
    """The one sentence with which both reading and writing refuse; it never repeats the path."""
    said = set()
    for use in (lambda: write_file(uri, [folder], b"x"), lambda: open_file(uri, [folder]).__enter__()):
        with pytest.raises(InvalidParams) as caught:
            use()
        [problem] = caught.value.data["errors"]
        assert problem["path"] == "/uri" and "secret" not in caught.value.message
        said.add(problem["message"])
    [sentence] = said
    return sentence


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "secret.md",
        "file:secret.md",
        "http:///tmp/secret.md",
        "file://elsewhere/tmp/secret.md",
        "file:///tmp/secret%00.md",
    ],
)
def test_only_absolute_file_uris_name_files(uri: str) -> None:
    """Another scheme or host, a relative path and a path that no file can have are refused alike."""
    assert refused(uri, Path("/")) == "must be a file: URI with an absolute path"


def test_only_what_is_inside_a_folder_is_touched(tmp_path: Path) -> None:
    """Whatever a link or a `..` says: the place itself counts; a neighbour whose name begins alike is outside."""
    folder, outside = tmp_path / "in", tmp_path / "in-secret"
    folder.mkdir()
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    for path in (outside / "a.md", folder / "link" / "a.md", folder / ".." / "in-secret" / "a.md"):
        assert refused(f"file://{path}", folder) == "is not inside an allowed folder"
    assert list(outside.iterdir()) == []


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    """In place of what was there, readable by its owner only; a failure leaves neither a piece nor a trace."""
    target = tmp_path / "a b.md"
    target.write_bytes(b"old")
    uri = target.as_uri().replace("file:///", "file://localhost/")
    write_file(uri, [tmp_path], b"new")
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", 0o600)
    with open_file(uri, [tmp_path / "other", tmp_path]) as source:
        assert [b"".join(source.chunks()) for _ in range(2)] == [b"new", b"new"]
        assert source.size == 3
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidParams, match="cannot be written"):
        write_file((tmp_path / "folder").as_uri(), [tmp_path], b"new")
    with pytest.raises(InvalidParams, match="cannot be written: no such file or directory"):
        write_file((tmp_path / "none" / "a.md").as_uri(), [tmp_path], b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a b.md", "folder"]


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A folder, a missing file and a pipe that nobody writes into are refused at once, and none stays open."""
    os.mkfifo(tmp_path / "pipe")
    first_free = os.dup(1)
    os.close(first_free)
    for name, sentence in (
        ("pipe", "is not a regular file"),
        ("", "is not a regular file"),
        ("missing", "cannot be read: no such file or directory"),
    ):
        with pytest.raises(InvalidParams, match=sentence):
            open_file((tmp_path / name).as_uri(), [tmp_path]).__enter__()
    free = os.dup(1)
    os.close(free)
    assert free == first_free


def test_a_workspace_folder_must_be_one(tmp_path: Path) -> None:
    """A URI that names a file, nothing, or no local place is no folder."""
    (tmp_path / "file").touch()
    uris = [tmp_path.as_uri(), (tmp_path / "file").as_uri(), (tmp_path / "none").as_uri(), "vscode-remote://x/tmp", ""]
    assert [folder_of(uri) for uri in uris] == [tmp_path, None, None, None, None]
