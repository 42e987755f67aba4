"""Whole GPUs: what rounding must keep, and what it must not lose."""

import dataclasses
from fractions import Fraction

import pytest
from checker import faults
from hypothesis import given
from strategies import instances

from synergy_opt.errors import InvalidInstance
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.optimal import optimal
from synergy_opt.placement import place
from synergy_opt.placement.whole_gpus import realize, unplaced


@given(instances())
def test_whole_gpus_break_nothing(instance):
    """Tests capacity, whole GPUs, proportional pieces and floors by the definitions alone."""
    placed = optimal(instance, whole_gpus=True)
    assert faults(instance, placed) == []
    assert all(piece.gpus.denominator == 1 for job in placed.jobs for piece in job.pieces)
    assert placed.split is None
    if placed.throughput == placed.bound.value:
        assert placed.proof == "multipliers"


@given(instances())
def test_mixtures_and_nothing_placed_can_be_realized(instance):
    """Tests that totals of the LP, and an allocation without places, also come out fair."""
    for allocation in (ideal_allocation(instance, integral=False), ideal_allocation(instance)):
        assert faults(instance, realize(instance, unplaced(allocation))) == []


def test_whole_jobs_stay_where_they_are():
    """Tests that nothing changes where stage 2 splits no job and nothing is left over."""
    instance = mix(servers=4, seed=7)
    allocation = ideal_allocation(instance)
    placed = place(instance, allocation, fewest_splits=True)
    assert placed.split.split_jobs == 0
    assert realize(instance, placed).jobs == placed.jobs


def test_share_is_trimmed_to_what_the_job_can_use():
    """Tests that a job on its fair share keeps only what its best configuration there takes."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(6,))]
    )
    sated = Profile(name="sated", axes={"cpu": [1]}, throughput=[1])
    hungry = Profile(name="hungry", axes={"cpu": [1, 5]}, throughput=[1, 4])
    jobs = [Job(id="s", gpus=1, profile="sated"), Job(id="h", gpus=1, profile="hungry")]
    instance = Instance(name="i", cluster=cluster, profiles=[sated, hungry], jobs=jobs)
    ideal = unplaced(ideal_allocation(instance))
    whole_share = tuple(
        dataclasses.replace(job, demand=(Fraction(3),), throughput=Fraction(1))
        for job in ideal.jobs
    )
    found = realize(instance, dataclasses.replace(ideal, jobs=whole_share))
    assert [job.demand for job in found.jobs] == [(1,), (5,)]
    assert found.proof == "multipliers"


def test_placement_of_another_instance():
    """Tests that a placement of another instance is refused."""
    instance = mix(servers=1, seed=1)
    placed = place(instance, ideal_allocation(instance))
    with pytest.raises(InvalidInstance, match="'other'"):
        realize(instance, dataclasses.replace(placed, instance="other"))


def test_jobs_of_another_instance():
    """Tests that a placement with a job that the instance does not have is refused."""
    instance = mix(servers=1, seed=1)
    placed = place(instance, ideal_allocation(instance))
    unknown = dataclasses.replace(placed.jobs[0], id="nobody")
    with pytest.raises(InvalidInstance, match="the instance has no job 'nobody'"):
        realize(instance, dataclasses.replace(placed, jobs=(unknown,)))


def lopsided(throughput) -> Instance:
    """Give one job of 2 GPUs on two servers of 2 GPUs, 2 cores and 2 GB, its fair share."""
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[Server(type="n", count=2, gpus=2, capacity=(2, 2))],
    )
    axes = {"cpu": [0, 2, 4], "memory": [0, 2]}
    profile = Profile(name="p", axes=axes, throughput=throughput, per="job")
    jobs = [Job(id="a", gpus=2, profile="p")]
    return Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)


def given_totals(instance, mixture, demand, throughput):
    """Give the instance's one job these totals, without a place."""
    allocation = ideal_allocation(instance, integral=False, floor="rows", consolidated=False)
    choice = dataclasses.replace(
        allocation.jobs[0], mixture=mixture, demand=demand, throughput=throughput
    )
    return unplaced(dataclasses.replace(allocation, jobs=(choice,)))


def test_a_mixture_that_no_configuration_is_inside_becomes_the_share():
    """Tests half of the time on no cores, half on four: two cores alone are worth nothing."""
    instance, half = lopsided([[0, 0], [0, 1], [2, 2]]), Fraction(1, 2)
    mixed = given_totals(instance, ((0, half), (4, half)), (Fraction(2), Fraction(0)), Fraction(1))
    found = realize(instance, mixed)
    assert [(job.demand, job.throughput) for job in found.jobs] == [((2, 2), 1)]


@pytest.mark.parametrize(
    ("throughput", "worth"),
    [
        ([[0, 0], [0, 1], [2, 2]], 2),  # more than all that one server's worth makes
        ([[0, 0], [0, 1], [1, 1]], 1),  # as much as the share, which has more memory
    ],
)
def test_two_servers_worth_is_kept_where_no_configuration_is_better(throughput, worth):
    """Tests totals beyond the consolidation rule: four cores from two servers."""
    instance, wish = lopsided(throughput), (Fraction(4), Fraction(0))
    found = realize(instance, given_totals(instance, ((4, Fraction(1)),), wish, Fraction(worth)))
    assert [(job.demand, job.throughput) for job in found.jobs] == [(wish, worth)]
    assert [piece.server for piece in found.jobs[0].pieces] == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_realized_optimum_is_close(seed):
    """Tests that with the fewest splits the realized optimum is within 5 % of the bound."""
    placed = optimal(mix(servers=8, seed=seed), whole_gpus=True, fewest_splits=True)
    assert placed.throughput >= Fraction(95, 100) * placed.bound.value


def test_the_proof_is_kept_only_with_the_throughput():
    """Tests that rounding that changes the total says so, and that meeting the bound proves it."""
    instance = mix(servers=2, seed=7)
    allocation = ideal_allocation(instance)
    ideal = unplaced(allocation)
    assert (ideal.mechanism, ideal.bound, ideal.stopped) == (
        "optimal",
        allocation.bound,
        allocation.stopped,
    )
    assert unplaced(dataclasses.replace(allocation, stopped=True)).stopped
    far = dataclasses.replace(ideal.bound, value=ideal.throughput + 100)
    same = realize(instance, dataclasses.replace(ideal, bound=far, proof="solver"))
    settled = dataclasses.replace(same, bound=far, proof="solver")
    assert realize(instance, settled).proof == "solver"
    first, *others = settled.jobs
    more = dataclasses.replace(first, throughput=first.throughput + 1)
    assert realize(instance, dataclasses.replace(settled, jobs=(more, *others))).proof == "none"
    met = dataclasses.replace(far, value=same.throughput)
    assert realize(instance, dataclasses.replace(settled, bound=met)).proof == "multipliers"
    unbounded = dataclasses.replace(settled, bound=None)
    assert realize(instance, unbounded).proof == "solver"
