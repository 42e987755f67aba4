"""Stage 1's core at the edges: ties, degenerate prices, zeros, jobs too large, large cores.

Each case has the right answer, or the error that says what is wrong.
"""

import importlib
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.ideal import ideal_allocation
from synergy_opt.ideal.knapsack import Table, solve
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.solution import Limits, Stop

solving = importlib.import_module("synergy_opt.ideal.knapsack.solve")


def one_server(jobs, *, profiles, gpus, capacity, resources=("cpu",), **options):
    """Give an instance on one server; jobs are pairs of profile and GPUs."""
    server = Server(type="n", count=1, gpus=gpus, capacity=capacity)
    return Instance(
        name="one",
        cluster=Cluster(resources=dict.fromkeys(resources, "units"), servers=[server]),
        profiles=profiles,
        jobs=[Job(id=f"j{i}", gpus=g, profile=name) for i, (name, g) in enumerate(jobs)],
        **options,
    )


@given(
    st.integers(1, 3),
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 12),
)
def test_ties_everywhere(dimensions, groups, spare):
    """Tests tables of tiny equal numbers, nearly all bounds tied, against all combinations."""
    groups = [[(0, 0), *items] for items in groups]
    flat = [item for items in groups for item in items]
    demand = np.array([d for _, d in flat])
    table = Table(
        first=np.concatenate([[0], np.cumsum([len(items) for items in groups])]),
        counts=np.ones(len(groups), dtype=np.int64),
        value=np.array([v for v, _ in flat]),
        below=np.ones(len(groups), dtype=np.int64),
        demand=(demand,) * dimensions,
        capacity=(spare,) * dimensions,
    )
    best: dict[int, int] = {0: 0}
    for items in groups:
        after: dict[int, int] = {}
        for used, worth in best.items():
            for v, d in items:
                if used + d <= spare:
                    after[used + d] = max(after.get(used + d, 0), worth + v)
        best = after
    found = solve(table)
    assert found.value == max(best.values())
    assert found.stop is Stop.OPTIMAL


def test_many_equal_jobs_at_price_zero():
    """Tests ten thousand equal jobs with ties and room for all: no price, no search, gap 0."""
    flat = Profile(name="p", axes={"cpu": [1, 2, 3, 4]}, throughput=[1, 2, 2, 2])
    instance = one_server([("p", 1)] * 10_000, profiles=[flat], gpus=10_000, capacity=(40_000,))
    found = ideal_allocation(instance)
    assert found.throughput == found.bound.value == 10_000
    assert found.bound.multipliers == (0,)
    assert (found.proof, found.rivals) == ("multipliers", 0)


@pytest.mark.parametrize("objective", ["relative", "absolute"])
def test_a_profile_of_zeros_is_refused(objective):
    """Tests that a job whose fair throughput is 0 is an invalid instance that names the job."""
    zeros = Profile(name="dead", axes={"cpu": [1, 2]}, throughput=[0, 0])
    with pytest.raises(InvalidInstance, match="'j0' has throughput 0 everywhere inside"):
        one_server([("dead", 1)], profiles=[zeros], gpus=1, capacity=(2,), objective=objective)


def test_zeros_beside_a_fair_throughput_are_never_chosen():
    """Tests that configurations of throughput 0 are below the floor, whatever they would free."""
    shy = Profile(name="shy", axes={"cpu": [0, 1]}, throughput=[0, 1])
    bold = Profile(name="bold", axes={"cpu": [1, 2]}, throughput=[1, 9])
    instance = one_server([("shy", 1), ("bold", 1)], profiles=[shy, bold], gpus=2, capacity=(2,))
    assert [choice.throughput for choice in ideal_allocation(instance).jobs] == [1, 1]


def test_a_job_larger_than_the_cluster_is_refused():
    """Tests that it is an invalid instance that names the job and both numbers."""
    flat = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 2])
    with pytest.raises(InvalidInstance, match=r"\$\.jobs\[0\]\.gpus: is 9, but .* 2 GPUs"):
        one_server([("p", 9), ("p", 1)], profiles=[flat], gpus=2, capacity=(4,))


