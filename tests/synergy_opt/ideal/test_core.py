"""Stage 1 by its core: agreement, proofs, ties, limits, wide numbers, and the public knapsacks."""

import csv
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import instances

from benchmarks.synergy.different_jobs import different_jobs
from benchmarks.synergy.mmkp import read_mmkp
from synergy_opt.certificate import bound_value
from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.ideal.knapsack import solve
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits, Stop


def one_resource(jobs, *, capacity, profiles, **options):
    """Give an instance on one server with CPUs only; jobs are names of profiles."""
    server = Server(type="n", count=1, gpus=len(jobs) or 1, capacity=(capacity,))
    return Instance(
        name="one",
        cluster=Cluster(resources={"cpu": "cores"}, servers=[server]),
        profiles=profiles,
        jobs=[Job(id=f"j{i}", gpus=1, profile=name) for i, name in enumerate(jobs)],
        **options,
    )


@given(instances())
def test_core_agrees_with_highs_and_its_bound_is_checked(instance):
    """Tests equal optima, a proof, a valid bound, and what the independent certificate says."""
    found = ideal_allocation(instance, solver="core")
    other = ideal_allocation(instance, solver="highs")
    assert found.throughput == other.throughput
    assert found.proof in ("multipliers", "core")
    assert found.throughput <= found.bound.value
    assert (found.throughput == found.bound.value) == (found.proof == "multipliers")
    assert bound_value(instance, runnable(instance), found.bound) <= found.bound.value


@settings(max_examples=15)
@given(instances())
def test_core_agrees_with_cpsat_and_brute_force(instance):
    """Tests that two more ways to solve the same programme give the same optimum."""
    found = ideal_allocation(instance, solver="core")
    for solver in ("cpsat", "brute_force"):
        assert ideal_allocation(instance, solver=solver).throughput == found.throughput


@pytest.mark.parametrize("resources", [1, 2, 3])
def test_any_number_of_resources(resources):
    """Tests one to three resources with a profile a job against HiGHS."""
    for seed in range(3):
        instance = scattered(servers=3, seed=seed, resources=resources)
        found = ideal_allocation(instance, solver="core")
        other = ideal_allocation(instance, solver="highs")
        assert found.throughput == other.throughput
        assert found.proof in ("multipliers", "core")


def test_five_resources():
    """Tests five resources, of which one is used by nobody and one has a price."""
    names = ("cpu", "memory", "network", "disk", "idle")
    rng = np.random.default_rng(0)
    profiles = []
    for i in range(12):
        first = {name: [0, 1, 2] for name in names[:4]}
        table = 10 + rng.integers(0, 9, size=(3, 3, 3, 3, 1)).cumsum(axis=0).cumsum(axis=1)
        profiles.append(
            Profile(name=f"p{i}", axes={**first, "idle": [0]}, throughput=table.tolist())
        )
    server = Server(type="n", count=3, gpus=4, capacity=(5, 6, 4, 5, 1))
    instance = Instance(
        name="five",
        cluster=Cluster(resources=dict.fromkeys(names, "units"), servers=[server]),
        profiles=profiles,
        jobs=[Job(id=f"j{i}", gpus=1, profile=f"p{i}") for i in range(12)],
    )
    found = ideal_allocation(instance, solver="core")
    assert found.throughput == ideal_allocation(instance, solver="highs").throughput
    assert found.bound.multipliers[4] == 0


def test_different_jobs_are_proven_optimal():
    """Tests that 512 different jobs on a grid of 24 × 10 end with a proof."""
    found = ideal_allocation(different_jobs(512, seed=3), solver="core")
    assert found.proof in ("multipliers", "core")
    assert found.gap < Fraction(1, 10**5)


def test_few_models_on_many_servers_have_gap_zero():
    """Tests that kinds are merged: 1,024 servers of twelve models end at gap 0."""
    instance = mix(servers=1024, seed=0)
    found = ideal_allocation(instance, solver="core")
    assert found.gap == 0


def test_identical_jobs_by_the_ten_thousand():
    """Tests that 20,000 equal jobs are one group whose best mix of configurations is found."""
    profile = Profile(name="p", axes={"cpu": [1, 2, 4]}, throughput=[1, 3, 4])
    instance = one_resource(["p"] * 20_000, capacity=50_000, profiles=[profile])
    found = ideal_allocation(instance, solver="core")
    # 20,000 jobs at two cores leave 10,000 cores; two of them raise a job from 3 to 4.
    assert found.throughput == Fraction(20_000 * 3 + 5_000, 3)
    assert found.proof == "multipliers"


