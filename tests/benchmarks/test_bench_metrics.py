"""Means, profiles and growth are what their definitions say, on drawn numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.metrics import (
    bootstrap_interval,
    growth_exponent,
    performance_profile,
    shifted_geometric_mean,
)

TIMES = st.lists(st.floats(0.01, 100), min_size=1, max_size=8)


@given(TIMES)
def test_the_shifted_mean_is_between_least_and_most_and_below_the_mean(times):
    """Tests the order of means; for equal times it is that time."""
    found = shifted_geometric_mean(times)
    assert min(times) - 1e-9 <= found <= sum(times) / len(times) + 1e-9
    assert shifted_geometric_mean(times[:1] * 3) == pytest.approx(times[0])


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.one_of(st.floats(0.01, 100), st.just(math.inf)), min_size=n, max_size=n),
            min_size=2,
            max_size=4,
        )
    )
)
def test_profiles_rise_to_the_part_solved(table):
    """Tests monotony, the part of wins at 1, the part solved at the end, and the definition."""
    times = {str(k): row for k, row in enumerate(table)}
    tau, parts = performance_profile(times, points=20)
    best = np.min(table, axis=0)
    for name, row in times.items():
        assert (np.diff(parts[name]) >= 0).all()
        solved = sum(map(math.isfinite, row)) / len(row)
        assert parts[name][-1] == pytest.approx(solved)
        wins = sum(t == b and math.isfinite(t) for t, b in zip(row, best, strict=True))
        assert parts[name][0] == pytest.approx(wins / len(row))
        middle = sum(
            t <= tau[10] * b * (1 + 1e-12) and math.isfinite(t)
            for t, b in zip(row, best, strict=True)
        ) / len(row)
        assert parts[name][10] <= middle + 1e-12


@given(st.floats(0.2, 3), st.floats(1e-3, 10))
def test_a_power_law_gives_its_exponent(a, c):
    """Tests the fit and its interval on exact data; two sizes are too few."""
    sizes = [4, 16, 64, 512]
    slope, (low, high) = growth_exponent(sizes, [c * n**a for n in sizes])
    assert (slope, low, high) == pytest.approx((a, a, a))
    assert growth_exponent([4, 16], [1, 2]) is None


def test_the_interval_holds_the_mean_and_is_repeatable():
    """Tests that the same values give the same interval, and one value none."""
    values = [0.1, 0.2, 0.9, 0.4, 0.3]
    low, high = bootstrap_interval(values)
    assert low < np.mean(values) < high
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval([0.1]) is None
