"""Stage 1: what it returns, by every solver and with every option."""

import dataclasses
import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.errors import SolverFailed
from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation, skipping_bound
from synergy_opt.io import read_instance, shipped
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.solution import Limits

SOLVERS = ["highs", "scipy", "cpsat", "cvxpy"]


@pytest.mark.parametrize("name", ["mix-4", "mix-16", "single-16", "big-16"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_reference_optima(reference_data, name, solver):
    """Tests that each solver returns exactly the known optimum, and the multipliers prove it."""
    folder = reference_data / "synergy-reference"
    expected = json.loads((folder / "expected.json").read_text())[name]
    found = ideal_allocation(read_instance(folder / f"{name}.json"), solver=solver)
    assert found.throughput == Fraction(str(expected["optimum"]))
    assert found.bound.value == found.throughput
    assert found.proof == "multipliers"
    assert found.gap == 0
    assert str(found).endswith("(proof: multipliers)")


@given(instances(), st.booleans())
def test_allocation_is_what_it_says(instance, consolidated):
    """Tests capacity, floors, grid points and values of every allocation, in fractions."""
    found = ideal_allocation(instance, consolidated=consolidated)
    jobs = {job.id: job for job in instance.jobs}
    used = [Fraction(0)] * len(instance.cluster.names)
    for choice in found.jobs:
        job = jobs[choice.id]
        profile = instance.profile_of[job.profile]
        scale = job.gpus if profile.per == "gpu" else 1
        ((point, part),) = choice.mixture
        index = []
        for length in reversed(profile.throughput.shape):
            point, at = divmod(point, length)
            index.insert(0, at)
        assert part == 1
        demand = tuple(axis[i] * scale for (_, axis), i in zip(profile.axes, index, strict=True))
        assert demand == choice.demand
        share = tuple(job.gpus * a for a in instance.cluster.share_of_a_gpu)
        fair = profile.best_within(share, job.gpus)
        assert profile.throughput[tuple(index)] >= fair
        used = [u + d for u, d in zip(used, demand, strict=True)]
    assert all(u <= c for u, c in zip(used, instance.cluster.capacity, strict=True))
    assert found.throughput <= found.bound.value
    assert found.proof in ("multipliers", "core")


@given(instances())
@settings(max_examples=30)
def test_linear_programme_is_solved_exactly(instance):
    """Tests that the LP's vertex and its multipliers meet in one rational number."""
    for floor in ("fixing", "rows"):
        found = ideal_allocation(instance, integral=False, floor=floor)
        assert found.throughput == found.bound.value
        assert found.proof == "multipliers"
        assert all(sum(part for _, part in job.mixture) == 1 for job in found.jobs)


def test_rows_on_merged_jobs_would_cheat():
    """Tests that with rows (5) one job's surplus does not pay for another's floor."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(4,))]
    )
    steep = Profile(name="steep", axes={"cpu": [1, 2, 3]}, throughput=[1, 2, 9])
    jobs = [Job(id=i, gpus=1, profile="steep") for i in "ab"]
    instance = Instance(name="i", cluster=cluster, profiles=[steep], jobs=jobs)
    for solver in [*SOLVERS, "brute_force"]:
        found = ideal_allocation(instance, floor="rows", solver=solver)
        assert [job.throughput for job in found.jobs] == [1, 1]


def test_equal_jobs_get_the_better_configuration_by_priority():
    """Tests that among equal jobs the one of higher priority gets more."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(5,))]
    )
    profile = Profile(name="p", axes={"cpu": [2, 3]}, throughput=[1, 2])
    jobs = [Job(id=i, gpus=1, profile="p") for i in "ab"]
    found = ideal_allocation(Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs))
    assert [job.throughput for job in found.jobs] == [2, 1]


