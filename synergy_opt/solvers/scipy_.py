"""`scipy.optimize.milp`: the HiGHS that SciPy carries, another version behind another interface.

Takes a `Program`, gives a `Solution` without duals or basis.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from synergy_opt.errors import SolverFailed
from synergy_opt.program import Program
from synergy_opt.solution import Limits, Solution, Stop

_STOPS = {0: Stop.OPTIMAL, 1: Stop.LIMIT, 2: Stop.INFEASIBLE}


def solve(program: Program, limits: Limits) -> Solution:
    """Solve with `scipy.optimize.milp`; threads and seed cannot be set there.

    Raises
    ------
    SolverFailed
        When SciPy ends with any status that is no answer.
    """
    if not len(program.cost):
        return Solution(stop=Stop.OPTIMAL, objective=0.0, bound=0.0, x=np.zeros(0))
    scaled, _, unit = program.normalised()
    matrix = csr_array((scaled.value, scaled.index, scaled.starts), shape=scaled.shape)
    time = np.inf if limits.time is None else max(limits.time, 0.0)
    found = milp(
        -scaled.cost,
        integrality=program.integral.astype(np.uint8),
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(matrix, scaled.row_lower, scaled.row_upper),  # type: ignore[arg-type]  # the stubs know no float64 csr_array
        options={"mip_rel_gap": float(limits.gap), "time_limit": time},
    )
    if found.status not in _STOPS:
        raise SolverFailed(f"scipy.optimize.milp on {program.name!r}: {found.message}")
    bound = getattr(found, "mip_dual_bound", None)
    return Solution(
        stop=_STOPS[found.status],
        objective=None if found.x is None else -float(found.fun) * unit,
        bound=None if bound is None or not np.isfinite(bound) else -float(bound) * unit,
        x=found.x,
    )
