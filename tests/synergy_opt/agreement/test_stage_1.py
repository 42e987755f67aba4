"""One problem, several solvers that share nothing: brute force, four solvers, two formulations."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.generate import mix, scattered
from synergy_opt.ideal import ideal_allocation
from synergy_opt.model import Profile
from synergy_opt.runnable import runnable


def optimum_by_enumeration(instance) -> Fraction:
    """Try every grid point of every job, from the definitions alone."""
    cluster, options = instance.cluster, []
    for job in runnable(instance):
        profile = instance.profile_of[job.profile]
        scale = job.gpus if profile.per == "gpu" else 1
        share = [
            min(s.capacity[r] / s.gpus for s in cluster.servers) * job.gpus
            for r in range(len(cluster.names))
        ]
        points = []
        for index in product(*(range(n) for n in profile.throughput.shape)):
            need = [axis[i] * scale for (_, axis), i in zip(profile.axes, index, strict=True)]
            points.append((need, profile.throughput[index]))
        fair = max(
            w for need, w in points if all(n <= s for n, s in zip(need, share, strict=True))
        )
        unit = job.weight * (1 / fair if instance.objective == "relative" else scale)
        options.append([(need, w * unit) for need, w in points if w >= fair])
    best = Fraction(0)
    for choice in product(*options):
        needs = [need for need, _ in choice] or [[0] * len(cluster.names)]
        used = [sum(column) for column in zip(*needs, strict=True)]
        if all(u <= c for u, c in zip(used, cluster.capacity, strict=True)):
            best = max(best, sum((w for _, w in choice), Fraction(0)))
    return best


@given(instances(max_jobs=4, max_points=2))
def test_brute_force_from_the_definitions(instance):
    """Tests HiGHS and our brute force against an enumeration that uses none of our code."""
    best = optimum_by_enumeration(instance)
    assert ideal_allocation(instance, consolidated=False).throughput == best
    found = ideal_allocation(instance, consolidated=False, solver="brute_force")
    assert found.throughput == best


@given(instances(max_jobs=4, max_points=2), st.integers(3, 15))
@settings(max_examples=40)
def test_many_decimals(instance, digits):
    """Tests the core on grids with many decimals against the same enumeration."""
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
    fine = replace(instance, profiles=profiles)
    best = ideal_allocation(fine, consolidated=False)
    assert best.throughput == optimum_by_enumeration(fine)


@given(instances(max_jobs=6))
@settings(max_examples=25)
def test_four_solvers(instance):
    """Tests that HiGHS, SciPy, CP-SAT and cvxpy agree, with both ways to write the floor."""
    found = {
        (solver, floor): ideal_allocation(instance, solver=solver, floor=floor).throughput
        for solver in ("highs", "scipy", "cpsat", "cvxpy")
        for floor in ("fixing", "rows")
    }
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("seed", range(3))
def test_four_solvers_on_small_clusters(seed):
    """Tests the agreement on generated clusters of four servers."""
    for instance in (mix(servers=4, seed=seed), scattered(servers=4, seed=seed)):
        found = {
            solver: ideal_allocation(instance, solver=solver).throughput
            for solver in ("highs", "scipy", "cpsat", "cvxpy")
        }
        assert len(set(found.values())) == 1, found
