"""Chooses the cells that tenants reserve: takes histories and shares, gives a checked design.

With fixed shares the slack rows say no more than that the shares fit in the cluster, so the
programme falls apart into one for each tenant.
"""

import time
from collections.abc import Callable, Mapping
from fractions import Fraction

from hived_cells.design.check import Cost, Design, cost_of, faults_of
from hived_cells.design.demand import History
from hived_cells.design.least import least
from hived_cells.design.program import program_of
from hived_cells.design.start import hosts, improved, whole_nodes
from hived_cells.errors import HivedError, Infeasible, InvalidSpec, shown
from hived_cells.hierarchy import Chain
from hived_cells.reservation import Reservation

__all__ = ["design"]


def design(
    chain: Chain,
    shares: Mapping[str, int],
    histories: Mapping[str, History],
    *,
    unmet_weight: int = 8,
    time_limit: float = 20.0,
    progress: Callable[[str], None] | None = None,
) -> Design:
    """Return the reservation of least expected cost: unmet demand and misfit.

    A tenant's cost is the mean over its scenarios of the GPUs that are in larger cells than they
    want plus `unmet_weight` times the GPUs that find no cell. The search starts at whole nodes
    improved by exchanges; HiGHS may better that, and a branch and bound in whole numbers
    (`least`) proves that nothing costs less, or betters it. Cost and feasibility are recomputed
    exactly and checked (`faults_of`); no bound is a solver's word.

    Parameters
    ----------
    chain
        The hardware; its top level is the node.
    shares
        Tenant → GPUs; each gets exactly that.
    histories
        Tenant → what it wanted (`history_of`).
    unmet_weight
        Misfit GPUs that count as much as one unmet one; at least 2, so that serving always pays.
    time_limit
        Seconds for each tenant: at most half of them for HiGHS, the rest for the proof.
    progress
        Called with each tenant that is done.

    Raises
    ------
    Infeasible
        The shares do not fit in the cluster, or a tenant's largest job not in its share.
    InvalidSpec
        A tenant has a history and no share, the weight is too small, or the limit no time.
    HivedError
        The result does not pass its check.

    Examples
    --------
    >>> from hived_cells.design import Scenario
    >>> wanted = History((Scenario(1, (0, 3, 0)), Scenario(1, (0, 1, 1))), (0, 1, 1))
    >>> found = design(Chain(4, (8,)), {"A": 16}, {"A": wanted})
    >>> found.reservation, found.costs["A"]
    (Reservation({'A': {1: 8, 2: 1}}), Cost(unmet=Fraction(0, 1), misfit=Fraction(0, 1)))
    """
    weight = unmet_weight
    if type(weight) is not int or weight < 2:
        raise InvalidSpec(f"unmet weight {shown(weight)}: a whole number of at least 2 is needed")
    if type(time_limit) not in (int, float) or not 0 < time_limit < float("inf"):
        raise InvalidSpec(
            f"time limit {shown(time_limit)}: a positive number of seconds is needed"
        )
    if lacking := sorted(set(histories) - set(shares)):
        raise InvalidSpec(f"tenant {lacking[0]!r} has a history and no share")
    total = sum(shares.values())
    if total > chain.gpus:
        raise Infeasible(f"the shares are {total} GPUs, the cluster has {chain.gpus}")
    cells: dict[str, dict[int, int]] = {}
    costs: dict[str, Cost] = {}
    bounds: dict[str, Fraction | None] = {}
    stopped = []
    for tenant, share in sorted(shares.items()):
        history = histories.get(tenant, History((), (0,) * (chain.levels + 1)))
        row, bound, proved = _tenant(
            chain, tenant, share, history, weight=weight, time_limit=time_limit
        )
        cells[tenant] = dict(enumerate(row[1:], 1))
        if tenant in histories:
            costs[tenant] = cost_of(chain, row, history.scenarios)
            bounds[tenant] = bound
            if not proved:
                stopped.append(tenant)
        if progress is not None:
            progress(tenant)
    found = Design(Reservation(cells), costs, bounds, weight, tuple(stopped))
    if broken := faults_of(found, chain, shares, histories):
        raise HivedError(f"the design does not pass its check: {broken[0]}")
    return found


def _tenant(
    chain: Chain, tenant: str, share: int, history: History, *, weight: int, time_limit: float
) -> tuple[tuple[int, ...], Fraction | None, bool]:
    """Return a tenant's cells by level, the bound of their cost, and whether that is proved."""
    start = whole_nodes(chain, share)
    if not hosts(chain, start, history.largest):
        raise Infeasible(f"tenant {tenant!r}: its largest job does not fit in {share} GPUs")
    start = improved(chain, start, history, weight)
    if not history.scenarios:
        return start, None, True
    from hived_cells.design.highs import solved  # noqa: PLC0415 (a solver: only where it is used)

    begun = time.monotonic()
    x = solved(program_of(chain, share, history, unmet=weight), start, time_limit / 2)
    if x is not None and (
        min(x) < 0
        or sum(map(int.__mul__, x, chain.sizes)) != share
        or not hosts(chain, x, history.largest)
    ):
        raise HivedError(f"tenant {tenant!r}: HiGHS gives cells {x[1:]} that break its rows")
    first = min(
        [start] if x is None else [start, x],
        key=lambda row: cost_of(chain, row, history.scenarios).total(weight),
    )
    left = max(0.0, time_limit - (time.monotonic() - begun))
    best, bound = least(chain, first, history, unmet=weight, time_limit=left)
    cost = cost_of(chain, best, history.scenarios).total(weight)
    moments = sum(scenario.weight for scenario in history.scenarios)
    return best, Fraction(bound, moments), cost * moments == bound
