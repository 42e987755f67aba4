"""The packed optimum against a second model, brute force, stage 1 and TUNE."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packed_model import assignment_optimum
from strategies import clusters, instances

from synergy_opt.certificate import verify
from synergy_opt.errors import Infeasible
from synergy_opt.ideal import ideal_allocation
from synergy_opt.packed import packed, packed_program
from synergy_opt.solution import Limits, Stop
from synergy_opt.solvers import solver
from synergy_opt.tune import tune

SMALL = clusters(max_groups=2, max_count=2, max_gpus=4)
LIMITS = Limits(time=5)


def solved(instance, split):
    """Give the packed optimum, None where whole jobs do not fit."""
    try:
        return packed(instance, split=split, limits=LIMITS)
    except Infeasible:
        return None


@pytest.mark.parametrize("split", ["never", "allowed"])
@given(instance=instances(cluster=SMALL, max_jobs=5, max_profiles=3, max_points=3))
@settings(max_examples=12)
def test_agrees_with_the_assignment_model(split, instance):
    """Tests that throughput and bound enclose the optimum of a model without shapes."""
    found, best = solved(instance, split), assignment_optimum(instance, split=split)
    if best is None:
        assert found is None
        return
    assert found is not None
    assert found.throughput <= best <= found.bound.value
    if found.proof in ("patterns", "loads"):
        assert found.throughput == best
    verify(instance, found)


@given(instance=instances(cluster=clusters(max_groups=1, max_count=2, max_gpus=3), max_jobs=3))
@settings(max_examples=10)
def test_agrees_with_brute_force(instance):
    """Tests the compact programme, point by point, against column generation."""
    found, program = solved(instance, "never"), packed_program(instance)
    if program.shape[1] > 12 or (program.value < 0).any():  # too many, or divided jobs
        return
    brute = solver("brute_force")(program, Limits())
    if found is None:
        assert brute.stop is Stop.INFEASIBLE
        return
    assert float(found.throughput) == pytest.approx(brute.objective, rel=1e-9)


@given(instance=instances(cluster=clusters(max_groups=2, max_count=2, max_gpus=8), max_jobs=6))
@settings(max_examples=12)
def test_no_mechanism_is_above(instance):
    """Tests that TUNE is within the bound, and no better where the optimum is proven."""
    found, heuristic = packed(instance, split="allowed", limits=LIMITS), tune(instance)
    assert heuristic.throughput <= found.bound.value
    if found.proof in ("patterns", "loads"):
        assert heuristic.throughput <= found.throughput


@given(instance=instances(cluster=clusters(max_groups=1, max_count=3, max_gpus=4), max_jobs=6))
@settings(max_examples=12)
def test_bounds_are_in_order(instance):
    """Tests never split ≤ split allowed ≤ stage 1, for what is proven."""
    ideal, split = ideal_allocation(instance), packed(instance, split="allowed", limits=LIMITS)
    assert split.throughput <= ideal.bound.value
    whole = solved(instance, "never")
    if whole is not None:
        assert whole.throughput <= split.bound.value


@given(
    items=st.lists(
        st.tuples(
            st.integers(1, 4), st.tuples(st.integers(0, 6), st.integers(0, 6)), st.integers(0, 9)
        ),
        max_size=5,
    ),
    gpus=st.integers(1, 5),
    room=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_the_dearest_pattern_is_the_dearest(items, gpus, room):
    """Tests the checker's and the search's knapsack against all multisets."""
    from synergy_opt.certificate.fullest import fullest

    best = 0
    for count in range(1, gpus + 1):
        for some in combinations_with_replacement(items, count):
            sums = [sum(item[1][r] for item in some) for r in range(2)]
            if sum(item[0] for item in some) <= gpus and sums[0] <= room[0] and sums[1] <= room[1]:
                best = max(best, sum(item[2] for item in some))
    assert fullest(items, gpus, room) == best
    assert _searched(items, gpus, room, int) == best
    assert _searched(items, gpus, room, object) == best
    assert _searched(items, gpus, room, float) == best


def _searched(items, gpus, room, kind):
    import numpy as np

    from synergy_opt.packed.pricing import knapsack, solve
    from synergy_opt.packed.shapes import Slot

    dearest = {}
    for weight, sizes, price in items:
        slot = Slot(group=0, gpus=weight, sizes=sizes)
        dearest[slot] = max(dearest.get(slot, 0), price)
    if not dearest:
        return 0
    sack = knapsack(list(dearest), range(len(dearest)), gpus, room)
    return solve(sack, np.array(list(dearest.values()), dtype=kind)).best


def test_the_second_model_knows_a_hand_made_optimum():
    """Tests the referee itself on one server where one job can have one core more."""
    from builders import cluster, wants

    from synergy_opt.model import Instance, Job

    instance = Instance(
        name="hand",
        cluster=cluster((1, 2, 6)),
        profiles=[wants("fast", (2, 2), (4, 3), (6, 4)), wants("flat", (5, 2))],
        jobs=[Job(id="a", gpus=1, profile="fast"), Job(id="b", gpus=1, profile="flat")],
    )
    assert assignment_optimum(instance, split="never") == Fraction(5, 2)
    assert packed(instance).throughput == Fraction(5, 2)


def test_a_search_is_complete_where_divided_jobs_are_fair_only_together():
    """Tests that the search's cut refers to the bound of its own prices, not to the lowest one.

    Found by the assignment model: a piece on a server of the second group is fair only beside one
    on the first, the relaxation stalls above the trivial bound, and a cut at that bound left out
    the optimum.
    """
    from synergy_opt.model import Cluster, Instance, Job, Profile, Server

    place = Cluster(
        resources={"cpu": "units", "memory": "units"},
        servers=[
            Server(type="a", count=1, gpus=4, capacity=(1, 1)),
            Server(type="b", count=2, gpus=1, capacity=(1, 8)),
        ],
    )
    profile = Profile(
        name="p",
        axes={"cpu": [Fraction(1, 16), 1], "memory": [Fraction(1, 4), 4]},
        throughput=[[1, 0], [2, 0]],
    )
    jobs = [
        Job(id="j0", gpus=2, profile="p"),
        Job(id="j1", gpus=3, profile="p"),
        Job(id="j2", gpus=1, profile="p", weight=Fraction(5, 3)),
    ]
    instance = Instance(name="together", cluster=place, profiles=[profile], jobs=jobs)
    found = packed(instance, split="allowed", limits=Limits(time=20))
    assert found.throughput == assignment_optimum(instance, split="allowed") == Fraction(16, 3)
    verify(instance, found)
