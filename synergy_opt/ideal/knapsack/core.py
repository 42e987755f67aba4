"""The core: what reduced costs leave of a table once a good answer is known.

Takes a table with prices, their exact bound and an answer, and gives the items that a better
answer may take, as exact differences from the best item of each group (theory: stage 1, point 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from synergy_opt.exact import IntArray
from synergy_opt.ideal.knapsack.bound import Prices, in_parts, margin
from synergy_opt.ideal.knapsack.table import Choice, Floats, Table

_ALL = 1.25  # parts of `most` up to which all are taken: another search would cost more


@dataclass(frozen=True, kw_only=True)
class Core:
    """Groups with rivals for their best item; every other group takes its base item.

    Parameters
    ----------
    base
        The item of each group of the table that the differences are from.
    value
        Σ n_t v of the base items.
    slack
        C_r − Σ n_t d_r of the base items; may be negative.
    groups
        The core's groups, those whose rivals cost most first.
    counts
        n_t of the core's groups.
    items
        For each of them its rivals, the costliest first.
    gains, steps
        For each rival v − v_base and d_r − d_base,r.
    whole
        Whether this is all that reduced costs leave, or only the cheapest of it.
    """

    base: IntArray
    value: Fraction
    slack: tuple[int, ...]
    groups: list[int]
    counts: list[int]
    items: list[list[int]]
    gains: list[list[Fraction]]
    steps: list[list[tuple[int, ...]]]
    whole: bool

    @property
    def size(self) -> int:
        """Number of rivals."""
        return sum(len(row) for row in self.items)


def core(
    table: Table,
    floats: Floats,
    prices: Prices,
    best: Choice,
    gap: Fraction | None,
    *,
    most: int,
) -> Core:
    """Give the items whose reduced cost is at most the gap, or the `most` cheapest of them.

    An answer with one item of reduced cost ρ is worth at most L(λ) − ρ. Doubles are compared with
    a margin above their errors, so that none is left out wrongly.

    Parameters
    ----------
    table, floats, prices
        The problem and λ.
    best
        The items that attain L(λ).
    gap
        L(λ) less the value of the answer that is to be beaten; None: there is no answer yet.
    most
        Rivals that the core may have, or a quarter more where that is all there are.
    """
    near = in_parts(table, prices)
    loss = floats.loss(near)
    loss[best[0]] = -1.0
    most_loss = np.inf if gap is None else float(gap) * (1 + 2.0**-50) + margin(floats, near)
    free = np.flatnonzero((loss <= most_loss) & (loss >= 0))
    whole = len(free) <= most * _ALL
    if not whole:
        free = np.sort(free[np.argpartition(loss[free], most)[:most]])
    base = best[0]
    rivals: dict[int, list[int]] = {}
    for k in free[np.argsort(-loss[free], kind="stable")].tolist():
        rivals.setdefault(int(table.group[k]), []).append(k)
    # The last group of the search is the one with the cheapest rival: it closes the gap.
    groups = sorted(rivals, key=lambda t: (-loss[rivals[t][-1]], t))
    worth = {t: table.gain(int(base[t])) for t in groups}
    return Core(
        base=base,
        value=table.worth((base, table.counts)),
        slack=tuple(
            c - u for c, u in zip(table.capacity, table.use((base, table.counts)), strict=True)
        ),
        groups=groups,
        counts=[int(table.counts[t]) for t in groups],
        items=[rivals[t] for t in groups],
        gains=[[table.gain(k) - worth[t] for k in rivals[t]] for t in groups],
        steps=[
            [tuple(int(d[k]) - int(d[base[t]]) for d in table.demand) for k in rivals[t]]
            for t in groups
        ],
        whole=whole,
    )
