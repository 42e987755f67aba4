"""Shows that systems solved by refining doubles are solved exactly, or given up, never wrongly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import SolverFailed
from synergy_opt.exact.linear import solve_exactly
from synergy_opt.exact.refined import solve_integers


@st.composite
def systems(draw):
    """Square systems with small integers on the left and any on the right."""
    size = draw(st.integers(1, 8))
    row = st.dictionaries(st.integers(0, size - 1), st.integers(-4, 4), max_size=4)
    equations = draw(st.lists(row, min_size=size, max_size=size))
    numbers = st.integers(-(10**40), 10**40)
    return equations, draw(st.lists(numbers, min_size=size, max_size=size))


def rational(equations, right):
    """Give the solution by elimination, None where the system is singular."""
    rows = [{k: Fraction(v) for k, v in row.items()} for row in equations]
    try:
        return solve_exactly(list(zip(rows, map(Fraction, right), strict=True)), len(rows))
    except SolverFailed:
        return None


@given(systems())
def test_what_is_found_is_what_elimination_finds(system):
    equations, right = system
    found = solve_integers(equations, right)
    if found is not None and rational(equations, right) is not None:
        numerators, denominator = found
        assert [Fraction(n, denominator) for n in numerators] == rational(equations, right)


@given(systems())
def test_what_is_found_keeps_every_equation(system):
    equations, right = system
    found = solve_integers(equations, right)
    if found is not None:
        numerators, denominator = found
        for row, value in zip(equations, right, strict=True):
            assert sum(v * numerators[k] for k, v in row.items()) == denominator * value


@given(st.data(), st.integers(3, 6), st.sampled_from([3, 10, 100]))
def test_a_matrix_that_only_rounding_makes_regular_is_given_up(data, size, most):
    """The last row is a sum of the others, and the right-hand side is one that has solutions."""
    entries = st.lists(st.integers(-most, most), min_size=size, max_size=size)
    rows = data.draw(st.lists(entries, min_size=size - 1, max_size=size - 1))
    factors = data.draw(st.lists(st.integers(-3, 3), min_size=size - 1, max_size=size - 1))
    columns = list(zip(*rows, strict=True))
    rows.append([sum(f * v for f, v in zip(factors, col, strict=True)) for col in columns])
    solution = data.draw(st.lists(st.integers(-5, 5), min_size=size, max_size=size))
    right = [sum(v * x for v, x in zip(row, solution, strict=True)) for row in rows]
    assert solve_integers([dict(enumerate(row)) for row in rows], right) is None


@given(st.integers(1, 40), st.integers(-(10**60), 10**60))
def test_bases_of_patterns_are_solved(copies, worth):
    """Each slot is priced by a pattern with several copies of it, right to left."""
    equations = [{0: copies}, {0: 1, 1: 1}, {1: 2, 2: 1}]
    found = solve_integers(equations, [worth, 3 * worth, worth])
    assert found is not None
    numerators, denominator = found
    first = Fraction(worth, copies)
    assert Fraction(numerators[0], denominator) == first
    assert Fraction(numerators[2], denominator) == worth - 2 * (3 * worth - first)


@pytest.mark.parametrize(
    ("equations", "right"),
    [
        ([{0: 1, 1: 1}, {0: 1, 1: 1}], [1, 2]),  # singular
        ([{}], [1]),
        ([{0: 1_000_003}], [1]),  # the inverse has a large denominator
        ([{0: 1999}, {1: 1997}, {2: 1993}], [1, 1, 1]),  # no small common one
        ([{0: 10**400}], [1]),  # no double
        ([{0: 10**200, 1: 1}, {0: 1, 1: 10**300}], [1, 1]),
        # Singular, and rounding makes the last pivot a small number instead of 0.
        ([{0: 4, 1: 1, 2: -1}, {0: 7, 1: 2}, {0: 26, 1: 7, 2: -3}], [22, 43, 152]),
    ],
)
def test_what_cannot_be_told_is_given_up(equations, right):
    assert solve_integers(equations, right) is None


def test_no_equations_have_no_unknowns():
    assert solve_integers([], []) == ([], 1)
