"""Finding vendors: by file name, by alias, and from outside packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sidecar.core.errors import InvalidParams, UnknownVendor
from sidecar.wire import get_vendor, project, registry, vendors
from sidecar.wire.base import Options
from sidecar.wire.document import document, main
from sidecar.wire.projection import PLACEHOLDERS
from tests.wire.neutral import items_of
from tests.wire.strategies import VENDORS

ROOT = Path(__file__).parents[2]
IDS = tuple(VENDORS)

OUTSIDE = '''
"""A vendor that another package brings."""
from attrs import evolve
from sidecar.wire.passes.chat import ChatShaper
from sidecar.wire.projection import Projection
from sidecar.wire.vendors import openai_chat

RULES = evolve(openai_chat.RULES, call_ids="alnum9", sources={})

def shape(context, names):
    return ChatShaper(context, names)

PROJECTION = Projection(id="acme-chat", title="Acme", api="POST /chat", rules=RULES, shape=shape, read="2026-12-01")
'''


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a distribution with a vendor of its own on the import path."""
    (tmp_path / "acme_wire.py").write_text(OUTSIDE, encoding="utf-8")
    info = tmp_path / "acme_wire-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-wire\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[sidecar.vendors]\nacme-chat = acme_wire\nopenai-chat = acme_wire\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert distribution("acme-wire").version == "1.0"
    yield
    sys.modules.pop("acme_wire", None)


def test_every_vendor_of_the_protocol_is_there() -> None:
    """All vendor ids of the protocol are listed, with title, wire and rules."""
    found = {info.id: info for info in vendors()}
    assert set(IDS) <= set(found)
    for vendor_id in IDS:
        info = found[vendor_id]
        assert info.title and info.api.startswith("POST ") and info.rules["sources"]
        assert get_vendor(vendor_id).documentation


def test_an_alias_leads_to_its_vendor() -> None:
    """Each alias that a vendor names finds that vendor, and no alias is kept that no vendor names."""
    named = {alias: vendor_id for vendor_id in IDS for alias in get_vendor(vendor_id).aliases}
    assert named == registry._ALIASES
    assert all(get_vendor(alias).id == vendor_id for alias, vendor_id in named.items())


def test_an_unknown_vendor_is_the_callers_error() -> None:
    """The error lists what is known."""
    with pytest.raises(UnknownVendor) as raised:
        project([], "acme-nowhere", Options())
    assert set(IDS) <= set(raised.value.data["known"])


def test_listing_ids_imports_no_vendor() -> None:
    """A vendor's module is imported when the vendor is used."""
    names = [name for name in sys.modules if name.startswith("sidecar.wire.vendors.")]
    registry._load.cache_clear()
    saved = {name: sys.modules.pop(name) for name in names}
    try:
        assert set(IDS) <= set(registry.vendor_ids())
        assert not [name for name in sys.modules if name.startswith("sidecar.wire.vendors.")]
    finally:
        sys.modules.update(saved)
        registry._load.cache_clear()


@pytest.mark.usefixtures("outside")
def test_an_outside_package_adds_a_vendor() -> None:
    """One file and one entry point make a vendor; it cannot take the place of one of ours."""
    call = {"id": "call_long_enough", "type": "function", "function": {"name": "f", "arguments": ""}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    projected = project(items_of(messages), "acme-chat", Options())
    assert projected.vendor == "acme-chat"
    (asked, answered) = projected.body["messages"]
    assert len(asked["tool_calls"][0]["id"]) == 9 and answered["content"] == PLACEHOLDERS["result"]
    assert "acme-chat" in [info.id for info in vendors()]
    assert get_vendor("openai-chat").title == "OpenAI Chat Completions"


def test_capabilities_of_the_wrong_type_are_the_callers_error() -> None:
    """A capability is a boolean or a known format; anything else is named by its path."""
    for given, path in (
        ({"prefill": 1}, "/capabilities/prefill"),
        ({"callIdFormat": "x"}, "/capabilities/callIdFormat"),
    ):
        with pytest.raises(InvalidParams) as raised:
            project([], "openai-chat", Options(capabilities=given))
        assert raised.value.data["errors"][0]["path"] == path


def test_the_page_of_vendors_is_fresh(tmp_path: Path) -> None:
    """`protocol/vendors.md` is what the rules say; a stale page is named."""
    page = ROOT / "protocol" / "vendors.md"
    assert page.read_text(encoding="utf-8") == document(), (
        "run: python -m sidecar.wire.document --out protocol/vendors.md"
    )
    stale = tmp_path / "vendors.md"
    assert main(["--out", str(stale), "--check"]) == 1
    assert main(["--out", str(stale)]) == 0
    assert main(["--out", str(stale), "--check"]) == 0
