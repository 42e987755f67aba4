"""Stage 1, the ideal allocation: the best configurations as if all servers were one.

Takes an instance and gives an `Allocation` with an exact upper bound on the throughput of every
fair placement of the same jobs in which each job stays within the consolidation rule (Synergy,
§4.1.1, Theorem 4.1, and §6; theory: stage 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from time import monotonic
from typing import Literal, get_args

from synergy_opt.answer import Allocation, Bound, Choice, Proof, vector_sum
from synergy_opt.checks import all_of
from synergy_opt.configurations import configurations
from synergy_opt.errors import SolverFailed
from synergy_opt.ideal.choices import at_share, choices_of, whole_counts
from synergy_opt.ideal.core import core_allocation
from synergy_opt.ideal.multipliers import checked_prices, lattice, price_bound
from synergy_opt.ideal.relaxation import Counts, best_bound, relax, with_columns
from synergy_opt.kinds import Kind, kinds
from synergy_opt.model import Instance, Job, Vector
from synergy_opt.program import Program, ideal_program
from synergy_opt.progress import Watcher
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, Solution, Stop, limits_of
from synergy_opt.solvers import NAMES
from synergy_opt.solvers import solver as solver_named

Floor = Literal["fixing", "rows"]

_DIGITS = Fraction(1, 10**5)  # relative error that a solver's bound may have; HiGHS: about 1e-6


def ideal_allocation(
    instance: Instance,
    *,
    integral: bool = True,
    solver: str | None = None,
    floor: Floor = "fixing",
    consolidated: bool = True,
    limits: Limits | None = None,
    watch: Watcher | None = None,
) -> Allocation:
    """Choose each runnable job's configuration so that the sum of throughputs is highest.

    maximise Σ_j Σ_k W_jk y_jk subject to Σ d_jkr y_jk ≤ Σ_i R_ir for each resource r,
    Σ_k y_jk = 1 and Σ_k W_jk y_jk ≥ W_j^f for each job: LP(1–5) of the paper, or its ILP.

    Parameters
    ----------
    instance
        Its runnable jobs take part.
    integral
        One grid point a job, the paper's ILP. False: mixtures, its LP.
    solver
        Of the ILP: ``"core"``, the default, is our own (`synergy_opt.ideal.knapsack`) and ends
        with a proof in exact arithmetic; its rivals are ``"highs"``, ``"cpsat"``, ``"scipy"``,
        ``"brute_force"``, and ``"cvxpy"``, the paper's formulation written down job by job. The
        LP needs a basis, which HiGHS gives.
    floor
        ``"fixing"`` deletes configurations with W < W^f: the same ILP, a tighter LP, at most K
        jobs on mixtures. ``"rows"`` keeps (5) as the paper writes it; the core always fixes.
    consolidated
        Leave out configurations beyond the paper's consolidation rule (§6): a job that fits on one
        server has at most one server's worth, or its fair share on a group of servers; a larger
        one at most the worth of the fewest servers that hold it, or its share. The bound then
        holds for fair placements of all listed jobs that keep this rule.
    limits
        Time, gap, threads and seed of the solver.
    watch
        Called by the core with a `Progress` each time that more is known; the other solvers, who
        tell nothing before the end, do not call it.

    Returns
    -------
    Allocation
        Throughput and bound are exact; `proof` says what shows that it is the best. At a limit
        without a better answer each job has its fair share.

    Raises
    ------
    SolverFailed
        When the solver gives no usable answer, or one that exact arithmetic refutes.
    ValueError
        When the LP is asked of another solver than HiGHS, or there is no such solver.

    Notes
    -----
    Dominated configurations are deleted and equal jobs merged first, both without loss, so that
    the size depends on the kinds of jobs and not on their number.

    Examples
    --------
    >>> from synergy_opt.model import Cluster, Instance, Job, Profile, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=1, gpus=2, capacity=(6,))])
    >>> hungry = Profile(name="hungry", axes={"cpu": [1, 3, 5]}, throughput=[1, 3, 5])
    >>> sated = Profile(name="sated", axes={"cpu": [1, 3]}, throughput=[7, 7])
    >>> jobs = [Job(id="a", gpus=1, profile="hungry"), Job(id="b", gpus=1, profile="sated")]
    >>> best = ideal_allocation(
    ...     Instance(name="two", cluster=cluster, profiles=[hungry, sated], jobs=jobs))
    >>> best.throughput, best.bound.value, best.proof
    (Fraction(8, 3), Fraction(8, 3), 'multipliers')
    """
    solver = solver or ("core" if integral else "highs")
    if solver not in ("core", *NAMES, "cvxpy"):
        raise ValueError(f"no solver {solver!r}; there are core, {', '.join(NAMES)} and cvxpy")
    if floor not in get_args(Floor):
        raise ValueError(f"floor must be one of {', '.join(get_args(Floor))}, not {floor!r}")
    if not integral and solver != "highs":
        raise ValueError("the linear programme of stage 1 is solved by HiGHS only")
    limits = limits_of(limits)
    jobs, mixed = runnable(instance), floor == "rows" and not integral
    if solver == "core":
        return core_allocation(
            instance, jobs, consolidated=consolidated, limits=limits, watch=watch
        )
    merged = kinds(instance, jobs, consolidated=consolidated)
    start = monotonic()
    relaxed = relax(instance, merged, rows=mixed, limits=limits, needed=not integral)
    bound = best_bound(
        merged,
        instance.cluster,
        relaxed,
        integral=integral,
        rows=mixed,
        consolidated=consolidated,
    )
    used, counts, stop = with_columns(merged, rows=mixed), relaxed.counts, relaxed.stop
    claimed: float | None = None
    done = stop is Stop.INTERRUPTED or (solver == "highs" and _is_whole(counts))
    if jobs and integral and not done:
        used, solution = _integer(
            instance,
            jobs,
            merged,
            solver=solver,
            floor=floor,
            consolidated=consolidated,
            limits=limits.since(start),
        )
        counts, stop, claimed = whole_counts(solution.x, used), solution.stop, solution.bound
    if counts is None:
        stop, used = Stop.LIMIT, with_columns(merged, rows=False)
        counts = [at_share(instance, jobs[kind.members[0]], kind) for kind in used]
    choices = choices_of(jobs, used, counts, averaged=mixed)
    _check_capacity(instance, choices)
    allocation = Allocation(
        instance=instance.name,
        jobs=choices,
        bound=bound,
        proof="none",
        stopped=stop is not Stop.OPTIMAL,
    )
    return replace(allocation, proof=_proof(allocation, claimed, lattice(merged)))


def stage_1_program(
    instance: Instance,
    *,
    integral: bool = True,
    floor: Floor = "fixing",
    consolidated: bool = True,
) -> Program:
    """Give stage 1 over the kinds of runnable jobs, for export or another solver.

    Parameters
    ----------
    instance, floor, consolidated
        As in `ideal_allocation`.
    integral
        False: the linear programme, with jobs on mixtures.
    """
    rows = floor == "rows"
    merged = kinds(instance, runnable(instance), merge=not rows, consolidated=consolidated)
    shown = with_columns(merged, rows=rows)
    return ideal_program(instance.name, shown, instance.cluster, rows=rows, integral=integral)


def skipping_bound(
    instance: Instance,
    multipliers: Vector,
    *,
    jobs: Sequence[Job] | None = None,
    consolidated: bool = True,
) -> Bound:
    """Give the bound of these multipliers for placements that may leave jobs out.

    Stage 1 places every job, and its bound may charge a job more than the job brings: a placement
    without that job can exceed it. Here each job's term is at least 0.

    Parameters
    ----------
    instance, multipliers
        Any prices ≥ 0, such as those of stage 1's bound; the best of nine parts of them is taken.
    jobs
        The jobs that the placement lists; default the runnable ones.
    consolidated
        As in `ideal_allocation`.

    Raises
    ------
    InvalidInstance
        When there is not one multiplier of at least 0 a resource: nothing would hold.

    Examples
    --------
    Job b counts ½ and needs two of four CPUs: with it the best is 1 + ½, without it 3.

    >>> from synergy_opt.model import Cluster, Instance, Job, Profile, Server
    >>> cluster = Cluster(resources={"cpu": "cores"},
    ...                   servers=[Server(type="n", count=1, gpus=2, capacity=(4,))])
    >>> a = Profile(name="a", axes={"cpu": [2, 4]}, throughput=[1, 3])
    >>> b = Profile(name="b", axes={"cpu": [2]}, throughput=[1])
    >>> both = Instance(name="both", cluster=cluster, profiles=[a, b], jobs=[
    ...     Job(id="a", gpus=1, profile="a"), Job(id="b", gpus=1, profile="b", weight=0.5)])
    >>> bound = ideal_allocation(both, solver="highs").bound
    >>> bound.value, skipping_bound(both, bound.multipliers).value
    (Fraction(3, 2), Fraction(3, 1))
    """
    fitting = runnable(instance)
    listed = fitting if jobs is None else all_of(Job, jobs, "jobs")
    prices = checked_prices(instance, multipliers)
    merged = kinds(instance, listed, consolidated=consolidated)
    # Stage 1 must serve every job, so its prices may be far too high here: lower ones as well.
    lower = [tuple(p * part / 8 for p in prices) for part in range(9)]
    value, best = min(
        (price_bound(merged, instance.cluster.capacity, prices, skipping=True), prices)
        for prices in lower
    )
    return Bound(value=value, multipliers=best, consolidated=consolidated, skipping=True)


def _integer(
    instance: Instance,
    jobs: Sequence[Job],
    merged: Sequence[Kind],
    *,
    solver: str,
    floor: Floor,
    consolidated: bool,
    limits: Limits,
) -> tuple[list[Kind], Solution]:
    """Solve the ILP; the kinds given back have the configurations that the columns stand for."""
    rows = floor == "rows"
    if solver == "cvxpy":
        from synergy_opt.solvers.cvxpy_ import solve_paper  # noqa: PLC0415 - 3 s to import

        whole_grid = [
            Kind(
                members=(i,),
                gpus=job.gpus,
                configurations=configurations(
                    instance, job, undominated=False, consolidated=False
                ),
            )
            for i, job in enumerate(jobs)
        ]
        return whole_grid, solve_paper(
            instance, jobs, limits, rows=rows, consolidated=consolidated
        )
    if rows:
        # Row (5) on a merged kind would let one job pay for another's floor.
        merged = kinds(instance, jobs, merge=False, consolidated=consolidated)
    shown = with_columns(merged, rows=rows)
    program = ideal_program(instance.name, shown, instance.cluster, rows=rows)
    return shown, solver_named(solver)(program, limits)


def _is_whole(counts: Counts | None) -> bool:
    return counts is not None and all(c.denominator == 1 for row in counts for c in row)


def _check_capacity(instance: Instance, choices: Sequence[Choice]) -> None:
    used = vector_sum([choice.demand for choice in choices], len(instance.cluster.names))
    for name, amount, most in zip(
        instance.cluster.names, used, instance.cluster.capacity, strict=True
    ):
        if amount > most:
            raise SolverFailed(f"the solver's answer takes {amount} of {most} {name}")


def _proof(allocation: Allocation, claimed: float | None, steps: int | None) -> Proof:
    """Say what shows that the throughput is the best.

    A solver's bound is believed to five digits. Throughputs are multiples of 1/steps: a bound
    that is not one step above leaves room for none better.
    """
    if allocation.throughput == allocation.bound.value:
        return "multipliers"
    if claimed is None or steps is None:
        return "none"
    bound = Fraction(claimed) * (1 + _DIGITS)
    return "search" if bound < allocation.throughput + Fraction(1, steps) else "none"
