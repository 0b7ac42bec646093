"""Who may import whom, as `sidecar/ARCHITECTURE.md` says it: the page is read, not repeated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SIDECAR = Path(__file__).parents[1] / "sidecar"
PAGE = (SIDECAR / "ARCHITECTURE.md").read_text(encoding="utf-8")
MODULES = sorted(SIDECAR.rglob("*.py"))

OWNERS = {
    "pygls": "server",
    "lsprotocol": "server",
    "apsw": "store",
    "psycopg": "store",
    "psycopg_pool": "store",
    "sqlite3": "store",
    "click": "cli",
    "rich": "cli",
}
"""A library -> the only package that may import it."""

IMPURE = {"asyncio", "io", "logging", "multiprocessing", "os", "pathlib", "random", "secrets", "shutil"} | {
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "uuid",
}
PURE = {"core", "wire", "render"}
"""Sans-IO packages: no clock, no randomness, no logging, no system."""

TOOLS = {SIDECAR / "wire" / "document.py"}
"""Generators of committed pages, run by `python -m` and never imported."""


def package_of(path: Path) -> str:
    """Return the first name below `sidecar`, such as `core`; a module at the top is its own package."""
    parts = path.relative_to(SIDECAR).parts
    return parts[0] if len(parts) > 1 else path.stem


def imports(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield every imported module, in functions and type-checking blocks too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            module = tuple(node.module.split("."))
            if module == ("sidecar",):
                yield from ((*module, alias.name) for alias in node.names)
            else:
                yield module


def allowed() -> dict[str, set[str]]:
    """Read the arrows: package -> packages it may import."""
    arrows = re.findall(r"`(\w+) → ([^`]+)`", PAGE)
    return {package: set(re.split(r", ", targets)) for package, targets in arrows}


ARROWS = allowed()


def mapped() -> set[str]:
    """Read the code map: patterns of paths below `sidecar`, with `{a,b}` written out."""
    rows = PAGE.split("## Code map")[1].split("\n## ")[0].splitlines()
    names = [name for row in rows if row.startswith("| `") for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    patterns: set[str] = set()
    for name in names:
        start, _, rest = name.partition("{")
        middle, _, end = rest.partition("}")
        patterns |= {start + choice + end for choice in middle.split(",")}
    return patterns


def test_the_map_is_whole() -> None:
    """Every module is in the code map, and all that the map names is there."""
    patterns = mapped()
    there = {path for pattern in patterns for path in SIDECAR.glob(pattern)}
    assert [pattern for pattern in sorted(patterns) if not list(SIDECAR.glob(pattern))] == []
    assert [str(path.relative_to(SIDECAR)) for path in MODULES if path not in there and path.stem != "__init__"] == []


def test_named_guards_exist() -> None:
    """A test that the page names is there."""
    guards = re.findall(r"`(tests/[\w/.]*)(?:::(\w+))?`", PAGE)
    assert guards
    for path, function in guards:
        assert (SIDECAR.parent / path).exists(), path
        assert not function or f"def {function}(" in (SIDECAR.parent / path).read_text(encoding="utf-8"), function


def test_the_page_names_every_package() -> None:
    """A new package gets its line."""
    packages = {package_of(path) for path in MODULES} - {"__init__", "__main__"}
    assert packages <= set(ARROWS)
    assert {"core", "wire", "contract", "store", "server"} <= packages


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SIDECAR)))
def test_imports_follow_the_arrows(path: Path) -> None:
    """A module imports only what the page allows its package."""
    package = package_of(path)
    if package in ("__init__", "__main__"):
        return
    everything = "everything" in " ".join(ARROWS[package])
    for module in imports(path):
        if module[0] == "sidecar":
            target = module[1] if len(module) > 1 else "__version__"
            fine = everything or target in ARROWS[package] | {package, "__version__"}
            assert fine, f"{package} may not import {'.'.join(module)}"
            assert target != "server" or package in ("server", "cli"), "nothing imports server but cli"
        else:
            owner = OWNERS.get(module[0])
            assert owner in (None, package), f"only {owner} may import {module[0]}"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if package_of(path) in PURE and path not in TOOLS],
    ids=lambda path: str(path.relative_to(SIDECAR)),
)
def test_pure_packages_touch_nothing(path: Path) -> None:
    """Core, projection and rendering are functions of their arguments."""
    touched = {module[0] for module in imports(path)} & IMPURE
    assert not touched
    tree = ast.parse(path.read_text(encoding="utf-8"))
    clocks = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"now", "utcnow", "today"}
    assert not clocks
    if package_of(path) == "core":
        outside = {module[0] for module in imports(path)} & {"cattrs", "msgspec", "orjson", "pydantic"}
        assert not outside


@pytest.mark.parametrize("tool", sorted(TOOLS), ids=lambda path: str(path.relative_to(SIDECAR)))
def test_tools_are_never_imported(tool: Path) -> None:
    """What may touch files is no part of the product."""
    name = ("sidecar", *tool.relative_to(SIDECAR).with_suffix("").parts)
    assert not [path for path in MODULES if name in set(imports(path))]


def test_a_wrong_import_is_found(tmp_path: Path) -> None:
    """The reader of imports sees those inside functions and under `if`."""
    module = tmp_path / "module.py"
    module.write_text(
        "if 1:\n    import os.path\ndef f():\n    from sidecar import store\n    from pygls.lsp import x\n"
    )
    assert set(imports(module)) == {("os", "path"), ("sidecar", "store"), ("pygls", "lsp")}
