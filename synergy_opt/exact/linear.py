"""Sparse systems of linear equations, solved exactly.

Takes equations with rational coefficients and gives the one solution; this is how a solver's
vertex, known by its basis, becomes exact numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction

from synergy_opt.errors import SolverFailed

Equation = tuple[Mapping[int, Fraction], Fraction]
"""Coefficients by unknown, and the right-hand side."""


def solve_exactly(equations: Sequence[Equation], unknowns: int) -> list[Fraction]:
    """Solve a square system by Gaussian elimination, sparsest equation first.

    Parameters
    ----------
    equations
        As many as `unknowns`.
    unknowns
        Numbered from 0.

    Returns
    -------
    list of Fraction
        One value an unknown.

    Raises
    ------
    SolverFailed
        When the system is not square or is singular: it belongs to no valid basis.

    Examples
    --------
    >>> one = Fraction(1)
    >>> solve_exactly([({0: one, 1: one}, Fraction(3)), ({0: one, 1: -one}, one)], 2)
    [Fraction(2, 1), Fraction(1, 1)]
    """
    if len(equations) != unknowns:
        raise SolverFailed(f"{len(equations)} equations for {unknowns} unknowns: not a basis")
    rows = [{k: v for k, v in row.items() if v} for row, _ in equations]
    right = [value for _, value in equations]
    users: list[set[int]] = [set() for _ in range(unknowns)]
    for i, row in enumerate(rows):
        for k in row:
            users[k].add(i)
    heap = [(len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(heap)
    done: set[int] = set()
    order: list[tuple[int, int]] = []
    while heap:
        size, i = heapq.heappop(heap)
        if i in done or size != len(rows[i]):
            continue
        if not rows[i]:
            raise SolverFailed("the equations are singular: not a basis")
        done.add(i)
        pivot = min(rows[i], key=lambda k: (len(users[k]), k))
        order.append((i, pivot))
        for k in rows[i]:
            users[k].discard(i)
        for other in sorted(users[pivot]):
            _eliminate(rows, right, users, (i, pivot), other)
            heapq.heappush(heap, (len(rows[other]), other))
    solution = [Fraction(0)] * unknowns
    for i, pivot in reversed(order):
        rest = sum((v * solution[k] for k, v in rows[i].items() if k != pivot), Fraction(0))
        solution[pivot] = (right[i] - rest) / rows[i][pivot]
    return solution


def _eliminate(
    rows: list[dict[int, Fraction]],
    right: list[Fraction],
    users: list[set[int]],
    at: tuple[int, int],
    other: int,
) -> None:
    """Take a multiple of the pivot's row from another one, so that its pivot entry vanishes."""
    i, pivot = at
    factor = rows[other][pivot] / rows[i][pivot]
    right[other] -= factor * right[i]
    target = rows[other]
    for k, v in rows[i].items():
        value = target.get(k, Fraction(0)) - factor * v
        if value:
            target[k] = value
            users[k].add(other)
        else:
            target.pop(k, None)
            users[k].discard(other)
