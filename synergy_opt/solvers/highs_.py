"""HiGHS through highspy, the default: simplex for linear programmes, else branch and cut.

Takes a `Program`, gives a `Solution` with a basis where the programme is linear.
"""

from __future__ import annotations

from dataclasses import replace

import highspy
import numpy as np

from synergy_opt.errors import SolverFailed
from synergy_opt.program import FloatArray, Program
from synergy_opt.solution import Basis, Limits, Solution, Stop
from synergy_opt.solvers.interrupt import run_interruptibly

_STOPS = {
    "kOptimal": Stop.OPTIMAL,
    "kTimeLimit": Stop.LIMIT,
    "kIterationLimit": Stop.LIMIT,
    "kSolutionLimit": Stop.LIMIT,
    "kInterrupt": Stop.INTERRUPTED,
    "kHighsInterrupt": Stop.INTERRUPTED,
    "kInfeasible": Stop.INFEASIBLE,
}
# A status outside the table, such as "Not Set" after a second solve with another number of
# threads, is a failure: HiGHS then reports objective 0 without an exception.


class Quiet(highspy.Highs):  # type: ignore[misc]  # highspy has no types
    """HiGHS 1.16 prints its banner while its constructor enables callbacks: silence it before."""

    def enableCallbacks(self) -> None:  # noqa: D102, N802 - HiGHS' own method
        self.silent()
        super().enableCallbacks()


def run_aside(model: highspy.Highs) -> None:
    """Run a model in a thread of its own, and let Ctrl-C stop it.

    HiGHS keeps for each thread the number of threads of the first solve there, and says "Not Set"
    to a solve that asks for another one: ours would fail after a user's, and a user's after ours.
    """
    model.HandleUserInterrupt = True
    _, interrupted = run_interruptibly(model.run, model.cancelSolve)
    if interrupted:
        raise KeyboardInterrupt


def solve(program: Program, limits: Limits) -> Solution:
    """Solve with HiGHS; Ctrl-C stops it and gives what it has.

    Raises
    ------
    SolverFailed
        When HiGHS ends with any status that is no answer.
    """
    model = Quiet()
    _set_options(model, limits)
    scaled, rows, unit = program.normalised()
    if model.passModel(_model(scaled)) == highspy.HighsStatus.kError:
        raise SolverFailed(f"HiGHS does not take the programme {program.name!r}")
    model.HandleUserInterrupt = True
    run_interruptibly(model.run, model.cancelSolve)
    status = model.getModelStatus().name
    if status == "kModelEmpty":
        return Solution(stop=Stop.OPTIMAL, objective=0.0, bound=0.0, x=np.zeros(0))
    if status not in _STOPS:
        raise SolverFailed(f"HiGHS stopped on {program.name!r} with status {status}")
    return _in_own_units(_solution(model, program, _STOPS[status]), rows, unit)


def _set_options(model: highspy.Highs, limits: Limits) -> None:
    # The number of threads is one setting a process; a reset lets the next solve change it.
    highspy.Highs.resetGlobalScheduler(True)
    options: dict[str, object] = {
        "threads": limits.threads,
        "random_seed": limits.seed,
        "mip_rel_gap": float(limits.gap),
        "mip_abs_gap": 0.0,
        "solver": "simplex",
        "primal_feasibility_tolerance": 1e-9,  # answers are recomputed exactly afterwards
        "dual_feasibility_tolerance": 1e-9,
    }
    if limits.time is not None:
        options["time_limit"] = max(limits.time, 0.0)
    for name, value in options.items():
        if model.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise SolverFailed(f"HiGHS does not take {value!r} for its option {name!r}")


def _model(program: Program) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.shape
    lp.col_cost_ = -program.cost  # HiGHS minimises; duals of ≤ rows are then ≤ 0
    lp.col_lower_, lp.col_upper_ = program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.starts
    lp.a_matrix_.index_ = program.index
    lp.a_matrix_.value_ = program.value
    if program.integral.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in program.integral]
    return lp


def _solution(model: highspy.Highs, program: Program, stop: Stop) -> Solution:
    info, found = model.getInfo(), model.getSolution()
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    x = np.array(found.col_value) if feasible and stop is not Stop.INFEASIBLE else None
    objective = None if x is None else -info.objective_function_value
    if program.integral.any():
        bound = -info.mip_dual_bound
        return Solution(
            stop=stop, objective=objective, bound=bound if np.isfinite(bound) else None, x=x
        )
    basis = model.getBasis()
    return Solution(
        stop=stop,
        objective=objective,
        bound=objective if stop is Stop.OPTIMAL else None,
        x=x,
        row_duals=-np.array(found.row_dual) if found.dual_valid else None,
        basis=_basis(basis) if basis.valid and stop is Stop.OPTIMAL else None,
    )


def _in_own_units(solution: Solution, rows: FloatArray, unit: float) -> Solution:
    """Undo the scaling of the programme that was solved."""
    duals = solution.row_duals
    return replace(
        solution,
        objective=None if solution.objective is None else solution.objective * unit,
        bound=None if solution.bound is None else solution.bound * unit,
        row_duals=None if duals is None else duals * unit / rows,
    )


def _basis(basis: highspy.HighsBasis) -> Basis:
    basic = highspy.HighsBasisStatus.kBasic
    return Basis(
        columns=np.array([status == basic for status in basis.col_status], dtype=bool),
        rows=np.array([status == basic for status in basis.row_status], dtype=bool),
    )
