"""SCIP, by PySCIPOpt, as a solver of a `Program`; needs the extra ``bench``.

Takes a `Program` and `Limits` and gives a `Solution`.
"""

from __future__ import annotations

import numpy as np

from synergy_opt.errors import SolverFailed
from synergy_opt.program import Program
from synergy_opt.solution import Limits, Solution, Stop

_STOPS = {
    "optimal": Stop.OPTIMAL,
    "gaplimit": Stop.OPTIMAL,
    "timelimit": Stop.LIMIT,
    "userinterrupt": Stop.INTERRUPTED,
    "infeasible": Stop.INFEASIBLE,
}


def solve(program: Program, limits: Limits) -> Solution:
    """Solve with SCIP, one thread.

    Raises
    ------
    SolverFailed
        When PySCIPOpt is not installed, or SCIP ends with any other status.
    """
    try:
        from pyscipopt import Model, quicksum  # noqa: PLC0415 - an extra
    except ImportError:
        raise SolverFailed("SCIP needs PySCIPOpt: python -m pip install '.[bench]'") from None
    scaled, _, unit = program.normalised()
    model = Model(program.name)
    model.hideOutput()
    kinds = np.where(scaled.integral, "I", "C").tolist()
    columns = [
        model.addVar(vtype=kind, lb=low, ub=None if np.isinf(high) else high)
        for kind, low, high in zip(
            kinds, scaled.lower.tolist(), scaled.upper.tolist(), strict=True
        )
    ]
    for i, (low, high) in enumerate(
        zip(scaled.row_lower.tolist(), scaled.row_upper.tolist(), strict=True)
    ):
        part = slice(scaled.starts[i], scaled.starts[i + 1])
        pairs = zip(scaled.index[part].tolist(), scaled.value[part].tolist(), strict=True)
        total = quicksum(value * columns[j] for j, value in pairs)
        if low == high:
            model.addCons(total == low)
            continue
        if np.isfinite(high):
            model.addCons(total <= high)
        if np.isfinite(low):
            model.addCons(total >= low)
    costs = zip(scaled.cost.tolist(), columns, strict=True)
    model.setObjective(quicksum(c * x for c, x in costs), "maximize")
    model.setParam("limits/gap", float(limits.gap))
    model.setParam("limits/absgap", 0.0)
    model.setParam("randomization/randomseedshift", limits.seed)
    if limits.time is not None:
        model.setParam("limits/time", max(limits.time, 0.0))
    model.optimize()
    status = model.getStatus()
    if status not in _STOPS:
        raise SolverFailed(f"SCIP on {program.name!r} ends with status {status!r}")
    known = model.getNSols() > 0
    bound = model.getDualbound()
    return Solution(
        stop=_STOPS[status],
        objective=model.getObjVal() * unit if known else None,
        bound=bound * unit if abs(bound) < model.infinity() else None,
        x=np.array([model.getVal(x) for x in columns]) if known else None,
    )
