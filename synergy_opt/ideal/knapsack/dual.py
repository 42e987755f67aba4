"""The K-price dual: the prices at which the sum of the groups' best offers is least.

Takes the table in doubles and gives prices near the minimum of
L(λ) = λ·C + Σ_t n_t max_k (v_tk − λ·d_tk), convex and piecewise linear in K variables (theory:
stage 1, point 6). Whatever comes out, `bound` makes an exact bound of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from synergy_opt.ideal.knapsack.table import FloatArray, Floats

_LARGE = 2**18  # items from which on a sample of the groups finds the neighbourhood first
_ROUNDS = 400
_CLOSE = 1e-13  # relative distance of model and function at which cutting ends


def best_prices(floats: Floats) -> FloatArray:
    """Minimise L by cutting planes; a large table first on a sample, then near its answer.

    Near given prices few items of a group can be the best one: the others are left out, exactly
    so for all prices of the box that the search is confined to, and the box is moved while its
    border holds the search back.

    Complexity: O(items · K) a pass, some ten passes over all items and a hundred over few.
    """
    groups = len(floats.counts)
    if not groups:
        return np.zeros(len(floats.room))
    if len(floats.gain) < _LARGE or groups < 64:
        return _in_growing_box(floats)
    part = max(groups // 16, 32)
    chosen = np.sort(np.random.default_rng(0).choice(groups, part, replace=False))
    centre = best_prices(_sample(floats, chosen))
    radius = (np.maximum(centre, float(centre.max()) / 100) + 1e-12) * 8 / np.sqrt(part)
    for _ in range(60):
        low, high = np.maximum(centre - radius, 0.0), centre + radius
        centre, held = _cut(_near(floats, low, high), low, high)
        if not held:
            break
        radius = radius * 2
    return centre


def _in_growing_box(floats: Floats) -> FloatArray:
    size = len(floats.room)
    most = float(floats.counts @ np.maximum.reduceat(np.abs(floats.gain), floats.first[:-1]))
    low, high = np.zeros(size), np.full(size, 4 * most + 1.0)
    for _ in range(12):
        prices, held = _cut(floats, low, high)
        if not held:
            break
        high = high * 8
    return prices


def _sample(floats: Floats, chosen: npt.NDArray[np.int64]) -> Floats:
    """Give some groups, in a room that is as tight for them."""
    inside = np.zeros(len(floats.counts), dtype=bool)
    inside[chosen] = True
    sizes = np.diff(floats.first)
    keep = np.repeat(inside, sizes)
    first = np.concatenate([[0], np.cumsum(sizes[inside])])
    part = floats.counts[inside].sum() / floats.counts.sum()
    return Floats(
        first=first.astype(np.int64),
        counts=floats.counts[inside] / part,
        gain=floats.gain[keep],
        amount=floats.amount[:, keep],
        room=floats.room,
    )


def _near(floats: Floats, low: FloatArray, high: FloatArray) -> Floats:
    """Leave out the items that are nowhere in the box the best of their group.

    Against the best item k* at the centre c an item gains at most Σ_r δ_r |d_kr − d_k*r| when the
    prices move by at most δ.
    """
    centre, radius = (low + high) / 2, (high - low) / 2
    best, at = floats.best(centre)
    keep = np.empty(len(floats.gain), dtype=bool)
    for groups, items in floats.chunks():
        sizes = np.diff(floats.first[groups.start : groups.stop + 1])
        reach = np.zeros(items.stop - items.start)
        for r, width in enumerate(radius):
            mine = floats.amount[r, items]
            reach += width * np.abs(mine - np.repeat(floats.amount[r, at[groups]], sizes))
        score = floats.gain[items] - centre @ floats.amount[:, items]
        keep[items] = score + reach >= np.repeat(best[groups], sizes)
    keep[at] = True
    return floats.select(keep)


def _cut(floats: Floats, low: FloatArray, high: FloatArray) -> tuple[FloatArray, bool]:
    """Minimise L over a box by Kelley's cutting planes; say whether its upper border holds.

    The next point is the midway between the model's minimum and the best point so far, which
    keeps the method from jumping between corners.
    """
    size = len(low)
    rows: list[FloatArray] = []
    right: list[float] = []
    best, prices = np.inf, (low + high) / 2 if size and high[0] < np.inf else low
    point = np.clip(prices, low, high)
    lower_border = bool((low > 0).any())
    for i in range(_ROUNDS):
        term, at = floats.best(point)
        slope = floats.room - floats.amount[:, at] @ floats.counts
        value = float(point @ floats.room + floats.counts @ term)
        if value < best:
            best, prices = value, point
        # θ ≥ value + slope·(λ − point)
        rows.append(np.append(slope, -1.0))
        right.append(float(slope @ point) - value)
        scale = np.maximum(np.abs(np.array(rows)).max(axis=1, keepdims=True), 1e-300)
        found = linprog(
            np.append(np.zeros(size), 1.0),
            A_ub=np.array(rows) / scale,
            b_ub=np.array(right) / scale[:, 0],
            bounds=[*zip(low, high, strict=True), (None, None)],
            method="highs",
        )
        if (
            found.x is None
            or found.fun is None
            or best - found.fun <= _CLOSE * max(abs(best), 1e-300)
        ):
            break
        model = np.clip(found.x[:size], low, high)
        point = model if i % 2 else (model + prices) / 2
        if (point == prices).all():
            point = model
    held = bool((prices >= high - (high - low) * 1e-9).any())
    if lower_border:
        held |= bool(((prices <= low + (high - low) * 1e-9) & (low > 0)).any())
    return prices, held