def test_one_servers_worth():
    """Tests that a job that fits on a server is not given two servers' CPUs, unless asked."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=2, gpus=4, capacity=(8,))]
    )
    greedy = Profile(name="g", axes={"cpu": [1, 2, 4]}, throughput=[1, 2, 4])
    jobs = [Job(id="a", gpus=4, profile="g")]
    instance = Instance(name="i", cluster=cluster, profiles=[greedy], jobs=jobs)
    assert ideal_allocation(instance).throughput == 1
    assert ideal_allocation(instance, consolidated=False).throughput == 2


def test_no_jobs():
    """Tests that nothing to run is optimal at 0, by every solver."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(4,))]
    )
    instance = Instance(name="none", cluster=cluster, profiles=[], jobs=[])
    for solver in ["highs", "scipy", "brute_force", "cpsat", "cvxpy"]:
        found = ideal_allocation(instance, solver=solver)
        assert (found.throughput, found.bound.value, found.gap) == (0, 0, 0)


def test_solver_names_and_their_limits():
    """Tests that an unknown solver, and the LP by one without a basis, are refused."""
    instance = mix(servers=1, seed=1)
    with pytest.raises(ValueError, match="no solver 'gurobi'"):
        ideal_allocation(instance, solver="gurobi")
    with pytest.raises(ValueError, match="HiGHS only"):
        ideal_allocation(instance, solver="cpsat", integral=False)
    with pytest.raises(ValueError, match="floor must be one of fixing, rows, not 'none'"):
        ideal_allocation(instance, floor="none")


def test_time_limit_zero():
    """Tests that without any time the fair shares and a valid bound come back."""
    instance = scattered(servers=3, seed=4)
    found = ideal_allocation(instance, limits=Limits(time=0.0))
    assert len(found.jobs) <= found.throughput <= found.bound.value


def test_a_solver_that_finds_nothing_leaves_everyone_at_the_share(monkeypatch):
    """Tests that where a limit comes before any answer each job has its floor, and a bound."""
    from synergy_opt.ideal import allocation
    from synergy_opt.solution import Solution, Stop

    monkeypatch.setattr(
        allocation, "solver_named", lambda name: lambda program, limits: Solution(stop=Stop.LIMIT)
    )
    instance = shipped("worked-example")
    found = ideal_allocation(instance, solver="scipy")
    assert [job.throughput for job in found.jobs] == [1] * len(instance.jobs)
    assert (found.stopped, found.proof) == (True, "none")
    assert found.bound.value == Fraction(17, 3)


def test_gap_that_is_allowed_claims_no_optimum():
    """Tests that with a gap above 0 only the multipliers can prove the answer."""
    instance = scattered(servers=3, seed=4)
    found = ideal_allocation(instance, solver="scipy", limits=Limits(gap=Fraction(1, 2)))
    assert found.proof == ("multipliers" if found.gap == 0 else "none")


def test_skipping_jobs_can_beat_the_bound():
    """Tests the example against "every mechanism is below the bound": it must place every job.

    Job b counts ½ and needs two CPUs. Stage 1 places it and gets 1 + ½; GREEDY serves a first,
    leaves b out and gets 3. The bound with `skipping` holds for both.
    """
    from synergy_opt.greedy import greedy

    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=2, capacity=(4,))]
    )
    a = Profile(name="a", axes={"cpu": [2, 4]}, throughput=[1, 3])
    b = Profile(name="b", axes={"cpu": [2]}, throughput=[1])
    jobs = [
        Job(id="a", gpus=1, profile="a"),
        Job(id="b", gpus=1, profile="b", weight=Fraction(1, 2)),
    ]
    instance = Instance(name="i", cluster=cluster, profiles=[a, b], jobs=jobs)
    bound = ideal_allocation(instance).bound
    placement = greedy(instance)
    assert placement.left_out == ("b",)
    assert bound.value == Fraction(3, 2) < placement.throughput == 3
    assert skipping_bound(instance, bound.multipliers).value >= 3


@pytest.mark.parametrize("solver", ["core", "highs", "scipy", "cpsat", "cvxpy"])
@pytest.mark.parametrize("scale", [10**k for k in (-30, -15, -9, -7, 0, 7, 15, 30)])
def test_scale_of_the_objective(solver, scale):
    """Tests that no solver's absolute tolerance decides: weights of any size, the same choice."""
    instance = shipped("worked-example")
    weight = Fraction(10) ** round(math.log10(scale)) if scale < 1 else Fraction(scale)
    jobs = [dataclasses.replace(job, weight=weight) for job in instance.jobs]
    found = ideal_allocation(dataclasses.replace(instance, jobs=jobs), solver=solver)
    assert found.throughput == Fraction(17, 3) * weight


