"""The exact bound of slot prices, whatever the floats were that they came from.

Takes rational prices of slots and gives a `PatternBound` that holds for every placement; also the
exact prices of a basis, where its inverse has small denominators (theory: "The packed optimum",
point 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from synergy_opt.answer import PatternBound, ShapePrice, Split
from synergy_opt.exact import exact_sum
from synergy_opt.exact.refined import solve_integers
from synergy_opt.packed.master import Loan, Relaxation
from synergy_opt.packed.options import Uses, costs
from synergy_opt.packed.pricing import Knapsack, Prices, solve
from synergy_opt.packed.shapes import Shop

_LATTICE = 10**30  # a lattice finer than 1/this is not worth rounding to
_ROOM = 2**60


def pattern_bound(
    shop: Shop,
    used: Sequence[Uses],
    sacks: Sequence[Knapsack],
    pairs: Sequence[Loan],
    *,
    prices: Sequence[Fraction],
    split: Split,
) -> PatternBound:
    """Give Σ_t n_t π_t + Σ_h s_h σ_h for these prices of slots, exact.

    Parameters
    ----------
    shop, used, sacks, pairs
        Wishes, their slots, the servers, and which slot is next smaller to which.
    prices
        μ ≥ 0, one a slot. A slot's price is raised to that of every smaller one.

    Returns
    -------
    PatternBound
        π_t = max over configurations of value − least price of slots that hold the job; σ_h the
        highest total price of a pattern; the sum rounded down to the lattice of the values.
    """
    below = math.lcm(*(price.denominator for price in prices))
    raised = [int(price * below) for price in prices]
    for large, small in sorted(pairs):
        raised[large] = max(raised[large], raised[small])
    whole = _integers(raised, max((sack.gpus for sack in sacks), default=1))
    servers = [
        Fraction(int(solve(sack, whole[list(sack.slots)], outward=True).best), below)
        for sack in sacks
    ]
    terms = [len(use.wish.kind) * _worth(use, whole, below) for use in used]
    terms += [n * price for n, price in zip(shop.counts, servers, strict=True)]
    listed = [
        ShapePrice(
            group=slot.group,
            gpus=slot.gpus,
            amounts=tuple(Fraction(s, u) for s, u in zip(slot.sizes, shop.units, strict=True)),
            price=Fraction(price, below),
        )
        for slot, price in zip(shop.slots, raised, strict=True)
        if price > 0
    ]
    return PatternBound(
        value=rounded_down(exact_sum(terms), lattice(used)),
        shapes=_steps(shop, raised, listed, pairs),
        servers=tuple(servers),
        split=split,
    )


def free_bound(shop: Shop, used: Sequence[Uses], split: Split) -> PatternBound:
    """Give the bound where room costs nothing: every job at its best."""
    terms = [len(use.wish.kind) * max_value(use) for use in used]
    return PatternBound(
        value=exact_sum(terms),
        shapes=(),
        servers=(Fraction(0),) * len(shop.capacity),
        split=split,
    )


def max_value(use: Uses) -> Fraction:
    """Give the highest value of a job of the kind."""
    values = use.wish.configurations.value
    return Fraction(int(max(values.numerators)), values.denominator)


def rounded_down(total: Fraction, step: Fraction | None) -> Fraction:
    """Round down to a multiple of the step, where there is one."""
    return total if step is None else math.floor(total / step) * step


def lattice(used: Sequence[Uses]) -> Fraction | None:
    """Give the largest number of which all fair values are multiples, None where it is tiny."""
    above, below = 0, 1
    for use in used:
        values = use.wish.configurations.value
        below = math.lcm(below, values.denominator)
        if below > _LATTICE:
            return None
    for use in used:
        values = use.wish.configurations.value
        common = math.gcd(*(int(n) for n in values.numerators))
        above = math.gcd(above, common * (below // values.denominator))
    return Fraction(above, below) if above else None


def exact_prices(relaxation: Relaxation, costs_of: Sequence[Fraction]) -> list[Fraction] | None:
    """Give the exact prices of all rows at the relaxation's basis, None where they are not small.

    The basis matrix is integer: the prices are exact where its inverse has a small denominator.

    Parameters
    ----------
    relaxation
        Just solved.
    costs_of
        Exact cost of each column.
    """
    columns, slack = relaxation.basic()
    loose = set(slack)
    rows = [i for i in range(relaxation.columns.rows) if i not in loose]
    if len(rows) != len(columns):
        return None
    place = {row: i for i, row in enumerate(rows)}
    entries = [relaxation.columns.entries[column] for column in columns]
    equations = [
        {place[row]: int(v) for row, v in zip(*some, strict=True) if row in place}
        for some in entries
    ]
    costs = [costs_of[column] for column in columns]
    below = math.lcm(*(cost.denominator for cost in costs))
    solved = solve_integers(equations, [int(cost * below) for cost in costs])
    if solved is None:
        return None
    numerators, denominator = solved
    prices = [Fraction(0)] * relaxation.columns.rows
    for row, numerator in zip(rows, numerators, strict=True):
        prices[row] = Fraction(numerator, denominator * below)
    return prices


def _integers(numbers: list[int], copies: int) -> Prices:
    small = max(map(abs, numbers), default=0) * max(copies, 1) < _ROOM
    return np.array(numbers, dtype=np.int64 if small else object)


def _worth(use: Uses, prices: Prices, below: int) -> Fraction:
    """Give π of a kind: the most that a value exceeds the price of the slots."""
    price, possible = costs(use, prices)
    values = use.wish.configurations.value
    common = math.lcm(below, values.denominator)
    value = values.numerators[possible].astype(object) * (common // values.denominator)
    excess = value - price[possible].astype(object) * (common // below)
    return Fraction(int(max(excess)), common)


def _steps(
    shop: Shop, raised: list[int], listed: list[ShapePrice], pairs: Sequence[Loan]
) -> tuple[ShapePrice, ...]:
    """Leave out shapes whose price follows from a smaller one."""
    implied = {large for large, small in pairs if raised[large] == raised[small]}
    positive = [i for i in range(len(shop.slots)) if raised[i] > 0]
    kept = [shape for i, shape in zip(positive, listed, strict=True) if i not in implied]
    return tuple(sorted(kept))
