"""Stage 2: vertices, their bound, the fewest splits, and what is refused."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import instances

from synergy_opt.answer import Allocation
from synergy_opt.certificate import violations
from synergy_opt.errors import Infeasible, InvalidInstance, SolverFailed
from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.placement import place
from synergy_opt.solution import Basis, Limits, Solution, Stop
from synergy_opt.solvers import solver


def flat(gpus: list[int], servers: list[Server]) -> Instance:
    """Jobs that need one CPU a GPU and gain nothing from more."""
    cluster = Cluster(resources={"cpu": "cores"}, servers=servers)
    profile = Profile(name="flat", axes={"cpu": [1]}, throughput=[1])
    jobs = [Job(id=f"j{i}", gpus=g, profile="flat") for i, g in enumerate(gpus)]
    return Instance(name="flat", cluster=cluster, profiles=[profile], jobs=jobs)


@given(instances())
def test_placement_is_certified(instance):
    """Tests that the independent certificate finds nothing wrong, or that nothing fits."""
    allocation = ideal_allocation(instance)
    try:
        placed = place(instance, allocation)
    except Infeasible:
        assert len(instance.cluster.servers) > 1
        return
    assert placed.throughput == allocation.throughput
    found = violations(
        instance, placed, throughput=placed.throughput, upper_bound=placed.bound.value
    )
    assert found == ()


@given(instances(max_jobs=6))
@settings(max_examples=25)
def test_fewest_splits_are_no_more(instance):
    """Tests that the integer programme splits no more jobs than the vertex, and says how few."""
    allocation = ideal_allocation(instance)
    try:
        vertex = place(instance, allocation)
    except Infeasible:
        return
    fewest = place(instance, allocation, fewest_splits=True)
    assert fewest.split.fewest <= len(fewest.split_jobs) <= len(vertex.split_jobs)
    found = violations(
        instance, fewest, throughput=fewest.throughput, upper_bound=fewest.bound.value
    )
    assert found == ()


def test_fewest_splits_is_proven():
    """Tests three jobs of two GPUs on two servers of three: one must be split, and one is."""
    instance = flat([2, 2, 2], [Server(type="n", count=2, gpus=3, capacity=(3,))])
    placed = place(instance, ideal_allocation(instance), fewest_splits=True)
    assert (placed.split.fewest, placed.split.split_jobs, placed.split.components) == (1, 1, 1)


def test_fewest_splits_at_a_limit():
    """Tests that without time the vertex comes back, and no bound better than none."""
    instance = mix(servers=16, seed=2)
    placed = place(
        instance, ideal_allocation(instance), fewest_splits=True, limits=Limits(time=0.0)
    )
    assert placed.split.fewest in (None, 0)


def test_extra_pieces_at_full_load():
    """Tests that pieces − jobs ≤ q(s − κ) and ≤ tight rows on full clusters."""
    for seed in range(6):
        instance = mix(servers=6, seed=seed, split=(50, 0, 50))
        split = place(instance, ideal_allocation(instance)).split
        assert split.extra_pieces <= split.limit == 3 * (6 - split.components)
        assert split.extra_pieces <= split.tight_rows


def test_totals_that_no_group_holds():
    """Tests that unequal groups can make the ideal totals unplaceable, and that this is said."""
    cluster = Cluster(
        resources={"cpu": "cores"},
        servers=[
            Server(type="rich", count=1, gpus=1, capacity=(9,)),
            Server(type="poor", count=1, gpus=9, capacity=(9,)),
        ],
    )
    profile = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 2])
    jobs = [Job(id=f"j{i}", gpus=1, profile="p") for i in range(9)]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    allocation = ideal_allocation(instance)
    assert allocation.throughput == 18
    with pytest.raises(Infeasible, match="server groups"):
        place(instance, allocation)


def test_fair_only_on_the_poorer_group():
    """Tests that a job is kept off a group whose fair share is worth more to it."""
    servers = [
        Server(type="poor", count=1, gpus=2, capacity=(2,)),
        Server(type="rich", count=1, gpus=2, capacity=(8,)),
    ]
    cluster = Cluster(resources={"cpu": "cores"}, servers=servers)
    profile = Profile(name="p", axes={"cpu": [1, 4]}, throughput=[1, 2])
    job = Job(id="a", gpus=2, profile="p", weight=Fraction(1, 2))
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=[job])
    allocation = ideal_allocation(instance)
    assert allocation.jobs[0].demand == (8,)
    choice = dataclasses.replace(
        allocation.jobs[0],
        mixture=((0, Fraction(1)),),
        demand=(Fraction(2),),
        throughput=job.weight,
    )
    (placed,) = place(instance, dataclasses.replace(allocation, jobs=(choice,))).jobs
    assert [piece.server for piece in placed.pieces] == [0]


def crossed(gpus: int) -> tuple[Instance, Allocation]:
    """Give a job that is fair on no group alone: one has the cores, the other the memory."""
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[
            Server(type="cores", count=1, gpus=1, capacity=(4, 1)),
            Server(type="memory", count=1, gpus=1, capacity=(1, 4)),
        ],
    )
    axes = {"cpu": [1, 4], "memory": [1, 4]}
    profile = Profile(name="p", axes=axes, throughput=[[1, 2], [2, 2]])
    jobs = [Job(id="a", gpus=gpus, profile="p")]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    allocation = ideal_allocation(instance)
    choice = dataclasses.replace(
        allocation.jobs[0],
        mixture=((0, Fraction(1)),),
        demand=(Fraction(gpus), Fraction(gpus)),
        throughput=Fraction(1),
    )
    return instance, dataclasses.replace(allocation, jobs=(choice,))


def test_fair_across_groups_only():
    """Tests a job that is worth its share only across both groups, where the smaller share counts.

    Two GPUs have to touch both. One GPU fits on one server, and is not fair there.
    """
    instance, allocation = crossed(2)
    placed = place(instance, allocation)
    assert [piece.server for piece in placed.jobs[0].pieces] == [0, 1]
    assert violations(instance, placed) == ()
    with pytest.raises(Infeasible, match="fair on the server groups that each job touches"):
        place(*crossed(1))


@pytest.mark.parametrize(
    ("shares", "rule"),
    [
        ([{0: Fraction(1, 2), 1: Fraction(1, 2)}] * 3, "3 extra pieces: this is no vertex"),
        ([{0: Fraction(1)}] * 3, "gives a server more than it has"),
    ],
)
def test_a_division_that_is_wrong_is_not_given(monkeypatch, shares, rule):
    """Tests that any division is counted and added up before it is given."""
    from synergy_opt.placement import fractional

    instance = flat([2, 2, 2], [Server(type="n", count=2, gpus=3, capacity=(3,))])
    monkeypatch.setattr(fractional, "halved", lambda problem, solve: shares)
    with pytest.raises(SolverFailed, match=rule):
        place(instance, ideal_allocation(instance), bisection=True)


def test_another_instances_allocation():
    """Tests that an allocation of another instance, or of unknown jobs, is refused."""
    instance = mix(servers=1, seed=1)
    allocation = ideal_allocation(instance)
    with pytest.raises(InvalidInstance, match="'other'"):
        place(instance, dataclasses.replace(allocation, instance="other"))
    unknown = dataclasses.replace(allocation.jobs[0], id="nobody")
    with pytest.raises(InvalidInstance, match="'nobody'"):
        place(instance, dataclasses.replace(allocation, jobs=(unknown,)))


def test_no_jobs():
    """Tests that no jobs are placed without a solver."""
    instance = flat([], [Server(type="n", count=2, gpus=3, capacity=(3,))])
    for fewest in (False, True):
        placed = place(instance, ideal_allocation(instance), fewest_splits=fewest)
        assert (placed.jobs, placed.split.components, placed.split.limit) == ((), 2, 0)


def lying(change):
    """Give HiGHS with its solution changed on the way out."""

    def solve(program, limits):
        return change(program, solver("highs")(program, limits))

    return solve


def test_interrupt_in_stage_2():
    """Tests that Ctrl-C in stage 2 is Ctrl-C: there is no half placement to give."""
    instance = flat([2, 2, 2], [Server(type="n", count=2, gpus=3, capacity=(3,))])
    stopped = lying(lambda p, s: Solution(stop=Stop.INTERRUPTED))
    with pytest.raises(KeyboardInterrupt):
        place(instance, ideal_allocation(instance), solver=stopped)


def test_basis_that_is_no_vertex_is_refused():
    """Tests that a forged basis is refused: singular, negative, or beyond capacity."""
    instance = flat([2, 2, 2], [Server(type="n", count=2, gpus=3, capacity=(3,))])
    allocation = ideal_allocation(instance)

    def forged(columns, rows):
        def change(program, solution):
            basis = Basis(columns=np.array(columns), rows=np.array(rows))
            return dataclasses.replace(solution, basis=basis)

        return lying(change)

    # One job is left: columns x_00, x_10; rows job_0, gpus_0, cpu_0, gpus_1, cpu_1.
    for columns, rows, rule in [
        ([True, True], [False] * 5, "not a basis"),
        ([True, False], [False, True, True, True, True], "breaks a row"),
        ([True, False], [True, True, True, False, True], "not a basis"),
        ([True, False], [True, False, True, True, True], "breaks a row"),
    ]:
        with pytest.raises(SolverFailed, match=rule):
            place(instance, allocation, solver=forged(columns, rows))


def test_large_denominators():
    """Tests that totals with unlike denominators are placed exactly."""
    instance = scattered(servers=4, seed=8, resources=3, monotone=False)
    placed = place(instance, ideal_allocation(instance))
    assert violations(instance, placed) == ()
