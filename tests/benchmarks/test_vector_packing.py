"""The pattern engine as a vector packing solver: bins and bound against all partitions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synergy.bin_patterns import Master, Packing
from benchmarks.synergy.vector_packing import exact_bound, kept, packed_bins


def fewest(packing):
    """Give the fewest bins, by trying all partitions of the items."""
    items = [size for size, n in zip(packing.sizes, packing.demand, strict=True) for _ in range(n)]
    best = len(items)

    def fits(sums):
        return all(a <= b for a, b in zip(sums, packing.capacity, strict=True))

    def place(number, bins):
        nonlocal best
        if len(bins) >= best:
            # Items still to come may make an overfull bin fit again, but never fewer bins.
            return
        if number == len(items):
            if all(map(fits, bins)):
                best = len(bins)
            return
        for b, sums in enumerate(bins):
            added = tuple(x + y for x, y in zip(sums, items[number], strict=True))
            place(number + 1, [*bins[:b], added, *bins[b + 1 :]])
        place(number + 1, [*bins, items[number]])

    place(0, [])
    return best


SIZES = st.lists(
    st.tuples(st.tuples(st.integers(1, 9), st.integers(0, 9)), st.integers(1, 2)),
    min_size=1,
    max_size=5,
)


@given(rows=SIZES, giver=st.integers(0, 2))
@settings(max_examples=25)
def test_bins_and_bound_enclose_the_fewest(rows, giver):
    """Tests small packings, some with an item that makes room for others."""
    sizes, demand = zip(*rows, strict=True)
    if giver:
        sizes, demand = (*sizes, (4, -giver)), (*demand, 1)
    packing = Packing(name="small", capacity=(10, 9), sizes=sizes, demand=demand)
    if sum(demand) > 7:
        return
    found, best = packed_bins(packing, 0.5), fewest(packing)
    assert found["bound"] <= best <= found["bins"]
    if found["bound"] == found["bins"]:
        assert found["bins"] == best


@pytest.mark.parametrize("scale", [0.0, 0.4, 1.0, 7.0])
def test_any_prices_give_a_valid_bound(scale):
    """Tests that the bound holds whatever the floats were: three triples fill three bins."""
    sizes = ((5, 2), (3, 4), (2, 4), (6, 1), (2, 5), (2, 4), (4, 4), (4, 3), (2, 3))
    packing = Packing(name="triples", capacity=(10, 10), sizes=sizes, demand=(1,) * 9)
    master = Master(packing, [tuple(int(i == j) for j in range(9)) for i in range(9)])
    bound = exact_bound(master, scale * master.solve(), 10**5)
    assert bound <= fewest(packing) == 3
    assert math.isfinite(bound)


@pytest.mark.parametrize(
    ("rows", "good"),
    [
        ([(30, 30, 32), (9, -1, 9)], True),
        ([(31, 30, 32), (8, 8, 9)], True),  # half of the optima
        ([(31, 30, 32), (9, 8, 9)], False),
        ([(30, 30, 32), (10, -1, 9)], False),  # above the best heuristic
    ],
)
def test_the_verdict_asks_for_heuristics_and_half_of_the_optima(rows, good):
    names = ("bins", "optimum", "heuristic")
    assert kept([dict(zip(names, row, strict=True)) for row in rows]) is good
