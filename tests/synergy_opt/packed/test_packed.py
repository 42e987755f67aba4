"""The packed optimum on its own: scale, limits, odd instances, certificates and their faults."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from random import Random

import pytest
from builders import cluster, wants

from synergy_opt.certificate import verify, violations
from synergy_opt.errors import Infeasible, SolverFailed
from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.io import read_placement, write_placement
from synergy_opt.io.program_file import lp_text, mps_text
from synergy_opt.model import Cluster, Instance, Job, Profile
from synergy_opt.packed import packed, packed_program
from synergy_opt.solution import Limits

# By name: the package gives a function the name of the module.
optimum_module = import_module("synergy_opt.packed.optimum")
knapsack_module = import_module("synergy_opt.packed.pricing")


def rules(instance, placement):
    """Names of the broken rules."""
    return {found.rule for found in violations(instance, placement)}


@pytest.fixture(scope="module")
def proven():
    """A mix with its proven optimum."""
    instance = mix(servers=16, seed=3, split=(33, 33, 34))
    return instance, packed(instance)


@pytest.mark.parametrize("split", [(20, 70, 10), (50, 0, 50), (33, 33, 34)])
def test_mixes_are_proven_and_certified(split):
    """Tests gap 0 with exact certificates, within stage 1's bound, at 64 servers."""
    instance = mix(servers=64, seed=1, split=split)
    found = packed(instance, limits=Limits(time=30))
    assert found.proof == "patterns"
    assert found.throughput == found.bound.value <= ideal_allocation(instance).bound.value
    assert not found.left_out
    assert not found.split_jobs
    verify(instance, found)


def test_the_time_hardly_depends_on_the_number_of_servers():
    """Tests that 2,048 servers take as many columns as a few: proven, all jobs placed."""
    instance = mix(servers=2048, seed=2)
    found = packed(instance, limits=Limits(time=60))
    assert found.proof == "patterns"
    assert not found.left_out


def test_jobs_larger_than_a_server():
    """Tests that 16-GPU jobs are divided, no others, and the bound's certificate holds."""
    instance = mix(servers=16, seed=1, gpu_demands={1: 60, 4: 20, 8: 10, 16: 10})
    found = packed(instance, limits=Limits(time=20))
    assert found.split_jobs
    assert {len(job.pieces) for job in found.jobs if len(job.pieces) > 1} <= set(range(2, 17))
    verify(instance, found)


def test_splitting_is_worth_no_less():
    """Tests that the optimum with divided jobs is at least the one without."""
    instance = mix(servers=4, seed=5, split=(33, 33, 34))
    whole, split = (
        packed(instance, split=s, limits=Limits(time=20)) for s in ("never", "allowed")
    )
    assert whole.throughput <= split.bound.value
    assert (whole.mechanism, split.mechanism) == ("packed", "packed-split")
    verify(instance, split)


def different(servers, seed, points=(1, 2, 3, 4, 6, 9)):
    """Give jobs that have each its own profile, all on one grid."""
    rng = Random(seed)
    profiles, jobs = [], []
    left = 8 * servers
    while left:
        gpus = min(rng.choice([1, 1, 1, 2, 4]), left)
        slope, top = rng.randint(20, 90), rng.randint(100, 400)
        table = [[min(slope * c, top, 60 * m) for m in points] for c in points]
        name = f"p{len(jobs)}"
        profiles.append(
            Profile(name=name, axes={"cpu": points, "memory": points}, throughput=table)
        )
        jobs.append(Job(id=f"j{len(jobs)}", gpus=gpus, profile=name))
        left -= gpus
    place = cluster((servers, 8, 24, 24))
    place = Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=place.servers)
    return Instance(name="different", cluster=place, profiles=profiles, jobs=jobs)


def test_very_many_different_jobs_go_in_parts(monkeypatch):
    """Tests the way by parts on some 150 jobs that have each its own profile."""
    monkeypatch.setattr(optimum_module, "DIRECT", 10)
    monkeypatch.setattr(import_module("synergy_opt.packed.parts"), "_KINDS", 50)
    instance = different(32, 1)
    found = packed(instance, limits=Limits(time=20, gap=Fraction(1, 1000)))
    assert not found.left_out
    assert found.bound.value <= found.throughput * Fraction(1005, 1000)
    verify(instance, found)


