"""Proves what cells cost at least: takes a share and a history, gives cells and a bound.

Branch and bound in whole numbers, without a solver: nothing is believed, nothing is rounded. Let
S_k be the GPUs in cells of levels ≥ k. A scenario's groups D are served as far as

    A(S) = min(0 + Σ_l w_l D_l, min_k S_k + Σ_{l<k} w_l D_l)      (S_{n+1} = 0)

and Σ_k min(w_k D_k, S_k − S_{k+1}) GPUs of them are in cells of their own size. Both are concave
in S, so the cost is convex, defined for any S, and two things bound it over a box of S: each of
its terms at the corner that is best for it, and the tangent at a point of the box.
"""

import time

import numpy as np
import numpy.typing as npt

from hived_cells.design.demand import History
from hived_cells.hierarchy import Chain

__all__ = ["least"]

Whole = npt.NDArray[np.int64]  # or Python's own numbers, where 64 bits might not hold them
BATCH = 256  # boxes that are looked at together


class _Costs:
    """The cost of S, its tangents and its bounds over boxes; rows of S by level from 1 on."""

    def __init__(self, chain: Chain, history: History, unmet: int, share: int) -> None:
        rows = history.scenarios
        self.sizes = [int(size) for size in chain.sizes[1:]]
        moments = sum(row.weight for row in rows)
        gpus = [sum(map(int.__mul__, row.groups, chain.sizes)) for row in rows]
        largest = 4 * (unmet + len(self.sizes)) * moments * (max(gpus, default=0) + share + 1)
        kind: type = np.int64 if largest < 2**62 else object
        self.unmet = unmet
        self.weights: Whole = np.array([row.weight for row in rows], dtype=kind)
        wanted = [list(map(int.__mul__, row.groups[1:], self.sizes)) for row in rows]
        self.wanted: Whole = np.array(wanted, dtype=kind).reshape(len(rows), len(self.sizes))
        # GPUs that groups of lower levels want, by level; the last entry is all.
        self.lower: Whole = np.zeros((len(rows), len(self.sizes) + 1), dtype=kind)
        self.lower[:, 1:] = np.cumsum(self.wanted, axis=1)
        self.constant = unmet * int((self.weights * self.lower[:, -1]).sum())

    def _served(self, upper: Whole) -> Whole:
        """Return, by point, scenario and level, what that level lets be served."""
        ends = np.concatenate([upper, np.zeros_like(upper[:, :1])], axis=1)
        return ends[:, None, :] + self.lower[None]

    def boxes(self, low: Whole, high: Whole) -> Whole:
        """Return a bound for each box, each term at its best corner."""
        served = self._served(high).min(axis=2)
        gap = high - np.concatenate([low[:, 1:], np.zeros_like(low[:, :1])], axis=1)
        fitting = np.minimum(self.wanted[None], gap[:, None, :]).sum(axis=2)
        gain = ((self.unmet - 1) * served + fitting) * self.weights
        return self.constant - gain.sum(axis=1)  # type: ignore[no-any-return]

    def tangents(self, point: Whole) -> tuple[Whole, Whole]:
        """Return the cost at each point and a tangent of it there, by level."""
        limits = self._served(point)
        binding = limits.argmin(axis=2)
        gap = point - np.concatenate([point[:, 1:], np.zeros_like(point[:, :1])], axis=1)
        open_ = gap[:, None, :] < self.wanted[None]
        slope = np.zeros_like(point)
        for level in range(point.shape[1]):
            slope[:, level] -= (self.unmet - 1) * ((binding == level) * self.weights).sum(axis=1)
            rise = (open_[:, :, level] * self.weights).sum(axis=1)
            slope[:, level] -= rise
            if level + 1 < point.shape[1]:
                slope[:, level + 1] += rise
        return self.boxes(point, point), slope


