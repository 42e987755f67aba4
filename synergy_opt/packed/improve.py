"""From prices to placements: integer programmes over ever more columns.

Takes the generated columns and gives better and better states, up to a search that has ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from synergy_opt.packed.compact import compact_program, runs_from
from synergy_opt.packed.generation import fair_options
from synergy_opt.packed.knapsack import solve
from synergy_opt.packed.master import Columns
from synergy_opt.packed.options import Uses, costs, options_above
from synergy_opt.packed.patterns import patterns_above
from synergy_opt.packed.problem import Problem, State
from synergy_opt.packed.runs import Runs, proportional_runs, runs_of
from synergy_opt.packed.whole import Counts, best_whole, floors
from synergy_opt.program import FloatArray
from synergy_opt.solution import Limits, Stop
from synergy_opt.solvers import solver

_PATIENCE = 30.0  # seconds for what comes before the last step, where there is no limit
_MOST = 20_000  # patterns of a group that may still matter: with more of them a search is partial


def improve(
    problem: Problem, columns: Columns, relaxed: FloatArray, prices: FloatArray, state: State
) -> Iterator[State]:
    """Solve the integer programme, then with every column that can still be in a better one.

    First what the relaxation counts at least once is kept, which leaves a small programme and
    mostly is enough.

    Few servers: in between the compact programme, whose symmetry does little harm there.
    """
    # With jobs in pieces the small programme may have no solution, which takes long to see.
    part = 0.15 if any(use.wish.pieces for use in problem.uses) else 0.3
    counts = solved(problem, columns, state, part, None, at_least=floors(columns, relaxed))
    state = state.better(_runs(problem, columns, counts))
    yield state
    if counts.interrupted or problem.late:
        return
    counts = solved(problem, columns, state, 0.6, counts.columns)
    state = state.better(_runs(problem, columns, counts))
    yield state
    if counts.interrupted or problem.late:
        return
    if problem.small:
        state = _assigned(problem, state)
        yield state
        if state.searched or problem.late:
            return
    if state.runs is None:
        state = state.better(proportional_runs(problem.shop))
    complete = _complete(problem, columns, prices, state)
    if not problem.late:
        counts = solved(problem, columns, state, 1.0, counts.columns)
        state = state.better(_runs(problem, columns, counts))
        yield replace(state, searched=complete and counts.ended)


def solved(
    problem: Problem,
    columns: Columns,
    state: State,
    part: float,
    start: list[int] | None,
    *,
    at_least: Sequence[int] = (),
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
    )


def _runs(problem: Problem, columns: Columns, counts: Counts) -> Runs | None:
    return None if counts.columns is None else runs_of(columns, counts.columns, problem.jobs)


def _assigned(problem: Problem, state: State) -> State:
    """Solve the compact programme."""
    left = problem.left
    limits = Limits(time=_PATIENCE if left is None else left / 2, seed=problem.limits.seed)
    solution = solver("cpsat")(compact_program(problem.shop), limits)
    if solution.x is not None:
        state = state.better(runs_from(problem.shop, solution.x, problem.jobs))
    # With several groups the compact programme asks more of divided jobs than fairness does.
    all_of_it = len(problem.sacks) == 1 or not any(use.wish.pieces for use in problem.uses)
    ended = solution.stop in (Stop.OPTIMAL, Stop.INFEASIBLE) and all_of_it
    return replace(state, searched=ended)


def _complete(problem: Problem, columns: Columns, prices: FloatArray, state: State) -> bool:
    """Add every column that a better placement may use; False where there are too many.

    By reduced costs, a placement better than the incumbent uses no pattern whose price is further
    below σ, and no option whose gain is further below π, than the bound is above the incumbent.
    """
    if state.runs is None:
        return False
    solved_sacks = [solve(sack, prices[list(sack.slots)]) for sack in problem.sacks]
    gains = [_gain(use, prices) for use in problem.uses]
    # The bound of these prices, not the lowest bound, is what reduced costs refer to.
    total = sum(len(use.wish.kind) * g for use, g in zip(problem.uses, gains, strict=True))
    total += sum(
        n * float(priced.best) for n, priced in zip(problem.shop.counts, solved_sacks, strict=True)
    )
    gap = (total - float(state.runs.value)) * (1 + 1e-9) + 1e-9 * max(1.0, total)
    done = True
    for h, (sack, priced) in enumerate(zip(problem.sacks, solved_sacks, strict=True)):
        found, all_of_them = patterns_above(
            priced,
            prices[list(sack.slots)],
            float(priced.best) - gap,
            copies=problem.copies,
            most=_MOST,
            late=lambda: problem.late,
        )
        done &= all_of_them
        columns.add_patterns(h, found)
    for t, (use, gain) in enumerate(zip(problem.uses, gains, strict=True)):
        if use.wish.pieces:
            options = options_above(t, use, prices, gain - gap, most=_MOST // 10)
            done &= options is not None
            columns.add_options(fair_options(problem.shop, options or ()))
    return done


def _gain(use: Uses, prices: FloatArray) -> float:
    """Give the most that a value of the kind exceeds the price of its slots."""
    cost, possible = costs(use, prices)
    return float((use.wish.values - cost)[possible].max())
