"""The paper's formulation in cvxpy with one vector of variables for all jobs.

The same integer programme as `rivals.paper`, LP(1–5) with its floor rows, but written down as
sparse matrices, as one who knows cvxpy would: most of the time of the job-by-job version is
cvxpy's own. Takes an instance and limits and gives an `Answer`.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import cvxpy as cp
import highspy
import numpy as np
from scipy.sparse import csr_array

from benchmarks.methods import Answer
from benchmarks.methods.rivals import placed
from synergy_opt.errors import SolverFailed
from synergy_opt.kinds import kinds
from synergy_opt.model import Instance
from synergy_opt.program import Program, ideal_program
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, Solution, Stop
from synergy_opt.solvers.highs_ import Quiet


def vectorised(instance: Instance, *, limits: Limits) -> Answer:
    """Solve LP(1–5) as an ILP over every job's whole grid within the consolidation rule."""
    jobs = runnable(instance)
    used = kinds(instance, jobs, merge=False)
    program = ideal_program(instance.name, used, instance.cluster, rows=True)
    return placed(instance, jobs, list(used), _solve(program, limits))


def _solve(program: Program, limits: Limits) -> Solution:
    scaled, _, unit = program.normalised()
    matrix = csr_array((scaled.value, scaled.index, scaled.starts), shape=scaled.shape)
    low, high = np.isfinite(scaled.row_lower), np.isfinite(scaled.row_upper)
    x = cp.Variable(len(scaled.cost), boolean=True)
    constraints = [matrix[high] @ x <= scaled.row_upper[high]]
    if low.any():
        constraints.append(matrix[low] @ x >= scaled.row_lower[low])
    problem = cp.Problem(cp.Maximize(scaled.cost @ x), constraints)
    options: dict[str, object] = {"threads": limits.threads, "random_seed": limits.seed}
    options |= {"mip_rel_gap": float(limits.gap), "mip_abs_gap": 0.0}
    if limits.time is not None:
        options["time_limit"] = limits.time
    with warnings.catch_warnings(), patch.object(highspy, "Highs", Quiet):
        warnings.simplefilter("ignore")  # cvxpy warns at a limit; the status says the same
        try:
            problem.solve(solver=cp.HIGHS, highs_options=options)
        except cp.error.SolverError as error:
            raise SolverFailed(f"cvxpy: {error}") from None
    if problem.status == cp.OPTIMAL:
        value = float(problem.value) * unit
        return Solution(
            stop=Stop.OPTIMAL, objective=value, bound=value, x=np.asarray(x.value, dtype=float)
        )
    if problem.status == cp.USER_LIMIT:
        return Solution(stop=Stop.LIMIT)  # its variables then hold zeros: nothing is known
    raise SolverFailed(f"cvxpy ends with status {problem.status!r}")
