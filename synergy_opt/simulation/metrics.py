"""What a run amounts to: completion times, makespan, queueing, utilisation, fairness, speed-up.

Takes a `Run`, or several with different seeds, and gives figures. Sums and means are exact;
quantiles and intervals are statistics, in floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import stats

from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import exact_sum
from synergy_opt.simulation.run import JobRun, Run

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Figures of the measured jobs of a run.

    Parameters
    ----------
    jobs
        How many were measured.
    mean, median, p95, p99
        Of their completion times (JCT), in seconds; quantiles as NumPy's default, linear.
    makespan
        From the first submission of the trace to the last measured end, in seconds.
    queueing
        Mean time in the system without progress, in seconds.
    fairness, worst_fairness
        Mean and largest ρ = JCT / duration: 1 means as fast as alone at the fair share.
    slowest
        Lowest throughput over the fair one that any job of the trace had while it had a place.
    moves
        How often measured jobs were restored.
    utilisation
        Mean parts in use of the GPUs and of each resource while the window was in the system.
    """

    jobs: int
    mean: Fraction
    median: float
    p95: float
    p99: float
    makespan: Fraction
    queueing: Fraction
    fairness: Fraction
    worst_fairness: Fraction
    slowest: Fraction
    moves: int
    utilisation: tuple[Fraction, ...]


def summary(run: Run) -> Summary:
    """Sum up a run.

    Raises
    ------
    InvalidInstance
        When no job was measured.
    """
    measured = run.measured
    if not measured:
        raise InvalidInstance("has no job to measure", run.workload)
    times = completions(run)
    ratios = [_completion(job) / job.duration for job in measured]
    queueing = exact_sum(_completion(job) - job.ran for job in measured)
    ended = max(job.finished for job in measured if job.finished is not None)
    p50, p95, p99 = np.percentile(times, [50, 95, 99]).tolist()
    return Summary(
        jobs=len(measured),
        mean=exact_sum(map(_completion, measured)) / len(measured),
        median=p50,
        p95=p95,
        p99=p99,
        makespan=ended - run.jobs[0].submitted,
        queueing=queueing / len(measured),
        fairness=exact_sum(ratios) / len(measured),
        worst_fairness=max(ratios),
        slowest=min(job.slowest for job in run.jobs if job.slowest is not None),
        moves=sum(job.moves for job in measured),
        utilisation=utilisation(run, measured[0].submitted, ended),
    )


def completions(run: Run) -> Floats:
    """Give the completion times of the measured jobs, in seconds, in the order of the trace."""
    return np.array([float(_completion(job)) for job in run.measured])


def _completion(job: JobRun) -> Fraction:
    completion = job.completion
    assert completion is not None, "a run ends when all measured jobs have"
    return completion


def cdf(values: Floats) -> tuple[Floats, Floats]:
    """Give the values in ascending order, and for each the part that is at most as large."""
    ordered = np.sort(values)
    return ordered, np.arange(1, len(ordered) + 1) / len(ordered)


def utilisation(run: Run, start: Fraction, end: Fraction) -> tuple[Fraction, ...]:
    """Give the mean parts in use of the GPUs and each resource between two moments."""
    whole = (Fraction(run.cluster.gpus), *run.cluster.capacity)
    totals = [Fraction(0)] * len(whole)
    for usage in run.usage:
        length = min(usage.end, end) - max(usage.start, start)
        if length > 0:
            totals = [t + length * used for t, used in zip(totals, usage.used, strict=True)]
    if end <= start:
        return tuple(Fraction(0) for _ in whole)
    return tuple(t / (w * (end - start)) for t, w in zip(totals, whole, strict=True))


def speedups(base: Run, other: Run) -> dict[str, Fraction]:
    """Give for each measured job its completion time in `base` over that in `other`.

    With a GPU-proportional `base` this is the per-job speed-up of Synergy, OSDI '22, Figure 6c.

    Raises
    ------
    InvalidInstance
        When the runs are not of the same jobs.
    """
    pairs = list(zip(base.measured, other.measured, strict=False))
    if base.window != other.window or any(_line(a) != _line(b) for a, b in pairs):
        raise InvalidInstance("do not measure the same jobs", f"{base.workload}, {other.workload}")
    return {a.id: _completion(a) / _completion(b) for a, b in pairs}


def _line(job: JobRun) -> tuple[object, ...]:
    """Give what a job is in its trace: other traces have jobs of the same ids."""
    return job.id, job.gpus, job.profile, job.submitted, job.duration


def interval(values: Sequence[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """Give a bootstrap interval of the mean over seeds (percentiles, 9,999 resamples).

    The resampling is seeded, so that the same values give the same interval. With fewer than two
    values there is nothing to resample: both ends are the mean.
    """
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2 or np.ptp(sample) == 0:
        return float(sample.mean()), float(sample.mean())
    found = stats.bootstrap(
        (sample,), np.mean, confidence_level=confidence, method="percentile", rng=0
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
