"""The best mixture within a demand: against all bases of the linear programme, exactly."""

import itertools
from random import Random

import numpy as np
import pytest
from certificate_cases import F

from synergy_opt.certificate.envelope import best_mixture
from synergy_opt.certificate.facts import Grid


def solved(rows):
    """Solve a square system [A | b] exactly; None where it is singular."""
    rows, size = [list(row) for row in rows], len(rows)
    for i in range(size):
        pivot = next((r for r in range(i, size) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(size):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def by_definition(points, demand):
    """Give the best of all basic mixtures: n points, n − 1 resources used up."""
    best = None
    for n in range(1, len(demand) + 2):
        for chosen in itertools.combinations(points, n):
            for tight in itertools.combinations(range(len(demand)), n - 1):
                parts = solved(
                    [[*(F(d[r]) for d, _ in chosen), F(demand[r])] for r in tight]
                    + [[F(1)] * (n + 1)]
                )
                if parts is None or min(parts) < 0:
                    continue
                used = [
                    sum(y * d[r] for y, (d, _) in zip(parts, chosen, strict=True))
                    for r in range(len(demand))
                ]
                if all(u <= most for u, most in zip(used, demand, strict=True)):
                    made = sum(y * w for y, (_, w) in zip(parts, chosen, strict=True))
                    best = made if best is None else max(best, made)
    return best


def drawn(seed):
    """Give a grid of one to three resources, which points are allowed, and a demand."""
    random = Random(seed)
    shape = ((5,), (3, 3), (2, 2, 2))[seed % 3]
    axes = tuple(
        (sorted(random.sample(range(9), size)), F(random.randint(1, 3), random.randint(1, 3)))
        for size in shape
    )
    size = int(np.prod(shape))
    worth = np.array([random.randint(0, 9) for _ in range(size)]).reshape(shape)
    allowed = np.array([random.random() < 0.8 for _ in range(size)]).reshape(shape)
    allowed.flat[0] = True
    demand = tuple(F(random.randint(0, 16), 2) * unit for _, unit in axes)
    return Grid(axes=axes, worth=worth, denominator=random.randint(1, 4)), allowed, demand


@pytest.mark.parametrize("seed", range(60))
def test_the_best_basic_mixture(seed):
    """Tests the value against every basis, and that where there is none nothing is given."""
    grid, allowed, demand = drawn(seed)
    points = [
        (
            tuple(axis[i] * unit for i, (axis, unit) in zip(at, grid.axes, strict=True)),
            F(int(grid.worth[at]), grid.denominator),
        )
        for at in np.ndindex(grid.worth.shape)
        if allowed[at]
    ]
    assert best_mixture(grid, allowed, demand) == by_definition(points, demand)


def test_both_resources_are_used_up_by_three_points():
    """Tests a mixture by hand: a third of each of three points, on all of 1 core and 1 GB."""
    axes = (([0, 1, 2], F(1)), ([0, 1, 2], F(1)))
    worth = np.array([[0, 0, 0], [0, 0, 6], [0, 9, 0]])
    allowed = worth > 0
    allowed[0, 0] = True
    grid = Grid(axes=axes, worth=worth, denominator=2)
    assert best_mixture(grid, allowed, (F(1), F(1))) == F(6 + 9, 2 * 3)
    assert best_mixture(grid, allowed, (F(2), F(2))) == F(9, 2)
    assert best_mixture(grid, allowed, (F(3, 2), F(3, 2))) == F(6 + 9, 4)
    worth[0, 0] = 1
    assert best_mixture(grid, worth > 1, (F(1), F(1))) is None
