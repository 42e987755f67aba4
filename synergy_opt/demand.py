"""A job's best-case demand: the least resources that saturate its throughput.

Takes a job of an instance and gives the configuration that it would like best (Synergy, §3.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from synergy_opt.checks import expect
from synergy_opt.configurations import configurations
from synergy_opt.fair_share import fair_share, fair_throughput, unit_value
from synergy_opt.model import Instance, Job, Vector


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """Totals of each resource and what the job makes of them, in the objective's unit.

    Parameters
    ----------
    amounts
        Totals of each resource, in the order of the cluster's.
    value
        What the job makes of them, in the objective's unit.
    """

    amounts: Vector
    value: Fraction


def best_case_demand(instance: Instance, job: Job) -> Demand:
    """Give the least resources with which the job's throughput is highest.

    Least is measured by the largest ratio to the fair share, then by the sum of the ratios, then
    by the amounts in order: where a profile has several ways to saturate, the one that takes
    least from others. The job stays within the consolidation rule of stage 1 (one that fits on a
    server asks for at most one server's worth, a larger one for that of the fewest servers that
    hold it, or its fair share on a group), so that its
    throughput can be compared with that bound.

    Complexity O(n) in the grid points. The throughput is never below the fair one, since the fair
    share is among the configurations.

    Parameters
    ----------
    instance, job
        A job of the instance.

    Returns
    -------
    Demand
        Totals of each resource, and what the job makes of them.

    Examples
    --------
    >>> from synergy_opt import shipped
    >>> instance = shipped("worked-example")
    >>> for job in instance.jobs[:3:2]:
    ...     print(job.id, best_case_demand(instance, job))
    J1 Demand(amounts=(Fraction(20, 1), Fraction(420, 1)), value=Fraction(5, 3))
    J3 Demand(amounts=(Fraction(4, 1), Fraction(80, 1)), value=Fraction(1, 1))
    """
    expect(Instance, instance, "instance")
    found = configurations(instance, job)
    numerators = found.value.numerators
    saturated = found.select(np.asarray(numerators == numerators.max(), dtype=bool))
    share = fair_share(instance.cluster, job.gpus)

    def size(index: int) -> tuple[Fraction, Fraction, Vector]:
        amounts = saturated.demand_at(index)
        ratios = [amount / part for amount, part in zip(amounts, share, strict=True)]
        return max(ratios), sum(ratios, Fraction(0)), amounts

    least = min(range(len(saturated)), key=size)
    return Demand(amounts=saturated.demand_at(least), value=saturated.value[least])


def share_demand(instance: Instance, job: Job, *, groups: frozenset[int] | None = None) -> Demand:
    """Give the job's whole fair share on these server groups (default all) and its value there."""
    amounts = fair_share(instance.cluster, job.gpus, groups=groups)
    throughput = fair_throughput(instance, job, groups=groups)
    return Demand(amounts=amounts, value=throughput * unit_value(instance, job))
