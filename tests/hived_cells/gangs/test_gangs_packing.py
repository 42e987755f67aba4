"""Pods into bins: found if and only if trying everything finds one, and as it is said."""

from itertools import pairwise

from gang_builders import packs
from hypothesis import given
from hypothesis import strategies as st

from hived_cells.gangs.packing import MAX_SEARCHED, Bin, merged, pack

SIZES = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 2)), min_size=1, max_size=4)
CAPACITIES = st.lists(st.integers(1, 8), max_size=4)
POWERS = st.lists(
    st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(1, 3)), min_size=1, max_size=4
)


def bins_of(capacities: list[int]) -> list[Bin]:
    """Return equal capacities together, each preferred by its size."""
    return [Bin((c,), c, capacities.count(c), (c,)) for c in sorted(set(capacities))]


def check(capacities, pods, packing):
    """Check that a packing puts every pod into a bin that exists and has room."""
    left = sorted(capacities)
    placed: list[tuple[int, int]] = []
    for one in packing.filled:
        for _ in range(one.number):
            left.remove(one.origin[0])
            assert sum(size * count for size, count in one.contents) <= one.origin[0]
            placed += one.contents
    assert merged(placed) == merged(pods)


@given(capacities=CAPACITIES, pods=SIZES)
def test_found_iff_there_is_one(capacities, pods):
    """Tests sizes that do not divide each other against trying everything."""
    packing = pack(bins_of(capacities), pods)
    assert packing.exact
    sizes = [size for size, count in merged(pods) for _ in range(count)]
    assert (packing.filled is not None) == packs(list(capacities), sizes)
    if packing.filled is not None:
        check(capacities, pods, packing)


@given(capacities=st.lists(st.integers(1, 16), max_size=6), pods=POWERS, data=st.data())
def test_sizes_that_divide_each_other_need_no_search(capacities, pods, data):
    """Tests the closed form, whatever the order of preference, with no step of search."""
    bins = [
        one._replace(preference=(data.draw(st.integers(0, 3)), number))
        for number, one in enumerate(bins_of(capacities))
    ]
    packing = pack(bins, pods, budget=0)
    assert packing.exact
    needed, closed_form = 0, True
    ordered = merged(pods)
    for place, (size, count) in enumerate(ordered):
        if place:
            needed *= ordered[place - 1][0] // size
        needed += count
        closed_form = closed_form and sum(c // size for c in capacities) >= needed
    assert (packing.filled is not None) == closed_form
    if packing.filled is not None:
        check(capacities, pods, packing)


@given(capacities=CAPACITIES, pods=SIZES, budget=st.integers(0, 3))
def test_a_search_that_hits_its_limit_says_so(capacities, pods, budget):
    """Tests that "none" is said to be proved only where it is true."""
    packing = pack(bins_of(capacities), pods, budget=budget)
    sizes = [size for size, count in merged(pods) for _ in range(count)]
    if packing.filled is not None:
        check(capacities, pods, packing)
    elif packing.exact:
        assert not packs(list(capacities), sizes)


def test_limits_are_reached():
    """Tests that both limits give an undecided answer rather than a wrong one."""
    three = [Bin((0,), 7, 1, (7,)), Bin((1,), 6, 1, (6,))]
    assert pack(three, [(3, 3), (2, 2)], budget=1) == (None, False)
    many = [Bin((0,), 7, MAX_SEARCHED + 1, (7,))]
    assert pack(many, [(5, MAX_SEARCHED), (3, 3)]) == (None, False)


def test_a_bin_in_use_comes_before_a_better_fit():
    """Tests that the pods of a gang stay together where they can."""
    bins = [Bin((8,), 8, 1, (8,)), Bin((2,), 2, 1, (2,))]
    assert [one.origin for one in pack(bins, [(4, 1), (2, 1)]).filled] == [(8,)]
    assert all(a[0] > b[0] for a, b in pairwise(merged([(1, 1), (4, 1), (2, 1)])))
