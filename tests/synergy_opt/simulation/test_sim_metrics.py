"""The figures of a run are what their definitions say, on runs worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from builders import cluster
from simulation_cases import HUNGRY, MODEST, workload

from synergy_opt.errors import InvalidInstance
from synergy_opt.proportional import proportional
from synergy_opt.simulation import simulate
from synergy_opt.simulation.derived import derived_workload
from synergy_opt.simulation.metrics import (
    cdf,
    completions,
    interval,
    speedups,
    summary,
    utilisation,
)

F = Fraction
PLACE = cluster((1, 2, 6))


def two():
    """Give a hungry job that takes 600 s and a modest one that takes 100."""
    return workload((0, 900, 1, HUNGRY), (0, 100, 1, MODEST))


def test_a_summary_by_hand():
    found = summary(simulate(two(), PLACE))
    assert (found.jobs, found.mean, found.median) == (2, 350, 350.0)
    assert (found.makespan, found.queueing, found.moves) == (600, 0, 0)
    assert found.fairness == (F(600, 900) + 1) / 2
    assert found.worst_fairness == 1
    assert found.slowest == 1
    # All GPUs and cores for 300 s, then one GPU and 5 of 6 cores.
    assert found.utilisation == (F(3, 4), F(11, 12))


def test_a_window_is_measured_alone_and_ends_the_run():
    jobs = workload((0, 60, 2, MODEST), (10, 60, 2, MODEST), (20, 60, 2, MODEST))
    run = simulate(jobs, PLACE, window=(1, 2))
    # The first job runs in the first round, the others arrive inside it.
    assert [job.finished for job in run.jobs] == [60, 360, None]
    assert completions(run).tolist() == [350.0]
    assert summary(run).queueing == 290


def test_the_speed_up_is_completion_over_completion():
    base = simulate(two(), PLACE, mechanism=proportional)
    assert speedups(base, simulate(two(), PLACE)) == {"a": F(3, 2), "b": F(1)}
    with pytest.raises(InvalidInstance, match="the same jobs"):
        speedups(base, simulate(two(), PLACE, window=(0, 1)))


def test_jobs_of_equal_ids_in_another_trace_are_not_compared():
    """Tests two drawn traces, whose jobs all are J1, J2, … (seeds mistaken for each other)."""
    runs = [
        simulate(derived_workload(jobs=4, seed=seed), cluster((1, 8, 24, 500))) for seed in (1, 2)
    ]
    with pytest.raises(InvalidInstance, match="the same jobs"):
        speedups(*runs)


def test_utilisation_counts_only_what_lies_inside():
    run = simulate(two(), PLACE)
    assert utilisation(run, F(300), F(600)) == (F(1, 2), F(5, 6))
    assert utilisation(run, F(600), F(600)) == (0, 0)


def test_a_distribution_ends_at_one():
    values, parts = cdf(np.array([3.0, 1.0, 2.0, 2.0]))
    assert (values.tolist(), parts.tolist()) == ([1, 2, 2, 3], [0.25, 0.5, 0.75, 1])


def test_an_interval_is_around_the_mean_and_repeats():
    low, high = interval([1.0, 2.0, 4.0, 9.0])
    assert 1 <= low < 4 < high <= 9
    assert interval([1.0, 2.0, 4.0, 9.0]) == (low, high)
    assert interval([5.0]) == (5.0, 5.0)
    assert interval([5.0, 5.0]) == (5.0, 5.0)


def test_nothing_measured_is_said():
    with pytest.raises(InvalidInstance, match="has no job to measure"):
        summary(simulate(workload(), PLACE))
