"""Each policy puts first whom its source puts first, and breaks ties by arrival."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.model import Job
from synergy_opt.simulation.policies import POLICIES, fifo, ftf, las, srtf
from synergy_opt.simulation.queue import QueuedJob


def queued(number, *, submitted=0, duration=100, remaining=None, attained=0, gpus=1):
    job = QueuedJob(
        number, Job(id=f"j{number}", gpus=gpus, profile="m"), submitted, submitted, duration
    )
    job.remaining = duration if remaining is None else remaining
    job.attained = attained
    return job


def names(jobs):
    return [job.id for job in jobs]


def test_fifo_takes_the_earliest():
    jobs = [queued(1, submitted=5), queued(0, submitted=3), queued(2, submitted=5)]
    assert names(fifo(jobs, 10)) == ["j0", "j1", "j2"]


def test_srtf_takes_the_least_left_not_the_shortest():
    jobs = [queued(0, duration=50), queued(1, duration=900, remaining=20)]
    assert names(srtf(jobs, 10)) == ["j1", "j0"]


def test_las_takes_the_least_gpu_time():
    jobs = [queued(0, attained=30), queued(1, attained=10, gpus=4), queued(2, attained=20)]
    assert names(las(jobs, 100)) == ["j2", "j0", "j1"]


def test_ftf_takes_who_was_treated_worst():
    """A short job that has waited as long as a long one is treated worse: its ρ is larger."""
    short, long = queued(1, duration=10), queued(0, duration=1000)
    assert names(ftf([long, short], 500)) == ["j1", "j0"]


def test_ftf_of_two_equal_jobs_takes_the_one_that_has_waited():
    waited, favoured = queued(1, remaining=100), queued(0, remaining=40, attained=60)
    assert names(ftf([favoured, waited], 60)) == ["j1", "j0"]


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 10**12), st.integers(1, 10**12)), max_size=8
    )
)
def test_ftf_orders_by_exact_ratios(values):
    """Whole-number keys order as fractions do, also where ratios nearly agree."""
    jobs = [
        queued(i, submitted=at, duration=max(a, b), remaining=min(a, b))
        for i, (at, a, b) in enumerate(values)
    ]
    rho = {job.id: Fraction(60 - job.submitted + job.remaining, job.duration) for job in jobs}
    expected = sorted(jobs, key=lambda job: (-rho[job.id], job.submitted, job.number))
    assert ftf(jobs, 60) == expected


def test_every_policy_gives_all_jobs_and_changes_none():
    jobs = [queued(i, submitted=9 - i, duration=10 + i) for i in range(5)]
    before = list(jobs)
    for policy in POLICIES.values():
        assert sorted(names(policy(jobs, 20))) == sorted(names(jobs))
        assert jobs == before
