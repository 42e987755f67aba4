"""The multiple-choice knapsack: against brute force, other solvers, ties, limits, wide numbers."""

import _thread
import itertools
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from synergy_opt.errors import Infeasible
from synergy_opt.ideal.knapsack import Table, solve
from synergy_opt.solution import Limits, Stop


@st.composite
def tables(draw, *, groups=4, sizes=4, most=2, scale=1):
    """Small tables with ties, zeros, several copies and up to three dimensions."""
    width = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, sizes), min_size=1, max_size=groups))
    items = sum(lengths)
    largest = draw(st.sampled_from([2, 5, 1000]))
    numbers = st.lists(st.integers(0, largest), min_size=items, max_size=items)
    counts = [draw(st.integers(1, most)) for _ in lengths]
    return Table(
        first=np.concatenate([[0], np.cumsum(lengths)]),
        counts=np.array(counts),
        value=np.array(draw(numbers)),
        below=np.array([draw(st.sampled_from([1, 1, 3, 7])) for _ in lengths]),
        demand=tuple(_integers([n * scale for n in draw(numbers)]) for _ in range(width)),
        capacity=tuple(draw(st.integers(0, largest * sum(counts))) * scale for _ in range(width)),
    )


def _integers(numbers):
    wide = max(numbers) >= 2**62
    array = np.empty(len(numbers), dtype=object if wide else np.int64)
    array[:] = numbers
    return array


def brute_force(table):
    """Give the best value of all choices, None where none fits."""
    best = None
    groups = [
        itertools.combinations_with_replacement(
            range(int(table.first[t]), int(table.first[t + 1])), int(table.counts[t])
        )
        for t in range(len(table))
    ]
    for combination in itertools.product(*groups):
        items = [k for part in combination for k in part]
        used = [sum(int(d[k]) for k in items) for d in table.demand]
        if all(u <= c for u, c in zip(used, table.capacity, strict=True)):
            value = sum((table.gain(k) for k in items), Fraction(0))
            best = value if best is None else max(best, value)
    return best


def random_table(seed, *, groups, sizes, width, tightness=0.5, counts=1, largest=1000):
    """Give a table whose values rise with the demands."""
    rng = np.random.default_rng(seed)
    items = groups * sizes
    demand = rng.integers(1, largest, size=(width, items))
    value = demand.sum(axis=0) + rng.integers(1, largest, size=items)
    return Table(
        first=np.arange(groups + 1) * sizes,
        counts=np.full(groups, counts),
        value=value,
        below=np.ones(groups, dtype=np.int64),
        demand=tuple(demand),
        capacity=tuple(int(tightness * largest * groups * counts) for _ in range(width)),
    )


def best_by_milp(table):
    """Solve with HiGHS through SciPy at gap 0."""
    members = np.zeros((len(table), table.items))
    members[table.group, np.arange(table.items)] = 1
    gain = table.value / table.below[table.group]
    found = milp(
        -gain,
        constraints=[
            LinearConstraint(np.array(table.demand), -np.inf, table.capacity),
            LinearConstraint(members, table.counts, table.counts),
        ],
        integrality=np.ones(table.items),
        bounds=Bounds(0, np.inf),
        options={"mip_rel_gap": 0},
    )
    return -found.fun


def _check(table, best):
    try:
        found = solve(table)
    except Infeasible:
        assert best is None
        return
    assert found.value == best
    assert found.stop is Stop.OPTIMAL
    assert found.bound >= best
    assert table.fits(found.choice)
    assert table.worth(found.choice) == best


@given(tables())
def test_solve_agrees_with_brute_force(table):
    """Tests that the optimum is exact, proven and below the bound, or that nothing fits."""
    _check(table, brute_force(table))


@given(tables(groups=3, sizes=3, scale=2**70 + 1))
def test_demands_beyond_64_bits(table):
    """Tests that demands and capacities of 80 bits are compared exactly."""
    assert table.demand[0].dtype == object or max(table.demand[0]) == 0
    _check(table, brute_force(table))


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("counts", [1, 4])
def test_solve_agrees_with_highs(width, counts):
    """Tests that HiGHS at gap 0 finds the same optimum in one to five dimensions."""
    for seed in range(2):
        table = random_table(seed, groups=8, sizes=5, width=width, counts=counts)
        found = solve(table)
        assert found.stop is Stop.OPTIMAL
        assert float(found.value) == pytest.approx(best_by_milp(table), rel=1e-9)


def test_values_with_denominators_that_share_no_small_multiple():
    """Tests the search where values cannot be whole numbers of 64 bits."""
    table = random_table(5, groups=12, sizes=4, width=2)
    primes = np.array([10_007, 10_009, 10_037, 10_039, 10_061, 10_067] * 2)
    table = Table(
        first=table.first,
        counts=table.counts,
        value=table.value,
        below=primes,
        demand=table.demand,
        capacity=table.capacity,
    )
    found = solve(table)
    assert found.stop is Stop.OPTIMAL
    assert float(found.value) == pytest.approx(best_by_milp(table), rel=1e-12)


