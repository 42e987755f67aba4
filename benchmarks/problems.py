"""What an answer is an answer to: which problem a placement solves, which a bound is for.

Takes an instance with a placement that keeps every rule and gives the names of problems, each a
restriction of the next:

- ``whole``: all runnable jobs, fair, within the consolidation rule, whole GPUs, and a job on one
  server where it fits on one;
- ``split``: the same, but any job of several GPUs may be divided;
- ``ideal``: GPUs may be fractions, the paper's Synergy-OPT.

A throughput reached in one is a lower bound in those after it; an upper bound of one holds in
those before it.
"""

from __future__ import annotations

from benchmarks.methods import Problem
from synergy_opt.answer import Bound, PatternBound, Placement
from synergy_opt.measures import above_a_server, below_floor
from synergy_opt.model import Instance

PROBLEMS: tuple[Problem, ...] = ("whole", "split", "ideal")


def solved(instance: Instance, placement: Placement) -> tuple[Problem, ...]:
    """Give the problems that a placement is feasible for; none where it is unfair, say."""
    if placement.left_out or below_floor(instance, placement):
        return ()
    if above_a_server(instance, placement):
        return ()
    if not placement.whole_gpus:
        return ("ideal",)
    largest = max(group.gpus for group in instance.cluster.servers)
    gpus = {job.id: job.gpus for job in instance.jobs}
    divided = any(gpus[name] <= largest for name in placement.split_jobs)
    return ("split", "ideal") if divided else PROBLEMS


def bounded(bound: Bound | PatternBound | None) -> tuple[Problem, ...]:
    """Give the problems whose optimum a bound is above."""
    if bound is None:
        return ()
    if isinstance(bound, PatternBound):
        return ("whole",) if bound.split == "never" else ("whole", "split")
    return PROBLEMS  # all variants of L(λ) hold for fair placements of all listed jobs