@pytest.mark.parametrize("small", [Fraction(1, 10**k) for k in (6, 9, 14, 20)])
def test_unlike_weights_claim_only_what_is_proven(small):
    """Tests that a solver that cannot see a job of tiny weight does not say "search"."""
    instance = shipped("worked-example")
    jobs = [
        dataclasses.replace(job, weight=small if k % 2 else Fraction(1))
        for k, job in enumerate(instance.jobs)
    ]
    weighted = dataclasses.replace(instance, jobs=jobs)
    best = ideal_allocation(weighted)
    assert best.proof in ("multipliers", "core")
    for solver in ("highs", "scipy", "cpsat"):
        found = ideal_allocation(weighted, solver=solver)
        assert found.throughput <= best.throughput
        if found.proof != "none":
            assert found.throughput == best.throughput


def test_an_axis_of_zeros():
    """Tests that a resource that nobody uses overflows nothing, whatever the prices."""
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[Server(type="n", count=1, gpus=2, capacity=(Fraction(999983, 7919), 3))],
    )
    axis = [Fraction(k, 999979) for k in (1, 400_003, 900_001)]
    profile = Profile(
        name="p", axes={"cpu": axis, "memory": [0]}, throughput=[[1], [Fraction(7, 99991)], [3]]
    )
    jobs = [Job(id=i, gpus=1, profile="p", weight=Fraction(99989, 99991)) for i in "ab"]
    instance = Instance(name="zeros", cluster=cluster, profiles=[profile], jobs=jobs)
    for solver in ("core", "highs", "scipy", "cpsat"):
        assert ideal_allocation(instance, solver=solver).gap == 0


def test_an_axis_of_zeros_beside_fine_ones():
    """Tests that another job's denominators do not overflow on an axis that is all 0."""
    cluster = Cluster(
        resources={"cpu": "cores", "memory": "GB"},
        servers=[Server(type="n", count=1, gpus=4, capacity=(12, "99999999977/1000033"))],
    )
    zero = Profile(name="z", axes={"cpu": [3, 9], "memory": [0]}, throughput=[[1], [3]])
    fine = ["1/15485867", "32452843/1299689"]
    other = Profile(name="m", axes={"cpu": [3, 9], "memory": fine}, throughput=[[1, 2], [3, 4]])
    jobs = [Job(id="a", gpus=1, profile="z"), Job(id="b", gpus=1, profile="m")]
    instance = Instance(name="i", cluster=cluster, profiles=[zero, other], jobs=jobs)
    assert (
        ideal_allocation(instance).throughput
        == ideal_allocation(instance, solver="highs").throughput
    )


@given(instances(max_jobs=5), st.integers(3, 12))
@settings(max_examples=20)
def test_many_decimals(instance, digits):
    """Tests that grids with many decimals are solved by the core, and never wrongly by HiGHS."""
    jitter = 1 + Fraction(1, 10**digits)
    profiles = [
        Profile(
            name=p.name,
            axes=[(name, [v / jitter for v in axis.tolist()]) for name, axis in p.axes],
            throughput=p.throughput,
            per=p.per,
        )
        for p in instance.profiles
    ]
    fine = dataclasses.replace(instance, profiles=profiles)
    best = ideal_allocation(fine)
    assert best.proof in ("multipliers", "core")
    try:
        found = ideal_allocation(fine, solver="highs")
    except SolverFailed:
        return  # what exact arithmetic refuses is an error, never an answer
    assert found.throughput <= best.throughput
    assert found.throughput == best.throughput or found.proof == "none"


@pytest.mark.parametrize("entry", ["ideal_allocation", "optimal", "place"])
def test_limits_of_a_wrong_type_are_named(entry: str):
    """Tests that a bare number of seconds is refused in one sentence."""
    import synergy_opt

    example = synergy_opt.shipped("worked-example")
    rest = [synergy_opt.ideal_allocation(example)] if entry == "place" else []
    with pytest.raises(TypeError, match=r"limits must be a Limits, .*, not int"):
        getattr(synergy_opt, entry)(example, *rest, limits=5)
