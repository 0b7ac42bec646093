"""The ordered steps from one schema to the next, as both engines keep them.

Rules: forward only; step n leads from schema n to n + 1, and all that are missing are one transaction. `min_writer` in
the table `meta` is what an older release has to know at least, so that it refuses what it would damage.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen


@frozen
class Step:
    """One step. An `additive` one leaves what there is as it is: a release that does not know it may go on writing."""

    script: str
    additive: bool


def min_writer(steps: Sequence[Step]) -> int:
    """Return the oldest schema that a release may know and still write what these steps lead to."""
    return max(number for number, step in enumerate(steps, 1) if not step.additive)
