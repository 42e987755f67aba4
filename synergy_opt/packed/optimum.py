"""The packed optimum: configurations and places together, whole GPUs on real servers.

Takes an instance and gives a `Placement` with an exact bound: column generation over patterns, an
integer programme over the columns, then every column that can still matter (theory: "The packed
optimum").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from synergy_opt.answer import Placement, Proof, Split
from synergy_opt.errors import Infeasible, Stopped
from synergy_opt.model import Instance
from synergy_opt.packed.bound import free_bound
from synergy_opt.packed.collector import waiting
from synergy_opt.packed.generation import first_columns, generate, rational_prices
from synergy_opt.packed.improve import improve
from synergy_opt.packed.master import Relaxation
from synergy_opt.packed.parts import DIRECT, in_parts
from synergy_opt.packed.problem import Problem, Progress, State, problem_of
from synergy_opt.packed.runs import Runs, placement_of
from synergy_opt.packed.start import proportional_start, tune_runs
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, limits_of


def packed(
    instance: Instance,
    *,
    split: Split = "never",
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Placement:
    """Place every runnable job fairly, in whole GPUs, with the highest throughput.

    The highest, that is, of placements within the consolidation rule (Synergy, §6):

    maximise Σ_t Σ_q w_tq u_tq over the numbers u_tq of jobs of kind t in slots of shape q, subject
    to Σ_q u_tq = n_t for each kind, Σ_t u_tq ≤ Σ_p a_pq x_p for each shape, and Σ_p x_p ≤ s_h for
    each server group, where x_p servers are divided by pattern p, a multiset of shapes that fits
    one server.

    Parameters
    ----------
    instance
        Its runnable jobs take part.
    split
        ``"never"``: a job that fits on one server of some group is on one server (Synergy, §6,
        consolidation); larger ones are divided. ``"allowed"``: any job of several GPUs may be. A
        piece of k of a job's g GPUs has k/g of its resources; all pieces of a job are of one
        configuration.
    limits
        Time, relative gap and seed. At a limit, and on Ctrl-C, the best placement and the lowest
        bound so far are returned.
    progress
        Called whenever something better is known.

    Returns
    -------
    Placement
        Every runnable job is placed with W ≥ W^f of the groups that it touches. `bound` is a
        `PatternBound`, exact whatever the solvers' floats were. `proof` is ``"patterns"`` where
        the throughput meets it, ``"loads"`` where our own search, in exact arithmetic, decided all
        that could be better, else ``"none"``: what a solver says is not taken for a proof.

    Raises
    ------
    Infeasible
        When whole jobs do not fit the servers by their GPUs, shown by an exact search; else there
        is a fair placement, since the shares of the GPUs of a server fit it.
    Stopped
        When none was found and that search was given up.

    Notes
    -----
    The relaxation has (kinds + shapes + groups) rows, whatever the numbers of jobs and servers;
    its columns are priced exactly by a knapsack over reachable sums. Only patterns need to be
    whole: for whole jobs the rest is a flow. Nothing is exponential in the number of servers but
    the last per mille of a gap that the columns leave.

    Source: theory, "The packed optimum"; Gilmore and Gomory, "A linear programming approach to
    the cutting-stock problem", Operations Research 9 (1961), for patterns and their pricing.

    Examples
    --------
    >>> from synergy_opt import shipped
    >>> best = packed(shipped("worked-example"))
    >>> best.throughput == best.bound.value, best.proof, best.left_out
    (True, 'patterns', ())
    """
    limits, started = limits_of(limits), time.monotonic()
    jobs = runnable(instance)
    problem = problem_of(instance, jobs, split, limits, started)
    best = State(runs=None, bound=free_bound(problem.shop, problem.uses, split))
    try:
        for state in _states(problem, best):
            best = state
            if progress is not None:
                value = None if best.runs is None else best.runs.value
                passed = time.monotonic() - started
                progress(Progress(time=passed, incumbent=value, bound=best.bound.value))
            if best.searched or best.within(limits.gap):
                break
    except KeyboardInterrupt:
        pass  # what is known is the answer
    if not (best.closed or best.searched):
        # What a heuristic finds is never better than what this returns.
        best = best.better(tune_runs(problem.shop, jobs))
    if best.runs is None:
        best = best.better(_by_shares(problem))
    if best.runs is None:
        raise Stopped("stopped before a placement with whole jobs was found; there may be one")
    proof: Proof = "patterns" if best.closed else "loads" if best.searched else "none"
    stopped = proof == "none" and not best.within(limits.gap)
    with waiting():
        return placement_of(best.runs, jobs, best.bound, proof, stopped=stopped)


def _states(problem: Problem, state: State) -> Iterator[State]:
    """Give what is known after each step."""
    yield state
    if problem.late:
        return
    if len(problem.uses) > DIRECT:
        yield from in_parts(problem, state)
        return
    columns = first_columns(problem)
    relaxation = Relaxation(columns)
    prices = generate(problem, columns, relaxation)
    state = state.tighter(problem.bound(rational_prices(problem, columns, relaxation, prices)))
    yield state
    yield from improve(problem, relaxation, prices, state)


def _by_shares(problem: Problem) -> Runs | None:
    """Give the placement by fair shares: there is one if whole jobs fit by their GPUs alone."""
    start = proportional_start(problem.shop)
    if start.runs is None and start.decided:
        raise Infeasible(
            "the runnable jobs do not fit the servers with each of them on one server: "
            "their GPUs alone do not, by an exact search"
        )
    return start.runs
