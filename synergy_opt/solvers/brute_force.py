"""Every feasible point, one after the other: the referee for tiny programmes.

Takes a `Program` with integer columns and non-negative rows, gives a `Solution` that needs no
solver's word.
"""

from __future__ import annotations

import numpy as np

from synergy_opt.errors import SolverFailed
from synergy_opt.program import FloatArray, Program
from synergy_opt.solution import Limits, Solution, Stop

_MOST = 100_000  # partial points visited before this gives up


def solve(program: Program, limits: Limits) -> Solution:  # noqa: ARG001 - one signature for all
    """Enumerate by depth-first search, cutting where a row is already over its limit.

    `limits` do not apply: the search ends or gives up.

    Raises
    ------
    SolverFailed
        When the programme is too large to enumerate, or has continuous columns or negative
        coefficients.
    """
    if not program.integral.all() or (program.value < 0).any():
        raise SolverFailed("brute force needs integer columns and rows without negative numbers")
    rows, columns = program.shape
    matrix = np.zeros((rows, columns))
    for i in range(rows):
        part = slice(program.starts[i], program.starts[i + 1])
        matrix[i, program.index[part]] = program.value[part]
    # What the columns from j on can still add to each row: a row that cannot be met is cut.
    later = np.cumsum((matrix * program.upper)[:, ::-1], axis=1)[:, ::-1]
    later = np.hstack([later, np.zeros((rows, 1))])
    best: tuple[float, tuple[int, ...]] | None = None
    start: tuple[tuple[int, ...], FloatArray, float] = ((), np.zeros(rows), 0.0)
    visited, stack = 0, [start]
    while stack:
        point, used, value = stack.pop()
        visited += 1
        if visited > _MOST:
            raise SolverFailed(f"brute force gives up after {_MOST} partial points")
        j = len(point)
        if (used > program.row_upper).any() or (used + later[:, j] < program.row_lower).any():
            continue
        if j == columns:
            if best is None or value > best[0]:
                best = value, point
            continue
        stack.extend(
            ((*point, n), used + n * matrix[:, j], value + n * program.cost[j])
            for n in range(int(program.lower[j]), int(program.upper[j]) + 1)
        )
    if best is None:
        return Solution(stop=Stop.INFEASIBLE)
    x = np.array(best[1], dtype=np.float64)
    return Solution(stop=Stop.OPTIMAL, objective=best[0], bound=best[0], x=x)
