"""The 27 properties of a plan, as functions, with oracles that share nothing with the planner.

Each takes the planner and a case and asserts. Pairs, reasoning and sums are worked out here by slow, obvious loops.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from attrs import evolve, frozen

from sidecar.core.elision import ElisionRules
from sidecar.core.messages import Assistant, Entry, Opaque, Reasoning, Summary, System, Text, Tool, ToolCall, User
from sidecar.core.plan import Costs, Plan, Request

Planner = Callable[[Any, Costs, Request], Plan]


@frozen(kw_only=True)
class Case:
    """One list with costs and a request."""

    entries: tuple[Entry, ...]
    costs: Costs
    request: Request

    def plan(self, planner: Planner, **changes: Any) -> Plan:
        return planner(self.entries, self.costs, evolve(self.request, **changes))

    @property
    def before(self) -> int:
        return self.costs.overhead + sum(self.costs.counts)


CUTS = ("splice", "vendorCompaction")
"""Actions that cut a prefix off; which of the two does it changes nothing else."""


# --- cases ------------------------------------------------------------------------------------------------------------


def make_case(dice: Random) -> Case:
    """Make a conversation as agents leave them: tool rounds, reasoning, pins, orphans, open calls, reused ids."""
    entries: list[Entry] = []

    def add(message: Any, pinned: bool = False) -> None:
        entries.append(Entry(message=message, id=f"e{len(entries)}", pinned=pinned))

    for _ in range(dice.choice((0, 0, 1, 2))):
        add(System("s"))
    if dice.random() < 0.3:
        add(Summary("earlier", covers=4))
    for _ in range(dice.randrange(1, 7)):
        if dice.random() < 0.12:
            add(Summary("in between", covers=2))
        blocks = (Opaque("compaction", {"type": "compaction"}),) if dice.random() < 0.06 else (Text("u"),)
        add(User(blocks), pinned=dice.random() < 0.1)
        if dice.random() < 0.1:
            add(User((Text("more"),)))
        for _ in range(dice.randrange(0, 4)):
            if dice.random() < 0.2:
                add(Assistant(reasoning=(Reasoning(text="hm", signature="sig"),)))
            if dice.random() < 0.65:
                ids = [f"c{dice.randrange(4)}" if dice.random() < 0.3 else f"k{len(entries)}.{n}"
                       for n in range(dice.choice((1, 1, 2)))]  # fmt: skip
                thought = (Reasoning(text="t", signature="sig"),) if dice.random() < 0.3 else ()
                calls = tuple(ToolCall(id=each, name="tool", arguments="{}") for each in ids)
                add(Assistant(reasoning=thought, tool_calls=calls), pinned=dice.random() < 0.05)
                for each in ids:
                    if dice.random() < 0.95:
                        if dice.random() < 0.08:
                            add(User((Text("between"),)))
                        add(Tool(call_id=each, content=(Text("r"),)), pinned=dice.random() < 0.05)
            else:
                add(Assistant(content=(Text("a"),)))
        if dice.random() < 0.06:
            add(Tool(call_id="orphan", content=(Text("o"),)))
    counts = [dice.choice((0, 5, 20, 60, 200, 700)) + 4 for _ in entries]
    elided = [min(count, 24) if isinstance(entry.message, Tool) else count
              for entry, count in zip(entries, counts, strict=True)]  # fmt: skip
    overhead = dice.choice((0, 0, 100, 500))
    before = overhead + sum(counts)
    trigger = int(before * dice.choice((0.3, 0.5, 0.8, 0.9, 1.2)))
    target = int(trigger * dice.choice((0.3, 0.5, 0.7, 0.9, 1.0)))
    summary_tokens = dice.choice((0, 10, 50))
    # Borders are where mistakes are: a target that some cut just meets or misses, a summary as long as what it covers.
    cut = dice.choice([index for index, entry in enumerate(entries) if entry.is_user])
    if dice.random() < 0.4:
        lead = sum(count for count, entry in zip(counts, entries, strict=True) if isinstance(entry.message, System))
        target = max(0, overhead + lead + summary_tokens + sum(counts[cut:]) + dice.choice((-1, 0)))
    if dice.random() < 0.1:
        summary_tokens = sum(counts[:cut])
    allowed = ("elide", "step", "fewerTurns")
    request = Request(
        trigger=trigger,
        target=min(trigger, target),
        min_savings=dice.choice((0, 0, 30, 300)),
        keep_turns=dice.randrange(0, 4),
        keep_tokens=dice.choice((0, 0, 100, 400)),
        pinned=frozenset(entry.id for entry in entries if dice.random() < 0.04),
        summary_tokens=summary_tokens,
        force=dice.random() < 0.1,
        allow=tuple(dice.sample(allowed, dice.randrange(4))),
        elision=ElisionRules(keep_results=dice.randrange(3), keep_turns=dice.randrange(2), clear_at_least=100),
        binds_reasoning=dice.random() < 0.5,
        vendor_compacts=dice.random() < 0.5,
    )
    costs = Costs(counts=tuple(counts), elided_counts=tuple(elided), overhead=overhead, spread=0.1)
    return Case(entries=tuple(entries), costs=costs, request=request)


# --- oracles ----------------------------------------------------------------------------------------------------------


def answers(entries: tuple[Entry, ...]) -> dict[int, int]:
    """Result index -> index of the entry that made its call: the latest with that id that still waits for one."""
    found: dict[int, int] = {}
    for result, entry in enumerate(entries):
        if isinstance(entry.message, Tool):
            name = entry.message.call_id
            callers = [i for i in range(result) if any(call.id == name for call in entries[i].tool_calls)]
            if callers:
                caller = callers[-1]
                asked = sum(call.id == name for call in entries[caller].tool_calls)
                given = sum(1 for other, owner in found.items()
                            if owner == caller and entries[other].tool_call_id == name)  # fmt: skip
                if given < asked:
                    found[result] = caller
    return found


def unanswered(entries: tuple[Entry, ...]) -> list[int]:
    """Indices of entries with a call that no result answers."""
    owners = answers(entries)
    waiting = []
    for index, entry in enumerate(entries):
        if len(entry.tool_calls) > sum(owner == index for owner in owners.values()):
            waiting.append(index)
    return waiting


def links(entries: tuple[Entry, ...]) -> list[tuple[int, int]]:
    """Every two entries that belong on one side of a cut."""
    owners = answers(entries)
    found = [(caller, result) for result, caller in owners.items()]
    for index, entry in enumerate(entries):
        message = entry.message
        if isinstance(message, Tool) and index not in owners and index:
            found.append((index - 1, index))
        thinks = isinstance(message, Assistant) and message.reasoning
        if thinks and not message.blocks and not message.tool_calls and index + 1 < len(entries):
            found.append((index, index + 1))
    return found


def groups(entries: tuple[Entry, ...]) -> list[set[int]]:
    """The atoms: intervals closed over `links`, by merging until nothing changes."""
    intervals = [{index} for index in range(len(entries))]
    for first, last in links(entries):
        touched = [each for each in intervals if any(first <= index <= last for index in each)]
        intervals = [each for each in intervals if each not in touched] + [set().union(*touched)]
    return sorted(intervals, key=min)


def turn_indices(entries: tuple[Entry, ...]) -> list[int]:
    """Where a turn starts: a user entry that follows no user entry."""
    return [i for i, entry in enumerate(entries)
            if entry.is_user and (i == 0 or not entries[i - 1].is_user)]  # fmt: skip


def must_stay(case: Case) -> set[int]:
    """Pinned and opaque entries with their atoms."""
    special = set()
    for index, entry in enumerate(case.entries):
        blocks = entry.message.content if isinstance(entry.message, User) else ()
        opaque = any(isinstance(block, Opaque) for block in blocks)
        if entry.pinned or opaque or entry.id in case.request.pinned:
            special.add(index)
    return {index for group in groups(case.entries) if group & special for index in group}


def index_of(case: Case, ids: Any) -> list[int]:
    places = {entry.id: index for index, entry in enumerate(case.entries)}
    return [places[each] for each in ids]


def applied(case: Case, plan: Plan) -> list[str]:
    """Ids of the list after the plan, with `*` for the summary."""
    rest = [entry.id for entry in case.entries[plan.drop_count :]]
    return [*plan.head, *plan.carry, "*", *rest] if plan.action in CUTS else [entry.id for entry in case.entries]


def head_of(case: Case) -> int:
    count = 0
    for entry in case.entries:
        if not isinstance(entry.message, System):
            break
        count += 1
    return count


# --- properties -------------------------------------------------------------------------------------------------------


def p01_deterministic(planner: Planner, case: Case) -> None:
    """Same input, same plan; a list is as good as a tuple; the input is unchanged."""
    copy = list(case.entries)
    assert planner(copy, case.costs, case.request) == case.plan(planner)
    assert tuple(copy) == case.entries


def p02_cut_is_a_border_of_the_partition(planner: Planner, case: Case) -> None:
    """The atoms partition the list, and prefix and rest are unions of them."""
    atoms = groups(case.entries)
    assert sorted(index for atom in atoms for index in atom) == list(range(len(case.entries)))
    cut = case.plan(planner).drop_count
    assert all(max(atom) < cut or min(atom) >= cut for atom in atoms)


def p03_under_trigger_is_none(planner: Planner, case: Case) -> None:
    """Under the trigger there is no plan, and a plan that does nothing names nothing to change."""
    plan = case.plan(planner)
    if case.before <= case.request.trigger and not case.request.force:
        assert (plan.action, plan.reason) == ("none", "under_trigger")
    else:
        assert plan.reason != "under_trigger"
    if plan.action in ("none", "impossible"):
        assert (plan.drop_count, plan.drop, plan.elide, plan.carry, plan.cache) == (0, (), (), (), None)
        assert plan.tokens.after == plan.tokens.before


def p04_cut_is_inside(planner: Planner, case: Case) -> None:
    """A splice drops something and never everything."""
    plan = case.plan(planner)
    if plan.action in CUTS:
        assert 0 < plan.drop_count < len(case.entries)


def p05_no_link_crosses_the_cut(planner: Planner, case: Case) -> None:
    """No two entries that belong together are on different sides."""
    cut = case.plan(planner).drop_count
    assert not [link for link in links(case.entries) if link[0] < cut <= link[1]]


def p06_nothing_is_lost_silently(planner: Planner, case: Case) -> None:
    """Head, carry and drop together are exactly the prefix."""
    plan = case.plan(planner)
    if plan.action in CUTS:
        parts = [*plan.head, *plan.carry, *plan.drop]
        assert sorted(parts) == sorted(entry.id for entry in case.entries[: plan.drop_count])


def p07_system_stays_first(planner: Planner, case: Case) -> None:
    """Leading system entries stay first and in place."""
    plan = case.plan(planner)
    lead = [entry.id for entry in case.entries[: head_of(case)]]
    if plan.action in CUTS:
        assert list(plan.head) == lead
        assert applied(case, plan)[: len(lead)] == lead


def p08_pins_survive(planner: Planner, case: Case) -> None:
    """Pinned and opaque entries are in the list afterwards, and are named as to be kept."""
    plan = case.plan(planner)
    kept = applied(case, plan)
    for index in must_stay(case):
        entry = case.entries[index]
        assert entry.id in kept
        if plan.action in CUTS and index < plan.drop_count and index >= head_of(case):
            assert entry.id in {each.id for each in plan.must_keep}


def p09_atoms_are_whole(planner: Planner, case: Case) -> None:
    """An atom is dropped whole or kept whole."""
    dropped = set(index_of(case, case.plan(planner).drop))
    for atom in groups(case.entries):
        assert atom <= dropped or not atom & dropped or min(atom) < head_of(case)


def p10_open_calls_stay(planner: Planner, case: Case) -> None:
    """An entry with an unanswered call is never dropped, nor anything behind its atom."""
    plan = case.plan(planner)
    waiting = unanswered(case.entries)
    if waiting:
        first = next(min(atom) for atom in groups(case.entries) if waiting[0] in atom)
        assert plan.drop_count <= first


def p11_tail_starts_well(planner: Planner, case: Case) -> None:
    """The tail starts with a user or an assistant entry and says so."""
    plan = case.plan(planner)
    if plan.action in CUTS:
        assert plan.tail is not None
        first = case.entries[plan.drop_count]
        assert plan.tail.first == first.id
        assert first.role == ("user" if plan.tail.kind == "turn" else "assistant")
        assert plan.tail.turns == sum(index >= plan.drop_count for index in turn_indices(case.entries))


def p12_keep_last_is_honoured(planner: Planner, case: Case) -> None:
    """The newest turns and tokens stay; only what `relaxed` names gives way, and that only as allowed."""
    plan = case.plan(planner)
    assert set(plan.relaxed) <= set(case.request.allow)
    if plan.action in CUTS:
        turns = turn_indices(case.entries)
        if case.request.keep_turns and "fewerTurns" not in plan.relaxed:
            assert len(turns) >= case.request.keep_turns
            assert plan.drop_count <= turns[-case.request.keep_turns]
        assert sum(case.costs.counts[plan.drop_count :]) >= case.request.keep_tokens
        if "step" not in plan.relaxed:
            assert plan.tail is not None and plan.tail.kind == "turn"


def p13_after_is_the_exact_sum(planner: Planner, case: Case) -> None:
    """`after` is what the applied list costs, token by token."""
    plan = case.plan(planner)
    cost = {entry.id: count for entry, count in zip(case.entries, case.costs.counts, strict=True)}
    assert case.costs.elided_counts is not None
    less = {entry.id: count for entry, count in zip(case.entries, case.costs.elided_counts, strict=True)}
    cost |= {each: less[each] for each in plan.elide}
    cost["*"] = case.request.summary_tokens
    assert plan.tokens.before == case.before
    assert plan.tokens.after == case.costs.overhead + sum(cost[each] for each in applied(case, plan))
    assert plan.tokens.low <= plan.tokens.after <= plan.tokens.high


def p14_it_is_worth_it(planner: Planner, case: Case) -> None:
    """A plan that changes something saves something, and no less than asked for."""
    plan = case.plan(planner)
    if plan.action in (*CUTS, "elide"):
        assert plan.tokens.after < plan.tokens.before
        assert plan.tokens.before - plan.tokens.after >= case.request.min_savings


def p15_fits_means_fits(planner: Planner, case: Case) -> None:
    """`fits`, being within the target and a shortfall of 0 are the same thing."""
    plan = case.plan(planner)
    if plan.action in (*CUTS, "elide"):
        within = plan.tokens.after <= case.request.target
        assert (plan.reason == "fits") == within == (plan.shortfall == 0)
        assert plan.shortfall == max(0, plan.tokens.after - case.request.target)


def p16_no_new_orphans(planner: Planner, case: Case) -> None:
    """Afterwards no result lacks its call and no call its result that had one before."""
    plan = case.plan(planner)
    kept = set(applied(case, plan))
    for result, caller in answers(case.entries).items():
        assert (case.entries[result].id in kept) == (case.entries[caller].id in kept) or caller < head_of(case)


def p17_order_is_kept(planner: Planner, case: Case) -> None:
    """What stays is in the order it was in."""
    kept = [each for each in applied(case, case.plan(planner)) if each != "*"]
    places = index_of(case, kept)
    assert places == sorted(places)


def p18_the_prefix_is_untouched(planner: Planner, case: Case) -> None:
    """Before `firstChanged` nothing changes, there something does, and the token split adds up."""
    plan = case.plan(planner)
    if plan.cache is not None:
        first = plan.cache.first_changed
        old, new = [entry.id for entry in case.entries], applied(case, plan)
        assert new[:first] == old[:first]
        assert new[first] != old[first] if plan.action in CUTS else old[first] == plan.elide[0]
        assert plan.cache.prefix_tokens_kept == case.costs.overhead + sum(case.costs.counts[:first])
        assert plan.cache.tokens_rewritten == max(0, plan.tokens.after - plan.cache.prefix_tokens_kept)


def p19_later_appends_survive(planner: Planner, case: Case) -> None:
    """Splice, then what was appended meanwhile, is the same as append, then splice."""
    plan = case.plan(planner)
    grown = evolve(case, entries=(*case.entries, Entry(message=User((Text("late"),)), id="late")))
    assert applied(grown, plan) == [*applied(case, plan), "late"]


def p20_no_loop(planner: Planner, case: Case) -> None:
    """Planning again after a splice that fits gives no further plan."""
    plan = case.plan(planner)
    if plan.action in CUTS and plan.reason == "fits":
        old = {entry.id: (entry, count) for entry, count in zip(case.entries, case.costs.counts, strict=True)}
        summary = Entry(message=Summary("s"), id="*"), case.request.summary_tokens
        rest = [old.get(each, summary) for each in applied(case, plan)]
        costs = Costs(counts=[count for _, count in rest], overhead=case.costs.overhead)
        again = planner([entry for entry, _ in rest], costs, evolve(case.request, force=False))
        assert (again.action, again.reason) == ("none", "under_trigger")


def p21_a_larger_budget_drops_no_more(planner: Planner, case: Case) -> None:
    """Raising the target never deepens the cut."""
    larger = case.plan(planner, target=case.request.target + 150, trigger=case.request.trigger + 150)
    plan = case.plan(planner)
    if plan.action in CUTS or larger.action in CUTS:
        assert larger.drop_count <= plan.drop_count or plan.action == "none" or plan.action == "elide"


def p22_keeping_more_turns_drops_no_more(planner: Planner, case: Case) -> None:
    """Asking for one more turn to stay never deepens the cut."""
    plan = case.plan(planner, allow=())
    more = case.plan(planner, allow=(), keep_turns=case.request.keep_turns + 1)
    if plan.action in CUTS and more.action in CUTS:
        assert more.drop_count <= plan.drop_count
    if plan.action == "impossible":
        assert more.action == "impossible"


def p23_reasoning_stays_with_its_successor(planner: Planner, case: Case) -> None:
    """An entry of reasoning only is dropped or kept with the entry it was thought for."""
    kept = set(applied(case, case.plan(planner)))
    for index, entry in enumerate(case.entries[:-1]):
        message = entry.message
        if isinstance(message, Assistant) and message.reasoning and not message.blocks and not message.tool_calls:
            assert (entry.id in kept) == (case.entries[index + 1].id in kept)


def p24_calls_stay_with_their_results(planner: Planner, case: Case) -> None:
    """A call and each of its results are dropped or kept together."""
    dropped = set(case.plan(planner).drop)
    for result, caller in answers(case.entries).items():
        assert (case.entries[result].id in dropped) == (case.entries[caller].id in dropped)


def p25_never_only_summaries(planner: Planner, case: Case) -> None:
    """What is dropped is never summaries only, and the newest of them is named for merging."""
    plan = case.plan(planner)
    if plan.action in CUTS:
        dropped = [case.entries[index] for index in index_of(case, plan.drop)]
        summaries = [entry.id for entry in dropped if isinstance(entry.message, Summary)]
        assert len(summaries) < len(dropped)
        assert plan.previous_summary == (summaries[-1] if summaries else None)


def p26_lists_are_in_history_order(planner: Planner, case: Case) -> None:
    """Every list of ids is in the order of the history, and the reasons are right."""
    plan = case.plan(planner)
    for ids in (plan.drop, plan.head, plan.carry, plan.elide, plan.stale_reasoning):
        assert index_of(case, ids) == sorted(index_of(case, ids))
    assert index_of(case, [each.id for each in plan.must_keep]) == sorted(
        index_of(case, [each.id for each in plan.must_keep])
    )
    assert plan.insert_after == ([*plan.head, *plan.carry] or [None])[-1]
    if plan.action in CUTS and case.request.binds_reasoning:
        first = plan.cache.first_changed if plan.cache else 0
        kept = set(applied(case, plan))
        signed = [entry.id for index, entry in enumerate(case.entries) if index > first and entry.id in kept
                  and isinstance(entry.message, Assistant)
                  and any(part.signature for part in entry.message.reasoning)]  # fmt: skip
        assert list(plan.stale_reasoning) == signed


def p27_no_smaller_cut_would_do(planner: Planner, case: Case) -> None:
    """Brute force over every turn start: none before the chosen cut would have fitted."""
    plan = case.plan(planner)
    if case.before <= case.request.trigger and not case.request.force:
        return
    request, counts = case.request, case.costs.counts
    stay, turns, head = must_stay(case), turn_indices(case.entries), head_of(case)
    starts = {min(atom) for atom in groups(case.entries)}
    waiting = unanswered(case.entries)
    limit = len(counts)
    if waiting:
        limit = next(min(atom) for atom in groups(case.entries) if waiting[0] in atom)
    fitting, possible = [], []
    for cut in turns:
        gone = [i for i in range(head, cut) if i not in stay]
        enough = len(turns) - turns.index(cut) >= request.keep_turns
        if not (cut in starts and 0 < cut <= limit and sum(counts[cut:]) >= request.keep_tokens and enough):
            continue
        if all(isinstance(case.entries[i].message, Summary) for i in gone):
            continue
        possible.append(cut)
        if case.before - sum(counts[i] for i in gone) + request.summary_tokens <= request.target:
            fitting.append(cut)
    if plan.action == "impossible":
        assert not possible
    if fitting and plan.action in CUTS:
        assert plan.drop_count == fitting[0]
        assert plan.relaxed == ()
    if fitting and plan.action == "none":
        gone = [i for i in range(head, fitting[0]) if i not in stay]
        saved = sum(counts[i] for i in gone) - request.summary_tokens
        assert saved <= 0 or saved < request.min_savings
    if plan.action in CUTS and not fitting and plan.reason == "best_effort":
        assert not plan.relaxed or possible == [] or plan.drop_count > possible[-1]


PROPERTIES = [value for name, value in sorted(globals().items()) if name[0] == "p" and name[1:3].isdigit()]
