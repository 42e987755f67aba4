"""What reduced costs leave of a small table, worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from synergy_opt.ideal.knapsack import Table
from synergy_opt.ideal.knapsack.bound import price_bound
from synergy_opt.ideal.knapsack.core import core
from synergy_opt.ideal.knapsack.table import Floats

# Value and demand of each item; at price 1 their reduced costs are 0, 0, 3 and 4, 0, 1, 2 and
# 0, 1: all exact in doubles, as the capacity is a power of two.
GROUPS = [
    [(7, 3), (8, 4), (2, 1)],
    [(0, 2), (4, 2), (6, 5), (5, 5)],
    [(4, 2), (6, 5)],
]
COUNTS = [1, 2, 1]


def table(groups=GROUPS, counts=COUNTS, capacity=8):
    """Give a table with one resource."""
    return Table(
        first=np.concatenate([[0], np.cumsum([len(items) for items in groups])]),
        counts=np.array(counts),
        value=np.array([v for items in groups for v, _ in items]),
        below=np.ones(len(groups), dtype=np.int64),
        demand=(np.array([d for items in groups for _, d in items]),),
        capacity=(capacity,),
    )


def found(gap, *, most=100, of=None):
    """Give the core at price 1."""
    given = table() if of is None else of
    floats, prices = Floats.of(given), (Fraction(1),)
    bound, best = price_bound(given, floats, prices)
    assert bound == 18 or of is not None  # 8 + 4 + 2 · 2 + 2
    return core(given, floats, prices, best, gap, most=most)


def test_a_gap_leaves_the_items_within_it():
    """Tests every field: an item at the gap is in, costliest first, and the nearest group last."""
    part = found(Fraction(2))
    assert part.base.tolist() == [0, 4, 7]
    assert part.groups == [1, 2, 0]  # their nearest rivals cost 1, 1 and 0
    assert part.items == [[6, 5], [8], [1]]
    assert part.counts == [2, 1, 1]
    assert part.gains == [[1, 2], [2], [1]]
    assert part.steps == [[(3,), (3,)], [(3,)], [(1,)]]
    assert part.value == 7 + 2 * 4 + 4
    assert part.slack == (8 - 3 - 2 * 2 - 2,)
    assert part.whole
    assert part.size == 4


@pytest.mark.parametrize(
    ("gap", "items"), [("0", [[1]]), ("999/1000", [[1]]), ("1", [[5], [8], [1]])]
)
def test_nothing_beyond_the_gap_is_left(gap, items):
    """Tests that an item is left out as soon as its reduced cost is above the gap."""
    assert found(Fraction(gap)).items == items


def test_without_an_answer_all_is_left():
    """Tests that before any answer is known nothing is ruled out, the best items apart."""
    part = found(None)
    assert sorted(k for row in part.items for k in row) == [1, 2, 3, 5, 6, 8]
    assert part.whole


@pytest.mark.parametrize(
    ("most", "items", "whole"),
    [(4, [1, 2, 5, 6, 8], True), (3, [1, 5, 8], False), (1, [1], False)],
)
def test_only_the_cheapest_of_a_large_core(most, items, whole):
    """Tests that a quarter more than asked is taken whole, and of more than that the cheapest."""
    part = found(Fraction(3), most=most)
    assert sorted(k for row in part.items for k in row) == items
    assert part.whole is whole


def test_rivals_that_cost_the_same_stay_in_their_order():
    """Tests that the dearer half of forty rivals comes first, each half as in the table."""
    many = [[(9, 1)] + [(8, 1), (7, 1)] * 20, [(9, 1)] + [(8, 1), (7, 1)] * 20]
    part = found(Fraction(2), of=table(many, [1, 1]))
    halves = [[*range(2, 41, 2), *range(1, 41, 2)], [*range(43, 82, 2), *range(42, 82, 2)]]
    assert part.items == halves
