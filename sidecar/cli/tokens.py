"""`tokens`: where the context of a history goes, in the terminal or as a page that needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path

import click
from attrs import frozen

from sidecar.cli.output import NAME, json_option, out, plain, print_json, store_option, table, with_session, write_file
from sidecar.core.estimators import counter
from sidecar.core.jsontext import Json
from sidecar.core.ledger import Estimate
from sidecar.core.plan import Plan, Request
from sidecar.core.spending import Spending, spending
from sidecar.render.escape import one_line, visible
from sidecar.service import Question, Session
from sidecar.wire import get_vendor

_WIDTH = 36


@frozen(kw_only=True)
class _Picture:
    history: str
    version: int
    spending: Spending
    estimate: Estimate
    plan: Plan


@click.command()
@click.argument("history", type=NAME)
@click.option("--vendor", help="Count as this vendor does.")
@click.option("--model", help="Count as this model does.")
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write a page to this file.")
@json_option
@store_option
def tokens(
    history: str, vendor: str | None, model: str | None, page: Path | None, as_json: bool, store: str | None
) -> None:
    """Show where the context goes, and what a compaction would free."""
    known = None if vendor is None else get_vendor(vendor).id
    question = Question(counter=counter(None, known, model), vendor=known, model=model)

    async def run(session: Session) -> _Picture:
        version, items = await session.items(history, injected=False)
        _, estimate = await session.token_estimate(history, question)
        # Half of what there is: what the defaults would free if the window were full now.
        size = estimate.tokens or 0
        request = Request(trigger=0, target=size // 2, force=True)
        _, plan, _ = await session.plan_splice(history, question, request)
        found = spending(question.counter, [item.entry for item in items])
        return _Picture(history=history, version=version, spending=found, estimate=estimate, plan=plan)

    picture = with_session(run)(store)
    if page is not None:
        write_file(page, _html(picture))
    if as_json:
        print_json(_json(picture))
    elif page is None:
        _print(picture)


def _facts(picture: _Picture) -> list[str]:
    estimate, plan = picture.estimate, picture.plan
    span = f"{estimate.low or 0:,} to {estimate.high or 0:,}"
    facts = [f"{estimate.tokens or 0:,} tokens, {span} ({estimate.basis}, {estimate.profile})"]
    if estimate.overhead:
        facts.append(f"{estimate.overhead:,} of them beside the entries: tools and system parameter")
    freed = plan.tokens.before - plan.tokens.after
    if plan.action == "splice":
        facts.append(f"a compaction to half of it would drop {len(plan.drop)} entries and free {freed:,} tokens")
    elif plan.action == "elide":
        facts.append(f"eliding {len(plan.elide)} results would free {freed:,} tokens")
    else:
        facts.append(f"a compaction would free nothing ({plan.reason.replace('_', ' ')})")
    return facts


def _print(picture: _Picture) -> None:
    console = out()
    console.print(plain(f"{picture.history}, version {picture.version}", "bold"))
    for fact in _facts(picture):
        console.print(plain(fact))
    total = picture.spending.total or 1
    largest = max((share.tokens for share in picture.spending.shares), default=1) or 1
    rows = [
        (
            share.label,
            f"{share.tokens:,}",
            f"{share.tokens / total:.0%}",
            str(share.entries),
            "█" * round(_WIDTH * share.tokens / largest),
        )
        for share in picture.spending.shares
    ]
    console.print()
    table(("SPENT ON", "TOKENS", "SHARE", "ENTRIES", ""), rows, numbers=("TOKENS", "SHARE", "ENTRIES"))
    console.print()
    heavy = [(str(each.index), each.id, each.label, f"{each.tokens:,}") for each in picture.spending.heaviest]
    table(("INDEX", "HEAVIEST ENTRY", "MOSTLY", "TOKENS"), heavy, numbers=("INDEX", "TOKENS"))


def _json(picture: _Picture) -> Json:
    estimate, plan = picture.estimate, picture.plan
    return {
        "history": picture.history,
        "version": picture.version,
        "tokens": estimate.tokens,
        "low": estimate.low,
        "high": estimate.high,
        "basis": estimate.basis,
        "overhead": estimate.overhead,
        "profile": estimate.profile,
        "shares": [
            {"label": share.label, "tokens": share.tokens, "entries": share.entries}
            for share in picture.spending.shares
        ],
        "heaviest": [
            {"index": each.index, "id": each.id, "label": each.label, "tokens": each.tokens}
            for each in picture.spending.heaviest
        ],
        "plan": {
            "action": plan.action,
            "reason": plan.reason,
            "dropCount": plan.drop_count,
            "elide": list(plan.elide),
            "freed": plan.tokens.before - plan.tokens.after,
        },
    }


_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: .2rem .6rem .2rem 0; text-align: left; vertical-align: middle; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar { width: 45%; } meter { width: 100%; height: 1rem; }
"""


def _html(picture: _Picture) -> str:
    """Return a page without scripts and without anything loaded from elsewhere; every text is escaped."""

    def text(value: str) -> str:
        return escape(visible(one_line(value, 300)))

    total = picture.spending.total or 1
    shares = "".join(
        f'<tr><td>{text(share.label)}</td><td class="number">{share.tokens:,}</td>'
        f'<td class="number">{share.tokens / total:.0%}</td><td class="number">{share.entries:,}</td>'
        f'<td class="bar"><meter min="0" max="{total}" value="{share.tokens}">{share.tokens}</meter></td></tr>\n'
        for share in picture.spending.shares
    )
    heavy = "".join(
        f'<tr><td class="number">{each.index}</td><td>{text(each.id)}</td><td>{text(each.label)}</td>'
        f'<td class="number">{each.tokens:,}</td></tr>\n'
        for each in picture.spending.heaviest
    )
    facts = "".join(f"<p>{text(fact)}</p>\n" for fact in _facts(picture))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{text(picture.history)}: tokens</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{text(picture.history)}, version {picture.version}</h1>\n{facts}"
        '<h2>Where the context goes</h2>\n<table id="shares"><tr><th>Spent on</th><th class="number">Tokens</th>'
        '<th class="number">Share</th><th class="number">Entries</th><th></th></tr>\n'
        f'{shares}</table>\n<h2>Heaviest entries</h2>\n<table id="heaviest"><tr><th class="number">Index</th>'
        f'<th>Entry</th><th>Mostly</th><th class="number">Tokens</th></tr>\n{heavy}</table>\n</body></html>\n'
    )
