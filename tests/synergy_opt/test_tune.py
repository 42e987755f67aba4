"""TUNE: each trap of its description as a case of its own."""

from __future__ import annotations

from fractions import Fraction

import pytest
from builders import cluster, demands, instance, wants, where
from checker import faults

from synergy_opt.greedy import greedy
from synergy_opt.model import Instance, Profile
from synergy_opt.proportional import proportional
from synergy_opt.tune import tune, tune_as_simulated

F = Fraction
MODEST = wants("modest", (1, 1))
HUNGRY = wants("hungry", (1, 3), (2, 8))


def three_jobs():
    """Give the one-server example on which a job that frees nothing was once demoted."""
    cpu_hungry = wants("cpu-hungry", (1, 3, 20), (2, 12, 20))
    memory_hungry = wants("memory-hungry", (1, 3, F("62.5")), (2, 3, 440))
    modest = wants("modest", (1, 3, F("62.5")))
    place = cluster((1, 8, 24, 500))
    return instance(place, (cpu_hungry, 1), (memory_hungry, 1), (modest, 1))


def test_a_job_that_gives_nothing_of_what_is_needed_is_not_demoted():
    """Tests that where memory is short the job that holds CPUs keeps them."""
    small = three_jobs()
    answer = tune(small)
    assert faults(small, answer) == []
    assert demands(answer) == {"a": (12, 20), "b": (3, F("62.5")), "c": (3, F("62.5"))}


def either_way():
    """Give two jobs for whom the smaller of demand and share is worth less than either.

    W(1, 4) = 3 is the best case and W(2, 2) = 2 the fair share; W(1, 2) = 1 is below it.
    """
    either = Profile(
        name="either",
        axes={"cpu": [1, 2], "memory": [2, 4]},
        throughput=[[1, 3], [2, 3]],
    )
    return instance(cluster((1, 2, 4, 4)), (either, 1), (either, 1))


def test_the_smaller_of_demand_and_share_would_be_unfair():
    """Tests that a job above its share in one resource alone gets the whole share or demand."""
    small = either_way()
    answer = tune(small)
    assert faults(small, answer) == []
    assert demands(answer) == {"a": (2, 2), "b": (2, 2)}


def crossing():
    """Give two servers on which demoting a split job overdraws the other server.

    One GPU's share is (2, 7/3). a takes 2 GPUs of each server with (1, 3) a GPU and b one of
    server 0 with (4, 1). For c to get (2, 2) on server 1, a gives memory and takes CPUs on both
    servers; on server 0 they are b's, who has to give them.
    """
    a = wants("a", (1, 1, 2), (2, 1, 3))
    b = wants("b", (1, 2, 1), (2, 4, 1))
    c = wants("c", (1, 2, 2))
    return instance(cluster((2, 3, 6, 7)), (a, 4), (b, 1), (c, 1))


def test_a_demoted_job_changes_on_all_its_servers_and_what_that_breaks_is_mended():
    """Tests that a demotion that raises another resource elsewhere demotes on there."""
    small = crossing()
    answer = tune(small)
    assert faults(small, answer) == []
    share = (2, F(7, 3))
    assert demands(answer) == {"a": (8, F(28, 3)), "b": share, "c": (2, 2)}
    assert where(answer) == {"a": [(0, 2), (1, 2)], "b": [(0, 1)], "c": [(1, 1)]}


def test_releasing_just_enough_once_would_not_fit():
    """Tests that demotions go on where the demoted job takes more of another resource."""
    cpu_hungry = wants("cpu-hungry", (1, 1, 1), (2, 3, 1))
    memory_hungry = wants("memory-hungry", (1, 1, 1), (2, 1, 3))
    place = cluster((1, 3, 6, 6))
    small = instance(place, (cpu_hungry, 1), (memory_hungry, 1), (wants("m", (1, 2, 2)), 1))
    answer = tune(small)
    assert faults(small, answer) == []
    assert answer.left_out == ()


def test_the_job_with_the_least_surplus_that_is_enough_is_demoted():
    """Tests that no more is released than needed where one job covers it."""
    large, small = wants("large", (1, 3), (2, 9)), wants("small", (1, 3), (2, 6))
    modest = wants("modest", (1, 3))
    case = instance(cluster((1, 6, 18)), (large, 1), (small, 1), (modest, 1), (modest, 1))
    answer = tune(case)
    assert faults(case, answer) == []
    assert demands(answer)["a"] == (9,)
    assert demands(answer)["b"] == (3,)


