"""Theorem (Synergy, §4.2): TUNE places every runnable job, and none below its fair throughput."""

from __future__ import annotations

from fractions import Fraction

from checker import faults
from hypothesis import given
from strategies import clusters, instances

from synergy_opt.greedy import greedy
from synergy_opt.proportional import proportional
from synergy_opt.tune import tune, tune_as_simulated


@given(instance=instances())
def test_tune_places_every_runnable_job_fairly(instance):
    """Tests that TUNE breaks no rule: places, capacities, proportions, floors, throughputs."""
    assert faults(instance, tune(instance)) == []
    assert faults(instance, tune_as_simulated(instance)) == []


@given(instance=instances(cluster=clusters(max_groups=1, max_count=3, round_amounts=True)))
def test_tune_is_no_worse_than_proportional_on_one_group(instance):
    """Tests that each job has at least its throughput under GPU-proportional sharing."""
    fair = {job.id: job.throughput for job in proportional(instance).jobs}
    assert all(job.throughput >= fair[job.id] for job in tune(instance).jobs)


@given(instance=instances())
def test_proportional_gives_each_job_its_share(instance):
    """Tests that proportional sharing places every runnable job and breaks no rule."""
    assert faults(instance, proportional(instance)) == []


@given(instance=instances(cluster=clusters(max_groups=1), objectives=("relative",)))
def test_proportional_scores_the_weights_on_one_group(instance):
    """Tests that the relative throughput of the baseline is the sum of the weights."""
    answer = proportional(instance)
    weight = {job.id: job.weight for job in instance.jobs}
    assert answer.throughput == sum((weight[job.id] for job in answer.jobs), Fraction(0))


@given(instance=instances())
def test_greedy_breaks_no_rule_but_may_skip(instance):
    """Tests that what GREEDY places is within capacity and fair."""
    assert faults(instance, greedy(instance), may_skip=True) == []


@given(instance=instances())
def test_mechanisms_are_functions_of_the_instance(instance):
    """Tests that a second call gives an equal placement."""
    for mechanism in (proportional, greedy, tune, tune_as_simulated):
        assert mechanism(instance) == mechanism(instance)
