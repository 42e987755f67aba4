"""GPU-proportional sharing."""

from __future__ import annotations

from builders import cluster, demands, instance, wants, where
from checker import faults

from synergy_opt.proportional import proportional

MODEL = wants("m", (1, 1), (2, 3), (3, 6))


def test_the_papers_example_of_a_share():
    """Tests that on 4 GPUs, 16 CPUs and 200 GB a 1-GPU job gets 4 CPUs and 50 GB (§2)."""
    small = instance(cluster((1, 4, 16, 200)), (wants("m", (1, 1, 20)), 1))
    assert demands(proportional(small)) == {"a": (4, 50)}


def test_large_jobs_are_placed_before_small_ones():
    """Tests that 1-GPU jobs of high priority do not break up the servers of larger jobs."""
    small = instance(cluster((2, 4, 12)), (MODEL, 1), (MODEL, 4), (MODEL, 3))
    assert where(proportional(small)) == {"a": [(1, 1)], "b": [(0, 4)], "c": [(1, 3)]}


def test_a_job_that_no_server_holds_is_split_in_proportion():
    """Tests that three 3-GPU jobs on 4-GPU servers leave one job split, all of them placed."""
    small = instance(cluster((3, 4, 12)), *[(MODEL, 3)] * 4)
    answer = proportional(small)
    assert where(answer)["d"] == [(0, 1), (1, 1), (2, 1)]
    assert faults(small, answer) == []


def test_one_group_is_preferred_to_several():
    """Tests that a split job stays in one group where that has the GPUs."""
    place = cluster((1, 3, 9), (2, 2, 4))
    assert where(proportional(instance(place, (MODEL, 4)))) == {"a": [(1, 2), (2, 2)]}


def test_across_groups_the_smallest_share_counts():
    """Tests that a job across two groups has the smaller share of each resource."""
    place = cluster((1, 1, 3, 10), (1, 1, 6, 5))
    small = instance(place, (wants("m", (1, 1, 1)), 2))
    answer = proportional(small)
    assert demands(answer) == {"a": (6, 10)}
    assert faults(small, answer) == []


def test_weights_and_absolute_objectives_count():
    """Tests that the throughput is the job's term of the objective."""
    small = instance(cluster((1, 4, 12)), (MODEL, 2), (MODEL, 2), objective="absolute")
    assert proportional(small).throughput == 8  # 2 jobs · 2 GPUs · 2 a GPU


def test_no_jobs_give_an_empty_placement():
    """Tests that an empty round works."""
    assert proportional(instance(cluster((1, 4, 12)))).jobs == ()