def test_rounded_states_still_bound_and_still_fit(monkeypatch):
    """Tests that sizes rounded for want of room give valid bounds and placements."""
    instance = different(2, 4)
    exact = packed(instance, limits=Limits(time=5))
    monkeypatch.setattr(knapsack_module, "_STATES", 20)
    coarse = packed(instance, limits=Limits(time=3))
    assert coarse.throughput <= exact.bound.value
    assert exact.throughput <= coarse.bound.value


def test_no_time_gives_fair_shares_and_a_bound(proven):
    """Tests that a time limit of 0 returns a fair placement with a valid bound."""
    instance, best = proven
    found = packed(instance, limits=Limits(time=0))
    assert found.proof == "none"
    assert found.throughput <= best.throughput <= found.bound.value
    verify(instance, found)


def test_an_interrupt_returns_what_is_known(proven):
    """Tests that Ctrl-C after the second report gives the bound of that report."""
    instance, best = proven
    seen = []

    def stop(row):
        seen.append(row)
        if len(seen) == 2:
            raise KeyboardInterrupt

    found = packed(instance, progress=stop)
    assert found.bound.value == seen[1].bound == best.bound.value
    verify(instance, found)


def test_progress_never_gets_worse(proven):
    """Tests that bounds fall, incumbents rise, and the last row is the answer."""
    instance, best = proven
    rows = []
    packed(instance, progress=rows.append)
    assert [r.bound for r in rows] == sorted((r.bound for r in rows), reverse=True)
    assert rows[-1].incumbent == best.throughput
    assert rows[-1].gap == 0
    assert rows[0].gap is None


def test_the_same_seed_gives_the_same_answer(proven):
    """Tests that a second run gives an equal placement."""
    instance, best = proven
    assert packed(instance) == best


def one(*jobs, groups=((2, 4, 8),), profile=None):
    """Give an instance of jobs with these GPU demands."""
    return Instance(
        name="one",
        cluster=cluster(*groups),
        profiles=[profile or wants("p", (1, 1), (2, 2), (3, 3))],
        jobs=[Job(id=f"j{i}", gpus=gpus, profile="p") for i, gpus in enumerate(jobs)],
    )


@pytest.mark.parametrize("split", ["never", "allowed"])
def test_no_jobs_and_one_job(split):
    """Tests the smallest instances."""
    nothing = packed(one(), split=split)
    assert (nothing.throughput, nothing.bound.value, nothing.jobs) == (0, 0, ())
    found = packed(one(1), split=split)
    assert found.throughput == found.bound.value == Fraction(3, 2)


def test_whole_jobs_that_do_not_fit():
    """Tests that three jobs of 3 GPUs on two servers of 4 are infeasible unless divided."""
    instance = one(3, 3, 2)
    assert packed(instance, split="allowed").left_out == ()
    with pytest.raises(Infeasible, match="each of them on one server"):
        packed(instance, split="never")


def test_ten_thousand_equal_jobs():
    """Tests that equal jobs cost nothing: one kind."""
    instance = one(*[1] * 10_000, groups=((2500, 4, 8),))
    found = packed(instance)
    assert found.proof == "patterns"
    assert len(found.jobs) == 10_000


def test_amounts_beyond_64_bits():
    """Tests amounts whose common denominator no machine word holds."""
    fine = Fraction(1, 10**12 + 39)
    profile = Profile(
        name="p",
        axes={"cpu": [1, 1 + fine, 2 + fine], "memory": [1, 1 + Fraction(1, 10**13 + 37)]},
        throughput=[[1, 1], [1 + Fraction(1, 7), 2], [3, 3]],
    )
    instance = one(1, 1, 2, groups=((1, 4, Fraction(9, 2), 5),), profile=profile)
    found = packed(instance, limits=Limits(time=20))
    assert found.throughput <= found.bound.value
    verify(instance, found)


