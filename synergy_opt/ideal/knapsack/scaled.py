"""A core in whole numbers: what the search adds up and compares.

Takes a core and prices and gives integer weights for each rival and cut, rounded so that sums are
upper bounds on what a choice is worth, in int64 where no sum can overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.ideal.knapsack.core import Core
from synergy_opt.ideal.knapsack.table import FloatArray

Ints = npt.NDArray[np.int64]

ROOM = 2**60  # sums stay below this in int64


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """The core in whole numbers: one row a cut, the last K of them the capacities themselves."""

    scale: int
    exact: bool  # values are exact multiples of 1/scale
    start: list[int]  # what each cut has before any rival is taken, without the value to beat
    priced: npt.NDArray[np.bool_]  # which cuts are about the value
    weights: list[Ints]  # for each group, rivals × cuts
    values: list[Ints]
    steps: list[Ints]  # for each group, rivals × dimensions
    rest: list[list[Ints]]  # for each group and rival, the most that one unit gets after it
    later: list[Ints]  # for each group, the most that all groups after it get
    counts: list[int]


def scale(core: Core, cuts: FloatArray) -> Scaled:
    """Choose the scale, the largest with which no sum leaves 60 bits, and round to it.

    Values are rounded up and prices down, so that value − price · demand + price · capacity is
    never below what it stands for. Where the values' denominators divide the scale nothing is
    rounded.
    """
    prices = [[Fraction(float(p)) for p in row] for row in cuts]
    largest = max(int(ROOM / (8 * (_spread(core, prices) + 1))), 1)
    lattice = _lattice(core, largest)
    factor = largest // lattice * lattice if lattice else largest
    size = len(core.slack)
    price = [[math.floor(p * factor) for p in row] for row in prices]
    rows = [(1, row) for row in price]
    rows += [(0, [int(r == i) for r in range(size)]) for i in range(size)]
    values = [[math.ceil(g * factor) for g in row] for row in core.gains]
    weights = [
        [[a * v - _dot(row, step) for a, row in rows] for v, step in zip(vs, steps, strict=True)]
        for vs, steps in zip(values, core.steps, strict=True)
    ]
    largest = max(abs(w) for group in weights for row in group for w in row)
    largest = max(largest, *(abs(v) for row in values for v in row))
    kind: type = np.int64 if largest * sum(core.counts) < ROOM else object
    arrays: list[Ints] = [np.array(group, dtype=kind) for group in weights]
    rest, later = _most_after(arrays, core.counts)
    return Scaled(
        scale=factor,
        exact=lattice > 0,
        start=[_dot(row, core.slack) for _, row in rows],
        priced=np.arange(len(rows)) < len(prices),
        weights=arrays,
        values=[np.array(row, dtype=kind) for row in values],
        steps=[np.array(row, dtype=step_type(core)).reshape(-1, size) for row in core.steps],
        rest=rest,
        later=later,
        counts=core.counts,
    )


def _spread(core: Core, prices: Sequence[Sequence[Fraction]]) -> Fraction:
    """Give the largest sum of values or of costs that choices can differ by."""
    most = Fraction(0)
    for row in prices:
        total = Fraction(0)
        for n, gains, steps in zip(core.counts, core.gains, core.steps, strict=True):
            costs = [sum(p * abs(s) for p, s in zip(row, step, strict=True)) for step in steps]
            total += n * (max(abs(g) for g in gains) + max(costs))
        most = max(most, total)
    return most


def _lattice(core: Core, largest: int) -> int:
    """Give the values' least common denominator, 0 where it is above `largest`."""
    lattice = 1
    for g in (g for row in core.gains for g in row):
        lattice = math.lcm(lattice, g.denominator)
        if lattice > largest:
            return 0
    return lattice


def _most_after(arrays: list[Ints], counts: list[int]) -> tuple[list[list[Ints]], list[Ints]]:
    """Give the most that one unit gets after each rival, and all groups after each group."""
    zero = np.zeros_like(arrays[0][0])
    rest: list[list[Ints]] = []
    later = [zero]
    for rows in arrays:
        after = [zero]
        for row in rows[:0:-1]:
            after.append(np.maximum(after[-1], row))
        rest.append(after[::-1])
    for rows, row_rest, count in zip(arrays[:0:-1], rest[:0:-1], counts[:0:-1], strict=True):
        later.append(later[-1] + np.maximum(row_rest[0], rows[0]) * count)
    return rest, later[::-1]


def _dot(prices: Sequence[int], amounts: Sequence[int]) -> int:
    return sum(p * a for p, a in zip(prices, amounts, strict=True))


def step_type(core: Core) -> type:
    """Give int64 where no sum of demands can overflow, else Python integers."""
    largest = max((abs(s) for rows in core.steps for row in rows for s in row), default=0)
    return np.int64 if largest * sum(core.counts) < ROOM else object


def least_sums(scaled: Scaled, core: Core, beat: Fraction) -> Ints:
    """Give the least sum with which each cut lets a partial choice pass.

    A choice is worth more than `beat` where scale · (its value − base) is above the target.
    """
    target = math.floor(scaled.scale * (beat - core.value)) + 1
    least = [
        (target if priced else 0) - start
        for priced, start in zip(scaled.priced, scaled.start, strict=True)
    ]
    # Sums stay below 2^60: a limit beyond 2^61 decides the same as 2^61.
    wide = scaled.later[0].dtype == object
    within = least if wide else [min(max(n, -(2**61)), 2**61) for n in least]
    return np.array(within, dtype=object if wide else np.int64)
