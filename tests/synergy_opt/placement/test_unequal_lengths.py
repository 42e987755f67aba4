"""Vectors of unequal length are an error in every step of stage 2, never cut short."""

import importlib
from fractions import Fraction

import numpy as np
import pytest

from synergy_opt.placement import division, fractional
from synergy_opt.placement.bisection import bisect, guess, moves, parts, recursion
from synergy_opt.placement.bisection.parts import Cut, Part
from synergy_opt.placement.bisection.whole import all_whole
from synergy_opt.placement.division import Problem
from synergy_opt.solution import Basis, Solution, Stop

F = Fraction
ONE, HALF = F(1), F(1, 2)


def cuts(*demands):
    """Give a job for each demand, half of it here."""
    return [Cut(j, demand, ONE, HALF) for j, demand in enumerate(demands)]


def problem(totals, capacities, resources=("cpu",)):
    """Give a problem with a group for each capacity."""
    return Problem(
        name="p",
        resources=resources,
        totals=totals,
        capacities=capacities,
        group=np.arange(len(capacities)),
        fair=np.ones((len(totals), len(capacities)), dtype=bool),
    )


WIDE = problem([(ONE, ONE, ONE)], [(F(9), F(9))])
BASIS = Basis(
    columns=np.array([True, True]), rows=np.array([False, False, True, True, True, True])
)


@pytest.mark.parametrize(
    "step",
    [
        lambda: guess.guessed(cuts((1, 2), (2, 1)), (8,)),
        lambda: guess._absorb([0], [[1.0, 1.0]], [0.5], [1.0], [0.25]),
        lambda: guess._null([[1.0], [1.0, 2.0]]),
        lambda: guess._solve([(1, 2), (3, 4, 5)], [1, 2]),
        lambda: guess._solve([(1,), (3,)], [1, 2]),
        lambda: moves._reach(cuts((1,), (1,)), [1]),
        lambda: moves.move(cuts((1,), (1,)), [1], [], [], F(1, 4)),
        lambda: parts.weighted([(HALF, (1, 2)), (HALF, (1,))], 2),
        lambda: parts.weighted([(HALF, (1, 2))], 3),
        lambda: all_whole([(9, 9)], [Part(0, ONE)], 2, (1,)),
        lambda: division.best_fit(problem([(F(9), F(9), F(9))], [(ONE, ONE)])),
        lambda: division.vertex(WIDE, [0], None),
        lambda: division._as_groups(WIDE, [1, 1]),
        lambda: division._whole((ONE, ONE), (1,)),
        lambda: division._exact_point([(ONE, ONE), (ONE, ONE, ONE)], [(F(9), F(9))], BASIS),
        lambda: division._exact_point([(ONE, ONE)] * 2, [(F(9), F(9), F(9))], BASIS),
        lambda: fractional._split_bound(WIDE, [{0: ONE}]),
        lambda: fractional._split_bound(problem([(ONE, ONE)] * 2, [(F(9), F(9))]), [{0: ONE}]),
    ],
)
def test_a_step_refuses_them(step):
    """Tests what each helper is given by the others, one number too many or too few."""
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        step()


def test_a_guess_for_too_few_jobs_is_refused(monkeypatch):
    """Tests that every job has its part."""
    module = importlib.import_module("synergy_opt.placement.bisection.halve")
    monkeypatch.setattr(module, "guessed", lambda cuts, room: [ONE])
    side = ([Part(0, ONE), Part(1, ONE)], [F(3)])
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        module.halve([(1,), (2,)], side, 2, (3,))


def test_servers_for_too_few_jobs_are_refused(monkeypatch):
    """Tests whole jobs, parts inside a group, and points of the programme."""
    monkeypatch.setattr(recursion, "all_whole", lambda *a: [0])
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        bisect([(1,), (1,)], [ONE, ONE], servers=2, room=(1,))
    given = problem([(ONE, ONE)] * 2, [(F(9), F(9))])
    monkeypatch.setattr(division, "bisect", lambda *a, **k: [{0: ONE}])
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        division.halved(given, None)
    monkeypatch.setattr(division, "_exact_point", lambda *a: [{0: ONE}])
    solution = Solution(stop=Stop.OPTIMAL, basis=BASIS)
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        division.vertex(given, [None, None], lambda program, limits: solution)
