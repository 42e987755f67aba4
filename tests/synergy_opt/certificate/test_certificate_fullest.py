"""The dearest multiset on one server: against all multisets, with few states and with many."""

from itertools import combinations_with_replacement
from random import Random

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