def test_ties_by_the_ten_thousand():
    """Tests that 20,000 equal units at price 0 are balanced between two equally good items."""
    table = Table(
        first=np.array([0, 3]),
        counts=np.array([20_000]),
        value=np.array([1, 2, 2]),
        below=np.array([1]),
        demand=(np.array([1, 1, 3]), np.array([1, 3, 1])),
        capacity=(40_000, 40_000),
    )
    found = solve(table)
    assert found.value == 40_000
    assert found.stop is Stop.OPTIMAL


def test_ties_between_ten_thousand_different_groups():
    """Tests that as many groups with the same two items are balanced as well."""
    groups = 10_000
    table = Table(
        first=np.arange(groups + 1) * 2,
        counts=np.ones(groups, dtype=np.int64),
        value=np.full(2 * groups, 2),
        below=np.ones(groups, dtype=np.int64),
        demand=(np.tile([1, 3], groups), np.tile([3, 1], groups)),
        capacity=(2 * groups, 2 * groups),
    )
    found = solve(table, limits=Limits(time=30))
    assert found.value == found.bound == 2 * groups


def test_impossible_tables_are_refused():
    """Tests both proofs that nothing fits: by prices, and by a complete search."""
    by_prices = random_table(0, groups=4, sizes=3, width=2, tightness=0.001)
    with pytest.raises(Infeasible, match="prices"):
        solve(by_prices)
    # Half of each item would fit; neither does.
    by_search = Table(
        first=np.array([0, 2]),
        counts=np.array([1]),
        value=np.array([1, 1]),
        below=np.array([1]),
        demand=(np.array([0, 2]), np.array([2, 0])),
        capacity=(1, 1),
    )
    with pytest.raises(Infeasible, match="search"):
        solve(by_search)


def test_time_limit_zero_gives_the_start_and_a_bound():
    """Tests that without any time the known choice and a valid bound come back."""
    table = random_table(1, groups=30, sizes=5, width=2)
    start = np.arange(30) * 5 + np.argmin(table.demand[0].reshape(30, 5), axis=1)
    found = solve(table, start=(start, table.counts), limits=Limits(time=0.0))
    assert found.stop is Stop.LIMIT
    best = solve(table)
    assert best.value <= found.bound
    assert found.value is None or found.value <= best.value


def test_gap_that_is_allowed_ends_early():
    """Tests that with a gap of 1 % one short search is made at most and the gap is kept."""
    table = random_table(2, groups=200, sizes=10, width=2)
    found = solve(table, limits=Limits(gap=Fraction(1, 100)))
    assert found.bound - found.value <= found.value / 100
    assert found.states <= 1_000_000


def test_large_core_is_reported_with_its_gap_and_interrupted():
    """Tests that Ctrl-C in a hard search gives the incumbent, the bound and the open core."""
    table = random_table(3, groups=60, sizes=20, width=8, largest=50)
    least = np.argmin(sum(table.demand).reshape(60, 20), axis=1) + np.arange(60) * 20
    timer = threading.Timer(4.0, _thread.interrupt_main)
    timer.start()
    try:
        found = solve(table, start=(least, table.counts))
    finally:
        timer.cancel()
    assert found.stop is Stop.INTERRUPTED
    assert table.fits(found.choice)
    assert found.value < found.bound


def test_large_table_finds_its_prices_on_a_sample():
    """Tests that the prices of half a million items leave a small gap."""
    table = random_table(4, groups=30_000, sizes=20, width=2)
    found = solve(table, limits=Limits(gap=Fraction(1, 10**6)))
    assert found.bound - found.value <= found.value / 10**6


def test_no_groups():
    """Tests that an empty table has the value 0."""
    nothing = np.empty(0, dtype=np.int64)
    table = Table(
        first=np.zeros(1, dtype=np.int64),
        counts=nothing,
        value=nothing,
        below=nothing,
        demand=(nothing,),
        capacity=(3,),
    )
    found = solve(table)
    assert (found.value, found.bound, found.stop) == (0, 0, Stop.OPTIMAL)


def test_scaling_units_changes_nothing():
    """Tests that multiplying a dimension and its capacity leaves value, bound and proof."""
    table = random_table(6, groups=30, sizes=6, width=2)
    scaled = Table(
        first=table.first,
        counts=table.counts,
        value=table.value,
        below=table.below,
        demand=(table.demand[0] * 1_000_003, table.demand[1]),
        capacity=(table.capacity[0] * 1_000_003, table.capacity[1]),
    )
    one, other = solve(table), solve(scaled)
    assert one.value == other.value
    assert one.stop is other.stop is Stop.OPTIMAL
