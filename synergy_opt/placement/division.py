"""Stage 2 as a problem of vectors, and the ways to divide it: whole, at a vertex, by halving.

Takes an allocation's totals and the servers' capacities and gives for each job its parts on
servers, exact (theory: stage 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from synergy_opt.answer import Allocation
from synergy_opt.errors import SolverFailed
from synergy_opt.exact.linear import Equation, solve_exactly
from synergy_opt.fair_share import fair_throughput, unit_value
from synergy_opt.model import Instance, Vector
from synergy_opt.placement.belongs import jobs_of_allocation
from synergy_opt.placement.bisection import bisect
from synergy_opt.program import fewest_splits_program, placement_program
from synergy_opt.solution import Basis, Limits, Stop
from synergy_opt.solvers import Solver
from synergy_opt.solvers import solver as solver_named

Shares = dict[int, Fraction]
"""For one job: server → part of the job there, summing to 1."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Totals of the jobs and capacities of the servers, GPUs first in each vector.

    Parameters
    ----------
    name
        Of the instance.
    resources
        Their names, without the GPUs.
    totals
        One vector a job.
    capacities
        One vector a server group.
    group
        For each server its group.
    fair
        Jobs × groups: where a job's throughput is no less than its fair throughput.
    """

    name: str
    resources: tuple[str, ...]
    totals: list[Vector]
    capacities: list[Vector]
    group: npt.NDArray[np.int64]
    fair: npt.NDArray[np.bool_]

    @cached_property
    def free(self) -> list[Vector]:
        """What each server has."""
        return [self.capacities[g] for g in self.group.tolist()]

    @cached_property
    def allowed(self) -> npt.NDArray[np.bool_]:
        """Jobs × servers: where a job may be."""
        return self.fair[:, self.group]


def problem_of(instance: Instance, allocation: Allocation) -> Problem:
    """Give stage 2's problem; raises `InvalidInstance` where the allocation is another one's."""
    jobs, cluster = jobs_of_allocation(instance, allocation), instance.cluster
    several = range(len(cluster.servers)) if len(cluster.servers) > 1 else range(0)
    fair = np.ones((len(allocation.jobs), len(cluster.servers)), dtype=bool)
    floors: dict[tuple[str, int, Fraction, int], Fraction] = {}
    for j, (job, choice) in enumerate(zip(jobs, allocation.jobs, strict=True)):
        for g in several:
            key = (job.profile, job.gpus, job.weight, g)
            if key not in floors:
                worth = fair_throughput(instance, job, groups=[g])
                floors[key] = worth * unit_value(instance, job)
            fair[j, g] = choice.throughput >= floors[key]
    return Problem(
        name=instance.name,
        resources=cluster.names,
        totals=[
            (Fraction(job.gpus), *c.demand) for job, c in zip(jobs, allocation.jobs, strict=True)
        ],
        capacities=[(Fraction(group.gpus), *group.capacity) for group in cluster.servers],
        group=np.array(cluster.group_of_server, dtype=np.int64),
        fair=fair,
    )


def best_fit(problem: Problem) -> list[int | None]:
    """Put jobs whole on servers, largest first, each where it leaves least, if it fits at all."""
    largest = [max(column) for column in zip(*problem.free, strict=True)]
    free = [list(vector) for vector in problem.free]

    def size(vector: Sequence[Fraction]) -> Fraction:
        return sum((a / most for a, most in zip(vector, largest, strict=True)), Fraction(0))

    room = [size(vector) for vector in free]
    place_of: list[int | None] = [None] * len(problem.totals)
    sizes = [size(total) for total in problem.totals]
    for j in sorted(range(len(sizes)), key=lambda j: (-sizes[j], j)):
        total = problem.totals[j]
        fits = [
            i
            for i, vector in enumerate(free)
            if room[i] >= sizes[j]
            and problem.allowed[j, i]
            and all(a <= f for a, f in zip(total, vector, strict=True))
        ]
        if fits:
            best = min(fits, key=lambda i: (room[i], i))
            place_of[j] = best
            free[best] = [f - a for f, a in zip(free[best], total, strict=True)]
            room[best] -= sizes[j]
    return place_of


def most_whole(problem: Problem, limits: Limits) -> tuple[list[int | None] | None, int | None]:
    """Search for the most jobs that can be whole together; give them and the fewest split."""
    members: dict[tuple[object, ...], list[int]] = {}
    for j, total in enumerate(problem.totals):
        members.setdefault((total, problem.allowed[j].tobytes()), []).append(j)
    groups = list(members.values())
    allowed = np.array([problem.allowed[group[0]] for group in groups])
    program = fewest_splits_program(
        problem.name,
        [problem.totals[group[0]] for group in groups],
        [len(group) for group in groups],
        problem.free,
        problem.resources,
        allowed=allowed.reshape(len(groups), len(problem.free)),
    )
    solution = solver_named("highs")(program, limits)
    jobs = len(problem.totals)
    # The objective counts jobs; a bound a hair above a whole number proves that number.
    fewest = None if solution.bound is None else jobs - int(np.floor(solution.bound + 1e-6))
    if solution.x is None:
        return None, fewest
    place_of: list[int | None] = [None] * jobs
    counts = np.rint(solution.x[: allowed.size]).astype(int).reshape(allowed.shape)
    for group, row in zip(groups, counts, strict=True):
        servers = np.repeat(np.arange(len(row)), row)
        for j, i in zip(group, servers, strict=False):
            place_of[j] = int(i)
    return place_of, None if fewest is None else max(fewest, 0)


def vertex(
    problem: Problem,
    whole: Sequence[int | None],
    solve: Solver,
    *,
    preferred: Sequence[int | None] | None = None,
) -> list[Shares] | None:
    """Place the jobs that are not whole by the linear programme; None where that has no point.

    The whole jobs only fix variables at 0 and 1, so that a vertex of what remains is a vertex of
    the full programme.
    """
    free = [list(vector) for vector in problem.free]
    for j, i in enumerate(whole):
        if i is not None:
            free[i] = [f - a for f, a in zip(free[i], problem.totals[j], strict=True)]
    if any(amount < 0 for vector in free for amount in vector):
        return None
    left = [j for j, i in enumerate(whole) if i is None]
    shares: list[Shares] = [{} if i is None else {i: Fraction(1)} for i in whole]
    if not left:
        return shares
    program = placement_program(
        problem.name,
        [problem.totals[j] for j in left],
        [tuple(vector) for vector in free],
        problem.resources,
        allowed=problem.allowed[left],
        preferred=preferred,
    )
    solution = solve(program, Limits())
    if solution.stop is Stop.INFEASIBLE:
        return None
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    if solution.basis is None:
        raise SolverFailed("stage 2 needs a vertex, and the solver gives no valid basis")
    rest = _exact_point([problem.totals[j] for j in left], free, solution.basis)
    for j, row in zip(left, rest, strict=True):
        shares[j] = row
    return shares


def _exact_point(
    totals: Sequence[Vector], free: Sequence[Sequence[Fraction]], basis: Basis
) -> list[Shares]:
    """Solve the basis exactly, and check every row and bound of the programme."""
    jobs, servers, width = len(totals), len(free), len(totals[0])
    basic = [divmod(int(c), servers) for c in np.flatnonzero(basis.columns)]
    tight = {int(i): k for k, i in enumerate(np.flatnonzero(~basis.rows))}
    equations: list[dict[int, Fraction]] = [{} for _ in tight]
    for k, (j, i) in enumerate(basic):
        if j in tight:
            equations[tight[j]][k] = Fraction(1)
        for r in range(width):
            row = jobs + i * width + r
            if row in tight:
                equations[tight[row]][k] = totals[j][r]
    right = [
        Fraction(1) if row < jobs else free[(row - jobs) // width][(row - jobs) % width]
        for row in tight
    ]
    system: list[Equation] = list(zip(equations, right, strict=True))
    shares: list[Shares] = [{} for _ in range(jobs)]
    used = [[Fraction(0)] * width for _ in range(servers)]
    for (j, i), part in zip(basic, solve_exactly(system, len(basic)), strict=True):
        if part < 0:
            raise SolverFailed("the solver's vertex has a negative part in exact arithmetic")
        if part:
            shares[j][i] = part
            used[i] = [u + part * a for u, a in zip(used[i], totals[j], strict=True)]
    short = any(sum(row.values()) != 1 for row in shares)
    over = any(
        u > f for us, fs in zip(used, free, strict=True) for u, f in zip(us, fs, strict=True)
    )
    if short or over:
        raise SolverFailed("the solver's vertex breaks a row in exact arithmetic")
    return shares


def halved(problem: Problem, solve: Solver) -> list[Shares] | None:
    """Divide by recursive bisection within each group; None where the groups cannot hold the jobs.

    Several groups are divided among first, each as one large server, at a vertex of that linear
    programme: identical servers can share whatever their group can hold, so that nothing is lost.
    Every group of the vertex that is full in a row has full servers in it, and a job on two
    groups joins two of their components: pieces − jobs ≤ q (s − κ) and ≤ the number of full rows
    of servers still hold for the whole.
    """
    below = [
        math.lcm(*{v[r].denominator for v in [*problem.totals, *problem.capacities]})
        for r in range(len(problem.resources) + 1)
    ]
    demands = [_whole(total, below) for total in problem.totals]
    counts = np.bincount(problem.group, minlength=len(problem.capacities)).tolist()
    among: list[Shares] | None = [{0: Fraction(1)} for _ in demands]
    if len(counts) > 1:
        among = vertex(_as_groups(problem, counts), [None] * len(demands), solve)
    elif any(
        sum(d[r] for d in demands) > counts[0] * most
        for r, most in enumerate(_whole(problem.capacities[0], below))
    ):
        return None
    if among is None:
        return None
    shares: list[Shares] = [{} for _ in demands]
    for g, (count, capacity) in enumerate(zip(counts, problem.capacities, strict=True)):
        parts = [row.get(g, Fraction(0)) for row in among]
        first = int(np.searchsorted(problem.group, g))
        inside = bisect(demands, parts, servers=count, room=_whole(capacity, below))
        for row, found in zip(shares, inside, strict=True):
            row.update({first + i: part for i, part in found.items()})
    return shares


def _as_groups(problem: Problem, counts: Sequence[int]) -> Problem:
    """Give the problem with one server in place of each group."""
    return replace(
        problem,
        capacities=[
            tuple(n * amount for amount in capacity)
            for n, capacity in zip(counts, problem.capacities, strict=True)
        ],
        group=np.arange(len(counts)),
    )


def _whole(vector: Vector, below: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(a * b) for a, b in zip(vector, below, strict=True))
