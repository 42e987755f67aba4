"""The multiple-choice knapsack from table to proof: prices, bound, answer, core.

Takes a `Table` and gives an `Outcome` with counts, an exact bound and whether the core was closed
(theory: stage 1, points 6 and 7; core problems of knapsacks: Balas and Zemel, Operations Research
28, 1980; Pisinger, EJOR 83, 1995).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from synergy_opt.errors import Infeasible
from synergy_opt.ideal.knapsack.bound import price_bound, simple_prices
from synergy_opt.ideal.knapsack.core import Core, core
from synergy_opt.ideal.knapsack.cuts import cutting_prices
from synergy_opt.ideal.knapsack.dual import best_prices
from synergy_opt.ideal.knapsack.outcome import Outcome, first_outcome, with_choice, with_prices
from synergy_opt.ideal.knapsack.relaxed import relax
from synergy_opt.ideal.knapsack.search import search
from synergy_opt.ideal.knapsack.start import rounded
from synergy_opt.ideal.knapsack.table import Choice, Floats, Table
from synergy_opt.solution import Limits, Stop

_RIVALS = 40  # of the first search
_STATES = 400_000  # after which a search tells for the first time where it is
_SMALL = 200_000  # items up to which simpler prices are tried, too


def solve(
    table: Table,
    *,
    start: Choice | None = None,
    limits: Limits | None = None,
    watch: Callable[[Outcome], object] | None = None,
) -> Outcome:
    """Maximise Σ v u subject to the capacities, each group taking its number of items.

    Parameters
    ----------
    table
        The problem.
    start
        A choice that fits, where one is known.
    limits
        Time, and the relative gap at which an answer is good enough. Ctrl-C ends the work like a
        time limit.
    watch
        Called with what is known each time that it gets better, and after each part of a long
        search.

    Returns
    -------
    Outcome
        Value and bound are exact, whatever stopped the solver.

    Raises
    ------
    Infeasible
        When no choice fits, proven by prices or by the search.

    Notes
    -----
    Some twenty passes over all items for the prices of a large table, then the core: small where
    values and demands are many and different, exponential in the worst case. Memory stays within
    a small multiple of the table.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(first=np.array([0, 2, 4]), counts=np.array([1, 1]),
    ...               value=np.array([1, 4, 1, 3]), below=np.array([1, 1]),
    ...               demand=(np.array([1, 5, 1, 3]),), capacity=(6,))
    >>> best = solve(table)
    >>> best.value, best.bound, best.stop.value
    (Fraction(5, 1), Fraction(5, 1), 'optimal')
    """
    last = None
    try:
        for known in steps(table, start=start, limits=limits or Limits()):
            last = known
            if watch is not None:
                watch(known)
    except KeyboardInterrupt:
        if last is None:
            raise
        return replace(last, stop=Stop.INTERRUPTED)
    assert last is not None  # the first step is always given
    return last


def steps(table: Table, *, start: Choice | None, limits: Limits) -> Iterator[Outcome]:
    """Give what is known each time that it gets better; the last one is what `solve` gives."""
    deadline = None if limits.time is None else time.monotonic() + limits.time
    floats = Floats.of(table)
    known = first_outcome(table, floats, start)
    yield known
    if known.enough(limits) or _over(deadline):
        return
    large = table.items > _SMALL
    parts = best_prices(floats)
    near = simple_prices(table, parts)
    known = with_prices(table, floats, known, near[-1:] if large else near)
    _refuse_impossible(table, known)
    yield known
    relaxed = None if _over(deadline) else relax(table, floats, parts)
    if relaxed is not None:
        near = [] if large else simple_prices(table, relaxed.prices)
        known = with_prices(table, floats, known, [*near, *relaxed.exact])
        known = with_choice(table, known, rounded(table, floats, relaxed))
        yield known
    # The first search is short, and often closes a core that an allowed gap would leave open.
    if known.stop is Stop.LIMIT:
        yield from _close(table, floats, known, limits, deadline)


def _close(
    table: Table, floats: Floats, known: Outcome, limits: Limits, deadline: float | None
) -> Iterator[Outcome]:
    """Search the core: first the cheapest rivals, then more, until all that matter are decided."""
    upper, best = price_bound(table, floats, known.prices)
    most = _RIVALS
    while not _over(deadline):
        beat = _least(table) if known.value is None else known.value
        found_core = core(table, floats, known.prices, best, upper - beat, most=most)
        cuts = cutting_prices(found_core, known.prices, upper - beat)
        before, value = known.states, known.value
        for found in search(found_core, cuts, beat, states=_STATES, deadline=deadline):
            known = replace(known, rivals=found_core.size, states=before + found.states)
            if found.taken is not None:
                known = with_choice(table, known, _choice(table, found_core, found.taken))
            if found.complete and found_core.whole:
                if known.value is None:
                    raise Infeasible("no choice of items fits the capacities: all were searched")
                known = replace(known, stop=Stop.OPTIMAL)
            if found.interrupted:
                known = replace(known, stop=Stop.INTERRUPTED)
            yield known
            if known.enough(limits):
                return
        if known.value == value:
            most *= 2


def _choice(table: Table, used: Core, taken: list[list[int]]) -> Choice:
    """Put the counts of a core's rivals into the base."""
    counts = np.zeros(table.items, dtype=np.int64)
    counts[used.base] = table.counts
    for t, rivals, row in zip(used.groups, used.items, taken, strict=True):
        counts[rivals] = row
        counts[used.base[t]] -= sum(row)
    items = np.flatnonzero(counts)
    return items, counts[items]


def _least(table: Table) -> Fraction:
    """Give a value below that of every choice."""
    lowest = np.minimum.reduceat(table.value, table.first[:-1])
    values = (Fraction(int(v), int(b)) for v, b in zip(lowest, table.below, strict=True))
    return sum((v * int(n) for v, n in zip(values, table.counts, strict=True)), Fraction(-1))


def _refuse_impossible(table: Table, known: Outcome) -> None:
    if known.choice is None and known.bound < _least(table) + 1:
        raise Infeasible("no choice of items fits the capacities: prices prove it")


def _over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline
