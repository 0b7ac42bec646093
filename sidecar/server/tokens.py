"""Token numbers and compaction: `recordInputTokens`, `tokenEstimate`, `elide`, `unelide`."""

from __future__ import annotations

from typing import Any, Protocol

from sidecar import wire
from sidecar.contract import types as t
from sidecar.core.errors import InvalidParams
from sidecar.core.estimators import counter
from sidecar.core.usage import input_tokens
from sidecar.server.history import conditions
from sidecar.service import Applied, Question, Session


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

    async def elide(self, params: t.ElideParams) -> t.ElideResult:
        if params.policy is not None and not isinstance(params.policy, dict):
            raise InvalidParams.at("/policy", "must be an object")
        applied = await self._session.elide(params.history, params.entry_ids, params.policy, conditions(params))
        return t.ElideResult(**await self._marked(applied))

    async def unelide(self, params: t.UnelideParams) -> t.UnelideResult:
        applied = await self._session.unelide(params.history, params.entry_ids, conditions(params))
        return t.UnelideResult(**await self._marked(applied))

    async def _marked(self, applied: Applied) -> dict[str, Any]:
        head = applied.head
        # The store's running sum counts entries whole; what a marker saves is counted here.
        _, estimate = await self._session.token_estimate(head.history, _question(None, None, None))
        return {
            "history": head.history,
            "version": head.version,
            "len": head.len,
            "token_estimate": estimate.tokens,
            "replayed": applied.replayed,
        }


def _question(estimator: str | None, vendor: str | None, model: str | None) -> Question:
    known = None if vendor is None else wire.get_vendor(vendor).id
    return Question(counter=counter(estimator, known, model), vendor=known, model=model)
