"""The best patterns of slots for one server, exactly: a dynamic programme over reachable sums.

Takes the slots of one server group with a price each and gives the patterns of highest total
price, a pattern being a multiset of slots that fits one server; integer prices give exact answers
of any size, floats fast ones for column generation (theory: "The packed optimum", point 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from synergy_opt.packed.shapes import Sizes, Slot

Prices = npt.NDArray[np.float64] | npt.NDArray[np.int64] | npt.NDArray[np.object_]
Pattern = tuple[tuple[int, int], ...]
"""Pairs (slot, copies), by slot, ascending."""
Index = npt.NDArray[np.int64]

_STATES = 400_000  # of a table; with more, sizes are rounded to a coarser unit
_BLOCK = 2_000_000  # entries that are looked at together


@dataclass(frozen=True, kw_only=True)
class Knapsack:
    """One server and the slots that it can be divided into.

    Parameters
    ----------
    slots
        Positions of the group's slots among all slots.
    weights
        GPUs of each of them.
    sizes
        Their sizes: slots × resources, in units.
    ranks
        The same, each size by its rank among the sizes of its resource.
    larger
        For each slot the next larger ones of as many GPUs.
    gpus, room
        Of the server; the room in units.
    """

    slots: tuple[int, ...]
    weights: Index
    sizes: Index
    ranks: Index
    larger: tuple[tuple[int, ...], ...]
    gpus: int
    room: Sizes


@dataclass(frozen=True, kw_only=True)
class Priced:
    """The solved knapsack: for each number of GPUs and each room the highest total price.

    Parameters
    ----------
    knapsack
        What was solved.
    items
        Slots, as rows of the knapsack, that a best pattern needs: priced above 0, and none smaller
        of as many GPUs as dear.
    prices
        Of these.
    sums
        For each resource the sums that items reach, ascending. A state is a sum a resource.
    steps
        Items × states: the state that is left of a state's room without the item; the number of
        states where it does not fit.
    table
        (GPUs + 1) × (states + 1); the last column stands for "does not fit".
    exact
        False where sizes had to be rounded.
    """

    knapsack: Knapsack
    items: Index
    prices: Prices
    sums: tuple[Index, ...]
    steps: Index
    table: Prices
    exact: bool

    @property
    def best(self) -> int | float:
        """Highest total price of a pattern: an integer of any size where the prices are."""
        best = self.table[-1, -2]
        return float(best) if self.table.dtype == np.float64 else int(best)

    def state_of(self, room: Index) -> Index:
        """Give the states that hold as much as these rooms, rows of units; none negative."""
        flat = np.zeros(len(room), dtype=np.int64)
        for r, reach in enumerate(self.sums):
            flat = flat * len(reach) + np.searchsorted(reach, room[:, r], side="right") - 1
        return flat


def knapsack(
    slots: Sequence[Slot],
    places: Sequence[int],
    gpus: int,
    room: Sizes,
    loans: Sequence[tuple[int, int]] = (),
) -> Knapsack:
    """Prepare the dynamic programme for servers with `gpus` GPUs and `room` units.

    Parameters
    ----------
    slots, places
        The group's slots and their positions among all slots.
    gpus, room
        Of one server.
    loans
        Pairs of positions of a slot and the next smaller one of as many GPUs.
    """
    sizes = _whole([slot.sizes for slot in slots], len(room), max(room, default=0))
    ranks = [np.unique(sizes[:, r], return_inverse=True)[1] for r in range(len(room))]
    row_of = {place: row for row, place in enumerate(places)}
    larger: list[list[int]] = [[] for _ in slots]
    for large, small in loans:
        if small in row_of:
            larger[row_of[small]].append(row_of[large])
    return Knapsack(
        slots=tuple(places),
        weights=np.array([slot.gpus for slot in slots], dtype=np.int64),
        sizes=sizes,
        ranks=np.stack(ranks, axis=1).astype(np.int64),
        larger=tuple(map(tuple, larger)),
        gpus=gpus,
        room=room,
    )


def solve(sack: Knapsack, prices: Prices, *, outward: bool = True) -> Priced:
    """Give the highest total price for every number of GPUs and every room.

    V[n][s] = max (0, max { μ_q + V[n − g_q][s − q] : q fits }).

    Parameters
    ----------
    sack
        From `knapsack`.
    prices
        One for each of its slots; int64 only where the total cannot pass 2^61.
    outward
        What to do where the reachable sums are too many for a table. True: round sizes down, so
        that the answer is no less than the truth. False: round them up, so that every pattern
        fits.

    Notes
    -----
    O(G · |items| · states), without loss of exactness for integers. States are tuples of
    reachable sums: with all slots on a grid there are few, however fine the common denominator.
    """
    items = _needed(sack, prices)
    weights, kept = sack.weights[items], prices[items]
    sizes, room = sack.sizes[items], sack.room
    sums = _reachable(weights, sizes, sack.gpus, room)
    coarse = 0
    while sums is None:
        coarse = 2 * coarse or max(1, max(room) >> 12)
        sizes = sack.sizes[items] // coarse if outward else -(-sack.sizes[items] // coarse)
        room = tuple(most // coarse for most in sack.room)
        sums = _reachable(weights, sizes, sack.gpus, room)
    steps = _steps(sums, sizes)
    return Priced(
        knapsack=sack,
        items=items,
        prices=kept,
        sums=sums,
        steps=steps,
        table=_table(weights, kept, steps, sack.gpus),
        exact=coarse == 0,
    )


def _table(weights: Index, prices: Prices, steps: Index, gpus: int) -> Prices:
    states = steps.shape[1]
    table = np.zeros((gpus + 1, states + 1), dtype=prices.dtype)
    table[:, -1] = _lowest(prices)
    by_weight = [(int(w), np.flatnonzero(weights == w)) for w in np.unique(weights)]
    for n in range(1, gpus + 1):
        level = table[n - 1, :-1].copy()
        for weight, which in by_weight:
            if weight <= n:
                width = max(_BLOCK // states, 1)
                for first in range(0, len(which), width):
                    some = which[first : first + width]
                    values = table[n - weight][steps[some]] + prices[some][:, None]
                    np.maximum(level, values.max(axis=0), out=level)
        table[n, :-1] = level
    return table


def containing_each(priced: Priced, *, above: float, most: int) -> list[Pattern]:
    """Give for each needed slot a pattern that is best among those with it, best first.

    Parameters
    ----------
    priced
        The solved knapsack.
    above
        Only patterns of a higher total price are given.
    most
        How many slots to look at, those of the dearest patterns.
    """
    sack, weights = priced.knapsack, priced.knapsack.weights[priced.items]
    states = priced.steps[:, -1]
    left = sack.gpus - weights
    totals = (priced.prices + priced.table[left, states]).astype(np.float64)
    dearest = np.argsort(-totals, kind="stable")[:most]
    dearest = dearest[totals[dearest] > above]
    found: dict[Pattern, None] = {}
    for row in _best_from(priced, weights, dearest, left[dearest], states[dearest]).tolist():
        counts = Counter(int(priced.items[i]) for i in row if i >= 0)
        found[tuple(sorted((sack.slots[i], copies) for i, copies in counts.items()))] = None
    return list(found)


def _best_from(priced: Priced, weights: Index, first: Index, gpus: Index, states: Index) -> Index:
    """Give the items of best patterns, rows: `first`, then what is best in the room that is left.

    A row that has no more items ends in −1. All rows are walked together.
    """
    columns = [first]
    outside = priced.steps.shape[1]
    gpus, states = gpus.copy(), states.copy()
    walking = np.arange(len(first))
    while len(walking):
        after = priced.steps[:, states[walking]]
        left = gpus[walking] - weights[:, None]
        fits = (left >= 0) & (after < outside)
        values = priced.prices[:, None] + priced.table[np.maximum(left, 0), after]
        lowest = values.min(axis=0) - 1
        chosen = np.where(fits, values, lowest).argmax(axis=0)
        goes = fits[chosen, np.arange(len(walking))]
        walking, chosen = walking[goes], chosen[goes]
        column = np.full(len(first), -1)
        column[walking] = chosen
        columns.append(column)
        gpus[walking] -= weights[chosen]
        states[walking] = priced.steps[chosen, states[walking]]
    return np.stack(columns, axis=1)


def _needed(sack: Knapsack, prices: Prices) -> Index:
    """Give the slots priced above 0 of which no smaller one has as high a price."""
    keep: list[int] = []
    for weight in np.unique(sack.weights):
        rows = np.flatnonzero((sack.weights == weight) & np.asarray(prices > 0, dtype=bool))
        if not len(rows) or weight > sack.gpus:
            continue
        price, rank = prices[rows], sack.ranks[rows]
        # No two slots of as many GPUs are equal: what is no larger is smaller.
        beaten = np.asarray(price[:, None] >= price[None, :], dtype=bool)
        for column in rank.T:
            beaten &= column[:, None] <= column[None, :]
        np.fill_diagonal(beaten, val=False)
        keep += rows[~beaten.any(axis=0)].tolist()
    return np.array(sorted(keep), dtype=np.int64)


def _lowest(prices: Prices) -> object:
    if prices.dtype == object:
        return -(1 + sum(abs(int(p)) for p in prices)) * 2**40
    return -np.inf if prices.dtype == np.float64 else -(2**61)


def _reachable(weights: Index, sizes: Index, gpus: int, room: Sizes) -> tuple[Index, ...] | None:
    """Give for each resource the sums that items of at most `gpus` GPUs reach within the room.

    None where the states would be too many.
    """
    found, states = [], 1
    for r, most in enumerate(room):
        parts = (
            np.unique(np.stack([weights.astype(sizes.dtype), sizes[:, r]], axis=1), axis=0)
            if sizes.dtype != object
            else np.array(
                sorted({(int(w), int(s)) for w, s in zip(weights, sizes[:, r], strict=True)}),
                dtype=object,
            ).reshape(-1, 2)
        )
        levels = [np.zeros(1, dtype=sizes.dtype)]
        for n in range(1, gpus + 1):
            sums = [levels[n - 1]]
            for weight in sorted(set(weights.tolist())):
                if weight <= n:
                    added = parts[parts[:, 0] == weight, 1]
                    sums.append((levels[n - weight][:, None] + added[None, :]).ravel())
            reached = np.unique(np.concatenate(sums))
            levels.append(reached[reached <= most])
            if len(levels[-1]) * states > _STATES:
                return None
        found.append(levels[-1])
        states *= len(levels[-1])
    return tuple(found)


def _steps(sums: Sequence[Index], sizes: Index) -> Index:
    """Give for each item and state the state that is left when the item is taken out."""
    count = len(sizes)
    result = np.zeros((count, 1), dtype=np.int64)
    outside = np.zeros((count, 1), dtype=bool)
    for r, reach in enumerate(sums):
        left = np.searchsorted(reach, reach[None, :] - sizes[:, r : r + 1], side="right") - 1
        shape = count, result.shape[1] * len(reach)
        inner = np.maximum(left, 0)[:, None, :]
        result = (result[:, :, None] * len(reach) + inner).reshape(shape)
        outside = (outside[:, :, None] | (left < 0)[:, None, :]).reshape(shape)
    result[outside] = result.shape[1]
    return result


def _whole(rows: Sequence[Sizes], width: int, largest: int) -> Index:
    small = max([largest, *(max(row) for row in rows)], default=0) < 2**55
    return np.array(rows, dtype=np.int64 if small else object).reshape(len(rows), width)
