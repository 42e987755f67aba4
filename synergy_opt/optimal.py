"""The paper's optimum, stage 1 and stage 2 in one call.

Takes an instance and gives a `Placement` with an exact bound (Synergy-OPT, OSDI '22, §4.1).
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

from synergy_opt.answer import Placement
from synergy_opt.errors import Infeasible
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Instance
from synergy_opt.placement import place
from synergy_opt.placement.whole_gpus import realize, unplaced
from synergy_opt.progress import Watcher
from synergy_opt.solution import Limits, limits_of


def optimal(
    instance: Instance,
    *,
    whole_gpus: bool = False,
    fewest_splits: bool = False,
    solver: str | None = None,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Placement:
    """Choose the best configurations (`ideal_allocation`) and place them (`place`).

    Parameters
    ----------
    instance
        Its runnable jobs are placed.
    whole_gpus
        False: split jobs have fractional GPUs, as in the paper. True: the answer is rounded to
        whole GPUs (`realize`), a heuristic: it can then be less than the best.
    fewest_splits, solver, limits, watch
        As in `place` and `ideal_allocation`.

    Returns
    -------
    Placement
        Its bound holds for every fair placement of the same jobs in which each stays within the
        consolidation rule (one that fits on a server has at most one server's worth, a larger one
        that of the fewest servers that hold it, or its fair share); `proof` says what shows that
        its throughput is the best.

    Raises
    ------
    Infeasible
        With several server groups, when the ideal totals fit no servers; never with `whole_gpus`.
    SolverFailed
        When a solver gives no usable answer.

    Examples
    --------
    >>> import synergy_opt
    >>> placement = optimal(synergy_opt.shipped("worked-example"))
    >>> placement.throughput == placement.bound.value
    True
    """
    limits, start = limits_of(limits), monotonic()
    allocation = ideal_allocation(instance, solver=solver, limits=limits, watch=watch)
    limits = limits.since(start)
    if not whole_gpus:
        return place(instance, allocation, fewest_splits=fewest_splits, limits=limits)
    try:
        placement = place(instance, allocation, fewest_splits=fewest_splits, limits=limits)
    except Infeasible:
        placement = unplaced(allocation)
    return replace(realize(instance, placement), mechanism="optimal-rounded")