def least(
    chain: Chain, cells: tuple[int, ...], history: History, *, unmet: int, time_limit: float
) -> tuple[tuple[int, ...], int]:
    """Return cells of least cost and a bound of it, times the number of moments.

    The bound is exact: no cells of the same share in which the largest jobs fit cost less. It is
    the cost itself unless the time is over before all boxes are closed; then it is the least
    bound of the open ones. At most one box for each way to divide the share is ever closed by
    itself: O(share^(levels − 1) x scenarios x levels) at worst, far fewer where the cost curves.

    Parameters
    ----------
    chain
        The hardware.
    cells
        Feasible cells by level (entry 0 unused) to begin with: the better, the faster.
    history
        What the tenant wanted.
    unmet
        Misfit GPUs that count as much as one unmet GPU; at least 1.
    time_limit
        Seconds.

    Examples
    --------
    >>> from hived_cells.design.demand import Scenario
    >>> history = History((Scenario(1, (0, 3, 0)),), largest=(0, 1, 0))
    >>> least(Chain(2, (8,)), (0, 0, 1), history, unmet=8, time_limit=10.0)
    ((0, 8, 0), 0)
    """
    until = time.monotonic() + time_limit
    share = sum(map(int.__mul__, cells, chain.sizes))
    costs = _Costs(chain, history, unmet, share)
    kind, sizes = costs.weights.dtype, np.array(costs.sizes, dtype=costs.weights.dtype)
    best = _above(np.array(cells[1:], dtype=kind), sizes)
    cost = int(costs.boxes(best[None], best[None])[0])
    low = np.array(history.largest[1:], dtype=kind) * sizes
    high = share // sizes * sizes
    low[0] = share
    lows, highs = low[None], high[None]
    bounds = np.array([0], dtype=kind)  # no cost is negative
    while len(lows) and time.monotonic() < until:
        batch = slice(max(0, len(lows) - BATCH), None)
        low, high = _narrowed(lows[batch], highs[batch], sizes)
        rest, bound = slice(0, batch.start), bounds[batch]
        there = (low <= high).all(axis=1)
        low, high, bound = low[there], high[there], bound[there]
        point = _above_of_middle(low, high, sizes)
        value, slope = costs.tangents(point)
        if len(value) and int(value.min()) < cost:
            best, cost = point[value.argmin()], int(value.min())
        tangent = value + np.minimum(slope * (low - point), slope * (high - point)).sum(axis=1)
        bound = np.maximum(np.maximum(bound, tangent), costs.boxes(low, high))
        stays = (bound < cost) & (low < high).any(axis=1)
        low, high, bound = low[stays], high[stays], bound[stays]
        left, right = _halves(low, high, sizes)
        lows = np.concatenate([lows[rest], low, right])
        highs = np.concatenate([highs[rest], left, high])
        bounds = np.concatenate([bounds[rest], bound, bound])
        open_ = bounds < cost
        lows, highs, bounds = lows[open_], highs[open_], bounds[open_]
    ends = np.append(best[1:], 0)
    found = tuple(int(n) for n in (best - ends) // sizes)
    return (0, *found), int(bounds.min()) if len(bounds) else cost


def _above(cells: Whole, sizes: Whole) -> Whole:
    """Return the GPUs in cells of each level and above."""
    return np.cumsum((cells * sizes)[::-1])[::-1]


def _narrowed(low: Whole, high: Whole, sizes: Whole) -> tuple[Whole, Whole]:
    """Return boxes without what breaks S_k ≥ S_{k+1}; sizes divide each other, so it is short."""
    low, high = low.copy(), high.copy()
    for level in range(len(sizes) - 1, 0, -1):
        low[:, level - 1] = np.maximum(low[:, level - 1], low[:, level])
    for level in range(1, len(sizes)):
        most = high[:, level - 1] // sizes[level] * sizes[level]
        high[:, level] = np.minimum(high[:, level], most)
    return low, high


def _above_of_middle(low: Whole, high: Whole, sizes: Whole) -> Whole:
    """Return a feasible S in the middle of each narrowed box.

    The middle, rounded down to a whole number of cells, falls with the level as both corners do
    but for the rounding; what rounding breaks is raised.
    """
    point = low + (high - low) // sizes // 2 * sizes
    for level in range(len(sizes) - 1, 0, -1):
        point[:, level - 1] = np.maximum(point[:, level - 1], point[:, level])
    return point


def _halves(low: Whole, high: Whole, sizes: Whole) -> tuple[Whole, Whole]:
    """Return the upper corner of the first half and the lower one of the second, longest side."""
    rows = np.arange(len(low))
    side = (high - low).argmax(axis=1)
    left, right = high.copy(), low.copy()
    steps = (high - low)[rows, side] // sizes[side] // 2 * sizes[side]
    left[rows, side] = low[rows, side] + steps
    right[rows, side] = left[rows, side] + sizes[side]
    return left, right
