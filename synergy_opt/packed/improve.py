"""From prices to placements: integer programmes over ever more columns.

Takes the generated columns and gives better and better states, up to one with a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from synergy_opt.errors import SolverFailed
from synergy_opt.packed.by_loads import by_loads
from synergy_opt.packed.collector import waiting
from synergy_opt.packed.compact import compact_program, runs_from
from synergy_opt.packed.generation import fair_options
from synergy_opt.packed.master import Columns, Relaxation
from synergy_opt.packed.options import Uses, costs, options_above
from synergy_opt.packed.patterns import patterns_above
from synergy_opt.packed.pricing import solve
from synergy_opt.packed.problem import Problem, State
from synergy_opt.packed.runs import Runs, runs_of
from synergy_opt.packed.start import proportional_start
from synergy_opt.packed.whole import Counts, best_whole, floors
from synergy_opt.program import FloatArray
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver

_PATIENCE = 30.0  # seconds for what comes before the last step, where there is no limit
_TINY = 1e-6  # reduced costs below this, in units, are those of roundings
_MOST = 20_000  # patterns of a group that may still matter: with more of them a search is partial


def improve(
    problem: Problem, relaxation: Relaxation, prices: FloatArray, state: State
) -> Iterator[State]:
    """Give better states, by integer programmes over patterns and by loads of whole jobs.

    First what the relaxation counts is kept but for two servers of each pattern (`floors`), which
    leaves a small programme and mostly is enough. Then loads, where there are few servers: they
    prove. Else all known columns, then loads. Jobs in pieces: with every pattern and division that
    can still be in a better placement.

    Parameters
    ----------
    relaxation, prices
        Solved with all columns that its prices ask for; the prices of slots.
    """
    columns, relaxed = relaxation.columns, relaxation.values()
    # Of kinds and groups: what loads are priced by.
    rows = np.delete(relaxation.prices, np.s_[len(problem.uses) : -len(problem.sacks)])
    whole = not any(use.wish.pieces for use in problem.uses)
    # With jobs in pieces the small programme may have no solution, which takes long to see.
    part = 0.15 if not whole else 0.05 if problem.few else 0.3
    counts = solved(
        problem,
        columns,
        state,
        part,
        None,
        at_least=floors(columns, relaxed),
        without=_losing(relaxation, state),
    )
    state = state.better(_runs(problem, columns, counts))
    yield state
    if counts.interrupted or problem.late:
        return
    if problem.few and whole:
        for found in by_loads(problem, rows, columns.unit, state):
            state = found
            yield state
        if state.searched or problem.late:
            return
    counts = solved(problem, columns, state, 0.4 if whole else 0.6, counts.columns)
    state = state.better(_runs(problem, columns, counts))
    yield state
    if counts.interrupted or problem.late:
        return
    if whole and not problem.few:
        for found in by_loads(problem, rows, columns.unit, state):
            state = found
            yield state
        if state.searched or problem.late:
            return
    if problem.small:
        state = _assigned(problem, state)
        yield state
    if state.runs is None:
        state = state.better(proportional_start(problem.shop).runs)
    _complete(problem, columns, prices, state)
    if not problem.late:
        counts = solved(problem, columns, state, 1.0, counts.columns)
        yield state.better(_runs(problem, columns, counts))


def solved(
    problem: Problem,
    columns: Columns,
    state: State,
    part: float,
    start: list[int] | None,
    *,
    at_least: Sequence[int] = (),
    without: npt.NDArray[np.bool_] | None = None,
) -> Counts:
    """Solve the integer programme over the known columns, in this part of the time left."""
    left = problem.left
    unlimited = None if part == 1.0 else _PATIENCE
    seconds = unlimited if left is None else left * part
    return best_whole(
        columns,
        seconds=seconds,
        target=float(state.bound.value),
        seed=problem.limits.seed,
        start=start,
        at_least=at_least,
        without=without,
    )


def _losing(relaxation: Relaxation, state: State) -> npt.NDArray[np.bool_]:
    """Tell which columns no placement that meets the bound can use, by their reduced costs."""
    slack = relaxation.objective - float(state.bound.value) + _TINY * relaxation.columns.unit
    losing: npt.NDArray[np.bool_] = relaxation.losses() > slack
    # What is rounded down at the relaxation's counts is used in any case.
    return losing & (relaxation.values() < 1)


def _runs(problem: Problem, columns: Columns, counts: Counts) -> Runs | None:
    if counts.columns is None:
        return None
    with waiting():
        return runs_of(columns, counts.columns, problem.jobs)


def _assigned(problem: Problem, state: State) -> State:
    """Solve the compact programme where a solver can take it; what is known is never lost."""
    left = problem.left
    limits = Limits(time=_PATIENCE if left is None else left / 2, seed=problem.limits.seed)
    try:
        solution = solver("cpsat")(compact_program(problem.shop), limits)
        runs = None
        if solution.x is not None:
            runs = runs_from(problem.shop, solution.x, problem.jobs)
    except SolverFailed:  # such as amounts that are no doubles on a common denominator
        return state
    return state.better(runs)


def _complete(problem: Problem, columns: Columns, prices: FloatArray, state: State) -> None:
    """Add the columns that a better placement may use, or some of them where they are too many.

    By reduced costs, a placement better than the incumbent uses no pattern whose price is further
    below σ, and no option whose gain is further below π, than the bound is above the incumbent.
    """
    if state.runs is None:
        return
    solved_sacks = [solve(sack, prices[list(sack.slots)]) for sack in problem.sacks]
    gains = [_gain(use, prices) for use in problem.uses]
    # The bound of these prices, not the lowest bound, is what reduced costs refer to.
    total = sum(len(use.wish.kind) * g for use, g in zip(problem.uses, gains, strict=True))
    total += sum(
        n * float(priced.best) for n, priced in zip(problem.shop.counts, solved_sacks, strict=True)
    )
    gap = (total - float(state.runs.value)) * (1 + 1e-9) + 1e-9 * max(1.0, total)
    for h, (sack, priced) in enumerate(zip(problem.sacks, solved_sacks, strict=True)):
        found, _ = patterns_above(
            priced,
            prices[list(sack.slots)],
            float(priced.best) - gap,
            copies=problem.copies,
            most=_MOST,
            late=lambda: problem.late,
        )
        columns.add_patterns(h, found)
    for t, (use, gain) in enumerate(zip(problem.uses, gains, strict=True)):
        if use.wish.pieces:
            options = options_above(t, use, prices, gain - gap, most=_MOST // 10)
            columns.add_options(fair_options(problem.shop, options or ()))


def _gain(use: Uses, prices: FloatArray) -> float:
    """Give the most that a value of the kind exceeds the price of its slots."""
    cost, possible = costs(use, prices)
    return float((use.wish.values - cost)[possible].max())
