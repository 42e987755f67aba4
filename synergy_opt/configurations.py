"""A job's configurations: what it may be given, and what it makes of it.

Takes a job of an instance and gives its grid points as exact arrays of totals and values; the
filters are the rules of stage 1 (theory: stage 1, points 2, 4 and 5), each exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.exact import ExactArray, IntArray
from synergy_opt.fair_share import fair_value, unit_value
from synergy_opt.model import Cluster, Instance, Job, Vector

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Configurations:
    """Some grid points of one job.

    Parameters
    ----------
    points
        Flat indices of the grid points, in C order, ascending.
    demand
        For each resource the job's totals at these points.
    value
        The job's term of the objective at these points.
    floor
        The value of its fair throughput: fair is ``value ≥ floor``.
    """

    points: IntArray
    demand: tuple[ExactArray, ...]
    value: ExactArray
    floor: Fraction

    def __len__(self) -> int:
        return len(self.points)

    def demand_at(self, index: int) -> Vector:
        """Give the totals of the `index`-th configuration."""
        return tuple(amounts[index] for amounts in self.demand)

    def select(self, keep: Mask) -> Configurations:
        """Give the configurations where `keep` is true."""
        if keep.all():
            return self
        return Configurations(
            points=self.points[keep],
            demand=tuple(ExactArray(a.numerators[keep], a.denominator) for a in self.demand),
            value=ExactArray(self.value.numerators[keep], self.value.denominator),
            floor=self.floor,
        )

    def fair(self) -> Configurations:
        """Keep those with value ≥ floor (fixing)."""
        return self.select(at_least(self.value, self.floor))

    def within(self, limits: Sequence[Vector]) -> Configurations:
        """Keep those that ask for no more than one of `limits` in every resource."""
        keep = np.zeros(len(self), dtype=bool)
        for limit in limits:
            fits = np.ones(len(self), dtype=bool)
            for amounts, most in zip(self.demand, limit, strict=True):
                fits &= at_most(amounts, most)
            keep |= fits
        return self.select(keep)


def configurations(
    instance: Instance, job: Job, *, undominated: bool = True, consolidated: bool = True
) -> Configurations:
    """Give the configurations of a job.

    Parameters
    ----------
    instance, job
        A job of the instance.
    undominated
        Leave out a grid point where another takes no more of any resource and gives no less.
        Nothing is lost: the other one is fair and fits whenever this one does.
    consolidated
        Apply the paper's consolidation rule (`consolidation_limits`).

    Returns
    -------
    Configurations
        At least the fair floor's configuration.

    Notes
    -----
    O(n·K) for n grid points and K resources: on a grid, dominance is a running maximum.
    """
    profile = instance.profile_for(job)
    scale = job.gpus if profile.per == "gpu" else 1
    unit = unit_value(instance, job)
    shape = profile.throughput.shape
    keep = (
        best_at_their_price(profile.throughput.numerators[None])[0]
        if undominated
        else np.ones(shape, dtype=bool)
    )
    points = np.flatnonzero(keep)
    index = np.unravel_index(points, shape)
    value = _scaled(profile.throughput, profile.throughput.numerators.ravel()[points], unit)
    found = Configurations(
        points=points.astype(np.int64),
        demand=tuple(
            _scaled(axis, axis.numerators[i], Fraction(scale))
            for (_, axis), i in zip(profile.axes, index, strict=True)
        ),
        value=value,
        floor=fair_value(instance, job),
    )
    return (
        found.within(consolidation_limits(instance.cluster, job.gpus)) if consolidated else found
    )


def consolidation_limits(cluster: Cluster, gpus: int) -> list[Vector]:
    """Give the most that a job of `gpus` GPUs may have: a configuration must fit in one of these.

    A job that fits on one server has at most one server's worth (Synergy, §6, "Trade-off between
    consolidation and allocation"), of a group whose servers have the GPUs. A larger job gets at
    most the worth of n servers, n the fewest that hold its GPUs. Its fair share on any group is
    allowed as well: split over small servers that are rich in resources, it may be more.
    """
    groups = cluster.servers
    # With one group the share is never more than the worth of the fewest servers.
    shares = [tuple(gpus * a for a in group.per_gpu) for group in groups if len(groups) > 1]
    single = [group.capacity for group in groups if group.gpus >= gpus]
    if single:
        return single + shares
    fewest, missing = 0, gpus
    for group in sorted(groups, key=lambda g: -g.gpus):
        taken = min(group.count, max(-(-missing // group.gpus), 0))
        fewest, missing = fewest + taken, missing - taken * group.gpus
    return [tuple(_largest(cluster, r, fewest) for r in range(len(cluster.names))), *shares]


def _largest(cluster: Cluster, resource: int, servers: int) -> Fraction:
    """Give the sum of a resource over the `servers` servers that have most of it."""
    total, left = Fraction(0), servers
    for group in sorted(cluster.servers, key=lambda g: -g.capacity[resource]):
        taken = min(left, group.count)
        total, left = total + taken * group.capacity[resource], left - taken
    return total


def at_most(values: ExactArray, limit: Fraction) -> Mask:
    """Compare exactly: where is value ≤ limit."""
    floor = limit.numerator * values.denominator // limit.denominator
    return np.asarray(values.numerators <= floor, dtype=bool)


def at_least(values: ExactArray, limit: Fraction) -> Mask:
    """Compare exactly: where is value ≥ limit."""
    ceiling = -(-limit.numerator * values.denominator // limit.denominator)
    return np.asarray(values.numerators >= ceiling, dtype=bool)


def _scaled(source: ExactArray, numerators: IntArray, factor: Fraction) -> ExactArray:
    """Give numerators / source.denominator · factor, in int64 only where that cannot overflow."""
    largest = max(int(numerators.max(initial=1)), -int(numerators.min(initial=0)))
    if largest * factor.numerator >= 2**62:
        numerators = numerators.astype(object)
    return ExactArray(numerators * factor.numerator, source.denominator * factor.denominator)


def best_at_their_price(throughput: IntArray) -> Mask:
    """Mark the grid points above everything at or below them in all coordinates but themselves.

    The first axis counts grids, each judged by itself.
    """
    best = throughput
    for axis in range(1, throughput.ndim):
        best = np.maximum.accumulate(best, axis=axis)
    keep = np.ones(throughput.shape, dtype=bool)
    for axis in range(1, throughput.ndim):
        later = [slice(None)] * throughput.ndim
        earlier = list(later)
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        keep[tuple(later)] &= (throughput[tuple(later)] > best[tuple(earlier)]).astype(bool)
    return keep
