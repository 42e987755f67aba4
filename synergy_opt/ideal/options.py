"""The fair configurations of all kinds of jobs in one flat table, built for many kinds at once.

Takes jobs of an instance and gives the knapsack of stage 1 with what its items stand for: the
same rules as `configurations`, applied to whole stacks of grids (theory: stage 1, points 2, 4
and 5). Exact: comparisons are of integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.configurations import Mask, best_at_their_price, consolidation_limits
from synergy_opt.exact import IntArray
from synergy_opt.fair_share import fair_share
from synergy_opt.ideal.knapsack import Table
from synergy_opt.model import Instance, Job, Profile, Vector

_STACK = 2**20  # grid points looked at together


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the jobs of each kind may be given.

    Parameters
    ----------
    members
        For each kind the positions of its jobs in the sequence that was grouped, ascending.
    table
        A group a kind, an item a fair, undominated configuration; demands are the jobs' totals.
    points
        Grid point of each item, as a flat index in C order.
    units
        What one whole unit of each demand is.
    share
        For each kind an item inside the fair share: together they always fit.
    """

    members: tuple[tuple[int, ...], ...]
    table: Table
    points: IntArray
    units: Vector
    share: IntArray


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """One kind before its grid is looked at."""

    at: int
    profile: Profile
    job: Job

    @property
    def scale(self) -> int:
        return self.job.gpus if self.profile.per == "gpu" else 1


@dataclass(frozen=True, kw_only=True)
class _Found:
    """The items of some kinds, one after the other."""

    at: list[int]
    sizes: IntArray
    points: IntArray
    value: IntArray
    below: list[int]
    demand: list[IntArray]
    share: IntArray  # which item of its kind


def options(instance: Instance, jobs: Sequence[Job], *, consolidated: bool = True) -> Options:
    """Give the fair, undominated configurations of each kind of job.

    Parameters
    ----------
    instance, jobs
        Jobs of the instance; those with equal profile, GPUs and weight are one kind.
    consolidated
        Apply the paper's consolidation rule (`consolidation_limits`).

    Returns
    -------
    Options
        At least the fair floor's configuration for each kind.

    Notes
    -----
    O(grid points · K) with array operations over stacks of equally large grids; int64 where no
    product can overflow, Python integers where one could.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=1, gpus=2, capacity=(6,))])
    >>> hungry = Profile(name="hungry", axes={"cpu": [1, 3, 4.5]}, throughput=[1, 3, 4])
    >>> jobs = [Job(id=name, gpus=1, profile="hungry") for name in "ab"]
    >>> found = options(Instance(name="two", cluster=cluster, profiles=[hungry], jobs=jobs), jobs)
    >>> found.members, found.points.tolist(), found.table.demand[0].tolist(), found.units
    (((0, 1),), [1, 2], [6, 9], (Fraction(1, 2),))
    """
    members: dict[tuple[str, int, Fraction], list[int]] = {}
    for i, job in enumerate(jobs):
        members.setdefault((job.profile, job.gpus, job.weight), []).append(i)
    of_kind = [
        _Kind(at=t, profile=instance.profile_of[name], job=jobs[positions[0]])
        for t, ((name, _, _), positions) in enumerate(members.items())
    ]
    capacity = instance.cluster.capacity
    below = [
        math.lcm(capacity[r].denominator, *{k.profile.axes[r][1].denominator for k in of_kind})
        for r in range(len(capacity))
    ]
    found = [
        _look(instance, stack, below, consolidated=consolidated) for stack in _stacks(of_kind)
    ]
    return _joined(
        tuple(map(tuple, members.values())),
        found,
        capacity=tuple(int(c * b) for c, b in zip(capacity, below, strict=True)),
        units=tuple(Fraction(1, b) for b in below),
    )


