"""First fit on best-case demands."""

from __future__ import annotations

from builders import cluster, demands, instance, wants, where
from checker import faults

from synergy_opt.greedy import greedy

HUNGRY = wants("hungry", (1, 3), (2, 8))
MODEST = wants("modest", (1, 1))


def test_jobs_go_to_the_first_server_with_room_in_priority_order():
    """Tests that the first server that fits is taken, not the fullest one."""
    small = instance(cluster((3, 4, 12)), (HUNGRY, 1), (HUNGRY, 1), (MODEST, 3), (MODEST, 1))
    expected = {"a": [(0, 1)], "b": [(1, 1)], "c": [(0, 3)], "d": [(1, 1)]}
    assert where(greedy(small)) == expected


def test_a_job_that_fits_nowhere_is_skipped_and_listed():
    """Tests that GPUs stay free where another resource is exhausted, and the next job is tried."""
    small = instance(cluster((1, 4, 12)), (HUNGRY, 1), (HUNGRY, 1), (MODEST, 1))
    answer = greedy(small)
    assert answer.left_out == ("b",)
    assert answer.jobs[1].throughput == 0
    assert demands(answer)["b"] == (0,)
    assert where(answer)["c"] == [(0, 1)]


def test_a_job_that_could_be_on_one_server_is_not_split():
    """Tests that first fit skips a 3-GPU job although 4 GPUs are free on two servers."""
    small = instance(cluster((2, 4, 12)), (MODEST, 2), (MODEST, 3), (MODEST, 3))
    answer = greedy(small)
    assert answer.left_out == ("c",)


def test_a_job_larger_than_a_server_takes_the_fewest():
    """Tests that a job that cannot be on one server is split over whole servers first."""
    small = instance(cluster((4, 4, 12)), (MODEST, 3), (MODEST, 3), (MODEST, 6))
    assert where(greedy(small))["c"] == [(2, 4), (3, 2)]


def test_a_job_larger_than_a_server_is_skipped_where_all_together_do_not_hold_it():
    """Tests that a large job is not placed in part."""
    small = instance(cluster((2, 4, 12)), (HUNGRY, 1), (wants("m", (1, 3)), 7))
    assert greedy(small).left_out == ("b",)


def test_a_demand_below_the_share_of_where_it_fits_is_skipped():
    """Tests that a large job is not placed unfairly on small servers rich in resources.

    Its demand is capped at the worth of the fewest servers, 3 of 100; on 10 small servers its
    share would be 1,000.
    """
    place = cluster((1, 8, 8), (20, 1, 100))
    small = instance(place, (wants("m", (1, 1), (2, 3)), 8), (wants("r", (1, 1), (9, 100)), 10))
    assert faults(small, greedy(small), may_skip=True) == []


def test_equal_jobs_larger_than_a_server_follow_each_other():
    """Tests that the second of two equal large jobs sees what the first took."""
    small = instance(cluster((4, 4, 12)), (MODEST, 6), (MODEST, 6))
    assert where(greedy(small)) == {"a": [(0, 4), (1, 2)], "b": [(1, 2), (2, 4)]}
