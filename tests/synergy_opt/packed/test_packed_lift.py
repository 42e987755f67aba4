"""Lifted prices: a server is worth no more at the least, but more at a price above the most."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.packed.lift import lifted
from synergy_opt.packed.pricing import knapsack
from synergy_opt.packed.shapes import Slot

GPUS, ROOM = 4, (5,)
SLOT = st.tuples(st.integers(1, GPUS), st.integers(0, ROOM[0]))


@st.composite
def priced_slots(draw):
    """Give some slots and a price each, most of them 0."""
    slots = sorted(draw(st.sets(SLOT, min_size=1, max_size=6)))
    prices = [draw(st.sampled_from((0, 0, 1, 2, 5))) for _ in slots]
    return [Slot(0, gpus, (size,)) for gpus, size in slots], np.array(prices, dtype=float)


def patterns(slots):
    """Give all multisets of slots that fit a server."""
    for n in range(GPUS + 1):
        for some in combinations_with_replacement(range(len(slots)), n):
            room = sum(slots[i].sizes[0] for i in some)
            if sum(slots[i].gpus for i in some) <= GPUS and room <= ROOM[0]:
                yield some


def worth(slots, prices):
    """Give the best price of a pattern, by trying all."""
    return max(sum(prices[i] for i in some) for some in patterns(slots))


@given(priced_slots())
def test_prices_are_lifted_as_far_as_a_server_allows(case):
    """Tests both limits against all patterns."""
    slots, prices = case
    sack = knapsack(slots, range(len(slots)), GPUS, ROOM)
    least, most = lifted([sack], prices)
    best = worth(slots, prices)
    assert (prices <= least).all()
    assert (least <= most).all()
    assert worth(slots, least) == best
    for i in range(len(slots)):
        # The price of one copy alone, beside slots at the prices that were given.
        with_it = [some for some in patterns(slots) if i in some]
        rest = max(sum(prices[j] for j in some) - prices[i] for some in with_it)
        assert rest + most[i] == best
    mean = (least + most) / 2
    pairs = [some for some in patterns(slots) if len(some) <= 2]
    assert max(sum(mean[i] for i in some) for some in pairs) <= best
