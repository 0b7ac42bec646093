"""Token counting and compaction planning: `recordInputTokens`, `tokenEstimate`, `planSplice`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from attrs import frozen

from sidecar.contract.constraints import Count, EntryId, HistoryName, Open, Range

Basis = Annotated[str, Open(("exact", "recorded+delta", "rebased", "heuristic"))]


@frozen(kw_only=True)
class RecordInputTokensParams:
    """Tell how many input tokens a vendor counted for the history; it becomes the baseline of the estimate."""

    ONE_OF = ("tokens", "usage")
    NEEDS = {"usage": "vendor"}
    history: HistoryName
    tokens: Count | None = None
    """The whole input, tokens read from and written to a cache included."""
    usage: Mapping[str, Any] | None = None
    """The vendor's usage object as it came; the total is computed from it without counting anything twice."""
    vendor: str | None = None
    """Whose `usage` it is; required with it."""
    model: str | None = None
    """The model that counted; calibration is kept per model."""
    at_version: Count | None = None
    """The version that was measured; the newest where omitted."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class RecordInputTokensResult:
    """The estimate afterwards."""

    version: Count
    token_estimate: Count | None


@frozen(kw_only=True)
class TokenEstimateParams:
    """Estimate how many input tokens the history costs, without a network."""

    history: HistoryName
    estimator: str | None = None
    """An id from `sidecar/info`; the default where omitted."""
    vendor: str | None = None
    """Picks the profile, with `model`."""
    model: str | None = None
    """The vendor's model id."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class TokenEstimateResult:
    """The estimate, and how it came about."""

    version: Count
    tokens: Count | None
    """The estimate; null only for an empty or absent history without a baseline."""
    estimator: str
    """The estimator that was used."""
    baseline: Count | None
    """The last recorded total."""
    delta: int
    """Estimated tokens of what came after it."""
    low: Count | None
    """Lower bound that the estimator stands for."""
    high: Count | None
    """Upper bound."""
    basis: Basis
    """`exact`, `recorded+delta`, `rebased` (kept through a splice) or `heuristic`."""
    overhead: Count
    """Tokens of the request that are not in the history: tools, system parameter."""
    ratio: float
    """Calibration: counted by the vendor over estimated."""
    profile: str | None
    """The tokenizer profile that was used."""


@frozen(kw_only=True)
class Budget:
    """How much room there is. Values up to 1 are shares of the usable window, above 1 absolute tokens."""

    window: Annotated[int, Range(1)] | None = None
    """The context window in tokens; needed for shares, since the sidecar does not guess it."""
    reserve_output: Count | None = None
    """Tokens kept free for the answer."""
    trigger: Annotated[float, Range(0)] | None = None
    """Plan only above this; 0.8 where omitted."""
    target: Annotated[float, Range(0)] | None = None
    """Come down to this; 0.4 where omitted."""


@frozen(kw_only=True)
class KeepLast:
    """What must stay at the end."""

    turns: Count | None = None
    """The newest so many user turns; 2 where omitted."""
    tokens: Count | None = None
    """At least so many tokens."""


@frozen(kw_only=True)
class ElidePolicy:
    """Which tool results a plan may elide."""

    keep_results: Count | None = None
    """The newest so many results stay; 5 where omitted."""
    keep_turns: Count | None = None
    """Results of the newest so many turns stay; 2 where omitted."""
    exempt: Sequence[str] = ()
    """Names of tools whose results stay."""
    clear_at_least: Count | None = None
    """Elide only if it frees so many tokens; 20 000 where omitted."""