@pytest.mark.parametrize("jobs", [0, 1])
def test_no_job_and_one_job(jobs):
    """Tests that nothing to do is done, with a bound that meets it."""
    profile = Profile(name="p", axes={"cpu": [0, 1]}, throughput=[0, 2])
    found = ideal_allocation(
        one_resource(["p"] * jobs, capacity=1, profiles=[profile]), solver="core"
    )
    assert found.throughput == found.bound.value == jobs
    assert found.proof == "multipliers"


def test_denominators_beyond_64_bits():
    """Tests that amounts and throughputs of a hundred bits are compared exactly."""
    huge = 10**30
    profiles = [
        Profile(
            name=f"p{i}",
            axes={"cpu": [1, 2 + Fraction(i + 1, huge), 3]},
            throughput=[1, 2 + Fraction(1, huge + i), 2 + Fraction(2, huge + i)],
        )
        for i in range(4)
    ]
    names = [f"p{i}" for i in range(4)]
    # Room for two jobs above two cores, but only if their excess is the small one.
    capacity = 1 + 1 + 2 * 2 + Fraction(1 + 2, huge)
    instance = one_resource(names, capacity=capacity, profiles=profiles, objective="absolute")
    found = ideal_allocation(instance, solver="core")
    best = max(
        sum((profiles[i].throughput[k] for i, k in enumerate(point)), Fraction(0))
        for point in np.ndindex(3, 3, 3, 3)
        if sum((profiles[i].axes[0][1][k] for i, k in enumerate(point)), Fraction(0)) <= capacity
    )
    assert found.throughput == best
    assert found.proof in ("multipliers", "core")


def test_time_limit_zero_gives_fair_shares_and_a_bound():
    """Tests that without time every job has at least its fair share, below a valid bound."""
    instance = scattered(servers=3, seed=4)
    found = ideal_allocation(instance, solver="core", limits=Limits(time=0.0))
    best = ideal_allocation(instance, solver="highs")
    assert len(found.jobs) <= found.throughput <= best.throughput <= found.bound.value
    assert found.proof == "none"


def test_units_do_not_matter():
    """Tests that memory in MB instead of GB gives the same throughput and scaled prices."""
    one = different_jobs(64, seed=1)
    factor = 1000
    server = one.cluster.servers[0]
    cpu, memory = server.capacity
    other = Instance(
        name=one.name,
        cluster=Cluster(
            resources=one.cluster.resources,
            servers=[
                Server(type="n", count=server.count, gpus=8, capacity=(cpu, memory * factor))
            ],
        ),
        profiles=[
            Profile(
                name=p.name,
                axes={
                    "cpu": p.axes[0][1],
                    "memory": [amount * factor for amount in p.axes[1][1].tolist()],
                },
                throughput=p.throughput,
            )
            for p in one.profiles
        ],
        jobs=one.jobs,
    )
    assert (
        ideal_allocation(one, solver="core").throughput
        == ideal_allocation(other, solver="core").throughput
    )


def test_public_knapsacks_with_two_resources(reference_data):
    """Tests the known optima of I01 to I07 with their first two resources, each proven."""
    folder = reference_data / "mmkp"
    with (folder / "two_resource_optima.csv").open() as lines:
        for row in csv.DictReader(lines):
            table = read_mmkp((folder / row["instance"]).read_text(), resources=2)
            found = solve(table)
            assert found.value == Fraction(row["optimum"])
            assert found.stop is Stop.OPTIMAL


@pytest.mark.parametrize(
    ("name", "optimum"), [("I01", "173"), ("I02", "364"), ("I05", "3905.7"), ("I06", "4799.3")]
)
def test_public_knapsacks_with_all_resources(reference_data, name, optimum):
    """Tests the known optima of Khan et al. in full; I03 and I04 take minutes, see benchmarks."""
    found = solve(read_mmkp((reference_data / "mmkp" / name).read_text()))
    assert found.value == Fraction(optimum)
    assert found.stop is Stop.OPTIMAL
