"""CP-SAT of OR-tools: integers only, nothing shared with a simplex method.

Takes a `Program` whose columns are all integer and bounded, gives a `Solution`.
"""

from __future__ import annotations

import math

import numpy as np
from ortools.sat.python import cp_model

from synergy_opt.errors import SolverFailed
from synergy_opt.program import FloatArray, Program
from synergy_opt.solution import Limits, Solution, Stop
from synergy_opt.solvers.interrupt import run_interruptibly

_ROOM = 2**50  # largest sum of the objective: well inside CP-SAT's 64 bits
_STOPS = {
    cp_model.OPTIMAL: Stop.OPTIMAL,
    cp_model.FEASIBLE: Stop.LIMIT,
    cp_model.UNKNOWN: Stop.LIMIT,
    cp_model.INFEASIBLE: Stop.INFEASIBLE,
}


def solve(program: Program, limits: Limits) -> Solution:
    """Solve with CP-SAT, which is repeatable with one thread and no time limit only.

    Costs are scaled to integers: exactly where the programme has a `scale`, else rounded up, so
    that the bound stays a bound.

    Raises
    ------
    SolverFailed
        When a column or a row is not made of integers, or CP-SAT calls the model invalid.
    """
    if not program.integral.all() or (program.value != np.rint(program.value)).any():
        raise SolverFailed("CP-SAT solves integer programmes with integer rows only")
    model, columns = _model(program)
    costs, scale = _costs(program)
    model.maximize(cp_model.LinearExpr.weighted_sum(columns, costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.threads
    solver.parameters.random_seed = limits.seed
    solver.parameters.relative_gap_limit = float(limits.gap)
    if limits.time is not None:
        solver.parameters.max_time_in_seconds = max(limits.time, 0.0)
    # CP-SAT's own handler of Ctrl-C would stay behind and end the process the next time.
    solver.parameters.catch_sigint_signal = False
    status, interrupted = run_interruptibly(lambda: solver.solve(model), solver.stop_search)
    if status not in _STOPS:
        raise SolverFailed(f"CP-SAT on {program.name!r}: {solver.status_name(status)}")
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    x = np.array([solver.value(c) for c in columns], dtype=np.float64) if known else None
    return Solution(
        stop=Stop.INTERRUPTED if interrupted else _STOPS[status],
        objective=None if x is None else float(program.cost @ x),
        bound=solver.best_objective_bound / scale,
        x=x,
    )


def _model(program: Program) -> tuple[cp_model.CpModel, list[cp_model.IntVar]]:
    model = cp_model.CpModel()
    columns = [
        model.new_int_var(math.ceil(low), math.floor(high), name)
        for low, high, name in zip(program.lower, program.upper, program.column_names, strict=True)
    ]
    for i, (low, high) in enumerate(zip(program.row_lower, program.row_upper, strict=True)):
        part = slice(program.starts[i], program.starts[i + 1])
        terms = [columns[j] for j in program.index[part]]
        total = cp_model.LinearExpr.weighted_sum(terms, [int(v) for v in program.value[part]])
        lowest = -(2**62) if np.isinf(low) else math.ceil(low)
        highest = 2**62 if np.isinf(high) else math.floor(high)
        model.add_linear_constraint(total, lowest, highest)
    return model, columns


def _costs(program: Program) -> tuple[list[int], float]:
    largest = float(np.abs(program.cost) @ np.maximum(program.upper, 1)) or 1.0
    if program.scale and program.scale * largest < _ROOM:
        return _whole(program.cost * program.scale), float(program.scale)
    scale = 2.0 ** math.floor(math.log2(_ROOM / largest))
    return [math.ceil(c * scale) for c in program.cost], scale


def _whole(costs: FloatArray) -> list[int]:
    return [round(c) for c in costs]