@frozen(kw_only=True)
class PlanSpliceParams:
    """Plan a compaction: what to drop, what to keep, what it saves. Changes nothing, and same input gives same plan."""

    history: HistoryName
    budget: Budget
    """How much room there is."""
    version: Count | None = None
    """Plan only for this version; `versionMismatch` where the history has moved."""
    keep_last: KeepLast | None = None
    """What must stay at the end."""
    pinned: Sequence[EntryId] = ()
    """Entries to keep, beside those stored as pinned."""
    vendor: str | None = None
    """Picks profile, image rule and reasoning rule, with `model`."""
    model: str | None = None
    """The vendor's model id."""
    summary_tokens: Count | None = None
    """How long the summary will be; 2000 where omitted."""
    min_savings: Annotated[float, Range(0)] | None = None
    """Do nothing for less than this share of the window; 0.1 where omitted."""
    force: bool = False
    """Plan although the trigger is not reached."""
    allow: Sequence[Literal["elide", "step", "fewerTurns"]] | None = None
    """What may be relaxed, tried in this order."""
    elide: ElidePolicy | None = None
    """What may be elided."""
    meta: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class PlanTail:
    """Where the kept end starts."""

    first: EntryId | None
    """Its first entry."""
    kind: Annotated[str, Open(("turn", "step"))]
    """Whether it starts at a user turn or at a step inside one."""
    turns: Count
    """How many user turns it holds."""


@frozen(kw_only=True)
class MustKeep:
    """One entry that may not be dropped."""

    id: EntryId
    """The entry."""
    why: str
    """`pinned`, `pair_of:ID`, `open_call`, `system`, `opaque`."""


@frozen(kw_only=True)
class PlanSummary:
    """What the summary should be."""

    role: str
    """The role the summary is shown in."""
    max_tokens: Count
    """How long it may be."""
    insert_after: EntryId | None
    """The entry it follows; null at the very front."""


@frozen(kw_only=True)
class PlanTokens:
    """Estimates before and after."""

    before: Count
    """Now."""
    after: Count
    """After the plan."""
    low: Count
    """Lower bound of `after`."""
    high: Count
    """Upper bound of `after`."""
    overhead: Count
    """What the request costs beside the history."""
    basis: Basis
    """How the numbers came about."""


@frozen(kw_only=True)
class PlanCache:
    """What the plan does to a prompt cache."""

    first_changed: Count
    """Index of the first entry that changes."""
    prefix_tokens_kept: Count
    """Tokens before it."""
    tokens_rewritten: Count
    """Tokens after it."""


@frozen(kw_only=True)
class PlanSpliceResult:
    """The plan. It is carried out by `history/splicePrefix` with `dropCount`, and `carry` = `head` + `carry`.

    `vendorCompaction` is the plan of a splice too, where a splice would cost signed reasoning and the vendor's own
    compaction keeps it: ask the vendor to compact and append its answer, with the block that it wrote, instead. A
    client that cannot do so splices.
    """

    action: Annotated[str, Open(("none", "elide", "splice", "vendorCompaction", "impossible"))]
    """What to do."""
    reason: Annotated[
        str,
        Open(
            (
                "under_trigger",
                "fits",
                "best_effort",
                "no_cut_point",
                "nothing_droppable",
                "savings_too_small",
                "open_call_blocks",
            )
        ),
    ]
    """Why."""
    version: Count
    drop_count: Count
    """Length of the prefix that goes, for `history/splicePrefix`."""
    drop: Sequence[EntryId]
    """What the summary must cover, in order."""
    elide: Sequence[EntryId]
    """What to elide, for `history/elide`."""
    head: Sequence[EntryId]
    """Leading system entries, which stay first."""
    carry: Sequence[EntryId]
    """Pinned entries of the prefix with their partners, which go back in before the summary."""
    tail: PlanTail | None
    """Where the kept end starts."""
    must_keep: Sequence[MustKeep]
    """What may not be dropped, and why."""
    previous_summary: EntryId | None
    """An older summary among `drop`: merge it instead of summarising it again."""
    summary: PlanSummary | None
    """What the summary should be."""
    tokens: PlanTokens
    """Estimates before and after."""
    cache: PlanCache | None
    """What it does to a prompt cache."""
    stale_reasoning: Sequence[EntryId]
    """Kept entries whose signed reasoning the vendor will no longer accept after a splice or an elision."""
    relaxed: Sequence[str]
    """Which of `allow` was needed."""
    shortfall: Count
    """By how many tokens the target is missed."""
    warnings: Sequence[str]
    """What a careful client wants to know: `reasoning_lost_in_open_turn`; `pins_into_instructions`, since a vendor that
    compacts reads nothing before its own block, so that pinned entries belong into what it is asked for."""
