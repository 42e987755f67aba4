"""Weighted max-min fairness: takes capacity, demands and weights, gives shares in whole GPUs.

`rebalance` applies them to a state: tenants above their share lose jobs, which it names.
"""

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from typing import NamedTuple

from hived_cells import bitset
from hived_cells.draft import Draft
from hived_cells.errors import IllegalRequest, shown
from hived_cells.state import Job, State, jobs

__all__ = ["Rebalance", "fair_shares", "rebalance"]

Weight = int | Fraction


class Rebalance(NamedTuple):
    """What `rebalance` gives.

    Parameters
    ----------
    state
        The pool without the stopped jobs.
    shares
        Tenant → GPUs it may use at low priority.
    stopped
        Jobs of tenants above their share.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> rebalance(initial_state(Chain(4, ()), Reservation({})), {"A": 9}).shares
    {'A': 4}
    """

    state: State
    shares: dict[str, int]
    stopped: tuple[Job, ...]


def fair_shares(
    capacity: int, demands: Mapping[str, int], *, weights: Mapping[str, Weight] | None = None
) -> dict[str, int]:
    """Return each tenant's weighted max-min share of `capacity` GPUs.

    The next GPU goes to the unsatisfied tenant with the smallest (got + 1) / weight, the first
    by name among equals, until the capacity or every demand is met. Nobody's share could grow
    without a tenant at or below the same level losing. Exact; O(tenants x log tenants), not
    O(capacity): all rounds but the last few are done in one step.

    Parameters
    ----------
    capacity
        GPUs to divide.
    demands
        Tenant → GPUs it could use.
    weights
        Tenant → positive weight, 1 where missing.

    Raises
    ------
    IllegalRequest
        The demands or weights are no mappings, a number is negative or no integer, or a weight
        is not a positive exact number.

    References
    ----------
    HiveD (OSDI 2020), Section 3: low-priority capacity is divided by weighted max-min fairness.

    Examples
    --------
    >>> fair_shares(10, {"A": 10, "B": 10, "C": 1}, weights={"B": 2})
    {'A': 3, 'B': 6, 'C': 1}
    """
    _check_table("demands", demands)
    _check_table("weights", weights or {})
    weight = {tenant: (weights or {}).get(tenant, 1) for tenant in sorted(demands)}
    _check_numbers(capacity, demands, weight)
    level = _water_level(capacity, demands, weight)
    got = {tenant: min(demands[tenant], int(level * weight[tenant])) for tenant in sorted(demands)}
    left = capacity - sum(got.values())  # fewer than there are tenants, or all are satisfied
    queue = [
        (Fraction(got[tenant] + 1) / weight[tenant], tenant)
        for tenant in got
        if got[tenant] < demands[tenant]
    ]
    heapify(queue)
    while left and queue:
        tenant = queue[0][1]
        got[tenant] += 1
        left -= 1
        if got[tenant] < demands[tenant]:
            heapreplace(queue, (Fraction(got[tenant] + 1) / weight[tenant], tenant))
        else:
            heappop(queue)
    return got


def _check_table(name: str, table: object) -> None:
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
        raise IllegalRequest(f"{name}: {shown(table)} is no mapping from tenants' names")


def _check_numbers(
    capacity: int, demands: Mapping[str, int], weights: Mapping[str, Weight]
) -> None:
    for name, number in [("the capacity", capacity), *demands.items()]:
        if type(number) is not int or number < 0:
            raise IllegalRequest(
                f"{name}: {shown(number)} GPUs; an integer of at least 0 is needed"
            )
    for tenant, weight in weights.items():
        if type(weight) not in {int, Fraction} or weight <= 0:
            raise IllegalRequest(
                f"{tenant}: weight {shown(weight)}; a positive integer or Fraction"
            )


def _water_level(
    capacity: int, demands: Mapping[str, int], weights: Mapping[str, Weight]
) -> Fraction:
    """Return the level L with sum of min(demand, L x weight) = capacity, 0 divisible at will."""
    left, total = Fraction(capacity), Fraction(sum(weights.values()))
    level = Fraction(0)
    for tenant in sorted(demands, key=lambda name: Fraction(demands[name]) / weights[name]):
        level = Fraction(demands[tenant]) / weights[tenant]
        if level * total >= left:
            return left / total
        left -= demands[tenant]
        total -= weights[tenant]
    return level


def rebalance(
    state: State, demands: Mapping[str, int], *, weights: Mapping[str, Weight] | None = None
) -> Rebalance:
    """Divide the GPUs not in guaranteed use anew and stop the jobs of tenants above their share.

    The capacity is the healthy GPUs not in guaranteed use; a tenant that runs jobs and is not
    among the demands demands nothing. A tenant loses its smallest job that brings it down to its
    share, or its largest where none does, and so on; a job is stopped whole, so a tenant can end
    below its share. O(GPUs + jobs x log jobs).

    Parameters
    ----------
    state
        The pool as it is.
    demands
        Tenant → GPUs it wants at low priority.
    weights
        Tenant → weight above 0; default 1 for each.

    Returns
    -------
    Rebalance
        The state, the shares and the stopped jobs.

    Raises
    ------
    IllegalRequest
        As `fair_shares`.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> from hived_cells.low_priority import start
    >>> state = initial_state(Chain(4, ()), Reservation({}))
    >>> state, first = start(state, "A", 2)
    >>> state, second = start(state, "A", 2)
    >>> rebalance(state, {"A": 4, "B": 4}).stopped
    (Job(tenant='A', gpus=(2, 3)),)
    """
    _check_table("demands", demands)
    running: dict[str, list[Job]] = {}
    for job in jobs(state):
        running.setdefault(job.tenant, []).append(job)
    wanted = dict.fromkeys(running, 0) | dict(demands)
    capacity = sum(
        ((1 << bitset.BITS) - 1 & ~(used | bad)).bit_count()
        for used, bad in zip(state.used[1], state.bad[1], strict=True)
    )
    beyond = len(state.used[1]) * bitset.BITS - state.chain.gpus  # the last word's unused bits
    shares = fair_shares(capacity - beyond, wanted, weights=weights)
    stopped = tuple(
        job for tenant in sorted(running) for job in _excess(running[tenant], shares[tenant])
    )
    draft = Draft(state)
    for job in stopped:
        draft.strike_job(job)
    return Rebalance(draft.freeze(), shares, stopped)


def _excess(running: list[Job], share: int) -> list[Job]:
    """Return jobs whose end brings a tenant's use down to its share."""
    left = sorted(running, key=lambda job: (len(job.gpus), [-gpu for gpu in job.gpus]))
    over = sum(len(job.gpus) for job in left) - share
    chosen = []
    while over > 0:
        whole = len(left[-1].gpus) >= over
        place = bisect_left(left, over, key=lambda job: len(job.gpus)) if whole else -1
        job = left.pop(place)
        chosen.append(job)
        over -= len(job.gpus)
    return chosen
