"""Theorem 4.1: every fair placement of the same jobs is at most the optimum of stage 1."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from strategies import instances

from synergy_opt.errors import Infeasible
from synergy_opt.greedy import greedy
from synergy_opt.ideal import ideal_allocation, skipping_bound
from synergy_opt.ideal.multipliers import price_bound
from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.optimal import optimal
from synergy_opt.proportional import proportional
from synergy_opt.runnable import runnable
from synergy_opt.tune import tune


@given(instances())
def test_every_mechanism_is_below_the_bound(instance):
    """Tests throughput ≤ stage-1 bound, exactly, for every mechanism that places every job."""
    bound = ideal_allocation(instance).bound
    for mechanism in (proportional, tune):
        assert mechanism(instance).throughput <= bound.value
    try:
        assert optimal(instance).throughput <= bound.value
    except Infeasible:
        assert len(instance.cluster.servers) > 1
    assert optimal(instance, whole_gpus=True).throughput <= bound.value
    placement = greedy(instance)  # it may list jobs that wait behind the runnable ones
    by_name = {job.id: job for job in instance.jobs}
    listed = [by_name[job.id] for job in placement.jobs]
    skipping = skipping_bound(instance, bound.multipliers, jobs=listed)
    assert placement.throughput <= skipping.value
    if not placement.left_out:
        assert placement.throughput <= bound.value


@given(instances(max_jobs=4, max_profiles=2, max_points=3), st.data())
def test_any_multipliers_bound_the_optimum(instance, data):
    """Tests that L(λ) is an upper bound for any λ ≥ 0 whatever."""
    prices = tuple(
        data.draw(st.fractions(0, 4, max_denominator=50)) for _ in instance.cluster.names
    )
    best = ideal_allocation(instance, solver="brute_force").throughput
    merged = kinds(instance, runnable(instance))
    capacity = instance.cluster.capacity
    assert best <= price_bound(merged, capacity, prices)
    assert best <= price_bound(merged, capacity, prices, integral=False)
    assert best <= price_bound(merged, capacity, prices, integral=False, rows=True)


@given(instances(max_jobs=6))
def test_order_of_the_bounds(instance):
    """Tests ILP ≤ its bound ≤ LP with fixing ≤ LP with rows (5)."""
    integral = ideal_allocation(instance)
    fixed = ideal_allocation(instance, integral=False)
    rows = ideal_allocation(instance, integral=False, floor="rows")
    assert integral.throughput <= integral.bound.value <= fixed.bound.value
    assert fixed.throughput <= rows.throughput


def test_share_on_small_rich_servers_is_allowed():
    """Tests that the consolidation rule never forbids a fair share: it would refute the bound.

    A job of two GPUs fits on the large server, worth 4 CPUs. Split over the two small servers its
    fair share is 200 CPUs, which PROPORTIONAL gives it.
    """
    cluster = Cluster(
        resources={"cpu": "cores"},
        servers=[
            Server(type="large", count=1, gpus=2, capacity=(4,)),
            Server(type="small", count=2, gpus=1, capacity=(100,)),
        ],
    )
    modest = Profile(name="modest", axes={"cpu": [1]}, throughput=[1])
    rich = Profile(name="rich", axes={"cpu": [1, 2, 100]}, throughput=[1, 2, 9])
    jobs = [Job(id="m", gpus=2, profile="modest"), Job(id="r", gpus=2, profile="rich")]
    instance = Instance(name="i", cluster=cluster, profiles=[modest, rich], jobs=jobs)
    placement = proportional(instance)
    for solver in ("highs", "cvxpy"):
        bound = ideal_allocation(instance, solver=solver).bound
        assert placement.throughput == Fraction(11, 2) <= bound.value
