"""What is known of a multiple-choice knapsack, and how it gets better.

Takes choices and prices and gives frozen outcomes: the better of two answers, the lower of two
bounds, each exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from synergy_opt.ideal.knapsack.bound import Prices, on_lattice, price_bound
from synergy_opt.ideal.knapsack.table import Choice, Floats, Table
from synergy_opt.solution import Limits, Stop


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What is known when the solver stops.

    Parameters
    ----------
    stop
        OPTIMAL: nothing is worth more; either `bound` is the value, or the core was closed.
    choice
        Items with counts, checked to fit; None where none was found.
    value
        Of the choice.
    bound
        L(λ), rounded down to the lattice of sums of values: an upper bound from `prices` alone.
    prices
        λ for a whole unit of each dimension.
    rivals
        Items that reduced costs left beside the best of each group when the core was closed, or
        when the search was stopped; 0 where there was no search.
    states
        Partial choices that the searches looked at.
    """

    stop: Stop
    choice: Choice | None
    value: Fraction | None
    bound: Fraction
    prices: Prices
    rivals: int = 0
    states: int = 0

    def enough(self, limits: Limits) -> bool:
        """Say whether nothing more is asked for."""
        if self.stop is not Stop.LIMIT:
            return True
        gap = limits.gap
        return self.value is not None and self.bound - self.value <= gap * abs(self.value)


def first_outcome(table: Table, floats: Floats, start: Choice | None) -> Outcome:
    """Give the bound of prices 0 with the choice that is known."""
    prices = tuple(Fraction(0) for _ in table.capacity)
    value, _ = price_bound(table, floats, prices)
    nothing = Outcome(
        stop=Stop.LIMIT, choice=None, value=None, bound=on_lattice(table, value), prices=prices
    )
    return with_choice(table, nothing, start)


def with_choice(table: Table, known: Outcome, choice: Choice | None) -> Outcome:
    """Take over a choice that fits and is worth more."""
    if choice is None or not table.fits(choice):
        return known
    value = table.worth(choice)
    if known.value is not None and value <= known.value:
        return known
    return _met(replace(known, choice=choice, value=value))


def with_prices(
    table: Table, floats: Floats, known: Outcome, candidates: Sequence[Prices]
) -> Outcome:
    """Take over the prices with the least bound, the first of equals."""
    for prices in candidates:
        value = on_lattice(table, price_bound(table, floats, prices)[0])
        if value < known.bound:
            known = replace(known, bound=value, prices=prices)
    return _met(known)


def _met(known: Outcome) -> Outcome:
    return replace(known, stop=Stop.OPTIMAL) if known.value == known.bound else known