def test_a_job_larger_than_what_is_left_waits():
    """Tests that it is left out and the others are served, with a proof."""
    flat = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 2])
    instance = one_server([("p", 1), ("p", 2), ("p", 1)], profiles=[flat], gpus=2, capacity=(4,))
    found = ideal_allocation(instance)
    assert [choice.id for choice in found.jobs] == ["j0", "j2"]
    assert found.throughput == found.bound.value


def test_a_resource_that_nobody_uses():
    """Tests that it has price 0 and stands in no one's way; that there is none is refused."""
    profile = Profile(name="p", axes={"cpu": [1, 2], "disk": [0]}, throughput=[[1], [2]])
    resources = ("cpu", "disk")
    found = ideal_allocation(
        one_server(
            [("p", 1)] * 3, profiles=[profile], gpus=3, capacity=(5, 1), resources=resources
        )
    )
    assert found.throughput == 5
    assert found.bound.multipliers[1] == 0
    with pytest.raises(InvalidInstance, match="capacity must be above 0"):
        one_server([], profiles=[profile], gpus=3, capacity=(5, 0), resources=resources)


def hard(groups=60, items=6, dimensions=5, seed=0):
    """Give a knapsack whose core is large: values close to a sum of the demands."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 1000, size=(dimensions, groups, items))
    demand[:, :, 0] = 0
    value = demand.sum(axis=0) + rng.integers(0, 50, size=(groups, items))
    value[:, 0] = 0
    return Table(
        first=np.arange(groups + 1) * items,
        counts=np.ones(groups, dtype=np.int64),
        value=value.ravel(),
        below=np.ones(groups, dtype=np.int64),
        demand=tuple(row.ravel() for row in demand),
        capacity=tuple(int(row.max(axis=1).sum() // 2) for row in demand),
    )


def test_a_core_that_stays_large_is_reported_with_its_gap(monkeypatch):
    """Tests that while a search goes on there are an answer, a bound, no word of a proof.

    And that its memory stays bounded however many states it looks at (seen: 34 MB).
    """
    monkeypatch.setattr(solving, "_STATES", 30_000)
    known = None
    tracemalloc.start()
    for known in solving.steps(hard(), start=None, limits=Limits()):
        assert known.stop is Stop.LIMIT
        if known.states > 90_000:
            break
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert known.bound > known.value
    assert known.rivals > 0
    assert peak < 100 * 2**20


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_time_limit_zero(dimensions):
    """Tests that without time the bound of price 0 is given, and no wrong answer."""
    found = solve(hard(dimensions=dimensions), limits=Limits(time=0.0))
    assert found.stop is Stop.LIMIT
    assert found.value is None or found.value <= found.bound


def test_prices_beyond_64_bits():
    """Tests optimal prices whose denominators are products of large primes: exact, gap 0."""
    large = 10**12 + 39
    profiles = [
        Profile(
            name=f"p{i}",
            axes={"cpu": [1, 1 + Fraction(large + 2 * i, 10**12), 4]},
            throughput=[1, 1 + Fraction(1, large + i), 1 + Fraction(2, large - i)],
        )
        for i in range(6)
    ]
    instance = one_server(
        [(f"p{i}", 1) for i in range(6)], profiles=profiles, gpus=6, capacity=(11,)
    )
    found = ideal_allocation(instance)
    tables = [(p.axes[0][1].tolist(), p.throughput.tolist()) for p in profiles]
    best = max(
        sum((table[1][k] for table, k in zip(tables, point, strict=True)), Fraction(0))
        for point in np.ndindex(*[3] * 6)
        if sum((table[0][k] for table, k in zip(tables, point, strict=True)), Fraction(0)) <= 11
    )
    assert found.throughput == best
    assert found.proof in ("multipliers", "core")
