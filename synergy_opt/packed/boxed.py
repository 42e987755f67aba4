"""Better prices for very many kinds of jobs: steps in a box around the best prices so far.

Takes prices of slots and patterns and gives prices with a lower bound for the whole. Within a box
most jobs have one choice, which makes the relaxation of the whole small (theory: "The packed
optimum", point 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csc_array, eye_array, hstack

from synergy_opt.packed.lift import lifted
from synergy_opt.packed.master import Opened
from synergy_opt.packed.options import costs, divided
from synergy_opt.packed.pricing import Index, Priced, containing_each, solve
from synergy_opt.packed.problem import Problem
from synergy_opt.program import FloatArray
from synergy_opt.solvers.highs_ import Quiet
from synergy_opt.solvers.interrupt import run_interruptibly

_WIDTH = 0.02  # half of the first box, of the mean value of a job
_CLOSE = 1e-5  # a box that promises less, relatively, is not worth a step
_PATTERNS = 300  # of a group that a step adds at most
_STEPS = 40


@dataclass(frozen=True, kw_only=True)
class _Choices:
    """What jobs of each kind may choose: every option in one piece, one after another.

    Parameters
    ----------
    kinds
        Those whose jobs stay in one piece, by position.
    jobs
        Number of jobs of each.
    owner, slot, value
        For each option its place among `kinds`, its slot and its value.
    first
        The first option of each kind.
    """

    kinds: Index
    jobs: FloatArray
    owner: Index
    slot: Index
    value: FloatArray
    first: Index

    def gains(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the gain of each option and the most of each kind."""
        gains: FloatArray = self.value - prices[self.slot]
        most = np.maximum.reduceat(gains, self.first)
        return gains, most


def settled(
    problem: Problem, prices: FloatArray, patterns: Iterable[Opened], unit: float
) -> FloatArray:
    """Give prices with a lower bound, where steps lead to some before the time is up.

    With μ the best prices so far, a step minimises Σ n_t π_t + Σ s_h σ_h over the prices that are
    within a box around μ, with σ_h the most over the known patterns. In its dual a slot may be
    bought at the upper end of its interval and sold at the lower end, and jobs only have the
    options that some prices in the box make the best ones. An interior point solves it: its prices
    lie in the middle of the best ones and do not swing. Where the prices it gives are better, the
    box moves and grows; where not, missing patterns are added and it shrinks.

    Parameters
    ----------
    prices
        To start from, one a slot.
    patterns
        To start from.
    unit
        Of values on a solver, a power of two.

    Notes
    -----
    Jobs in pieces keep what they choose at μ, so that steps only approximate there; what they
    find is judged by all jobs' best choices. Source: Marsten, Hogan and Blankenship, "The boxstep
    method for large-scale optimization", Operations Research 23 (1975).
    """
    choices, known = _choices(problem), dict.fromkeys(patterns)
    if not len(choices.kinds):
        return prices
    best, lowest, promised = prices, np.inf, -np.inf
    width = 0.0
    for _ in range(_STEPS):
        solved = [solve(sack, prices[list(sack.slots)], outward=False) for sack in problem.sacks]
        for h, priced in enumerate(solved):
            some = containing_each(priced, above=-1.0, most=_PATTERNS)
            known.update((Opened(h, pattern), None) for pattern in some)
        total = _total(problem, choices, prices, solved)
        if total < lowest:
            best, lowest = prices, total
            width = 2 * width or _WIDTH * total / max(problem.jobs, 1)
        else:
            width /= 1.5
        if lowest - promised <= _CLOSE * abs(lowest) or problem.late:
            break
        step = _step(problem, choices, best, width=width, patterns=list(known), unit=unit)
        if step is None:
            break
        prices, promised = step
    return best


def _choices(problem: Problem) -> _Choices:
    kinds: list[int] = []
    owner, slot, value = [], [], []
    for t, use in enumerate(problem.uses):
        if use.wish.pieces:
            continue
        possible = use.slots >= 0
        slot.append(use.slots[possible])
        value.append(np.broadcast_to(use.wish.values, use.slots.shape)[possible])
        owner.append(np.full(len(slot[-1]), len(kinds)))
        kinds.append(t)
    counts = np.array([len(some) for some in slot], dtype=np.int64)
    return _Choices(
        kinds=np.array(kinds, dtype=np.int64),
        jobs=np.array([len(problem.uses[t].wish.kind) for t in kinds], dtype=np.float64),
        owner=np.concatenate([np.empty(0, np.int64), *owner]),
        slot=np.concatenate([np.empty(0, np.int64), *slot]),
        value=np.concatenate([np.empty(0), *value]),
        first=np.cumsum(counts) - counts,
    )


def _total(problem: Problem, choices: _Choices, prices: FloatArray, solved: list[Priced]) -> float:
    """Give the bound of these prices, in floats."""
    total = float(choices.gains(prices)[1] @ choices.jobs)
    for use in problem.uses:
        if use.wish.pieces:
            cost, possible = costs(use, prices)
            total += len(use.wish.kind) * float((use.wish.values - cost)[possible].max())
    servers = zip(problem.shop.counts, solved, strict=True)
    return total + sum(n * float(priced.best) for n, priced in servers)


