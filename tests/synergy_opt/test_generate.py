"""Seeded families and the cache model behind them."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synergy_opt.demand import best_case_demand
from synergy_opt.errors import InvalidInstance
from synergy_opt.fair_share import fair_throughput
from synergy_opt.generate import mix, scattered
from synergy_opt.io import instance_text
from synergy_opt.profiling.cache_model import MODELS


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), servers=st.integers(1, 6))
def test_the_same_seed_gives_the_same_bytes(seed: int, servers: int):
    """Tests that a family is a function of its arguments, and that the seed matters to it."""
    for family in (mix, scattered):
        text = instance_text(family(servers=servers, seed=seed))
        assert text == instance_text(family(servers=servers, seed=seed))
    assert mix(servers=servers, seed=seed) != mix(servers=servers, seed=seed + 1)


def test_the_bytes_of_a_seed_are_fixed():
    """Tests that a seed keeps its meaning from release to release."""
    jobs = [(job.gpus, job.profile) for job in mix(servers=1, seed=0).jobs]
    assert jobs == [(1, "gnmt"), (1, "mobilenet"), (4, "bert"), (2, "lstm")]


@given(
    load=st.sampled_from(["0.5", "1", "1.5"]),
    servers=st.integers(1, 8),
    seed=st.integers(0, 99),
)
def test_the_load_is_the_gpus_asked_for(load: str, servers: int, seed: int):
    """Tests that demands sum to load times the cluster's GPUs, rounded down."""
    instance = mix(servers=servers, seed=seed, load=load)
    assert sum(job.gpus for job in instance.jobs) == int(Fraction(load) * 8 * servers)


def test_the_split_and_the_demands_are_kept():
    """Tests that classes and GPU demands occur as often as their weights say."""
    instance = mix(servers=500, seed=1, split=(20, 70, 10), gpu_demands={1: 3, 2: 1})
    tasks = Counter(MODELS[job.profile].task for job in instance.jobs)
    jobs = len(instance.jobs)
    for task, percent in {"image": 20, "language": 70, "speech": 10}.items():
        assert abs(100 * tasks[task] / jobs - percent) < 3
    assert abs(sum(job.gpus == 2 for job in instance.jobs) / jobs - 0.25) < 0.03
    only = mix(servers=3, seed=1, split=(0, 0, 1))
    assert {MODELS[job.profile].task for job in only.jobs} == {"speech"}


@given(seed=st.integers(0, 10**6), resources=st.integers(1, 3), points=st.integers(1, 6))
def test_scattered_profiles_are_valid_and_monotone_on_request(
    seed: int, resources: int, points: int
):
    """Tests that each job has its own profile, which never falls unless it may."""
    instance = scattered(servers=2, seed=seed, resources=resources, points=points)
    assert len(instance.profiles) == len(instance.jobs)
    for profile in instance.profiles:
        table = profile.throughput.numerators
        for axis in range(resources):
            assert (
                table.take(range(1, table.shape[axis]), axis)
                >= table.take(range(table.shape[axis] - 1), axis)
            ).all()
    scattered(servers=2, seed=seed, resources=resources, points=points, monotone=False)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"resources": 0}, "resources"),
        ({"points": 0}, "points"),
        ({"gpu_demands": {0: 1}}, "gpu_demands"),
        ({"gpu_demands": {1: -1}}, "gpu_demands"),
        ({"gpu_demands": {}}, "gpu_demands"),
        ({"load": 0}, "load"),
        ({"servers": 0}, ".count"),
    ],
)
def test_arguments_that_make_no_instance_are_refused(arguments: dict[str, object], path: str):
    """Tests that the message names the argument."""
    with pytest.raises(InvalidInstance) as caught:
        scattered(**{"servers": 1, "seed": 0, **arguments})  # type: ignore[arg-type]
    assert caught.value.path == path


def test_demands_above_the_cluster_are_not_drawn():
    """Tests that a small cluster gets small jobs, and that none at all is possible."""
    instance = mix(servers=1, seed=0, gpus=2, cpu=6, memory=125)
    assert {job.gpus for job in instance.jobs} <= {1, 2}
    assert mix(servers=1, seed=0, gpus=2, gpu_demands={4: 1}).jobs == ()


def test_the_model_is_nothing_without_memory_and_knows_its_resources():
    """Tests throughput 0 below the process memory, and that an unknown axis is refused."""
    assert MODELS["gnmt"].rate(Fraction(9), Fraction(19)) == 0
    with pytest.raises(InvalidInstance, match="not 'disk'"):
        MODELS["gnmt"].profile({"disk": [1]})
    slow = MODELS["m5"].profile({"storage": [1, 1000]})
    assert slow.throughput.tolist() == [360, 360]  # the data set is in memory: plenty of it


def test_best_cases_of_a_mix_are_never_below_the_share():
    """Tests that every job of a mix has a best case worth its fair throughput."""
    instance = mix(servers=4, seed=2, split=(1, 1, 1))
    for job in instance.jobs:
        assert best_case_demand(instance, job).value >= 1
        assert fair_throughput(instance, job) > 0