def test_the_largest_surplus_goes_first_where_no_job_alone_is_enough():
    """Tests that several jobs are demoted where one does not give what is needed."""
    three = wants("three", (1, 2), (2, 3))
    case = instance(cluster((1, 6, 12)), (three, 1), (three, 1), *[(wants("m", (1, 2)), 1)] * 4)
    answer = tune(case)
    assert faults(case, answer) == []
    assert set(demands(answer).values()) == {(2,)}


def test_of_equals_the_one_with_the_lowest_priority_is_demoted():
    """Tests that a demotion falls on the later job in priority order."""
    pair = wants("pair", (1, 2), (2, 4))
    case = instance(cluster((1, 4, 8)), (pair, 1), (pair, 1), (wants("m", (1, 1)), 1))
    assert demands(tune(case)) == {"a": (4,), "b": (2,), "c": (1,)}


def test_a_demand_inside_the_share_is_kept_where_others_give():
    """Tests that a modest job gets its demand, not its larger share, in the last step."""
    case = instance(cluster((1, 4, 12)), (wants("h", (1, 3), (2, 12)), 1), (MODEST, 1))
    answer = tune(case)
    assert demands(answer) == {"a": (3,), "b": (1,)}


def test_a_job_above_its_share_is_switched_itself_before_others_are():
    """Tests that what fits with its share takes nothing from others."""
    case = instance(cluster((1, 4, 12)), (HUNGRY, 1), (HUNGRY, 1))
    assert demands(tune(case)) == {"a": (8,), "b": (3,)}


def test_jobs_go_to_the_server_with_least_free_resources_that_fits():
    """Tests that small jobs fill the server that is fullest already."""
    case = instance(cluster((3, 4, 12)), (MODEST, 3), (MODEST, 2), (MODEST, 1), (MODEST, 1))
    expected = {"a": [(0, 3)], "b": [(1, 2)], "c": [(0, 1)], "d": [(1, 1)]}
    assert where(tune(case)) == expected


def test_a_split_job_takes_the_fewest_servers():
    """Tests that the servers with most free GPUs are taken first, not those with fewest."""
    case = instance(cluster((4, 4, 12)), (MODEST, 6), (MODEST, 3), (MODEST, 3))
    assert len(where(tune(case))["a"]) == 2
    late = instance(cluster((3, 4, 12)), (MODEST, 3), (MODEST, 3), (MODEST, 3), (MODEST, 3))
    assert [len(pieces) for pieces in where(tune(late)).values()] == [1, 1, 1, 3]


def test_a_split_job_has_resources_in_proportion_to_its_gpus():
    """Tests the paper's example: 2 GPUs, 12 CPUs, 300 GB over two servers is half on each."""
    case = instance(cluster((2, 1, 6, 150)), (wants("m", (1, 6, 150)), 2))
    (job,) = tune(case).jobs
    assert [(p.server, p.gpus, p.amounts) for p in job.pieces] == [
        (0, 1, (6, 150)),
        (1, 1, (6, 150)),
    ]


def test_jobs_are_sorted_by_gpus_then_cpu_then_memory():
    """Tests the order of placing: the larger demand takes the first server."""
    case = instance(
        cluster((4, 2, 8, 8)),
        (wants("low", (1, 1, 1)), 2),
        (wants("memory", (1, 2, 3)), 2),
        (wants("cpu", (1, 3, 1)), 2),
        (wants("last", (1, 1, 1)), 1),
    )
    assert where(tune(case)) == {"a": [(2, 2)], "b": [(1, 2)], "c": [(0, 2)], "d": [(3, 1)]}


def test_across_groups_the_share_is_the_smallest_of_those_touched():
    """Tests that the cluster's mean is not taken for the share: it would not fit.

    The mean is (9/2, 15/2) a GPU; the first server has 3 CPUs, the second 5 GB.
    """
    place = cluster((1, 1, 3, 10), (1, 1, 6, 5))
    case = instance(place, (wants("m", (1, 1, 1), (2, 4, 4), (3, 6, 6)), 2))
    answer = tune(case)
    assert faults(case, answer) == []


def test_a_share_of_one_group_is_preferred_where_it_needs_fewer_servers():
    """Tests that a job switched to its share looks at each group, then across."""
    place = cluster((2, 2, 4), (1, 4, 20))
    hungry = wants("hungry", (1, 2), (2, 5), (3, 11))
    case = instance(place, (hungry, 4), (hungry, 4))
    answer = tune(case)
    assert faults(case, answer) == []
    assert where(answer) == {"a": [(2, 4)], "b": [(0, 2), (1, 2)]}


