"""What each rule of the checker works with: one vendor's limits, one survey, and the violations found.

Rules: a rule is a function that takes the judge and adds violations. Sentences name call ids and tools, never what
was said.
"""

from __future__ import annotations

from typing import Any

from sidecar.core.jsontext import dumps
from sidecar.wire.base import Options, Severity, Violation
from sidecar.wire.constraints import Constraints
from sidecar.wire.fixes import Fixes
from sidecar.wire.survey import CallFact, Survey, well_formed

_SHORT = 48


class Judge:
    """One vendor's look at one survey."""

    def __init__(self, facts: Survey, limits: Constraints, options: Options) -> None:
        self.facts = facts
        self.items = facts.items
        self.limits = limits
        self.options = options
        self.found: list[Violation] = []

    def add(self, rule: str, severity: Severity | None, position: int | None, message: str, fixes: Fixes = ()) -> None:
        """Add a violation; nothing where the severity is `None`."""
        if severity is None:
            return
        item = None if position is None else self.items[position]
        self.found.append(
            Violation(
                vendor=self.limits.vendor,
                rule=rule,
                severity=severity,
                entry_id=item.entry.id or None if item else None,
                index=item.index if item else 0,
                message=message,
                fixes=fixes,
            )
        )

    def capability(self, name: str) -> Any:
        """Return what the caller says of the model, or `None`."""
        return self.options.capabilities.get(name)

    def message(self, position: int) -> Any:
        """Return the message at a position."""
        return self.items[position].entry.message

    def follows(self, position: int, earlier: int) -> bool:
        """Say whether two positions are neighbours in the store as well."""
        return position == earlier + 1 and self.items[position].index == self.items[earlier].index + 1

    def current_turn(self) -> int:
        """Return the position where the newest user turn begins."""
        for position, role in reversed(self.facts.turns):
            if role in ("user", "any"):
                return position
        return 0


def short(text: str) -> str:
    """Quote an id or a name, cut to a readable length and without control characters."""
    cut = text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
    return dumps(well_formed(cut))


def name_call(fact: CallFact) -> str:
    """Name a call for a person."""
    return f"call {short(fact.call.id)} of tool {short(fact.call.name)}"


def article(word: str) -> str:
    """Put the article in front."""
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def family(vendor: str) -> str:
    """Return the part of a vendor id that names the company: `openai` for `openai-responses`."""
    return vendor.split("-", 1)[0]
