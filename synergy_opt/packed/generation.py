"""Column generation: patterns and divisions that the prices ask for, until there are none.

Takes a problem and gives the prices at which no column is missing, as floats and, where the basis
allows it, exactly (theory: "The packed optimum", points 1, 2 and 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from synergy_opt.packed.bound import exact_prices
from synergy_opt.packed.master import Columns, Relaxation
from synergy_opt.packed.options import Option, Uses, costs, divided, whole
from synergy_opt.packed.patterns import share_patterns
from synergy_opt.packed.pricing import containing_each, solve
from synergy_opt.packed.problem import Problem
from synergy_opt.packed.shapes import Shop, share_slots
from synergy_opt.program import FloatArray

_PENALTY = 1e3  # of a job left out, in units of the largest value
_EPSILON = 1e-9  # a column that gains less than this, relatively, is not worth a round
_SPREAD = 2**17  # values further below the largest are lost on a solver
_SHARES = 300  # divisions of a server into fair shares to start from
_STEPS = 2**30  # of prices rounded from floats in a unit
_ROUND = 40  # patterns a group that one round adds at most


def first_columns(problem: Problem) -> Columns:
    """Give the columns to start from: whole jobs in all configurations, fair-share patterns."""
    columns = start_columns(problem, _PENALTY)
    for t, use in enumerate(problem.uses):
        columns.add_options(fair_options(problem.shop, whole(t, use)))
    return columns


def start_columns(problem: Problem, penalty: float) -> Columns:
    """Give loans, fair-share patterns and jobs left out, at `penalty` times the largest value."""
    largest = max((float(use.wish.values.max()) for use in problem.uses), default=0.0)
    unit = _unit(problem.uses)
    columns = Columns(shop=problem.shop, penalty=penalty * largest / unit, unit=unit)
    columns.add_left_out()
    columns.add_loans(problem.loans)
    for h, sack in enumerate(problem.sacks):
        columns.add_patterns(h, share_patterns(sack, share_slots(problem.shop, h), most=_SHARES))
    return columns


def _unit(uses: Sequence[Uses]) -> float:
    """Give the least value above 0, or what is far below the largest: a power of two.

    Solvers' tolerances are absolute, so costs should be near 1. Dividing by a power of two loses
    nothing.
    """
    values = np.concatenate([use.wish.values for use in uses] or [np.empty(0)])
    values = values[values > 0]
    if not len(values):
        return 1.0
    return float(2.0 ** math.frexp(max(float(values.min()), float(values.max()) / _SPREAD))[1])


def generate(problem: Problem, columns: Columns, relaxation: Relaxation) -> FloatArray:
    """Add columns until none is missing or the time is up; give the prices of the slots."""
    first = len(problem.shop.wishes)
    last = first + len(problem.shop.slots)
    while True:
        prices = relaxation.solve()
        rent = np.maximum(prices[first:last], 0.0)
        if problem.late:
            return rent
        new = 0
        for h, sack in enumerate(problem.sacks):
            priced = solve(sack, rent[list(sack.slots)], outward=False)
            found = containing_each(
                priced, above=_above(prices[last + h], columns.unit), most=_ROUND
            )
            new += columns.add_patterns(h, found)
        for t, use in enumerate(problem.uses):
            if use.wish.pieces:
                worthy = _worthy(t, use, rent, _above(prices[t], columns.unit))
                new += columns.add_options(fair_options(problem.shop, worthy))
        if not new:
            return rent


def _above(price: float, unit: float) -> float:
    return price + _EPSILON * max(unit, abs(price))


def _worthy(t: int, use: Uses, rent: FloatArray, least: float) -> Iterator[Option]:
    """Give the best divisions of a job in pieces that gain more than `least`."""
    cost, possible = costs(use, rent)
    gain = np.where(possible, use.wish.values - cost, -np.inf)
    for c in np.argsort(-gain, kind="stable")[:3].tolist():
        if gain[c] > least:
            yield divided(t, use, rent, c)


def fair_options(goods: Shop, options: Iterable[Option]) -> Iterator[Option]:
    """Keep the options that are fair on the groups that their pieces touch together."""
    for option in options:
        touched = frozenset(goods.slots[slot].group for slot, _ in option.slots)
        if goods.wishes[option.wish].fair(option.configuration, touched):
            yield option


def rational_prices(
    problem: Problem, columns: Columns, relaxation: Relaxation, prices: FloatArray
) -> list[Fraction]:
    """Give exact prices of slots: those of the basis, else the floats, rounded."""
    first = len(problem.shop.wishes)
    rows = exact_prices(relaxation, [_cost(columns, j) for j in range(len(columns.cost))])
    if rows is None:
        return rounded_prices(prices, columns.unit)
    last = first + len(problem.shop.slots)
    return [max(price, Fraction(0)) for price in rows[first:last]]


def rounded_prices(prices: FloatArray, unit: float) -> list[Fraction]:
    """Give the multiples of unit/2³⁰ that are nearest to the floats; the unit a power of two."""
    step = Fraction(unit) / _STEPS
    return [round(price / unit * _STEPS) * step for price in prices.tolist()]


def _cost(columns: Columns, column: int) -> Fraction:
    key = columns.made_of[column]
    if isinstance(key, Option):
        return columns.shop.wishes[key.wish].configurations.value[key.configuration]
    return Fraction(columns.cost[column]) * Fraction(columns.unit)