def test_the_share_of_the_groups_touched_may_not_fit_where_the_smallest_does():
    """Tests that a share found across groups is checked again with the groups it touches."""
    # For the second job 1 CPU a GPU, the share across both groups, is free on servers 0 and 1;
    # their own group's share, 3 a GPU, is not, so the first job has to give.
    place = cluster((2, 3, 9, 3), (1, 1, 1, 100))
    first = wants("first", (1, 1, 0), (2, F(7, 2), 0))
    second = wants("second", (1, 1, 0), (2, 4, 0))
    case = instance(place, (first, 4), (second, 2))
    answer = tune(case)
    assert faults(case, answer) == []
    assert demands(answer) == {"a": (12, 4), "b": (6, 2)}
    assert where(answer) == {"a": [(0, 2), (1, 2)], "b": [(0, 1), (1, 1)]}


def test_a_demand_capped_below_the_share_of_small_rich_servers_is_not_used_there():
    """Tests the floor where the share of the servers touched is above the job's best case."""
    place = cluster((1, 2, 4), (2, 1, 100))
    rich = wants("rich", (1, 1), (2, 2), (9, 100))
    case = instance(place, (MODEST, 2), (rich, 2))
    answer = tune(case)
    assert faults(case, answer) == []
    assert answer.left_out == ()


@pytest.mark.parametrize("mechanism", [proportional, greedy, tune])
def test_empty_rounds_and_jobs_that_never_fit_work(mechanism):
    """Tests that no jobs, and jobs that are not runnable, are no error."""
    place = cluster((1, 2, 6))
    assert mechanism(instance(place)).jobs == ()
    crowded = instance(place, (MODEST, 2), (MODEST, 1))
    assert [job.id for job in mechanism(crowded).jobs] == ["a"]


@pytest.mark.parametrize("mechanism", [proportional, greedy, tune])
def test_the_order_of_resources_and_units_change_no_throughput(mechanism):
    """Tests that bytes instead of gigabytes give the same placement."""
    small = three_jobs()
    factor = 2**30
    scaled = instance(
        cluster((1, 8, 24, 500 * factor)),
        *[
            (
                Profile(
                    name=p.name,
                    axes={
                        "cpu": p.axes[0][1],
                        "memory": [a * factor for a in p.axes[1][1].tolist()],
                    },
                    throughput=p.throughput,
                ),
                1,
            )
            for p in small.profiles
        ],
    )
    assert isinstance(scaled, Instance)
    assert where(mechanism(scaled)) == where(mechanism(small))
    assert mechanism(scaled).throughput == mechanism(small).throughput


def test_equal_jobs_with_other_weights_get_the_same_and_count_by_weight():
    """Tests that a weight changes what a job counts, not what it is given."""
    base = instance(cluster((1, 4, 12)), (MODEST, 1), (MODEST, 1))
    jobs = [base.jobs[0], type(base.jobs[1])(id="b", gpus=1, profile="modest", weight=F(3))]
    heavy = Instance(name="w", cluster=base.cluster, profiles=base.profiles, jobs=jobs)
    assert [job.throughput for job in tune(heavy).jobs] == [1, 3]


def test_as_simulated_jobs_are_sorted_by_gpus_then_by_priority():
    """Tests that demands do not matter: the hungry job of one GPU comes in its turn."""
    case = instance(cluster((2, 2, 6)), (MODEST, 1), (MODEST, 2), (HUNGRY, 1))
    answer = tune_as_simulated(case)
    assert where(answer) == {"a": [(1, 1)], "b": [(0, 2)], "c": [(1, 1)]}
    assert (answer.mechanism, tune(case).mechanism) == ("tune-simulated", "tune")


def test_as_simulated_the_fewest_free_gpus_are_the_least_room():
    """Tests that a server of few GPUs and many CPUs is filled first, where TUNE keeps it."""
    case = instance(cluster((1, 2, 100), (1, 3, 3)), (MODEST, 1))
    assert where(tune_as_simulated(case)) == {"a": [(0, 1)]}
    assert where(tune(case)) == {"a": [(1, 1)]}


def test_as_simulated_the_job_that_holds_most_is_demoted():
    """Tests that the largest holder gives, where TUNE takes from the one that just suffices."""
    large, small = wants("large", (1, 3), (2, 9)), wants("small", (1, 3), (2, 6))
    modest = wants("modest", (1, 3))
    case = instance(cluster((1, 6, 18)), (large, 1), (small, 1), (modest, 1), (modest, 1))
    assert demands(tune_as_simulated(case)) == {"a": (3,), "b": (6,), "c": (3,), "d": (3,)}
