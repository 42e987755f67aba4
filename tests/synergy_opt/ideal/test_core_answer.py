"""What the core's outcome becomes: who gets what, which proof is claimed, what is handed on."""

import importlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from builders import cluster, instance, wants

from synergy_opt.ideal.core import core_allocation
from synergy_opt.ideal.knapsack.outcome import Outcome
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, Stop

module = importlib.import_module("synergy_opt.ideal.core")
F = Fraction

# One server of 8 GPUs and 16 cores; fair are two cores a GPU. Jobs a, c and d are of one kind,
# b of another with the same profile, e of a third.
CURVE = wants("curve", (4, 1), (6, 2), (9, 4), per="job")
FLAT = wants("flat", (5, 1), (5, 3), per="job")
FIVE = instance(cluster((1, 8, 16)), (CURVE, 1), (CURVE, 2), (CURVE, 1), (CURVE, 1), (FLAT, 1))


def answer(limits=None, watch=None, question=FIVE, **options):
    """Give the allocation of the runnable jobs."""
    return core_allocation(
        question,
        runnable(question),
        consolidated=options.get("consolidated", True),
        limits=limits or Limits(),
        watch=watch,
    )


def test_every_field_of_an_answer():
    """Tests demands in cores, grid points, throughputs in shares, prices a core, and the rest."""
    found = answer()
    # Room for 4 cores each for a, b, c, then 3 left: d keeps 2 and e 1, one core is left over.
    assert [job.id for job in found.jobs] == list("abcde")
    assert [job.demand for job in found.jobs] == [(4,), (4,), (4,), (2,), (1,)]
    assert [job.mixture for job in found.jobs] == [
        ((2, 1),),
        ((2, 1),),
        ((2, 1),),
        ((1, 1),),
        ((0, 1),),
    ]
    assert [job.throughput for job in found.jobs] == [F(3, 2), 1, F(3, 2), 1, 1]
    assert found.instance == "small"
    assert found.bound.consolidated
    assert len(found.bound.multipliers) == 1
    assert found.bound.value >= found.throughput == 6
    assert found.proof in ("multipliers", "core")
    assert not found.stopped
    assert not answer(consolidated=False).bound.consolidated


def outcome(*, value=6, bound=7, stop=Stop.OPTIMAL, choice=None, rivals=3):
    """Give an outcome of the knapsack of `FIVE`: 2 or 4 cores for a, c and d, 4 for b, 1 for e."""
    return Outcome(
        choice=choice or (np.array([0, 1, 2, 3]), np.array([2, 1, 1, 1])),
        value=F(value),
        bound=F(bound),
        prices=(F(1, 6),),
        stop=stop,
        rivals=rivals,
        states=0,
    )


def with_outcome(monkeypatch, result, **options):
    """Give the answer that an outcome of the knapsack becomes."""
    monkeypatch.setattr(module, "solve", lambda table, *, start, limits, watch: result)
    return answer(**options)


@pytest.mark.parametrize(
    ("value", "bound", "stop", "proof", "stopped"),
    [
        (6, 6, Stop.OPTIMAL, "multipliers", False),
        (6, 6, Stop.LIMIT, "multipliers", True),
        (6, 7, Stop.OPTIMAL, "core", False),
        (6, 7, Stop.LIMIT, "none", True),
        (6, 7, Stop.INTERRUPTED, "none", True),
    ],
)
def test_the_proof_that_is_claimed(monkeypatch, value, bound, stop, proof, stopped):
    """Tests that a bound that is met comes first, then the search, and that a stop is told."""
    found = with_outcome(monkeypatch, outcome(value=value, bound=bound, stop=stop))
    assert (found.proof, found.stopped) == (proof, stopped)
    assert (found.bound.value, found.rivals) == (bound, 3)
    assert found.bound.multipliers == (F(1, 6),)


@pytest.mark.parametrize(
    ("times", "cores"),
    [
        ([2, 1, 1, 1], [4, 4, 2, 2, 1]),
        ([1, 2, 1, 1], [4, 4, 4, 2, 1]),
        ([3, 0, 1, 1], [2, 4, 2, 2, 1]),
    ],
)
def test_the_best_of_a_kind_goes_to_its_first_jobs(monkeypatch, times, cores):
    """Tests that each configuration goes to as many jobs as take it, the dearest first."""
    choice = np.array([0, 1, 2, 3]), np.array(times)
    found = with_outcome(monkeypatch, outcome(choice=choice))
    assert [job.id for job in found.jobs] == list("abcde")
    assert [job.demand[0] for job in found.jobs] == cores


def test_limits_start_and_watch_reach_the_search(monkeypatch):
    """Tests that the start is everyone's fair share and that the time is what is left."""
    seen = {}

    def solve(table, *, start, limits, watch):
        seen.update(table=table, start=start, limits=limits)
        watch(outcome(value=5, bound=8))
        return outcome()

    monkeypatch.setattr(module, "solve", solve)
    told = []
    answer(limits=Limits(time=100.0, gap=F(1, 7)), watch=told.append)
    assert 90 < seen["limits"].time <= 100
    assert seen["limits"].gap == F(1, 7)
    items, times = seen["start"]
    assert times.tolist() == [3, 1, 1]
    assert seen["table"].fits((items, times))
    ((progress),) = told
    assert (progress.throughput, progress.bound) == (5, 8)
    assert 0 <= progress.seconds < 90


def test_nothing_is_told_without_an_answer_or_a_watcher(monkeypatch):
    """Tests an outcome without a value, and no watcher."""
    told = []

    def solve(table, *, start, limits, watch):
        watch(replace(outcome(), value=None))
        return outcome()

    monkeypatch.setattr(module, "solve", solve)
    answer(watch=told.append)
    answer()
    assert told == []


def test_prices_are_those_of_a_whole_core(monkeypatch):
    """Tests that multipliers are per unit of the instance, not per unit of the knapsack."""
    halves = wants("halves", (4, F(1, 2)), (6, F(3, 2)), per="job")
    question = instance(cluster((1, 2, 3)), (halves, 1), (halves, 1))
    choice = np.array([0]), np.array([2])
    found = with_outcome(monkeypatch, outcome(choice=choice), question=question)
    assert found.bound.multipliers == (F(1, 3),)  # 1/6 for half a core
    assert [job.demand for job in found.jobs] == [(F(3, 2),), (F(3, 2),)]
    assert [job.mixture for job in found.jobs] == [((1, 1),), ((1, 1),)]


def test_the_consolidation_rule_is_asked_for():
    """Tests a job that makes more of two servers' cores, with and without the rule."""
    wide = wants("wide", (1, 4), (3, 8), per="job")
    question = instance(cluster((2, 1, 4)), (wide, 1))
    assert answer(question=question).jobs[0].demand == (4,)
    assert answer(question=question, consolidated=False).jobs[0].demand == (8,)