@pytest.mark.parametrize("split", ["never", "allowed"])
def test_amounts_that_no_compact_programme_holds_lose_no_answer(split):
    """Tests ten prime denominators: the compact programme is refused, what is known is given."""
    primes = (1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099, 1_000_117)
    profiles = [
        Profile(
            name=f"p{p}",
            axes={
                "cpu": [1, 2, 3, 6],
                "memory": [Fraction(62 * p, p - 1), Fraction(125 * p, p + 2)],
            },
            throughput=[[Fraction(p - 7 * k - m, p) + k for m in range(2)] for k in range(4)],
        )
        for p in primes
    ]
    jobs = [Job(id=f"j{i}", gpus=1 + i % 2, profile=f"p{p}") for i, p in enumerate(primes)]
    instance = Instance(
        name="primes", cluster=cluster((2, 8, 24, 1200)), profiles=profiles, jobs=jobs
    )
    with pytest.raises(SolverFailed, match="beyond those of a double"):
        packed_program(instance, split=split)
    found = packed(instance, split=split, limits=Limits(time=2))
    assert not found.left_out
    assert found.throughput <= found.bound.value
    verify(instance, found)


def test_a_server_group_with_larger_shares():
    """Tests that a job needs the floor of the group that it is on, and only of that."""
    profile = wants("p", (1, 1), (5, 4))
    instance = one(1, 1, groups=((1, 1, 1), (1, 1, 4)), profile=profile)
    found = packed(instance)
    assert sorted(job.throughput for job in found.jobs) == [1, 5]
    assert found.proof == "patterns"
    verify(instance, found)


def test_the_file_keeps_the_certificate(proven, tmp_path):
    """Tests that prices survive writing and reading."""
    instance, best = proven
    write_placement(best, instance, tmp_path / "p.json")
    stated = read_placement(tmp_path / "p.json", instance)
    assert stated.placement.bound == best.bound
    assert stated.placement.proof == "patterns"
    verify(
        instance, stated.placement, throughput=stated.throughput, upper_bound=stated.upper_bound
    )


def test_planted_faults_in_prices_are_caught(proven):
    """Tests every way to state more than the prices prove."""
    instance, best = proven
    bound = best.bound
    dearest = max(bound.shapes, key=lambda shape: shape.price)
    others = tuple(shape for shape in bound.shapes if shape is not dearest)

    def stated(**changes):
        return rules(instance, replace(best, bound=replace(bound, **changes)))

    assert not stated()
    assert "above-bound" in stated(value=bound.value - Fraction(1, 100))
    assert "upper-bound" in stated(shapes=others)
    assert "upper-bound" in stated(shapes=(*others, replace(dearest, price=dearest.price / 2)))
    assert "upper-bound" in stated(shapes=(*others, replace(dearest, price=dearest.price * 2)))
    assert "server-price" in stated(servers=tuple(p - Fraction(1, 10**9) for p in bound.servers))
    assert "shapes" in stated(servers=())
    assert "shapes" in stated(shapes=(*others, replace(dearest, group=1)))
    assert "shapes" in stated(shapes=(*others, replace(dearest, gpus=0)))
    assert "shapes" in stated(shapes=(*others, replace(dearest, price=Fraction(-1))))
    assert "exact-numbers" in stated(servers=(0.5,))
    assert "amounts" in stated(shapes=(*others, replace(dearest, amounts=())))


def test_a_divided_job_is_not_under_the_bound_for_whole_jobs():
    """Tests that the split model of a bound is checked against the placement."""
    instance = one(3, 3, 2)
    found = packed(instance, split="allowed")
    assert "split-model" in rules(
        instance, replace(found, bound=replace(found.bound, split="never"), proof=None)
    )


def test_a_proof_by_patterns_must_meet_the_bound(proven):
    """Tests that the word "patterns" without a met bound is refused."""
    instance, best = proven
    loose = replace(best.bound, value=best.bound.value + 1)
    assert rules(instance, replace(best, bound=loose)) == {"proof"}


@pytest.mark.parametrize("form", ["mps", "lp"])
def test_the_compact_programme_is_exported(form):
    """Tests that rows and columns of the compact programme are in the file by name."""
    write = {"mps": mps_text, "lp": lp_text}[form]
    text = write(packed_program(one(1, 3), split="allowed"))
    assert "gpus_0" in text
    assert "p_1_" in text
