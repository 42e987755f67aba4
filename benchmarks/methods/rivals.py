"""Other people's solvers on the whole model: nothing of ours but the model's matrix.

Takes an instance, a solver's name and limits and gives an `Answer` with what the solver said.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from benchmarks.methods import Answer, claims
from synergy_opt.answer import Allocation, Bound, PatternBound, Placement
from synergy_opt.configurations import configurations
from synergy_opt.ideal import stage_1_program
from synergy_opt.ideal.choices import choices_of, whole_counts
from synergy_opt.ideal.relaxation import with_columns
from synergy_opt.kinds import Kind, kinds
from synergy_opt.model import Instance, Job
from synergy_opt.packed.compact import compact_program, runs_from
from synergy_opt.packed.runs import placement_of
from synergy_opt.packed.shapes import shop
from synergy_opt.placement import place
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, Solution, Stop
from synergy_opt.solvers import Solver
from synergy_opt.solvers import solver as named


def paper(instance: Instance, *, solver: str, limits: Limits) -> Answer:
    """Solve the paper's formulation with its floor rows (5) in cvxpy, one variable a job.

    Source: Mohan et al., OSDI '22, §4.1.1, equations (1) to (5).
    """
    from synergy_opt.solvers.cvxpy_ import solve_paper  # noqa: PLC0415 - 3 s to import

    assert solver == "cvxpy"
    jobs = runnable(instance)
    solution = solve_paper(instance, jobs, limits)
    whole_grid = [
        Kind(
            members=(i,),
            gpus=job.gpus,
            configurations=configurations(instance, job, undominated=False, consolidated=False),
        )
        for i, job in enumerate(jobs)
    ]
    return placed(instance, jobs, whole_grid, solution)


def ideal(instance: Instance, *, solver: str, limits: Limits) -> Answer:
    """Solve stage 1 over merged kinds of jobs as an integer programme; stage 2 places it."""
    jobs = runnable(instance)
    used = with_columns(kinds(instance, jobs), rows=False)
    return placed(instance, jobs, used, _solver(solver)(stage_1_program(instance), limits))


def whole(instance: Instance, *, solver: str, limits: Limits) -> Answer:
    """Solve the packed optimum's compact programme, a column a kind, configuration and server."""
    jobs = runnable(instance)
    goods = shop(instance, jobs, kinds(instance, jobs), "never")
    solution = _solver(solver)(compact_program(goods), limits)
    if solution.x is None:
        return nothing(solution)
    found = runs_from(goods, solution.x, len(jobs))
    free = PatternBound(value=Fraction(0), shapes=(), servers=(), split="never")
    placement = placement_of(found, jobs, free, "none", stopped=False)
    return _answer(replace(placement, bound=None, proof=None), solution)


def placed(
    instance: Instance, jobs: tuple[Job, ...], used: list[Kind], solution: Solution
) -> Answer:
    """Place what a solver of stage 1 chose, by stage 2; the bound is only claimed."""
    counts = whole_counts(solution.x, used)
    if counts is None:
        return nothing(solution)
    none = Bound(value=Fraction(0), multipliers=(Fraction(0),) * len(instance.cluster.names))
    allocation = Allocation(
        instance=instance.name,
        jobs=choices_of(jobs, used, counts, averaged=False),
        bound=none,
        proof="none",
    )
    placement = place(instance, allocation)
    return _answer(replace(placement, bound=None, proof=None), solution)


def nothing(solution: Solution) -> Answer:
    """Give an answer without a placement."""
    infeasible = solution.stop is Stop.INFEASIBLE
    return Answer(
        placement=None, said="infeasible" if infeasible else "limit", bound=solution.bound
    )


def _answer(placement: Placement, solution: Solution) -> Answer:
    return claims(placement, solution.stop, solution.bound)


def _solver(name: str) -> Solver:
    if name == "scip":
        from benchmarks.methods.scip import solve  # noqa: PLC0415 - an extra

        return solve
    return named(name)
