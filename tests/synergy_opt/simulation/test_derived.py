"""The derived trace: the paper's distributions, a seed a trace, loads that share their jobs."""

from fractions import Fraction
from statistics import fmean, pstdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.profiling.cache_model import MODELS
from synergy_opt.simulation.derived import (
    MULTI_GPU,
    PHILLY_DEMANDS,
    SINGLE_GPU,
    derived_workload,
    part,
)

MANY = derived_workload(jobs=20_000, seed=11, load=9, gpu_demands=MULTI_GPU)


def test_durations_are_ten_to_the_x_minutes():
    """Tests §5.1: 80 % between 10^1.5 and 10^3 minutes, the rest to 10^4, uniform in x."""
    minutes = sorted(float(job.duration / 60) for job in MANY.jobs)
    assert minutes[0] >= 10**1.5 - 0.01
    assert minutes[-1] <= 10**4 + 0.01
    assert abs(sum(m < 10**3 for m in minutes) / len(minutes) - 0.8) < 0.01
    assert abs(sum(m < 10**2.25 for m in minutes) / len(minutes) - 0.4) < 0.012
    assert abs(sum(m < 10**3.5 for m in minutes) / len(minutes) - 0.9) < 0.01
    # The mean of 10^x over [a, b] is (10^b − 10^a) / ((b − a) ln 10): 1,006 minutes together.
    assert abs(fmean(minutes) / 1006 - 1) < 0.03


def test_arrivals_are_a_poisson_process():
    """Tests 9 jobs an hour: the mean gap, and its spread, which equals the mean."""
    gaps = [
        float(b.submitted - a.submitted) for a, b in zip(MANY.jobs, MANY.jobs[1:], strict=False)
    ]
    assert abs(fmean(gaps) / 400 - 1) < 0.03
    assert abs(pstdev(gaps) / fmean(gaps) - 1) < 0.03


def test_split_and_demands_are_as_asked():
    """Tests the weights of classes and of GPU demands."""
    jobs = MANY.jobs
    for task, percent in {"image": 20, "language": 70, "speech": 10}.items():
        found = sum(MODELS[job.profile].task == task for job in jobs)
        assert abs(100 * found / len(jobs) - percent) < 1
    for demand, percent in MULTI_GPU.items():
        assert abs(100 * sum(job.gpus == demand for job in jobs) / len(jobs) - percent) < 1
    assert {job.gpus for job in derived_workload(jobs=50, seed=1).jobs} == set(SINGLE_GPU)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), load=st.fractions(Fraction(1, 10), 20))
def test_loads_share_their_jobs(seed: int, load: Fraction):
    """Tests common random numbers: the load moves arrivals in proportion and nothing else."""
    one = derived_workload(jobs=30, seed=seed, load=1)
    other = derived_workload(jobs=30, seed=seed, load=load)
    still = derived_workload(jobs=30, seed=seed)
    for a, b, c in zip(one.jobs, other.jobs, still.jobs, strict=True):
        assert (a.id, a.duration, a.gpus, a.profile) == (b.id, b.duration, b.gpus, b.profile)
        assert (a.duration, a.profile) == (c.duration, c.profile)
        assert abs(a.submitted / load - b.submitted) <= 1 + 1 / load
        assert c.submitted == 0


def test_the_bytes_of_a_seed_are_fixed():
    """Tests that a seed keeps its meaning from release to release."""
    jobs = derived_workload(jobs=3, seed=0, load=9, gpu_demands=PHILLY_DEMANDS).jobs
    assert [(j.submitted, j.duration, j.gpus, j.profile) for j in jobs] == [
        (14, 18012, 1, "alexnet"),
        (166, 14717, 1, "transformer"),
        (565, 2483, 1, "gnmt"),
    ]


@given(start=st.integers(0, 99), count=st.integers(1, 100))
def test_a_part_is_the_jobs_asked_for_moved_to_0(start: int, count: int):
    """Tests that gaps, order and profiles stay, and that too many are refused."""
    if start + count > 100:
        with pytest.raises(InvalidInstance, match="within 100 jobs"):
            part(HUNDRED, start, count)
        return
    taken = part(HUNDRED, start, count)
    whole = HUNDRED.jobs[start : start + count]
    assert [job.id for job in taken.jobs] == [job.id for job in whole]
    assert {a.submitted - b.submitted for a, b in zip(whole, taken.jobs, strict=True)} == {
        whole[0].submitted
    }
    assert set(taken.profiles) == {job.profile for job in whole}


HUNDRED = derived_workload(jobs=100, seed=5, load=3)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"jobs": 0}, "jobs"),
        ({"load": 0}, "load"),
        ({"load": -1}, "load"),
        ({"load": 10**7}, "load"),
        ({"split": (1, 1)}, "split"),
        ({"split": (0, 0, 0)}, "split"),
        ({"gpu_demands": {0: 1}}, "gpu_demands"),
        ({"gpu_demands": {1: 0}}, "gpu_demands"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], path: str):
    """Tests that the message names the argument."""
    with pytest.raises(InvalidInstance) as caught:
        derived_workload(**{"jobs": 1, "seed": 0, **arguments})
    assert caught.value.path == path