def _step(
    problem: Problem,
    choices: _Choices,
    centre: FloatArray,
    *,
    width: float,
    patterns: list[Opened],
    unit: float,
) -> tuple[FloatArray, float] | None:
    """Give the best prices in the box and what they promise; None where the solver fails.

    Columns: jobs that change from their best option to another one, loans, slots bought and sold,
    patterns. Rows: slots, groups, kinds with several other options.
    """
    slots, groups = len(centre), len(problem.sacks)
    upper = lifted(problem.sacks, centre)[1] + width
    sold = np.flatnonzero(centre > width)
    gains, most = choices.gains(centre)
    base = np.empty(len(choices.kinds), dtype=np.int64)
    top = np.flatnonzero(gains == most[choices.owner])
    base[choices.owner[top]] = top
    # The price of the best option may rise to the upper end, that of another one fall by `width`.
    reach = width + (upper - centre)[choices.slot[base]]
    near = most[choices.owner] - gains <= reach[choices.owner]
    near[base] = False
    other = np.flatnonzero(near)
    owner = choices.owner[other]
    several = np.bincount(owner, minlength=len(base)) > 1
    row = slots + groups + np.cumsum(several) - 1
    one = np.arange(len(other))
    bound = several[owner]
    changes = _matrix(
        [
            (choices.slot[other], one, 1.0),
            (choices.slot[base[owner]], one, -1.0),
            (row[owner[bound]], one[bound], 1.0),
        ],
        (slots + groups + int(several.sum()), len(other)),
    )
    rows = changes.shape[0]
    lent = np.array(problem.loans, dtype=np.int64).reshape(-1, 2)
    pairs = np.arange(len(lent))
    loans = _matrix([(lent[:, 0], pairs, 1.0), (lent[:, 1], pairs, -1.0)], (rows, len(lent)))
    each = csc_array(eye_array(rows, slots))
    used = [(q, j, n) for j, key in enumerate(patterns) for q, n in key.pattern]
    index, column, number = np.array(used, dtype=np.int64).reshape(-1, 3).T
    group = np.array([slots + key.group for key in patterns], dtype=np.int64)
    servers = _matrix(
        [(index, column, -number.astype(float)), (group, np.arange(len(group)), 1.0)],
        (rows, len(patterns)),
    )
    value = choices.value[other] - choices.value[base[owner]]
    gain = [value, np.zeros(len(lent)), -upper, (centre - width)[sold], np.zeros(len(patterns))]
    most_of = np.where(bound, np.inf, choices.jobs[owner])
    free = np.full(sum(len(some) for some in gain[1:]), np.inf)
    demand = np.bincount(choices.slot[base], weights=choices.jobs, minlength=slots)
    fixed = float(choices.value[base] @ choices.jobs)
    for t, use in enumerate(problem.uses):
        if use.wish.pieces:
            cost, possible = costs(use, centre)
            c = int(np.where(possible, use.wish.values - cost, -np.inf).argmax())
            fixed += len(use.wish.kind) * float(use.wish.values[c])
            for slot, copies in divided(t, use, centre, c).slots:
                demand[slot] += copies * len(use.wish.kind)
    limits = [-demand, np.array(problem.shop.counts, float), choices.jobs[several]]
    found = _prices(
        csc_array(hstack([changes, loans, -each, each[:, sold], servers])),
        np.concatenate(gain) / unit,
        np.concatenate([most_of, free]),
        np.concatenate(limits),
        problem.left,
    )
    if found is None:
        return None
    prices, objective = found
    return np.maximum(prices[:slots] * unit, 0.0), objective * unit + fixed


def _matrix(
    parts: list[tuple[Index, Index, FloatArray | float]], shape: tuple[int, int]
) -> csc_array:
    rows = np.concatenate([rows for rows, _, _ in parts])
    columns = np.concatenate([columns for _, columns, _ in parts])
    values = np.concatenate([np.broadcast_to(value, rows.shape) for rows, _, value in parts])
    matrix = csc_array(coo_array((values, (rows, columns)), shape=shape))
    matrix.eliminate_zeros()
    return matrix


def _prices(
    matrix: csc_array,
    gain: FloatArray,
    most: FloatArray,
    limits: FloatArray,
    seconds: float | None,
) -> tuple[FloatArray, float] | None:
    """Maximise the gain by an interior point; give the prices of the rows and the value."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = -gain, np.zeros(len(gain)), most
    lp.row_lower_, lp.row_upper_ = np.full(len(limits), -np.inf), limits
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    model = Quiet()
    options = {"output_flag": False, "threads": 1, "solver": "ipm", "run_crossover": "off"}
    for name, value in options.items():
        model.setOptionValue(name, value)
    if seconds is not None:
        model.setOptionValue("time_limit", seconds)
    model.passModel(lp)
    model.HandleUserInterrupt = True
    _, interrupted = run_interruptibly(model.run, model.cancelSolve)
    if interrupted:
        raise KeyboardInterrupt
    prices: npt.NDArray[np.float64] = -np.array(model.getSolution().row_dual)
    # An end without crossover may be a little short of optimal; only the prices count.
    good = {highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown}
    if model.getModelStatus() not in good or len(prices) != len(limits):
        return None
    return prices, -float(model.getInfo().objective_function_value)
