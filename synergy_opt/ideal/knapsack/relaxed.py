"""The linear relaxation over the few items that matter: a vertex, and exact prices with it.

Takes the table in doubles and prices near the dual's minimum; items that are far below the best
of their group are left out until a price says that they are missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from synergy_opt.errors import SolverFailed
from synergy_opt.exact.linear import Equation, solve_exactly
from synergy_opt.ideal.knapsack.bound import Prices
from synergy_opt.ideal.knapsack.table import FloatArray, Floats, Table
from synergy_opt.program import Program
from synergy_opt.solution import Basis, Limits, Stop
from synergy_opt.solvers import solver as solver_named

_EXTRA = 512  # items at first, beside the best of each group
_ROUNDS = 30
_EXACT = 1e-11  # relative distance of L and the programme at which no item is missed


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """What the linear relaxation ends with.

    Parameters
    ----------
    items, part
        Items of the vertex with how many of each, in doubles; at most K groups are not whole.
    prices
        Of a whole capacity, in doubles.
    exact
        The prices as the basis defines them, exactly; empty where it defines none.
    """

    items: npt.NDArray[np.int64]
    part: FloatArray
    prices: FloatArray
    exact: tuple[Prices, ...]


def relax(table: Table, floats: Floats, prices: FloatArray) -> Relaxed | None:
    """Solve the relaxation by adding items; None where the solver finds no point.

    Complexity: a linear programme over a few hundred items a round where few groups have rivals
    for the best item; in degenerate tables, over all ties.
    """
    loss, extra = floats.loss(prices), _EXTRA
    scale = max(float(np.abs(floats.gain).max(initial=0.0)), 1e-300)
    order = np.argsort(loss, kind="stable") if floats.items <= 2**20 else _smallest(loss, 2**18)
    first = len(table) + extra
    keep = np.zeros(floats.items, dtype=bool)
    keep[order[:first]] = True
    keep |= loss <= 1e-9 * scale
    found = None
    for _ in range(_ROUNDS):
        solved = _solve(table, floats, keep)
        if solved is None:
            if keep.sum() >= len(order):
                return None
            first *= 4
            keep[order[:first]] = True
            continue
        found, value = solved
        best, _ = floats.best(found.prices)
        upper = float(found.prices @ floats.room + floats.counts @ best)
        if upper - value <= _EXACT * max(abs(upper), 1e-300):
            break
        missed = (floats.loss(found.prices) < _paid(floats, found.prices, keep)) & ~keep
        if not missed.any():
            break
        keep |= missed
    return found


def _smallest(loss: FloatArray, many: int) -> npt.NDArray[np.int64]:
    near = np.argpartition(loss, many)[:many]
    return near[np.argsort(loss[near], kind="stable")]


def _paid(floats: Floats, prices: FloatArray, keep: npt.NDArray[np.bool_]) -> FloatArray:
    """Give for each item the loss of the best item of its group that is kept."""
    loss = np.where(keep, floats.loss(prices), np.inf)
    best = np.minimum.reduceat(loss, floats.first[:-1])
    return np.repeat(best, np.diff(floats.first)) - 1e-13


def _solve(
    table: Table, floats: Floats, keep: npt.NDArray[np.bool_]
) -> tuple[Relaxed, float] | None:
    columns = np.flatnonzero(keep)
    sizes = np.add.reduceat(keep.astype(np.int64), floats.first[:-1])
    open_group = sizes > 1
    free = columns[open_group[table.group[columns]]]
    alone = columns[~open_group[table.group[columns]]]
    room = floats.room - floats.amount[:, alone] @ floats.counts[~open_group]
    fixed = float(floats.gain[alone] @ floats.counts[~open_group])
    program = _program(floats, free, sizes[open_group], floats.counts[open_group], room)
    solution = solver_named("highs")(program, Limits())
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    if solution.basis is None or solution.x is None or solution.row_duals is None:
        return None
    size = len(room)
    prices = np.maximum(solution.row_duals[:size], 0.0)
    value = fixed + float(floats.gain[free] @ solution.x)
    found = Relaxed(
        items=np.concatenate([alone, free]),
        part=np.concatenate([floats.counts[~open_group], solution.x]),
        prices=prices,
        exact=_exact_prices(table, free, solution.basis),
    )
    return found, value


def _program(
    floats: Floats,
    free: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    counts: FloatArray,
    room: FloatArray,
) -> Program:
    dimensions, columns = len(room), len(free)
    lengths = np.concatenate([np.full(dimensions, columns), sizes])
    every = np.arange(columns)
    return Program(
        name="relaxed",
        cost=floats.gain[free],
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        index=np.concatenate([np.tile(every, dimensions), every]).astype(np.int64),
        value=np.concatenate([floats.amount[:, free].ravel(), np.ones(columns)]),
        row_lower=np.concatenate([np.full(dimensions, -np.inf), counts]),
        row_upper=np.concatenate([room, counts]),
        lower=np.zeros(columns),
        upper=np.full(columns, np.inf),
        integral=np.zeros(columns, dtype=bool),
        row_names=(),
        column_names=(),
    )


def _exact_prices(table: Table, free: npt.NDArray[np.int64], basis: Basis) -> tuple[Prices, ...]:
    """Solve for the prices at which the basic items of a group are equally good.

    A group with m basic items gives m − 1 equations (d_k − d_0)·λ = v_k − v_0; a dimension whose
    row is basic has price 0.
    """
    size = len(table.capacity)
    priced = {r: i for i, r in enumerate(np.flatnonzero(~basis.rows[:size]).tolist())}
    basic = free[basis.columns]
    group = table.group[basic]
    system: list[Equation] = []
    same = np.flatnonzero(group[1:] == group[:-1])
    for a, b in zip(basic[same].tolist(), basic[same + 1].tolist(), strict=True):
        steps = {i: int(table.demand[r][b]) - int(table.demand[r][a]) for r, i in priced.items()}
        row = {i: Fraction(step) for i, step in steps.items()}
        system.append((row, table.gain(b) - table.gain(a)))
    try:
        solved = solve_exactly(system, len(priced))
    except SolverFailed:
        return ()
    prices = tuple(solved[priced[r]] if r in priced else Fraction(0) for r in range(size))
    return (prices,) if min(prices, default=Fraction(0)) >= 0 else ()
