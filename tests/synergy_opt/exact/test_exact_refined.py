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
    ],
)
def test_what_cannot_be_told_is_given_up(equations, right):
    assert solve_integers(equations, right) is None


def test_no_equations_have_no_unknowns():
    assert solve_integers([], []) == ([], 1)
