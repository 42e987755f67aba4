"""Whole numbers of patterns and options: the integer programme over the known columns.

Takes the columns of a master programme and gives counts that keep every row exactly, or none; the
solver's word is never taken for a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from synergy_opt.packed.master import Columns, Key, Opened
from synergy_opt.packed.options import Option
from synergy_opt.program import FloatArray
from synergy_opt.solvers.highs_ import Quiet, run_aside
from synergy_opt.solvers.interrupt import run_interruptibly

_WHOLE = 1e-5
_FREE = 2  # servers of each pattern that are decided again


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the integer programme ends with.

    Parameters
    ----------
    columns
        How often each column is used, None where nothing was found.
    ended
        True: the solver holds that no other counts of these columns are better.
    interrupted
        True: by Ctrl-C.
    """

    columns: list[int] | None
    ended: bool
    interrupted: bool = False


def best_whole(
    columns: Columns,
    *,
    seconds: float | None,
    target: float,
    seed: int,
    gap: float = 0.0,
    at_least: Sequence[int] = (),
    start: Sequence[int] | None = None,
    without: npt.NDArray[np.bool_] | None = None,
) -> Counts:
    """Give the best whole numbers of the known columns.

    Only patterns, and options of jobs in pieces, need to be declared whole: with these fixed, what
    is left is a flow of jobs through slots, whose vertices are whole.

    Parameters
    ----------
    columns
        Of the master programme.
    seconds
        Time limit, None for none.
    target
        An upper bound of the value: who reaches it may stop.
    seed
        Of the solver.
    gap
        Relative gap at which to stop.
    at_least
        Least counts of the columns, as `floors` gives them: a small programme is left.
    start
        Counts to start from, shorter by what was added since.
    without
        Columns to leave unused.
    """
    needed = [_must_be_whole(columns, key) for key in columns.made_of]
    model = _model(columns, needed, at_least)
    if without is not None:
        unused = np.flatnonzero(without).astype(np.int32)
        none = np.zeros(len(unused))
        model.changeColsBounds(len(unused), unused, none, none)
    for name, value in {
        "threads": 1,
        "random_seed": seed,
        "mip_rel_gap": gap,
        "mip_abs_gap": 0.0,
        "objective_target": -target / columns.unit * (1 - 1e-12),
        # It takes time on programmes that are mostly decided at their root.
        "mip_heuristic_run_feasibility_jump": False,
    }.items():
        model.setOptionValue(name, value)
    if seconds is not None:
        model.setOptionValue("time_limit", max(seconds, 0.0))
    if start is not None:
        known = np.zeros(len(columns.cost))
        known[: len(start)] = start
        guess = highspy.HighsSolution()
        guess.col_value = known.tolist()
        model.setSolution(guess)
    model.HandleUserInterrupt = True
    _, interrupted = run_interruptibly(model.run, model.cancelSolve)
    status = model.getModelStatus().name
    info = model.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return Counts(columns=None, ended=status == "kInfeasible", interrupted=interrupted)
    found = np.array(model.getSolution().col_value)
    return Counts(
        columns=_checked(columns, found, needed),
        ended=status == "kOptimal",
        interrupted=interrupted,
    )


def floors(columns: Columns, values: FloatArray) -> list[int]:
    """Give what is kept of the relaxation's counts of patterns: all but two of each, else 0.

    Rounded down alone they often allow no best answer; with two servers a pattern free again they
    mostly do, and the programme stays small.
    """
    return [
        max(int(value + _WHOLE) - _FREE, 0) if isinstance(key, Opened) else 0
        for value, key in zip(values.tolist(), columns.made_of, strict=True)
    ]


def _must_be_whole(columns: Columns, key: Key) -> bool:
    if isinstance(key, Option):
        return columns.shop.wishes[key.wish].pieces
    return isinstance(key, Opened)


def _model(
    columns: Columns, needed: Sequence[bool], at_least: Sequence[int] = ()
) -> highspy.Highs:
    lower, upper = columns.bounds()
    starts, index, value = columns.matrix()
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = len(lower), len(columns.cost)
    lp.col_cost_ = -np.array(columns.cost)
    lower_counts = np.zeros(len(columns.cost))
    lower_counts[: len(at_least)] = at_least
    lp.col_lower_ = lower_counts
    lp.col_upper_ = np.full(len(columns.cost), np.inf)
    lp.row_lower_, lp.row_upper_ = lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, index, value
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    if any(needed):
        lp.integrality_ = [kinds[int(whole)] for whole in needed]
    model = Quiet()
    model.setOptionValue("output_flag", False)
    model.passModel(lp)
    return model


def _checked(columns: Columns, found: FloatArray, needed: Sequence[bool]) -> list[int] | None:
    """Round; where a flow is not whole, solve it again at a vertex; check every row exactly."""
    whole = np.rint(found)
    if float(np.abs(found - whole).max()) > _WHOLE:
        flow = _flow(columns, whole, np.array(needed))
        if flow is None:
            return None
        whole = flow
    counts = [int(n) for n in whole]
    return counts if _rows_kept(columns, counts) else None


def _flow(columns: Columns, whole: FloatArray, needed: npt.NDArray[np.bool_]) -> FloatArray | None:
    model = _model(columns, [False] * len(whole))
    for j in np.flatnonzero(needed).tolist():
        model.changeColBounds(j, float(whole[j]), float(whole[j]))
    model.setOptionValue("solver", "simplex")
    run_aside(model)
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = np.array(model.getSolution().col_value)
    again: FloatArray = np.rint(found)
    if float(np.abs(found - again).max()) > _WHOLE:
        return None
    return again


def _rows_kept(columns: Columns, counts: Sequence[int]) -> bool:
    lower, upper = columns.bounds()
    sums = [0] * columns.rows
    for count, (index, value) in zip(counts, columns.entries, strict=True):
        if count < 0:
            return False
        if count:
            for row, number in zip(index, value, strict=True):
                sums[row] += count * int(number)
    return all(
        low <= total <= high
        for total, low, high in zip(sums, lower.tolist(), upper.tolist(), strict=True)
    )
