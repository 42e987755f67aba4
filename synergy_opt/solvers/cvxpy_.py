"""The paper's own formulation in cvxpy, one variable a job, independent of our matrices.

Takes an instance, gives a `Solution` whose x is each job's y over its whole grid, one after the
other (Synergy, §4.1.1; the authors' simulator also uses cvxpy).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from time import monotonic
from unittest.mock import patch

import cvxpy as cp
import highspy
import numpy as np
import numpy.typing as npt

from synergy_opt.errors import SolverFailed
from synergy_opt.model import Instance, Job
from synergy_opt.program import FloatArray
from synergy_opt.solution import Limits, Solution, Stop
from synergy_opt.solvers.highs_ import Quiet
from synergy_opt.solvers.interrupt import run_interruptibly


def solve_paper(
    instance: Instance,
    jobs: Sequence[Job],
    limits: Limits,
    *,
    integral: bool = True,
    rows: bool = True,
    consolidated: bool = True,
) -> Solution:
    """Write down LP(1–5), or its ILP, for these jobs, and solve it with HiGHS through cvxpy.

    Parameters
    ----------
    instance, jobs, limits
        Which jobs, and how long.
    integral
        Boolean y, as in the paper's experiments.
    rows
        Constraint (5); without it y is 0 wherever a configuration is unfair.
    consolidated
        y is 0 wherever a job that fits on one server asks for more than one has.

    Raises
    ------
    SolverFailed
        When cvxpy ends with any status that is no answer.
    """
    variables, objective, used, constraints = [], [], [], []
    tables = [_tables(instance, job) for job in jobs]
    # HiGHS' tolerances are absolute: amounts count in capacities, throughputs in the largest.
    capacity = np.array([[float(amount)] for amount in instance.cluster.capacity])
    unit = max((float(value.max()) for _, value, _ in tables), default=1.0) or 1.0
    for job, (totals, raw, floor) in zip(jobs, tables, strict=True):
        value, fair = raw / unit, floor / unit
        y = cp.Variable(len(value), boolean=True) if integral else cp.Variable(len(value))
        allowed = _allowed(instance, job, totals) if consolidated else np.ones(len(value), bool)
        if not rows:
            allowed &= value >= fair
        constraints += [cp.sum(y) == 1, y >= 0, y[np.flatnonzero(~allowed)] == 0]
        if rows:
            constraints.append(value @ y >= fair)
        variables.append(y)
        objective.append(value @ y)
        used.append((totals / capacity) @ y)
    constraints.append(sum(used) <= 1)
    problem = cp.Problem(cp.Maximize(sum(objective)), constraints)
    return _solution(problem, variables, limits, integral=integral, unit=unit)


def _solution(
    problem: cp.Problem,
    variables: list[cp.Variable],
    limits: Limits,
    *,
    integral: bool,
    unit: float,
) -> Solution:
    options: dict[str, object] = {"threads": limits.threads, "random_seed": limits.seed}
    if integral:
        options |= {"mip_rel_gap": float(limits.gap), "mip_abs_gap": 0.0}
    if limits.time is not None:
        options["time_limit"] = limits.time
    began = monotonic()
    with warnings.catch_warnings(), patch.object(highspy, "Highs", Quiet):
        # cvxpy warns where it stops at a limit; the status below says the same.
        warnings.simplefilter("ignore")
        try:
            # In a thread of its own, as `highs_.run_aside` says why; nothing can stop it.
            solve = partial(problem.solve, solver=cp.HIGHS, highs_options=options)
            _, interrupted = run_interruptibly(solve, lambda: None)
            if interrupted:
                raise KeyboardInterrupt
        except cp.error.SolverError as error:
            if limits.time is not None and monotonic() - began >= limits.time:
                return Solution(stop=Stop.LIMIT)  # it calls a limit without an answer a failure
            raise SolverFailed(f"cvxpy: {error}") from None
    if problem.status == cp.OPTIMAL:
        x = np.concatenate([np.asarray(y.value) for y in variables])
        value = float(problem.value) * unit
        return Solution(stop=Stop.OPTIMAL, objective=value, bound=value, x=x)
    if problem.status == cp.USER_LIMIT:
        # Its variables then hold zeros that violate the constraints: nothing is known.
        return Solution(stop=Stop.LIMIT)
    raise SolverFailed(f"cvxpy ends with status {problem.status!r}")


def _tables(instance: Instance, job: Job) -> tuple[FloatArray, FloatArray, float]:
    """Give, over the flat grid, the totals by resource, the objective terms, and the fair term."""
    profile = instance.profile_of[job.profile]
    scale = job.gpus if profile.per == "gpu" else 1
    axes = [axis.to_floats() * scale for _, axis in profile.axes]
    totals = np.stack([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")])
    throughput = profile.throughput.to_floats().ravel()
    share = np.array([float(job.gpus * amount) for amount in instance.cluster.share_of_a_gpu])
    inside = (totals <= share[:, None] * (1 + 1e-12)).all(axis=0)
    fair = float(throughput[inside].max())
    unit = float(job.weight) * (1 / fair if instance.objective == "relative" else scale)
    # A hair below the fair term: the floats of both sides of row (5) may differ in the last bit.
    return totals, throughput * unit, fair * unit * (1 - 1e-12)


def _allowed(instance: Instance, job: Job, totals: FloatArray) -> npt.NDArray[np.bool_]:
    """Give the points within the consolidation rule.

    These are at most one server's worth for a job that fits on one, or the worth of the fewest
    servers for another; or, for both, its fair share on a group.
    """
    groups = instance.cluster.servers
    if any(job.gpus <= group.gpus for group in groups):
        limits = [[float(a) for a in g.capacity] for g in groups if job.gpus <= g.gpus]
    else:
        sizes = sorted((g.gpus for g in groups for _ in range(g.count)), reverse=True)
        fewest = int(np.searchsorted(np.cumsum(sizes), job.gpus)) + 1
        columns = range(len(instance.cluster.resources))
        amounts = [
            sorted((float(g.capacity[r]) for g in groups for _ in range(g.count)), reverse=True)
            for r in columns
        ]
        limits = [[sum(amounts[r][:fewest]) for r in columns]]
    limits += [[job.gpus * float(a) / g.gpus for a in g.capacity] for g in groups]
    slack = 1 + 1e-12
    fits = [(totals <= np.array(limit)[:, None] * slack).all(axis=0) for limit in limits]
    return np.asarray(np.any(fits, axis=0), dtype=bool)
