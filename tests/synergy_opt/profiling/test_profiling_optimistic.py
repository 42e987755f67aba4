"""Optimistic profiles against ground truth: right under the assumptions, and how wrong without."""

from fractions import Fraction
from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.profiling import optimistic_profile
from synergy_opt.profiling.cache_model import CPU_GRID, MEMORY_GRID, MODELS, Cache, CacheModel

MEMORY = [50 * i for i in range(1, 11)]  # the paper's grid: 24 cores × 10 steps of 50 GB
models = st.builds(
    lambda core, gpu, item, dataset: CacheModel(
        name="drawn", task="image", core_rate=core, gpu_rate=gpu, item=item, dataset=dataset
    ),
    st.integers(1, 500),
    st.integers(1, 5000),
    st.fractions(Fraction(1, 1000), 5, max_denominator=1000),
    st.fractions(1, 480, max_denominator=10),
)


def profiled(model: CacheModel, **options):
    """Profile a model that is measured with 500 GB, as on the paper's servers."""
    return optimistic_profile(
        lambda cpu: model.rate(cpu, Fraction(500)),
        name=model.name,
        cpu=range(1, 25),
        memory=MEMORY,
        cache=model.cache,
        **options,
    )


def worst(model: CacheModel, profile) -> float:
    """Give the largest relative error over the grid where the truth is above 0."""
    truth = model.profile({"cpu": range(1, 25), "memory": MEMORY}).throughput.tolist()
    return max(
        abs(float(a / b) - 1) for a, b in zip(profile.throughput.tolist(), truth, strict=True) if b
    )


@given(model=models)
def test_every_point_is_within_3_percent_under_the_assumptions(model: CacheModel):
    """Tests the paper's 3 % (Fig. 5a) on the whole grid, for models of its own assumptions.

    Throughputs of a model are cut to 1/100 items/s, which is 1 % of the slowest drawn here.
    """
    found = profiled(model)
    assert worst(model, found.profile) < 0.03 + 0.01 / model.core_rate
    assert found.points == 240


@pytest.mark.parametrize("name", MODELS)
def test_the_cost_is_a_thirtieth(name: str):
    """Tests "up to 30 times": 240 combinations, at most 8 measurements (§3.1)."""
    found = profiled(MODELS[name])
    assert found.measurements <= 8
    assert found.saving >= 30
    assert worst(MODELS[name], found.profile) < 0.03
    assert f"{found.measurements} measurements for 240 points" in str(found)


@pytest.mark.parametrize("name", MODELS)
def test_the_shipped_grid_comes_out_too(name: str):
    """Tests the grid of `MODELS`: no core count or memory step is treated specially."""
    model = MODELS[name]
    found = optimistic_profile(
        lambda cpu: model.rate(cpu, Fraction(1000)),
        name=name,
        cpu=CPU_GRID,
        memory=MEMORY_GRID,
        cache=model.cache,
    )
    pairs = zip(
        found.profile.throughput.tolist(), model.profile().throughput.tolist(), strict=True
    )
    assert max(abs(a / b - 1) for a, b in pairs) < Fraction("0.03")


def lru_hits(cached: float) -> float:
    """Give the hit rate of a least-recently-used cache that holds that part of the data set.

    Each epoch reads a new random permutation. An item at position x of one epoch and y of the
    next is found again when fewer distinct items than fit were read between: 1 − x(1 − y) ≤ h.
    With x and y uniform that has probability h + (1 − h) ln(1 − h).
    """
    return cached + (1 - cached) * log(1 - cached) if cached < 1 else 1.0


def test_the_page_caches_formula_is_what_a_page_cache_does():
    """Tests the formula against a simulated least-recently-used cache of 1,000 items."""
    rng, items, size = Random(1), list(range(1000)), 500
    cache: dict[int, None] = {}
    hits = reads = 0
    for epoch in range(30):
        rng.shuffle(items)
        for item in items:
            if epoch > 5:
                reads, hits = reads + 1, hits + (item in cache)
            cache.pop(item, None)
            cache[item] = None
            if len(cache) > size:
                del cache[next(iter(cache))]
    assert abs(hits / reads - lru_hits(0.5)) < 0.01


def test_a_page_cache_is_overestimated():
    """Tests the limit of the method (§6): with half of the data cached, 1.7 times too fast."""
    model = MODELS["resnet18"]
    cached = 0.5
    memory = model.process + model.dataset * Fraction(cached)
    claimed = model.cache.fetch_rate(memory, Fraction(100))
    true = 100 / (float(model.item) * (1 - lru_hits(cached)))
    assert claimed is not None
    assert 1.6 < float(claimed) / true < 1.8


def test_noise_of_two_percent_stays_within_six():
    """Tests measurements with noise: the estimate's error is the noise's and the threshold's."""
    model, rng = MODELS["wavenet"], Random(3)
    errors = []
    for _ in range(20):
        found = optimistic_profile(
            lambda cpu: float(model.rate(cpu, Fraction(500))) * rng.uniform(0.98, 1.02),
            name="noisy",
            cpu=range(1, 25),
            memory=MEMORY,
            cache=model.cache,
        )
        errors.append(worst(model, found.profile))
    assert 0.005 < max(errors) < 0.06


def test_a_wrong_bandwidth_shows_where_storage_binds_alone():
    """Tests a planted fault: storage stated twice as fast spoils fetch-bound models only."""
    model = MODELS["resnet18"]
    wrong = profiled(model, storage=200).profile
    assert worst(model, wrong) > 0.5
    assert worst(MODELS["gnmt"], profiled(MODELS["gnmt"], storage=200).profile) < 0.03


def test_wrong_sizes_are_refused():
    """Tests the cache's rules and the memory grid's."""
    for field in ("item", "dataset"):
        with pytest.raises(InvalidInstance, match="must be above 0"):
            Cache(**{"item": Fraction(1), "dataset": Fraction(1), field: Fraction(0)})
    with pytest.raises(InvalidInstance, match="must not be negative"):
        Cache(item=Fraction(1), dataset=Fraction(1), process=Fraction(-1))
    with pytest.raises(InvalidInstance, match="increase strictly"):
        optimistic_profile(
            lambda _: 1, name="m", cpu=[1], memory=[2, 1], cache=MODELS["gnmt"].cache
        )
