"""Token numbers and compaction: `recordInputTokens`, `tokenEstimate`, `planSplice`, `elide`, `unelide`."""

from __future__ import annotations

from typing import Protocol

from sidecar import wire
from sidecar.contract import types as t
from sidecar.core.elision import ElisionRules, check_policy
from sidecar.core.estimators import counter
from sidecar.core.ledger import Estimate
from sidecar.core.plan import KEEP_TURNS, RELAXATIONS, SUMMARY_TOKENS, Plan, Request, thresholds
from sidecar.core.profiles import compacts_itself
from sidecar.core.usage import input_tokens
from sidecar.server.history import common, conditions
from sidecar.service import Question, Session
from sidecar.wire.models import capabilities_of


class Served(Protocol):
    """What handlers need of the server."""

    session: Session


class TokenHandlers:
    """The handlers of `history/*` that count, and those that follow from counting."""

    def __init__(self, server: Served) -> None:
        self._server = server

    @property
    def _session(self) -> Session:
        return self._server.session

    async def record_input_tokens(self, params: t.RecordInputTokensParams) -> t.RecordInputTokensResult:
        question = _question(None, params.vendor, params.model)
        tokens = params.tokens
        if tokens is None:
            assert params.usage is not None and question.vendor is not None
            tokens = input_tokens(params.usage, question.vendor)
        await self._session.record_tokens(params.history, tokens, question, at_version=params.at_version)
        version, estimate = await self._session.token_estimate(params.history, question)
        return t.RecordInputTokensResult(version=version, token_estimate=estimate.tokens)

    async def token_estimate(self, params: t.TokenEstimateParams) -> t.TokenEstimateResult:
        question = _question(params.estimator, params.vendor, params.model)
        version, found = await self._session.token_estimate(params.history, question)
        return t.TokenEstimateResult(
            version=version,
            tokens=found.tokens,
            estimator=found.estimator,
            baseline=found.baseline,
            delta=found.delta,
            low=found.low,
            high=found.high,
            basis=found.basis,
            overhead=found.overhead,
            ratio=found.ratio,
            profile=found.profile,
        )

    async def plan_splice(self, params: t.PlanSpliceParams) -> t.PlanSpliceResult:
        question = _question(None, params.vendor, params.model)
        binds = False
        if question.vendor is not None:
            projection = wire.get_vendor(question.vendor)
            binds = bool(capabilities_of(projection.id, projection.capabilities, params.model).preserved_thinking)
        request = _request(params, binds, compacts_itself(question.vendor, binds_reasoning=binds))
        version, plan, found = await self._session.plan_splice(
            params.history, question, request, version=params.version
        )
        return _planned(version, plan, found, request)

    async def elide(self, params: t.ElideParams) -> t.ElideResult:
        check_policy(params.policy)
        applied = await self._session.elide(params.history, params.entry_ids, params.policy, conditions(params))
        return t.ElideResult(**common(applied))

    async def unelide(self, params: t.UnelideParams) -> t.UnelideResult:
        applied = await self._session.unelide(params.history, params.entry_ids, conditions(params))
        return t.UnelideResult(**common(applied))


def _question(estimator: str | None, vendor: str | None, model: str | None) -> Question:
    known = None if vendor is None else wire.get_vendor(vendor).id
    return Question(counter=counter(estimator, known, model), vendor=known, model=model)


def _request(params: t.PlanSpliceParams, binds_reasoning: bool, vendor_compacts: bool) -> Request:
    budget, keep, elide = params.budget, params.keep_last or t.KeepLast(), params.elide or t.ElidePolicy()
    trigger, target, min_savings = thresholds(
        window=budget.window,
        reserve_output=budget.reserve_output,
        trigger=budget.trigger,
        target=budget.target,
        min_savings=params.min_savings,
    )
    given = ElisionRules()
    return Request(
        trigger=trigger,
        target=target,
        min_savings=min_savings,
        keep_turns=_or(keep.turns, KEEP_TURNS),
        keep_tokens=keep.tokens or 0,
        pinned=frozenset(params.pinned),
        summary_tokens=_or(params.summary_tokens, SUMMARY_TOKENS),
        force=params.force,
        allow=RELAXATIONS if params.allow is None else tuple(dict.fromkeys(params.allow)),
        elision=ElisionRules(
            keep_results=_or(elide.keep_results, given.keep_results),
            keep_turns=_or(elide.keep_turns, given.keep_turns),
            exempt=frozenset(elide.exempt),
            clear_at_least=_or(elide.clear_at_least, given.clear_at_least),
        ),
        binds_reasoning=binds_reasoning,
        vendor_compacts=vendor_compacts,
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _planned(version: int, plan: Plan, found: Estimate, request: Request) -> t.PlanSpliceResult:
    tail, cache, tokens = plan.tail, plan.cache, plan.tokens
    return t.PlanSpliceResult(
        action=plan.action,
        reason=plan.reason,
        version=version,
        drop_count=plan.drop_count,
        drop=plan.drop,
        elide=plan.elide,
        head=plan.head,
        carry=plan.carry,
        tail=None if tail is None else t.PlanTail(first=tail.first, kind=tail.kind, turns=tail.turns),
        must_keep=[t.MustKeep(id=each.id, why=each.why) for each in plan.must_keep],
        previous_summary=plan.previous_summary,
        summary=t.PlanSummary(role="user", max_tokens=request.summary_tokens, insert_after=plan.insert_after)
        if plan.action in ("splice", "vendorCompaction")
        else None,
        tokens=t.PlanTokens(
            before=tokens.before,
            after=tokens.after,
            low=tokens.low,
            high=tokens.high,
            overhead=tokens.overhead,
            basis=found.basis,
        ),
        cache=None
        if cache is None
        else t.PlanCache(
            first_changed=cache.first_changed,
            prefix_tokens_kept=cache.prefix_tokens_kept,
            tokens_rewritten=cache.tokens_rewritten,
        ),
        stale_reasoning=plan.stale_reasoning,
        relaxed=plan.relaxed,
        shortfall=plan.shortfall,
        warnings=plan.warnings,
    )
