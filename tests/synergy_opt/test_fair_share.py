"""The GPU-proportional share and what it is worth."""

from __future__ import annotations

from fractions import Fraction

import pytest
from builders import cluster, instance, wants
from checker import share_on, throughput_within
from checker import unit as unit_by_definition
from hypothesis import given
from strategies import instances

from synergy_opt.errors import InvalidInstance
from synergy_opt.fair_share import (
    fair_share,
    fair_throughput,
    fair_value,
    job_throughput,
    unit_value,
)
from synergy_opt.model import Job


def test_the_share_on_one_group_is_the_servers_part():
    """Tests that 4 of 8 GPUs come with half of the server."""
    assert fair_share(cluster((2, 8, 24, 500)), 4) == (12, 250)


def test_the_share_on_several_groups_is_the_smallest_in_each_resource():
    """Tests that a job across groups may count on what each of them gives."""
    place = cluster((1, 8, 24, 500), (1, 4, 8, 400))
    assert fair_share(place, 2) == (4, 125)
    assert fair_share(place, 2, groups=[0]) == (6, 125)
    assert fair_share(place, 2, groups=[1]) == (4, 200)
    assert fair_share(place, 2, groups={0, 1}) == (4, 125)


def test_the_share_need_not_be_on_the_grid():
    """Tests that off the grid the best point inside the share counts, not a neighbour."""
    job = (wants("m", (1, 1), (2, 4), (3, 6)), 1)
    small = instance(cluster((1, 2, 10)), job)
    assert fair_throughput(small, small.jobs[0]) == 2  # share 5


def test_the_share_of_a_profile_for_the_whole_job_is_not_divided():
    """Tests that a profile per job is compared with the job's whole share."""
    job = (wants("m", (1, 1), (2, 10), per="job"), 2)
    small = instance(cluster((1, 2, 10)), job)
    assert fair_throughput(small, small.jobs[0]) == 2


def test_a_share_without_a_configuration_names_the_job():
    """Tests that a job that is not the instance's own is refused, not given 0."""
    small = instance(cluster((1, 8, 8)), (wants("m", (1, 4), per="job"), 4))
    with pytest.raises(InvalidInstance, match="'other' has no configuration"):
        fair_throughput(small, Job(id="other", gpus=1, profile="m"))


@given(instance=instances(max_jobs=4))
def test_the_fair_throughput_is_the_best_inside_the_share(instance):
    """Tests W^f and the unit of the objective against their definitions."""
    everywhere = range(instance.cluster.server_count)
    for job in instance.jobs:
        share = share_on(instance, job, everywhere)
        assert fair_share(instance.cluster, job.gpus) == share
        assert fair_throughput(instance, job) == throughput_within(instance, job, share)
        assert unit_value(instance, job) == unit_by_definition(instance, job)
        value = fair_throughput(instance, job) * unit_value(instance, job)
        assert fair_value(instance, job) == value
        if instance.objective == "relative":
            assert value == job.weight


@given(given_instance=instances())
def test_the_throughput_at_some_amounts_is_by_the_definition(given_instance):
    """Tests the objective's term at every grid point and between two, against the definition."""
    for job in given_instance.jobs:
        profile = given_instance.profile_of[job.profile]
        scale = job.gpus if profile.per == "gpu" else 1
        for part in (Fraction(1, 2), 1, Fraction(9, 7)):
            amounts = [part * scale * axis.tolist()[-1] for _, axis in profile.axes]
            best = throughput_within(given_instance, job, amounts) or 0
            term = best * unit_by_definition(given_instance, job)
            assert job_throughput(given_instance, job, amounts) == term


def test_too_little_for_any_grid_point_is_throughput_0():
    """Tests that a job with less than its least grid point does not run, and ints will do."""
    from synergy_opt import shipped

    example = shipped("worked-example")
    assert job_throughput(example, example.jobs[0], (0, 500)) == 0
    assert job_throughput(example, example.jobs[0], (12, 250)) == 1
    for wrong in ((12,), (12.0, 250)):
        with pytest.raises(TypeError, match="one for each of cpu, memory"):
            job_throughput(example, example.jobs[0], wrong)
