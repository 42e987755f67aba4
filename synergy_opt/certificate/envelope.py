"""The best mixture of grid points within a demand, exactly.

Takes a job's grid points and a demand, gives max { Σ W_k y_k : Σ d_k y_k ≤ demand, Σ y_k = 1,
y ≥ 0 }: the upper concave envelope of the profile, at the demand or below it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.certificate.facts import Grid, Mask
from synergy_opt.model import Vector

Tableau = npt.NDArray[np.object_]


def best_mixture(grid: Grid, allowed: Mask, demand: Vector) -> Fraction | None:
    """Give the highest throughput of a mixture of `allowed` grid points within `demand`.

    None where no mixture lies within. Any number K of resources; in the profile's unit.

    Notes
    -----
    A linear programme of K + 1 rows, solved by the dual simplex method on integers (fraction-free
    pivots, Edmonds): all time on the point of highest W is the start, where no reduced cost is
    negative; Bland's rule ends it. A few pivots of O(n·K) for n grid points.
    """
    points = np.flatnonzero(allowed)
    worth = grid.worth.ravel()[points].astype(object)
    top = int(worth.argmax())
    table = _start(grid, points, worth, top, demand)
    columns = list(range(len(points), table.shape[1] - 1))  # the slacks are basic
    scale = 1
    while True:
        short = [row for row in range(len(columns)) if table[row, -1] < 0]
        if not short:
            # The last entry is (value − highest W), times `scale`.
            return Fraction(int(worth[top]) * scale + table[-1, -1], grid.denominator * scale)
        row = min(short, key=columns.__getitem__)
        column = _entering(table, row)
        if column is None:
            return None
        scale = _pivot(table, row, column, scale)
        columns[row] = column


def _start(
    grid: Grid, points: npt.NDArray[np.intp], worth: Tableau, top: int, demand: Vector
) -> Tableau:
    """Give the tableau of the basis "only `top`": resource rows, Σ y ≤ 1, reduced costs.

    The variable of `top` itself is the slack of Σ y ≤ 1 over the other points.
    """
    index = np.unravel_index(points, grid.worth.shape)
    width, height = len(points), len(demand) + 2
    table = np.zeros((height, width + height), dtype=object)
    for r, ((axis, unit), amount) in enumerate(zip(grid.axes, demand, strict=True)):
        most = amount / unit
        steps = np.array(axis, dtype=object)[index[r]] * most.denominator
        table[r, :width] = steps - steps[top]
        table[r, -1] = most.numerator - steps[top]
    table[-2, :width] = 1
    table[-2, -1] = 1
    table[-1, :width] = worth[top] - worth
    for row in range(height - 1):
        table[row, width + row] = 1
    return table


def _entering(table: Tableau, row: int) -> int | None:
    """Give the column that keeps every reduced cost at 0 or above, the first of equal ones."""
    best: int | None = None
    for column in np.flatnonzero(table[row, :-1] < 0):
        # cost / −entry < best's cost / −entry, without the division.
        if best is None or (
            table[-1, column] * -table[row, best] < table[-1, best] * -table[row, column]
        ):
            best = int(column)
    return best


def _pivot(table: Tableau, row: int, column: int, scale: int) -> int:
    """Exchange the basic variable of `row` for `column`; gives the new common denominator."""
    pivot = table[row, column]
    kept = table[row].copy()
    factors = table[:, column].copy()
    table[:] = (table * pivot - np.outer(factors, kept)) // scale
    table[row] = kept
    table *= -1  # the pivot of a dual step is negative, a denominator is not
    return -int(pivot)
