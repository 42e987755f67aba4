"""Prices for slots that a sample leaves unused: what they divide into, what they cost.

Takes prices of slots and gives higher ones at which a server is worth nearly the same. The prices
of a sample of jobs are 0 where none of them uses a slot; the other jobs would take it for nothing,
and a bound from such prices is far too high.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synergy_opt.packed.pricing import Index, Knapsack, Priced, solve
from synergy_opt.program import FloatArray


def lifted(sacks: Sequence[Knapsack], prices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give for each slot the least and the most that it is worth at these prices.

    The least is V(q), the best price of patterns inside the slot q: no pattern becomes dearer. The
    most is V(server) − V(server − q), what the rest of a server loses: at a higher price some
    pattern with q alone is worth more than the server. With V the best price of a pattern in a
    room, V(a) + V(b) ≤ V(a + b), so that the least is at most the most, and at the mean of both
    the two slots that fill a server are worth no more than before.

    Parameters
    ----------
    sacks
        The servers of each group; where sizes have to be rounded, both are the prices.
    prices
        μ ≥ 0, one a slot.

    Notes
    -----
    One knapsack a group. Bounds made from these prices are computed exactly afterwards, so that
    nothing depends on what floats do here.
    """
    least, most = prices.copy(), prices.copy()
    for sack in sacks:
        places = list(sack.slots)
        priced = solve(sack, prices[places], outward=False)
        if priced.exact:
            inside = _worth(priced, sack.weights, sack.sizes)
            room = np.array(sack.room, sack.sizes.dtype)
            rest = _worth(priced, sack.gpus - sack.weights, room - sack.sizes)
            least[places] = np.maximum(inside, prices[places])
            most[places] = np.maximum(float(priced.best) - rest, least[places])
    return least, most


def _worth(priced: Priced, gpus: Index, rooms: Index) -> FloatArray:
    """Give the best prices of patterns for these GPUs and rooms."""
    worth: FloatArray = priced.table[gpus, priced.state_of(rooms)].astype(np.float64)
    return worth
