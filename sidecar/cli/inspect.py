"""`check` and `project`: what vendors would say of a history, and what they would be sent."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sidecar import wire
from sidecar.cli.output import (
    NAME,
    SEVERITY_COLOURS,
    err,
    json_option,
    loss_json,
    out,
    plain,
    print_json,
    print_losses,
    store_option,
    with_session,
)
from sidecar.service import Session
from sidecar.wire.base import Options, Projected, Violation
from sidecar.wire.check import check as check_items
from sidecar.wire.constraints import CONSTRAINTS

_USUAL = ("anthropic-messages", "openai-chat", "openai-responses", "gemini")


@click.command()
@click.argument("names", nargs=-1, required=True, type=NAME, metavar="NAME…")
@click.option("--vendor", "-V", "vendors", multiple=True, metavar="ID",
              help="Check for this vendor; repeat it, or `all` (default: Anthropic, OpenAI, Gemini).")  # fmt: skip
@click.option("--model", help="The vendor's model, for rules that depend on it.")
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@json_option
@store_option
def check(
    names: tuple[str, ...], vendors: tuple[str, ...], model: str | None, strict: bool, as_json: bool, store: str | None
) -> int:
    """Say what vendors would refuse in a history as it stands; exit code 1 where something would be."""

    async def run(session: Session) -> list[tuple[str, Sequence[Violation]]]:
        wanted = list(CONSTRAINTS) if "all" in vendors else [wire.get_vendor(v).id for v in vendors or _USUAL]
        found: list[tuple[str, Sequence[Violation]]] = []
        for name in names:
            _, items = await session.items(name)
            found.append((name, check_items(items, wanted, Options(model=model))))
        return found

    found = with_session(run)(store)
    flat = [(name, violation) for name, violations in found for violation in violations]
    if as_json:
        print_json(
            [
                {
                    "history": name,
                    "vendor": violation.vendor,
                    "rule": violation.rule,
                    "severity": violation.severity,
                    "entryId": violation.entry_id,
                    "index": violation.index,
                    "message": violation.message,
                    "fixes": [dict(fix) for fix in violation.fixes],
                }
                for name, violation in flat
            ]
        )
    else:
        console = out()
        for name, violation in flat:
            place = f"{name}:{violation.index}: {violation.severity}: "
            text = f"{violation.message} [{violation.vendor} {violation.rule}]"
            console.print(plain(place, SEVERITY_COLOURS[violation.severity]) + plain(text))
        errors = sum(violation.severity == "error" for _, violation in flat)
        err().print(plain(f"violations: {len(flat)}, of which errors: {errors}" if flat else "no violations", "dim"))
    fails = ("error", "warning") if strict else ("error",)
    return 1 if any(violation.severity in fails for _, violation in flat) else 0


@click.command()
@click.argument("name", type=NAME)
@click.option("--vendor", "-V", required=True, metavar="ID", help="The vendor that the messages are for.")
@click.option("--model", help="The vendor's model.")
@click.option("--version", "at_version", type=click.IntRange(1), help="An older version.")
@json_option
@store_option
def project(
    name: str, vendor: str, model: str | None, at_version: int | None, as_json: bool, store: str | None
) -> None:
    """Print the exact message list that a vendor accepts, as JSON; what changed on the way goes to stderr."""

    async def run(session: Session) -> tuple[int, Projected]:
        wire.get_vendor(vendor)
        version, items = await session.items(name, at_version)
        return version, wire.project(items, vendor, Options(model=model))

    version, projected = with_session(run)(store)
    if as_json:
        print_json(
            {
                "vendor": projected.vendor,
                "version": version,
                "body": projected.body,
                "losses": [loss_json(loss) for loss in projected.losses],
                "repairs": [
                    {
                        "rule": repair.rule,
                        "entryId": repair.entry_id,
                        "action": repair.action,
                        "message": repair.message,
                    }
                    for repair in projected.repairs
                ],
            }
        )
        return
    print_json(projected.body)
    print_losses([("", loss) for loss in projected.losses])
    console = err()
    for repair in projected.repairs:
        where = f" ({repair.entry_id})" if repair.entry_id else ""
        console.print(plain(f"repair: {repair.rule}: {repair.message}{where}", "dim"))
