"""The dearest multiset on one server: against all multisets, with few states and with many."""

from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest

from synergy_opt.certificate import fullest as module
from synergy_opt.certificate.fullest import fullest


def by_definition(items, gpus, room):
    """Try every multiset of at most `gpus` items."""
    best = 0
    for size in range(gpus + 1):
        for chosen in combinations_with_replacement(items, size):
            weight = sum(item[0] for item in chosen)
            used = [sum(item[1][r] for item in chosen) for r in range(len(room))]
            if weight <= gpus and all(u <= most for u, most in zip(used, room, strict=True)):
                best = max(best, sum(item[2] for item in chosen))
    return best


def drawn(random, items, resources, largest):
    """Give items of 1 or 2 GPUs with amounts and prices up to `largest`."""
    return [
        (
            random.randint(1, 2),
            tuple(random.randint(0, largest) for _ in range(resources)),
            random.randint(0, largest),
        )
        for _ in range(items)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_small_ones_by_definition(seed):
    """Tests that no multiset of items that fits is dearer than the answer, and one is as dear."""
    random = Random(seed)
    items = drawn(random, items=6, resources=1 + seed % 3, largest=9)
    room = tuple(random.randint(5, 25) for _ in range(1 + seed % 3))
    assert fullest(items, 4, room) == by_definition(items, 4, room)


def test_states_too_many_for_a_table(monkeypatch):
    """Tests that where all amounts differ, and a table of them is too large, the answer is right.

    40 items of three resources make some 800 sums a resource: 5 · 10⁸ cells.
    """
    items = [(1, amounts, price) for _, amounts, price in drawn(Random(1), 40, 3, 10**6)]
    room = (17 * 10**5,) * 3
    merged = []
    dense = module._merged
    monkeypatch.setattr(module, "_merged", lambda *a: merged.append(1) or dense(*a))
    assert fullest(items, 2, room) == by_definition(items, 2, room)
    assert merged


def test_an_item_of_the_least_price_counts():
    """Tests prices of 1 and of 0, alone and beside each other."""
    assert fullest([(1, (1,), 1)], 3, (2,)) == 2
    assert fullest([(1, (1,), 0), (2, (2,), 1)], 3, (2,)) == 1
    assert fullest([(1, (1,), 0)], 3, (2,)) == 0


def test_numbers_of_a_hundred_bits():
    """Tests that a unit more or less counts where no double, and no 64 bits, would show it."""
    big = 10**30
    assert fullest([(1, (big,), big + 1), (1, (big + 1,), big + 2)], 2, (2 * big,)) == 2 * big + 2
    assert fullest([(1, (big,), big + 1), (1, (big + 1,), big + 2)], 2, (2 * big + 1,)) == (
        2 * big + 3
    )
    assert fullest([(1, (0, big + 1), big)], 1, (0, big)) == 0


def objects(*numbers):
    """Give an array of Python's own integers."""
    return np.array(numbers, dtype=object)


def test_only_states_that_none_beats_are_kept():
    """Tests two resources: equal states become one, and what costs more for no more is dropped."""
    used = objects([0, 0], [1, 2], [2, 1], [1, 2], [2, 2], [2, 3], [3, 3], [3, 1])
    worth = objects(0, 5, 6, 4, 6, 7, 7, 6)
    table, prices = module._unbeaten(used, worth)
    kept = [(*row, price) for row, price in zip(table.tolist(), prices.tolist(), strict=True)]
    assert sorted(kept) == [(0, 0, 0), (1, 2, 5), (2, 1, 6), (2, 3, 7)]


def test_equal_states_are_merged_to_the_dearest():
    """Tests the same where states are only merged, whatever order they come in."""
    for prices in ([4, 5], [5, 4]):
        table, worth = module._merged(objects([1, 2], [1, 2], [2, 1]), objects(*prices, 10**30))
        assert table.tolist() == [[1, 2], [2, 1]]
        assert worth.tolist() == [5, 10**30]
        assert table.dtype == worth.dtype == object
    assert module._merged(objects([1, 2]), objects(3))[1].dtype == object


def test_a_table_of_states_may_have_just_so_many_cells(monkeypatch):
    """Tests that at the limit states are compared, and beyond it only merged."""
    items = [(1, (1,), 1), (1, (2,), 1)]
    merged = []
    monkeypatch.setattr(module, "_merged", lambda *a: merged.append(1) or (a[0], a[1]))
    monkeypatch.setattr(module, "_DENSE", 5)  # sums of 0 to 4 in two steps
    assert fullest(items, 2, (4,)) == 2
    assert not merged
