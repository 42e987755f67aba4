"""What an instance defines for each job: throughput at a demand, fair floor, value, worth.

Takes an instance and gives every number of the definitions, recomputed here from the grids and the
servers; equal questions are answered once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from synergy_opt.exact import IntArray
from synergy_opt.model import Instance, Job, Vector

Mask = npt.NDArray[np.bool_]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The grid of one profile for one GPU demand.

    Parameters
    ----------
    axes
        For each resource the job's totals along its axis, ascending, as integers with the amount
        that 1 of them stands for.
    worth
        Throughput at each grid point, in the profile's unit, as integers on `denominator`.
    denominator
        Common denominator of `worth`.
    """

    axes: tuple[tuple[list[int], Fraction], ...]
    worth: IntArray
    denominator: int

    def corner(self, amounts: Vector) -> tuple[slice, ...]:
        """Give the grid points within `amounts`, as an index of the table."""
        pairs = zip(self.axes, amounts, strict=True)
        return tuple(slice(bisect_right(axis, amount // unit)) for (axis, unit), amount in pairs)

    def best(self, amounts: Vector, allowed: Mask | None = None) -> Fraction | None:
        """Give max { W_k : d_k ≤ amounts, k allowed }, None where no such point lies within."""
        corner = self.corner(amounts)
        inside = self.worth[corner] if allowed is None else self.worth[corner][allowed[corner]]
        return Fraction(int(inside.max()), self.denominator) if inside.size else None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The definitions of an instance as numbers, each computed once.

    Parameters
    ----------
    instance
        What was asked.
    """

    instance: Instance
    _known: dict[Hashable, object] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Give the answer to the question `key`, computed at most once."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]  # type: ignore[return-value]  # a key names its question

    @cached_property
    def jobs(self) -> dict[str, Job]:
        """Jobs by id."""
        return {job.id: job for job in self.instance.jobs}

    def grid(self, job: Job) -> Grid:
        """Give the job's grid, in its totals."""
        return self.once(("grid", job.profile, job.gpus), lambda: self._grid(job))

    def _grid(self, job: Job) -> Grid:
        profile = self.instance.profile_of[job.profile]
        scale = job.gpus if profile.per == "gpu" else 1
        axes = tuple(
            (axis.numerators.tolist(), Fraction(scale, axis.denominator))
            for _, axis in profile.axes
        )
        table = profile.throughput
        return Grid(axes=axes, worth=table.numerators, denominator=table.denominator)

    def best(self, job: Job, demand: Vector) -> Fraction | None:
        """Give W at a demand: the best grid point within it, in the profile's unit."""
        key = ("best", job.profile, job.gpus, tuple(demand))
        return self.once(key, lambda: self.grid(job).best(demand))

    def floor(self, job: Job, groups: frozenset[int]) -> Fraction:
        """Give W^f = max { W_k : d_k ≤ g·R/G }, R/G the smallest over `groups` a resource.

        Every instance has one above 0: its constructor refuses others.
        """
        key = ("floor", job.profile, job.gpus, groups)
        return self.once(key, lambda: self._floor(job, groups))

    def _floor(self, job: Job, groups: frozenset[int]) -> Fraction:
        servers = [self.instance.cluster.servers[group] for group in groups]
        columns = zip(*([c / s.gpus for c in s.capacity] for s in servers), strict=True)
        best = self.grid(job).best(tuple(job.gpus * min(column) for column in columns))
        assert best is not None  # the instance's constructor found one in the smallest share
        return best

    @cached_property
    def all_groups(self) -> frozenset[int]:
        """Index of every server group."""
        return frozenset(range(len(self.instance.cluster.servers)))

    def unit(self, job: Job) -> Fraction:
        """Give what one unit of the profile's throughput counts in the objective.

        Relative: weight / W^f over all groups; absolute: weight, times g for a profile per GPU.
        """
        return self.once(("unit", job.profile, job.gpus, job.weight), lambda: self._unit(job))

    def _unit(self, job: Job) -> Fraction:
        if self.instance.objective == "relative":
            return job.weight / self.floor(job, self.all_groups)
        per_gpu = self.instance.profile_of[job.profile].per == "gpu"
        return job.weight * (job.gpus if per_gpu else 1)

    def limits(self, gpus: int) -> tuple[Vector, ...]:
        """Give the worths of the consolidation rule: a job has at most one of these.

        A job that fits on one server: the capacity of a server with its GPUs. A larger one: what
        n servers have at most of each resource, n the fewest that hold its GPUs. And for both the
        fair share on any group, which on small servers may be more than either.
        """
        return self.once(("limits", gpus), lambda: (*self._limits(gpus), *self._shares(gpus)))

    def _shares(self, gpus: int) -> Iterator[Vector]:
        for group in self.instance.cluster.servers:
            yield tuple(amount * gpus / group.gpus for amount in group.capacity)

    def _limits(self, gpus: int) -> tuple[Vector, ...]:
        groups = self.instance.cluster.servers
        alone = tuple(group.capacity for group in groups if group.gpus >= gpus)
        if alone:
            return alone
        # Bisection on n: the GPUs of the n largest servers grow with n.
        sizes = [(Fraction(group.gpus), group.count) for group in groups]
        low, high = 1, self.instance.cluster.server_count
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if _most(sizes, middle) >= gpus else (middle + 1, high)
        columns = range(len(groups[0].capacity))
        return (tuple(_most([(g.capacity[r], g.count) for g in groups], low) for r in columns),)

    def allowed(self, job: Job, *, fair: bool, consolidated: bool) -> Mask:
        """Mark the grid points that a bound reckons with."""
        key = ("allowed", job.profile, job.gpus, fair, consolidated)
        return self.once(key, lambda: self._allowed(job, fair=fair, consolidated=consolidated))

    def _allowed(self, job: Job, *, fair: bool, consolidated: bool) -> Mask:
        grid = self.grid(job)
        inside = np.full(grid.worth.shape, fill_value=not consolidated)
        for limit in self.limits(job.gpus) if consolidated else ():
            inside[grid.corner(limit)] = True
        if fair:
            inside &= np.asarray(grid.worth >= self.floor_numerator(job), dtype=bool)
        return inside

    def floor_numerator(self, job: Job) -> int:
        """Give W^f over all groups on the denominator of the grid; it is a number of the grid."""
        return int(self.floor(job, self.all_groups) * self.grid(job).denominator)


def _most(amounts: Iterable[tuple[Fraction, int]], servers: int) -> Fraction:
    """Give the sum over the `servers` servers that have most, of (amount, number of servers)."""
    total, left = Fraction(0), servers
    for amount, count in sorted(amounts, reverse=True):
        taken = min(left, count)
        total, left = total + taken * amount, left - taken
    return total
