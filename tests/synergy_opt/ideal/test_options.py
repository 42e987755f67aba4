"""The flat table of stage 1 holds what the configurations of each kind of job are."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.ideal.options import options
from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.runnable import runnable


def _same(instance, *, consolidated):
    jobs = runnable(instance)
    found = options(instance, jobs, consolidated=consolidated)
    expected = kinds(instance, jobs, consolidated=consolidated)
    assert found.members == tuple(kind.members for kind in expected)
    table = found.table
    for t, kind in enumerate(expected):
        inside = slice(int(table.first[t]), int(table.first[t + 1]))
        fair = kind.configurations.fair()
        assert found.points[inside].tolist() == fair.points.tolist()
        items = range(inside.start, inside.stop)
        assert [table.gain(k) for k in items] == fair.value.tolist()
        for amounts, unit, column in zip(fair.demand, found.units, table.demand, strict=True):
            assert amounts.tolist() == [int(n) * unit for n in column[inside]]
    for amount, unit, total in zip(
        instance.cluster.capacity, found.units, table.capacity, strict=True
    ):
        assert total * unit == amount
    if len(table):
        assert table.fits((found.share, table.counts))


@settings(max_examples=25)
@given(instances(), st.booleans())
def test_options_are_the_fair_configurations(instance, consolidated):
    """Tests that both ways to apply the rules of stage 1 give the same numbers."""
    _same(instance, consolidated=consolidated)


def test_wide_denominators_fall_back_to_python_integers():
    """Tests amounts and throughputs whose common denominators need more than 64 bits."""
    cluster = Cluster(
        resources={"cpu": "cores"},
        servers=[Server(type="n", count=2, gpus=2, capacity=(Fraction(10**30 + 7, 10**29),))],
    )
    profiles = [
        Profile(
            name=f"p{i}",
            axes={"cpu": [Fraction(1, 10**20 + i), Fraction(3 * 10**20 + i, 10**20)]},
            throughput=[Fraction(1, 3 + i), Fraction(10**25 + i, 10**25)],
        )
        for i in range(3)
    ]
    jobs = [Job(id=f"j{i}", gpus=1, profile=f"p{i}") for i in range(3)]
    instance = Instance(name="wide", cluster=cluster, profiles=profiles, jobs=jobs)
    assert options(instance, jobs).table.demand[0].dtype == object
    _same(instance, consolidated=True)


def test_no_jobs():
    """Tests that no jobs make an empty table."""
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=1, capacity=(1,))]
    )
    found = options(Instance(name="none", cluster=cluster, profiles=[], jobs=[]), [])
    assert np.array_equal(found.table.first, [0])
