"""Steps in a box lead from poor prices to those of the relaxation of the whole."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from synergy_opt.generate import mix, scattered
from synergy_opt.packed.boxed import settled
from synergy_opt.packed.generation import first_columns, generate, rounded_prices
from synergy_opt.packed.master import Relaxation
from synergy_opt.packed.problem import problem_of
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits

CASES = {
    "own grids": (scattered(servers=6, seed=3), "never"),
    "mix": (mix(servers=12, seed=1, split=(33, 33, 34)), "never"),
    "in pieces": (mix(servers=12, seed=1, split=(33, 33, 34)), "allowed"),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_from_disturbed_prices_reach_the_relaxation_of_the_whole(name):
    """Tests against the simplex method; with jobs in pieces that the bound is never worse."""
    instance, split = CASES[name]
    problem = problem_of(instance, runnable(instance), split, Limits(), time.monotonic())
    columns = first_columns(problem)
    relaxation = Relaxation(columns)
    prices = generate(problem, columns, relaxation)
    lowest = problem.bound(rounded_prices(prices, columns.unit))
    disturbed = prices * np.random.default_rng(1).uniform(0.8, 1.2, len(prices))
    before = problem.bound(rounded_prices(disturbed, columns.unit))
    assert before.value > lowest.value * (1 + Fraction(1, 100))
    found = settled(problem, disturbed, [], columns.unit)
    bound = problem.bound(rounded_prices(found, columns.unit))
    assert bound.value >= lowest.value * (1 - Fraction(1, 10**6))
    if split == "never":
        assert bound.value <= lowest.value * (1 + Fraction(2, 10**5))
    else:
        assert bound.value <= before.value
