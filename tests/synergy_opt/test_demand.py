"""The best-case demand: least resources that saturate the throughput."""

from __future__ import annotations

from builders import cluster, instance, wants
from checker import share_on, throughput_within, unit
from hypothesis import given
from strategies import clusters, instances

from synergy_opt.demand import best_case_demand, share_demand


def test_the_demand_is_the_least_that_saturates():
    """Tests that no more is asked for than the throughput needs."""
    small = instance(cluster((1, 8, 24)), (wants("m", (1, 1), (3, 5), (3, 9)), 2))
    demand = best_case_demand(small, small.jobs[0])
    assert (demand.amounts, demand.value) == ((10,), 3)


def test_of_several_ways_to_saturate_the_one_closest_to_the_share_is_taken():
    """Tests that ties go to the smallest largest ratio to the share."""
    profile = wants("m", (1, 1, 1), (2, 8, 1), (2, 3, 4))
    small = instance(cluster((1, 4, 8, 8)), (profile, 1))
    assert best_case_demand(small, small.jobs[0]).amounts == (3, 4)


def test_a_throughput_that_falls_with_more_resources_is_not_pushed_past_its_peak():
    """Tests that a profile that is not monotone saturates at its maximum."""
    profile = wants("m", (1, 1), (3, 2))
    small = instance(cluster((1, 4, 16)), (profile, 1))
    assert best_case_demand(small, small.jobs[0]).amounts == (2,)


def test_a_job_that_fits_on_one_server_asks_for_no_more_than_one():
    """Tests that a 4-GPU job on 24-CPU servers does not ask for 48 CPUs."""
    small = instance(cluster((2, 8, 24)), (wants("m", (1, 3), (2, 6), (4, 12)), 4))
    assert best_case_demand(small, small.jobs[0]).amounts == (24,)


def test_the_share_is_taken_whole():
    """Tests that the share is not trimmed to the grid point that it pays for."""
    small = instance(cluster((1, 8, 24)), (wants("m", (1, 2)), 2))
    assert share_demand(small, small.jobs[0]).amounts == (6,)
    assert share_demand(small, small.jobs[0]).value == 1


@given(instance=instances(cluster=clusters(max_groups=1), max_jobs=4))
def test_the_demand_is_worth_most_within_the_servers_that_it_needs(instance):
    """Tests value, attainability and fairness on one group against the definition."""
    (group,) = instance.cluster.servers
    for job in instance.jobs:
        demand = best_case_demand(instance, job)
        servers = -(-job.gpus // group.gpus)
        most = tuple(servers * amount for amount in group.capacity)
        assert demand.value == throughput_within(instance, job, most) * unit(instance, job)
        within = throughput_within(instance, job, demand.amounts)
        assert within * unit(instance, job) == demand.value
        assert all(a <= m for a, m in zip(demand.amounts, most, strict=True))
        assert demand.value >= share_demand(instance, job).value


@given(instance=instances(max_jobs=4))
def test_the_share_is_worth_the_fair_throughput_of_its_groups(instance):
    """Tests `share_demand` on each group alone against the definition."""
    for job in instance.jobs:
        for server, group in enumerate(instance.cluster.group_of_server):
            share = share_demand(instance, job, groups=frozenset({group}))
            assert share.amounts == share_on(instance, job, [server])
            fair = throughput_within(instance, job, share.amounts)
            assert share.value == fair * unit(instance, job)
