"""Plan a compaction: what to drop, what to keep, what it saves. Pure: same entries and params, same plan.

Rules (tokens.md §4):
- An atom (`core.atoms`) is dropped whole or kept whole. Leading system entries stay first; pinned and opaque entries
  are carried before the summary, so that head and carry stay a cacheable prefix over successive compactions.
- A cut stands before a user or an assistant entry that starts an atom, never behind an open call.
- The smallest cut that reaches the target at the strictest level wins; then what `allow` names is relaxed, in order.
- Where nothing reaches the target, the deepest cut is the best effort, unless it saves too little to be worth the lost
  prompt cache.
- Where the vendor compacts by itself and a splice would cost reasoning that only its own compaction keeps, the plan is
  the splice's under the name `vendorCompaction` (§5): a client may do either.
- The planner calls no model and changes nothing; a client carries the plan out with `history/splicePrefix`.

Guard: `tests/core/test_plan.py` (27 properties) and `tests/core/test_plan_mutations.py`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Final, Literal, TypeAlias

from attrs import evolve, frozen

from sidecar.core.atoms import Atoms, atoms_of
from sidecar.core.elision import Candidate, ElisionRules, choose_elisions
from sidecar.core.errors import InvalidParams
from sidecar.core.messages import Assistant, Entry, Opaque, Summary, System, Tool, User
from sidecar.core.turns import turn_starts

Relaxation: TypeAlias = Literal["elide", "step", "fewerTurns"]
Action: TypeAlias = Literal["none", "elide", "splice", "vendorCompaction", "impossible"]
Reason: TypeAlias = Literal[
    "under_trigger",
    "fits",
    "best_effort",
    "no_cut_point",
    "nothing_droppable",
    "savings_too_small",
    "open_call_blocks",
]

TRIGGER: Final = 0.8
TARGET: Final = 0.4
KEEP_TURNS: Final = 2
SUMMARY_TOKENS: Final = 2_000
MIN_SAVINGS: Final = 0.1
RELAXATIONS: Final[tuple[Relaxation, ...]] = ("elide", "step", "fewerTurns")


@frozen(kw_only=True)
class Request:
    """What is asked for, in tokens; `request_of` makes it from shares of a window."""

    trigger: int
    target: int
    min_savings: int = 0
    keep_turns: int = KEEP_TURNS
    keep_tokens: int = 0
    pinned: Collection[str] = ()
    summary_tokens: int = SUMMARY_TOKENS
    force: bool = False
    allow: tuple[Relaxation, ...] = RELAXATIONS
    elision: ElisionRules = ElisionRules()
    binds_reasoning: bool = False
    """Whether the vendor refuses signed reasoning whose prefix has changed."""
    vendor_compacts: bool = False
    """Whether the vendor has a compaction of its own, which keeps reasoning that a splice would cost."""


@frozen(kw_only=True)
class Costs:
    """What the entries cost, one number each, whole or as they are shown now."""

    counts: Sequence[int]
    elided_counts: Sequence[int] | None = None
    """What each would cost elided; the same as `counts` for what is elided already."""
    overhead: int = 0
    spread: float = 0.0
    """How far the counts may be off, as a share."""


@frozen
class MustKeep:
    """An entry that may not be dropped, and why: `pinned`, `opaque`, `system`, `open_call` or `pair_of:ID`."""

    id: str
    why: str


@frozen(kw_only=True)
class Tail:
    """The kept end."""

    first: str
    kind: Literal["turn", "step"]
    turns: int


@frozen(kw_only=True)
class Tokens:
    """Estimates before and after."""

    before: int
    after: int
    low: int
    high: int
    overhead: int


@frozen(kw_only=True)
class Cache:
    """What the plan does to a prompt cache."""

    first_changed: int
    prefix_tokens_kept: int
    tokens_rewritten: int


@frozen(kw_only=True)
class Plan:
    """The answer; ids are in history order."""

    action: Action
    reason: Reason
    tokens: Tokens
    drop_count: int = 0
    drop: tuple[str, ...] = ()
    elide: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    tail: Tail | None = None
    must_keep: tuple[MustKeep, ...] = ()
    previous_summary: str | None = None
    insert_after: str | None = None
    cache: Cache | None = None
    stale_reasoning: tuple[str, ...] = ()
    relaxed: tuple[Relaxation, ...] = ()
    shortfall: int = 0
    warnings: tuple[str, ...] = ()


def thresholds(
    *, window: int | None, reserve_output: int | None, trigger: float | None, target: float | None,
    min_savings: float | None,
) -> tuple[int, int, int]:  # fmt: skip
    """Return trigger, target and least savings in tokens.

    Up to 1 trigger and target are shares of the window less the reserve, above 1 absolute tokens. Raises
    `InvalidParams` for a share without a window, or a reserve that leaves no room.
    """
    usable = None if window is None else window - (reserve_output or 0)
    if usable is not None and usable <= 0:
        raise InvalidParams.at("/budget/reserveOutput", "must be smaller than the window")

    def tokens(value: float) -> int:
        if value > 1:
            return int(value)
        if usable is None:
            raise InvalidParams.at("/budget/window", "is required, since the sidecar does not guess it")
        return int(usable * value)

    upper = tokens(TRIGGER if trigger is None else trigger)
    lower = min(upper, tokens(TARGET if target is None else target))
    share = MIN_SAVINGS if min_savings is None else min_savings
    return upper, lower, int(share * (window if window is not None else upper))


def idle_plan(costs: Costs, request: Request) -> Plan | None:
    """Return the plan where it is too early for one, which needs no entries to be looked at; else `None`."""
    before = _before(costs)
    if before <= request.trigger and not request.force:
        return _nothing("none", "under_trigger", before, costs)
    return None


def plan_splice(entries: Sequence[Entry], costs: Costs, request: Request) -> Plan:
    """Plan a compaction of a list of entries, in O(n)."""
    idle = idle_plan(costs, request)
    if idle is not None:
        return idle
    before = _before(costs)
    survey = _survey(entries, costs, request)
    for level in _levels(survey, request):
        if level is None:
            found = _elision(survey, ("elide",), before)
            if found is not None:
                return found
        elif (cut := level.smallest(survey, request.target)) is not None:
            return _splice(survey, cut, level.relaxed, before)
    deepest: _Level | None = None
    for level in _levels(survey, request):
        if level is not None and level.size and (deepest is None or level.deepest > deepest.deepest):
            deepest = level
    if deepest is not None:
        return _splice(survey, deepest.deepest, deepest.relaxed, before)
    return evolve(_nothing("impossible", _why_not(survey), before, costs), must_keep=survey.must_keep(len(entries)))


# --- what there is to cut ---------------------------------------------------------------------------------------------


@frozen(kw_only=True)
class _Survey:
    """The list with everything a decision needs, worked out once."""

    entries: Sequence[Entry]
    costs: Costs
    request: Request
    atoms: Atoms
    head: int
    """How many system entries lead."""
    why: dict[int, str]
    """Why an entry has to be kept, for pinned and opaque entries and what shares their atoms."""
    turns: tuple[int, ...]
    sums: tuple[int, ...]
    """Tokens of the first n entries."""
    kept: tuple[int, ...]
    """Tokens of head and carry among the first n entries."""
    droppable: tuple[int, ...]
    """How many of the first n entries a cut would drop that are no summaries."""

    def after(self, cut: int) -> int:
        return self.costs.overhead + self.kept[cut] + self.request.summary_tokens + self.sums[-1] - self.sums[cut]

    def must_keep(self, cut: int) -> tuple[MustKeep, ...]:
        open_calls = set(self.atoms.open_calls)
        found = []
        for index, entry in enumerate(self.entries):
            if index < self.head:
                found.append(MustKeep(entry.id, "system"))
            elif index in self.why and index < cut:
                found.append(MustKeep(entry.id, self.why[index]))
            elif index in open_calls:
                found.append(MustKeep(entry.id, "open_call"))
        return tuple(found)


def _survey(entries: Sequence[Entry], costs: Costs, request: Request) -> _Survey:
    atoms = atoms_of(entries)
    head = 0
    while head < len(entries) and isinstance(entries[head].message, System):
        head += 1
    why = _held(entries, atoms, frozenset(request.pinned))
    kept = [count if index < head or index in why else 0 for index, count in enumerate(costs.counts)]
    droppable = [
        not (index < head or index in why or isinstance(entry.message, Summary)) for index, entry in enumerate(entries)
    ]
    return _Survey(
        entries=entries,
        costs=costs,
        request=request,
        atoms=atoms,
        head=head,
        why=why,
        turns=tuple(turn_starts(entries)),
        sums=tuple(accumulate(costs.counts, initial=0)),
        kept=tuple(accumulate(kept, initial=0)),
        droppable=tuple(accumulate(droppable, initial=0)),
    )


def _held(entries: Sequence[Entry], atoms: Atoms, pinned: frozenset[str]) -> dict[int, str]:
    why: dict[int, str] = {}
    for start, end in zip(atoms.starts, (*atoms.starts[1:], len(entries)), strict=True):
        own: dict[int, str] = {}
        for index in range(start, end):
            if entries[index].pinned or entries[index].id in pinned:
                own[index] = "pinned"
            elif _is_opaque(entries[index]):
                own[index] = "opaque"
        if own:
            partner = f"pair_of:{entries[min(own)].id}"
            why.update({index: own.get(index, partner) for index in range(start, end)})
    return why


def _is_opaque(entry: Entry) -> bool:
    message = entry.message
    if not isinstance(message, User | Assistant | Tool):
        return False
    blocks = message.blocks if isinstance(message, Assistant) else message.content
    return any(isinstance(block, Opaque) for block in blocks)


@frozen(kw_only=True)
class _Level:
    """The first `size` of `cuts`, which are in order, and what is relaxed to allow them."""

    cuts: Sequence[int]
    size: int
    relaxed: tuple[Relaxation, ...]

    @property
    def deepest(self) -> int:
        return self.cuts[self.size - 1]

    def smallest(self, survey: _Survey, target: int) -> int | None:
        """Return the smallest cut that reaches the target; a deeper cut never leaves more."""
        place = bisect_left(self.cuts, True, hi=self.size, key=lambda cut: survey.after(cut) <= target)
        return self.cuts[place] if place < self.size else None


def _levels(survey: _Survey, request: Request) -> Iterator[_Level | None]:
    """Yield the levels from the strictest on; `None` stands for elision."""
    cuts = _cuts(survey, steps=False)
    keep = request.keep_turns
    relaxed: tuple[Relaxation, ...] = ()
    yield _Level(cuts=cuts, size=_allowed(survey, cuts, keep), relaxed=relaxed)
    for relaxation in request.allow:
        if relaxation == "elide":
            yield None
        elif relaxation == "step":
            cuts = _cuts(survey, steps=True)
            relaxed = (*relaxed, "step")
            yield _Level(cuts=cuts, size=_allowed(survey, cuts, keep), relaxed=relaxed)
        elif keep:
            relaxed = (*relaxed, "fewerTurns")
            for fewer in range(min(keep - 1, len(survey.turns)), -1, -1):
                yield _Level(cuts=cuts, size=_allowed(survey, cuts, fewer), relaxed=relaxed)
            keep = 0


def _cuts(survey: _Survey, *, steps: bool) -> list[int]:
    """Return the possible cuts in order, however many turns they keep."""
    turns = set(survey.turns)
    return [
        start
        for start in survey.atoms.starts
        if 0 < start <= survey.atoms.first_open
        and (start in turns or (steps and isinstance(survey.entries[start].message, Assistant)))
        and survey.droppable[start]
        and survey.sums[-1] - survey.sums[start] >= survey.request.keep_tokens
    ]


def _allowed(survey: _Survey, cuts: Sequence[int], keep_turns: int) -> int:
    """Return how many of the cuts keep the newest `keep_turns` turns."""
    if not keep_turns:
        return len(cuts)
    latest = survey.turns[-keep_turns] if len(survey.turns) >= keep_turns else 0
    return bisect_right(cuts, latest)


def _why_not(survey: _Survey) -> Reason:
    if not survey.droppable[-1]:
        return "nothing_droppable"
    if survey.atoms.first_open < len(survey.entries):
        unblocked = evolve(survey, atoms=evolve(survey.atoms, first_open=len(survey.entries)))
        if any(level is not None and level.size for level in _levels(unblocked, survey.request)):
            return "open_call_blocks"
    return "no_cut_point"


# --- the answer -------------------------------------------------------------------------------------------------------


def _before(costs: Costs) -> int:
    return costs.overhead + sum(costs.counts)


def _nothing(action: Action, reason: Reason, before: int, costs: Costs) -> Plan:
    return Plan(action=action, reason=reason, tokens=_tokens(before, before, costs))


def _tokens(before: int, after: int, costs: Costs) -> Tokens:
    off = round(max(0, after - costs.overhead) * costs.spread)
    return Tokens(before=before, after=after, low=max(0, after - off), high=after + off, overhead=costs.overhead)


def _splice(survey: _Survey, cut: int, relaxed: tuple[Relaxation, ...], before: int) -> Plan:
    entries, request, costs = survey.entries, survey.request, survey.costs
    after = survey.after(cut)
    if after >= before or before - after < request.min_savings:
        return _nothing("none", "savings_too_small", before, costs)
    carried = [index for index in range(survey.head, cut) if index in survey.why]
    dropped = [index for index in range(survey.head, cut) if index not in survey.why]
    head = tuple(entry.id for entry in entries[: survey.head])
    carry = tuple(entries[index].id for index in carried)
    first_changed = dropped[0]
    kept_tokens = costs.overhead + survey.sums[first_changed]
    behind = [index for index in (*carried, *range(cut, len(entries))) if index > first_changed]
    stale = _stale(survey, behind)
    in_turn = survey.turns[-1] if survey.turns else 0
    is_open = isinstance(entries[-1].message, Tool) or bool(entries[-1].tool_calls)
    lost = is_open and any(index >= in_turn for index in stale)
    # A vendor that binds reasoning to its prefix refuses what is kept behind the cut; the others lose what is cut off.
    costs_reasoning = stale if request.binds_reasoning else _signed(survey, dropped)
    by_vendor = request.vendor_compacts and bool(costs_reasoning)
    warnings = ["reasoning_lost_in_open_turn"] if lost and not by_vendor else []
    if by_vendor and carry:
        # The vendor reads nothing before its own block, so that what is pinned has to be asked for (tokens.md §4.3).
        warnings.append("pins_into_instructions")
    summaries = [index for index in dropped if isinstance(entries[index].message, Summary)]
    turns = [start for start in survey.turns if start >= cut]
    return Plan(
        action="vendorCompaction" if by_vendor else "splice",
        reason="fits" if after <= request.target else "best_effort",
        tokens=_tokens(before, after, costs),
        drop_count=cut,
        drop=tuple(entries[index].id for index in dropped),
        head=head,
        carry=carry,
        tail=Tail(first=entries[cut].id, kind="turn" if cut in survey.turns else "step", turns=len(turns)),
        must_keep=survey.must_keep(cut),
        previous_summary=entries[summaries[-1]].id if summaries else None,
        insert_after=[*head, *carry][-1] if head or carry else None,
        cache=Cache(
            first_changed=first_changed, prefix_tokens_kept=kept_tokens, tokens_rewritten=max(0, after - kept_tokens)
        ),
        stale_reasoning=tuple(entries[index].id for index in stale),
        relaxed=relaxed,
        shortfall=max(0, after - request.target),
        warnings=tuple(warnings),
    )


def _elision(survey: _Survey, relaxed: tuple[Relaxation, ...], before: int) -> Plan | None:
    """Return a plan that only elides, where that alone reaches the target."""
    costs, request, entries = survey.costs, survey.request, survey.entries
    if costs.elided_counts is None:
        return None
    candidates = [
        Candidate(entry=entry, tokens=count, elided_tokens=elided)
        for entry, count, elided in zip(entries, costs.counts, costs.elided_counts, strict=True)
    ]
    chosen = choose_elisions(candidates, request.elision, excess=before - request.target, pinned=request.pinned)
    freed = sum(costs.counts[index] - costs.elided_counts[index] for index in chosen)
    after = before - freed
    if not chosen or after > request.target or freed < request.min_savings:
        return None
    first = chosen[0]
    kept_tokens = costs.overhead + survey.sums[first]
    stale = _stale(survey, range(first + 1, len(entries)))
    return Plan(
        action="elide",
        reason="fits",
        tokens=_tokens(before, after, costs),
        elide=tuple(entries[index].id for index in chosen),
        must_keep=survey.must_keep(0),
        cache=Cache(first_changed=first, prefix_tokens_kept=kept_tokens, tokens_rewritten=max(0, after - kept_tokens)),
        stale_reasoning=tuple(entries[index].id for index in stale),
        relaxed=relaxed,
    )


def _stale(survey: _Survey, behind: Sequence[int]) -> list[int]:
    """Return the entries behind the change whose signed reasoning the vendor no longer accepts."""
    return _signed(survey, behind) if survey.request.binds_reasoning else []


def _signed(survey: _Survey, indices: Sequence[int]) -> list[int]:
    """Return which of the entries hold reasoning that only its vendor can read or check."""
    found = []
    for index in indices:
        message = survey.entries[index].message
        if isinstance(message, Assistant) and any(part.signature or part.data for part in message.reasoning):
            found.append(index)
    return found
