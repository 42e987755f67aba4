"""The packed optimum, point 4: any prices of shapes bound every fair placement in whole GPUs."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clusters, instances

from synergy_opt.answer import PatternBound, ShapePrice
from synergy_opt.certificate.facts import Facts
from synergy_opt.certificate.pattern_bound import pattern_value
from synergy_opt.errors import Infeasible, Stopped
from synergy_opt.packed import packed
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.solution import Limits
from synergy_opt.tune import tune

SMALL = clusters(max_groups=2, max_count=2, max_gpus=4)


@st.composite
def shape_prices(draw, instance):
    """Up to six shapes of whatever size, at whatever prices, for the instance's servers."""
    cluster = instance.cluster

    def shape():
        group = draw(st.integers(0, len(cluster.servers) - 1))
        server = cluster.servers[group]
        amounts = tuple(
            room * draw(st.fractions(0, Fraction(5, 4), max_denominator=6))
            for room in server.capacity
        )
        price = draw(st.fractions(0, 3, max_denominator=20))
        gpus = draw(st.integers(1, server.gpus))
        return ShapePrice(group=group, gpus=gpus, amounts=amounts, price=price)

    return tuple(shape() for _ in range(draw(st.integers(0, 6))))


@pytest.mark.parametrize("split", ["never", "allowed"])
@settings(max_examples=40)
@given(instance=instances(cluster=SMALL, max_jobs=4, max_profiles=2, max_points=3), data=st.data())
def test_any_prices_bound_the_packed_optimum(split, instance, data):
    """Tests Σ π + Σ s σ against the best placement, and against heuristics that keep to it."""
    bound = PatternBound(
        value=Fraction(0),
        shapes=data.draw(shape_prices(instance)),
        servers=(Fraction(0),) * len(instance.cluster.servers),
        split=split,
    )
    proven = pattern_value(Facts(instance=instance), runnable(instance), bound)
    largest = max(group.gpus for group in instance.cluster.servers)
    small = {job.id for job in instance.jobs if job.gpus <= largest}
    for heuristic in (proportional(instance), tune(instance)):
        if split == "allowed" or not small & set(heuristic.split_jobs):
            assert heuristic.throughput <= proven
    try:
        best = packed(instance, split=split, limits=Limits(time=2))
    except (Infeasible, Stopped):
        return  # whole jobs do not fit
    assert best.throughput <= proven
