"""Stage 2, placement: the ideal totals divided among servers, at a vertex that splits few jobs.

Takes an allocation and gives a fractional `Placement` with exact pieces and the split bound
(Synergy, §4.1.2; theory: stage 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from synergy_opt.answer import Allocation, Choice, Piece, PlacedJob, Placement, SplitBound
from synergy_opt.errors import Infeasible, SolverFailed
from synergy_opt.fair_share import fair_throughput, unit_value
from synergy_opt.model import Instance, Vector
from synergy_opt.placement.division import (
    Problem,
    Shares,
    best_fit,
    halved,
    most_whole,
    problem_of,
    vertex,
)
from synergy_opt.program import Program, placement_program
from synergy_opt.solution import Limits, limits_of
from synergy_opt.solvers import Solver
from synergy_opt.solvers import solver as solver_named

_LARGE = 20_000  # jobs × servers from which on servers are halved; see the notes of `place`


def place(
    instance: Instance,
    allocation: Allocation,
    *,
    fewest_splits: bool = False,
    bisection: bool | None = None,
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
    bisection
        Halve the servers again and again instead (`synergy_opt.placement.bisection`): no vertex,
        but within the same bounds, and no linear programme of more than the groups' size. None:
        where jobs × servers is above 20,000 and nobody asks for the fewest splits.
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
        With several server groups: the totals may not fit, or no division is found that is fair
        on the groups that each job touches. With one group x_ij = 1/s always is one.
    SolverFailed
        When the solver gives no valid basis (an interior point splits every job), or exact
        arithmetic refutes its vertex.

    Notes
    -----
    The linear programme has (jobs left over) × s columns. With several groups a job is first let
    on those only where its throughput is no less than its fair throughput; where that fits
    nothing, anywhere, and the fairness of the outcome is checked.

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
    limits, solve = limits_of(limits), solver or solver_named("highs")
    problem = problem_of(instance, allocation)
    fewest = None
    if bisection is None:
        bisection = not fewest_splits and len(problem.totals) * len(problem.group) > _LARGE
    if bisection:
        shares = halved(problem, solve)
    else:
        shares, fewest = _at_vertex(problem, solve, limits, fewest_splits=fewest_splits)
    if shares is None and len(problem.capacities) > 1:
        # A job that is fair on no group alone may be fair across several, whose smallest share
        # counts: let every job everywhere, and look afterwards.
        anywhere = replace(problem, fair=np.ones_like(problem.fair))
        shares, fewest = _at_vertex(anywhere, solve, limits, fewest_splits=fewest_splits)
        if shares is not None and not _is_fair(instance, allocation, problem.group, shares):
            raise Infeasible(
                "no division of stage 1's totals was found that is fair on the server groups "
                "that each job touches"
            )
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
        stopped=allocation.stopped,
    )


def _at_vertex(
    problem: Problem, solve: Solver, limits: Limits, *, fewest_splits: bool
) -> tuple[list[Shares] | None, int | None]:
    """Put jobs whole on servers and the rest at a vertex; give the least number of split jobs."""
    whole, fewest = best_fit(problem), None
    if fewest_splits:
        searched, fewest = most_whole(problem, limits)
        if searched is not None and searched.count(None) < whole.count(None):
            whole = searched
    shares = vertex(problem, whole, solve)
    if shares is None:
        # What is left over does not fit beside the whole jobs: let them move, at a price.
        shares = vertex(problem, [None] * len(whole), solve, preferred=whole)
    return shares, fewest


def _is_fair(
    instance: Instance,
    allocation: Allocation,
    group: npt.NDArray[np.int64],
    shares: Sequence[Shares],
) -> bool:
    """Tell whether each job makes its fair throughput on the groups that it touches."""
    jobs = {job.id: job for job in instance.jobs}
    for choice, row in zip(allocation.jobs, shares, strict=True):
        job, touched = jobs[choice.id], {int(group[i]) for i in row}
        fair = fair_throughput(instance, job, groups=touched) * unit_value(instance, job)
        if choice.throughput < fair:
            return False
    return True


def stage_2_program(instance: Instance, allocation: Allocation) -> Program:
    """Give the whole linear programme of stage 2, for export or another solver."""
    problem = problem_of(instance, allocation)
    return placement_program(
        instance.name,
        problem.totals,
        problem.free,
        instance.cluster.names,
        allowed=problem.allowed,
        preferred=best_fit(problem),
    )


def _placed(choice: Choice, total: Vector, shares: Shares) -> PlacedJob:
    pieces = tuple(
        Piece(server=i, gpus=part * total[0], amounts=tuple(part * a for a in total[1:]))
        for i, part in sorted(shares.items())
    )
    return PlacedJob(
        id=choice.id, demand=choice.demand, throughput=choice.throughput, pieces=pieces
    )


def _split_bound(problem: Problem, shares: Sequence[Shares]) -> SplitBound:
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
    if any(
        u > f
        for us, fs in zip(used, problem.free, strict=True)
        for u, f in zip(us, fs, strict=True)
    ):
        raise SolverFailed("stage 2 gives a server more than it has")
    return SplitBound(
        servers=servers,
        rows_per_server=width,
        components=int(components),
        extra_pieces=len(pairs) - jobs,
        split_jobs=sum(len(row) > 1 for row in shares),
        tight_rows=tight,
    )
