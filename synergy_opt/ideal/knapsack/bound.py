"""The price bound, exact: L(λ) = λ·C + Σ_t n_t max_k (v_tk − λ·d_tk) for rational λ ≥ 0.

Takes a table and prices and gives the bound as a fraction. Doubles only sort out the items that
cannot be a group's best, by a margin that is proven to exceed their rounding errors.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from synergy_opt.exact import IntArray
from synergy_opt.ideal.knapsack.table import Choice, FloatArray, Floats, Table

Prices = tuple[Fraction, ...]
"""One price ≥ 0 for a whole unit of each dimension."""

_LATTICE = 10**30  # a coarser lattice than 1/this is worth rounding to


def margin(floats: Floats, prices: FloatArray) -> float:
    """Give a number above twice the rounding error of any score v − λ·d.

    A score is a sum of K + 1 terms, each a product of doubles within a relative 2^-51 of the
    exact number, so that its error is below (K + 4) · 2^-51 · (|v| + Σ_r λ_r d_r).
    """
    if not len(floats.gain):
        return 0.0
    largest = float(np.abs(floats.gain).max()) + float(prices @ floats.amount.max(axis=1))
    return largest * (len(prices) + 4) * 2.0**-49


def in_parts(table: Table, prices: Prices) -> FloatArray:
    """Give the prices of a whole capacity in doubles, as `Floats` measures demands."""
    return np.array([float(p * max(c, 1)) for p, c in zip(prices, table.capacity, strict=True)])


def price_bound(table: Table, floats: Floats, prices: Prices) -> tuple[Fraction, Choice]:
    """Give L(λ) exactly, and the items that attain it.

    One pass over the items in doubles; exact numbers for those within the margin of the best.
    """
    near = in_parts(table, prices)
    close = np.flatnonzero(floats.loss(near) <= margin(floats, near))
    group = table.group[close]
    start = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]])[: len(group)])
    items = close[start].copy()
    ends = np.append(start[1:], len(close))
    contested = np.flatnonzero(ends - start > 1)
    if len(contested):
        exact = _scores(table, close, prices)
        for t, a, b in zip(contested, start[contested], ends[contested], strict=True):
            rivals = exact[a:b]
            items[t] = close[a + rivals.index(max(rivals))]
    choice = items, table.counts
    spare = [c - u for c, u in zip(table.capacity, table.use(choice), strict=True)]
    slack = sum((p * s for p, s in zip(prices, spare, strict=True)), Fraction(0))
    return table.worth(choice) + slack, choice


def _scores(table: Table, items: IntArray, prices: Prices) -> list[int]:
    """Give v − λ·d of items as whole numbers that compare exactly within a group."""
    below = math.lcm(*(p.denominator for p in prices))
    scores = table.value[items].astype(object) * below
    group_below = table.below[table.group[items]].astype(object)
    for price, amounts in zip(prices, table.demand, strict=True):
        if price:
            scores -= amounts[items].astype(object) * group_below * int(price * below)
    found: list[int] = scores.tolist()
    return found


def on_lattice(table: Table, value: Fraction) -> Fraction:
    """Round down to the multiples of 1/D on which every sum of values lies, D their common one."""
    lattice = 1
    for below in np.unique(table.below):
        lattice = math.lcm(lattice, int(below))
        if lattice > _LATTICE:
            return value
    return Fraction(math.floor(value * lattice), lattice)


def simple_prices(table: Table, parts: FloatArray) -> list[Prices]:
    """Give rational prices near doubles, the simplest first."""
    unit = [max(c, 1) for c in table.capacity]
    exact = [max(Fraction(float(p)) / u, Fraction(0)) for p, u in zip(parts, unit, strict=True)]
    limits = (100, 10**4, 10**6, 10**9, 10**12)
    return [tuple(p.limit_denominator(limit) for p in exact) for limit in limits]
