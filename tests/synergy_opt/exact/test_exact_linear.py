"""Exact solution of sparse systems."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import SolverFailed
from synergy_opt.exact.linear import solve_exactly

NUMBERS = st.fractions(-3, 3, max_denominator=7)


@st.composite
def systems(draw):
    """Sparse square systems with a known solution, most of them regular."""
    n = draw(st.integers(1, 7))
    entries = st.dictionaries(st.integers(0, n - 1), NUMBERS.filter(bool), max_size=3)
    rows = [{i: Fraction(draw(st.integers(1, 3)))} | draw(entries) for i in range(n)]
    solution = draw(st.lists(NUMBERS, min_size=n, max_size=n))
    return [(r, sum((v * solution[k] for k, v in r.items()), Fraction(0))) for r in rows], n


@given(systems())
def test_solution_satisfies_every_equation(case):
    """Tests that the solution satisfies all equations exactly, or the system is singular."""
    equations, n = case
    try:
        found = solve_exactly(equations, n)
    except SolverFailed:
        assert determinant(equations, n) == 0
        return
    for row, right in equations:
        assert sum((v * found[k] for k, v in row.items()), Fraction(0)) == right
    assert determinant(equations, n) != 0


def determinant(equations, n) -> Fraction:
    """Expand along the first row: slow, and nothing in common with elimination."""
    matrix = [[row.get(k, Fraction(0)) for k in range(n)] for row, _ in equations]

    def minor(rows, columns):
        if not rows:
            return Fraction(1)
        return sum(
            (-1) ** c * matrix[rows[0]][k] * minor(rows[1:], columns[:c] + columns[c + 1 :])
            for c, k in enumerate(columns)
            if matrix[rows[0]][k]
        )

    return Fraction(minor(list(range(n)), list(range(n))))


def test_system_that_is_not_square_is_refused():
    """Tests that too few equations are no basis."""
    with pytest.raises(SolverFailed, match="1 equations for 2 unknowns"):
        solve_exactly([({0: Fraction(1)}, Fraction(1))], 2)
