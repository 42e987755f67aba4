"""Stage 1 by its core: fixing, dominance, merging, prices, rounding, and an exact search.

Takes runnable jobs and gives an `Allocation` that ends proven optimal where the core can be
closed, with the bound of the multipliers alone beside it (theory: stage 1, points 4 to 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from time import monotonic

from synergy_opt.answer import Allocation, Bound, Choice, Proof
from synergy_opt.ideal.knapsack import Outcome, solve
from synergy_opt.ideal.options import Options, options
from synergy_opt.model import Instance, Job
from synergy_opt.progress import Progress, Watcher
from synergy_opt.solution import Limits, Stop


def core_allocation(
    instance: Instance,
    jobs: Sequence[Job],
    *,
    consolidated: bool,
    limits: Limits,
    watch: Watcher | None = None,
) -> Allocation:
    """Solve the ILP of stage 1 as a multiple-choice knapsack.

    Parameters
    ----------
    instance, jobs
        Jobs of the instance, the runnable ones.
    consolidated
        As in `ideal_allocation`.
    limits
        Time and gap; at a limit the best answer so far, at least everyone's fair share.
    watch
        Called each time that more is known.

    Returns
    -------
    Allocation
        ``proof``: "multipliers" where the price bound meets the throughput; "core" where every
        combination of the `rivals` that reduced costs leave was decided in exact arithmetic.
    """
    began = monotonic()
    found = options(instance, jobs, consolidated=consolidated)
    start = found.share, found.table.counts

    def tell(known: Outcome) -> None:
        if watch is not None and known.value is not None:
            seconds = monotonic() - began
            watch(Progress(seconds=seconds, throughput=known.value, bound=known.bound))

    outcome = solve(found.table, start=start, limits=limits.since(began), watch=tell)
    multipliers = tuple(p / u for p, u in zip(outcome.prices, found.units, strict=True))
    return Allocation(
        instance=instance.name,
        jobs=_choices(jobs, found, outcome),
        bound=Bound(value=outcome.bound, multipliers=multipliers, consolidated=consolidated),
        proof=_proof(outcome),
        stopped=outcome.stop in (Stop.LIMIT, Stop.INTERRUPTED),
        rivals=outcome.rivals,
    )


def _proof(outcome: Outcome) -> Proof:
    if outcome.value == outcome.bound:
        return "multipliers"
    return "core" if outcome.stop is Stop.OPTIMAL else "none"


def _choices(jobs: Sequence[Job], found: Options, outcome: Outcome) -> tuple[Choice, ...]:
    """Hand a kind's configurations to its jobs, the best to the job of highest priority."""
    assert outcome.choice is not None  # everyone's fair share always fits
    items, times = outcome.choice
    table = found.table
    group = table.group[items]
    value = table.value[items]
    # By kind, then from the best value down: one denominator a kind, so numerators compare.
    order = sorted(range(len(items)), key=lambda i: (group[i], -value[i], items[i]))
    # Few amounts occur, and a fraction is slow to make.
    amount_of = [
        {n: n * unit for n in set(d[items].tolist())}
        for d, unit in zip(table.demand, found.units, strict=True)
    ]
    left = {t: iter(members) for t, members in enumerate(found.members)}
    choices: dict[int, Choice] = {}
    for i in order:
        item, t = int(items[i]), int(group[i])
        demand = tuple(
            amounts[int(d[item])] for d, amounts in zip(table.demand, amount_of, strict=True)
        )
        throughput, mixture = table.gain(item), ((int(found.points[item]), Fraction(1)),)
        for _ in range(int(times[i])):
            member = next(left[t])
            choices[member] = Choice(
                id=jobs[member].id, mixture=mixture, demand=demand, throughput=throughput
            )
    return tuple(choices[member] for member in range(len(jobs)))