def _stacks(of_kind: Sequence[_Kind]) -> Iterator[list[_Kind]]:
    """Give kinds with grids of one shape and one GPU demand, a bounded number of points a time."""
    alike: dict[tuple[object, ...], list[_Kind]] = {}
    for kind in of_kind:
        wide = kind.profile.throughput.numerators.dtype == object
        key = (kind.profile.throughput.shape, kind.job.gpus, kind.scale, wide)
        alike.setdefault(key, []).append(kind)
    for group in alike.values():
        step = max(_STACK // group[0].profile.throughput.numerators.size, 1)
        for i in range(0, len(group), step):
            yield group[i : i + step]


def _look(
    instance: Instance, stack: Sequence[_Kind], below: Sequence[int], *, consolidated: bool
) -> _Found:
    """Apply the rules to a stack of grids: kinds along the first axis."""
    gpus, many = stack[0].job.gpus, len(stack)
    worth = np.stack([kind.profile.throughput.numerators for kind in stack])
    axes = [_axis(stack, r, unit) for r, unit in enumerate(below)]
    inside = _within(axes, fair_share(instance.cluster, gpus), below)
    flat = tuple(range(1, worth.ndim))
    floor = np.where(inside, worth, -1).max(axis=flat)
    keep = best_at_their_price(worth) & (worth >= floor.reshape(many, *[1] * len(flat)))
    if consolidated:
        limits = consolidation_limits(instance.cluster, gpus)
        allowed = [_within(axes, limit, below) for limit in limits]
        keep &= np.logical_or.reduce(allowed)
    keep, inside = keep.reshape(many, -1), inside.reshape(many, -1)
    owner, points = np.nonzero(keep)
    sizes = keep.sum(axis=1)
    index = np.unravel_index(points, worth.shape[1:])
    chosen = np.flatnonzero(inside[owner, points])
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    value, denominators = _values(instance, stack, worth.reshape(many, -1)[keep], floor, sizes)
    return _Found(
        at=[kind.at for kind in stack],
        sizes=sizes,
        points=points,
        value=value,
        below=denominators,
        demand=[axis[owner, i] for axis, i in zip(axes, index, strict=True)],
        share=chosen[np.searchsorted(chosen, first)] - first,
    )


def _axis(stack: Sequence[_Kind], r: int, below: int) -> IntArray:
    """Give the totals along one axis in whole units, a row a kind."""
    factors = [kind.scale * (below // kind.profile.axes[r][1].denominator) for kind in stack]
    rows = [kind.profile.axes[r][1].numerators for kind in stack]
    # Axes increase: the last number is the largest; the factor must fit beside an axis of zeros.
    wide = any(
        max(int(row[-1]), 1) * factor >= 2**62 for row, factor in zip(rows, factors, strict=True)
    )
    kind: type = object if wide else np.int64
    return np.stack([row.astype(kind) for row in rows]) * np.array(factors, dtype=kind)[:, None]


def _within(axes: Sequence[IntArray], limit: Vector, below: Sequence[int]) -> Mask:
    """Mark the grid points with no more than a limit of any resource."""
    many, dimensions = len(axes[0]), len(axes)
    inside = np.ones((many, *[1] * dimensions), dtype=bool)
    for r, (axis, most, unit) in enumerate(zip(axes, limit, below, strict=True)):
        floor = math.floor(most * unit)
        fits = axis <= (floor if axis.dtype == object else min(floor, 2**62))
        shape = [many, *[1] * dimensions]
        shape[r + 1] = axis.shape[1]
        inside = inside & fits.astype(bool).reshape(shape)
    return np.asarray(inside, dtype=bool)


def _values(
    instance: Instance,
    stack: Sequence[_Kind],
    worth: IntArray,
    floor: IntArray,
    sizes: IntArray,
) -> tuple[IntArray, list[int]]:
    """Give the values in the objective's unit, in lowest terms of one denominator a kind."""
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    common = np.gcd.reduceat(worth, first)
    factors, below = [], []
    for kind, low, shared in zip(stack, floor.tolist(), common.tolist(), strict=True):
        weight = kind.job.weight
        unit = (
            weight / low
            if instance.objective == "relative"
            else weight * kind.scale / kind.profile.throughput.denominator
        )
        step = unit * shared  # every value of the kind is a multiple of this
        factors.append(step.numerator)
        below.append(step.denominator)
    multiples = worth // np.repeat(common, sizes)
    wide = len(worth) and int(multiples.max()) * max(factors) >= 2**62
    kind_of: type = object if wide or worth.dtype == object else np.int64
    return multiples.astype(kind_of) * np.repeat(np.array(factors, dtype=kind_of), sizes), below


def _joined(
    members: tuple[tuple[int, ...], ...],
    found: Sequence[_Found],
    *,
    capacity: tuple[int, ...],
    units: Vector,
) -> Options:
    """Put the stacks together in the order of the kinds."""
    order = np.argsort(np.array([t for part in found for t in part.at], dtype=np.int64))
    sizes = _concatenated([part.sizes for part in found])
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1][order]
    first = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    # Item i of the result is item `source[i]` of the stacks in a row.
    source = np.arange(first[-1]) + np.repeat(starts - first[:-1], sizes[order])
    below = [b for part in found for b in part.below]
    table = Table(
        first=first,
        counts=np.array([len(row) for row in members], dtype=np.int64),
        value=_concatenated([part.value for part in found])[source],
        below=np.array(below, dtype=np.int64 if max(below, default=1) < 2**62 else object)[order],
        demand=tuple(
            _concatenated([part.demand[r] for part in found])[source] for r in range(len(units))
        ),
        capacity=capacity,
    )
    return Options(
        members=members,
        table=table,
        points=_concatenated([part.points for part in found])[source],
        units=units,
        share=_concatenated([part.share for part in found])[order] + first[:-1],
    )


def _concatenated(parts: Sequence[npt.NDArray[np.int64]]) -> IntArray:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
