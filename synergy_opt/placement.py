"""Stage 2, placement: the ideal totals divided among servers, at a vertex that splits few jobs.

Takes an allocation and gives a fractional `Placement` with exact pieces and the split bound
(Synergy, §4.1.2; theory: stage 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from synergy_opt.answer import Allocation, Choice, Piece, PlacedJob, Placement, SplitBound
from synergy_opt.errors import Infeasible, InvalidInstance, SolverFailed
from synergy_opt.exact_linear import Equation, solve_exactly
from synergy_opt.fair_share import fair_throughput, unit_value
from synergy_opt.model import Instance, Vector
from synergy_opt.program import Program, fewest_splits_program, placement_program
from synergy_opt.solution import Basis, Limits, Stop
from synergy_opt.solvers import Solver
from synergy_opt.solvers import solver as solver_named

Shares = dict[int, Fraction]
"""For one job: server → part of the job there, summing to 1."""


def place(
    instance: Instance,
    allocation: Allocation,
    *,
    fewest_splits: bool = False,
    solver: Solver | None = None,
    limits: Limits | None = None,
) -> Placement:
    """Divide the ideal totals among the servers: x_ij ≥ 0, Σ_i x_ij = 1, Σ_j D_j x_ij ≤ R_i.

    Parameters
    ----------
    instance, allocation
        An allocation of the instance, from stage 1.
    fewest_splits
        False: jobs are put whole on servers, best fit, largest first; a vertex of the linear
        programme places the rest. True: the number of split jobs is minimised by an integer
        programme; `split.fewest` is its lower bound, equal to `split.split_jobs` where proven.
    solver
        Of the linear programme, HiGHS by default; must end at a valid simplex basis.
    limits
        Of the integer programme.

    Returns
    -------
    Placement
        With exact pieces, of fractional GPUs where a job is split, and a `SplitBound`:
        pieces − jobs ≤ q (s − κ) and ≤ the number of tight rows.

    Raises
    ------
    InvalidInstance
        When the allocation is another instance's.
    Infeasible
        With several server groups: the totals may not fit. With one, x_ij = 1/s always does.
    SolverFailed
        When the solver gives no valid basis (an interior point splits every job), or exact
        arithmetic refutes its vertex.

    Notes
    -----
    The linear programme has (jobs left over) × s columns. A job may be on a server of another
    group only where its throughput is no less than its fair throughput there.

    Examples
    --------
    >>> from synergy_opt.ideal import ideal_allocation
    >>> from synergy_opt.model import Cluster, Instance, Job, Profile, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=2, gpus=3, capacity=(3,))])
    >>> flat = Profile(name="flat", axes={"cpu": [1]}, throughput=[1])
    >>> jobs = [Job(id=name, gpus=2, profile="flat") for name in "abc"]
    >>> instance = Instance(name="three", cluster=cluster, profiles=[flat], jobs=jobs)
    >>> placed = place(instance, ideal_allocation(instance))
    >>> placed.split_jobs, placed.split.extra_pieces, placed.split.limit
    (('c',), 1, 2)
    """
    limits, solve = limits or Limits(), solver or solver_named("highs")
    problem = _problem(instance, allocation)
    whole = _best_fit(problem)
    fewest = None
    if fewest_splits:
        searched, fewest = _most_whole(problem, limits)
        whole = searched or whole
    shares = _vertex(problem, whole, solve)
    if shares is None:
        # What is left over does not fit beside the whole jobs: let them move, at a price.
        shares = _vertex(problem, [None] * len(whole), solve, preferred=whole)
    if shares is None:
        raise Infeasible("the totals of stage 1 cannot be divided among these server groups")
    jobs = tuple(
        _placed(c, t, x) for c, t, x in zip(allocation.jobs, problem.totals, shares, strict=True)
    )
    split = replace(_split_bound(problem, shares), fewest=fewest)
    if split.extra_pieces > min(split.limit, split.tight_rows):
        raise SolverFailed(f"{split.extra_pieces} extra pieces: this is no vertex")
    return Placement(
        instance=instance.name,
        mechanism="optimal",
        jobs=jobs,
        bound=allocation.bound,
        split=split,
        proof=allocation.proof,
    )


def stage_2_program(instance: Instance, allocation: Allocation) -> Program:
    """Give the whole linear programme of stage 2, for export or another solver."""
    problem = _problem(instance, allocation)
    return placement_program(
        instance.name,
        problem.totals,
        problem.free,
        instance.cluster.names,
        allowed=problem.allowed,
        preferred=_best_fit(problem),
    )


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """Totals of the jobs and capacities of the servers, GPUs first in each vector."""

    name: str
    resources: tuple[str, ...]
    totals: list[Vector]
    free: list[Vector]
    allowed: npt.NDArray[np.bool_]


def _problem(instance: Instance, allocation: Allocation) -> _Problem:
    if allocation.instance != instance.name:
        rule = f"the allocation is for {allocation.instance!r}, not for {instance.name!r}"
        raise InvalidInstance(rule)
    cluster, jobs = instance.cluster, {job.id: job for job in instance.jobs}
    groups = np.array(cluster.group_of_server)
    allowed = np.ones((len(allocation.jobs), len(groups)), dtype=bool)
    for j, choice in enumerate(allocation.jobs):
        if choice.id not in jobs:
            raise InvalidInstance(f"the instance has no job {choice.id!r}")
        for g in range(len(cluster.servers)) if len(cluster.servers) > 1 else ():
            job = jobs[choice.id]
            floor = fair_throughput(instance, job, groups=[g]) * unit_value(instance, job)
            allowed[j, groups == g] = choice.throughput >= floor
    return _Problem(
        name=instance.name,
        resources=cluster.names,
        totals=[(Fraction(jobs[c.id].gpus), *c.demand) for c in allocation.jobs],
        free=[(Fraction(cluster.servers[g].gpus), *cluster.servers[g].capacity) for g in groups],
        allowed=allowed,
    )


def _best_fit(problem: _Problem) -> list[int | None]:
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


def _most_whole(problem: _Problem, limits: Limits) -> tuple[list[int | None] | None, int | None]:
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


def _vertex(
    problem: _Problem,
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


def _placed(choice: Choice, total: Vector, shares: Shares) -> PlacedJob:
    pieces = tuple(
        Piece(server=i, gpus=part * total[0], amounts=tuple(part * a for a in total[1:]))
        for i, part in sorted(shares.items())
    )
    return PlacedJob(
        id=choice.id, demand=choice.demand, throughput=choice.throughput, pieces=pieces
    )


def _split_bound(problem: _Problem, shares: Sequence[Shares]) -> SplitBound:
    servers, jobs = len(problem.free), len(shares)
    width = len(problem.resources) + 1
    pairs = [(j, jobs + i) for j, row in enumerate(shares) for i in row]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    size = jobs + servers
    graph = coo_array((np.ones(len(pairs)), (ends[:, 0], ends[:, 1])), shape=(size, size))
    components, _ = connected_components(graph, directed=False)
    used = [[Fraction(0)] * width for _ in range(servers)]
    for total, row in zip(problem.totals, shares, strict=True):
        for i, part in row.items():
            used[i] = [u + part * a for u, a in zip(used[i], total, strict=True)]
    tight = sum(
        u == f
        for us, fs in zip(used, problem.free, strict=True)
        for u, f in zip(us, fs, strict=True)
    )
    return SplitBound(
        servers=servers,
        rows_per_server=width,
        components=int(components),
        extra_pieces=len(pairs) - jobs,
        split_jobs=sum(len(row) > 1 for row in shares),
        tight_rows=tight,
    )
