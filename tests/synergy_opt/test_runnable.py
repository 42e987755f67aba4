"""Which jobs run: priority order, by GPU demand alone."""

from __future__ import annotations

from builders import cluster, instance, wants
from checker import runnable_ids
from hypothesis import given
from strategies import instances

from synergy_opt.runnable import runnable

MODEL = wants("m", (1, 1))


def test_a_job_whose_gpus_are_taken_is_skipped_and_a_later_one_runs():
    """Tests that only the GPU demand decides and the walk goes on after a miss."""
    small = instance(cluster((1, 8, 8)), (MODEL, 5), (MODEL, 4), (MODEL, 3), (MODEL, 1))
    assert [job.id for job in runnable(small)] == ["a", "c"]


def test_a_job_that_wants_all_resources_does_not_keep_others_out():
    """Tests that resources other than GPUs are not looked at."""
    hungry = wants("h", (1, 1), (2, 8))
    small = instance(cluster((1, 2, 8)), (hungry, 1), (hungry, 1))
    assert len(runnable(small)) == 2


def test_no_jobs_give_an_empty_round():
    """Tests that an instance without jobs is no error."""
    assert runnable(instance(cluster((1, 2, 8)))) == ()


@given(instance=instances())
def test_runnable_jobs_are_the_greedy_prefix_by_gpus(instance):
    """Tests the runnable set against its definition."""
    assert [job.id for job in runnable(instance)] == runnable_ids(instance)
