"""The Synergy paper's production-derived trace, seeded, with nothing to download.

Takes a number of jobs, a load and weights and gives a `Workload`. Demands, models, durations and
arrivals are drawn from four streams of the seed, so that the same seed gives the same jobs at
every load: differences between two loads, or two mechanisms, are then differences of these alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from random import Random

from synergy_opt.draw import GPU_DEMANDS, check_demands, check_split, draw, draw_model
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import Number, approximate, exact
from synergy_opt.profiling.cache_model import CPU_GRID, MEMORY_GRID, MODELS
from synergy_opt.simulation.workload import TraceJob, Workload

SINGLE_GPU: Mapping[int, int] = {1: 1}
"""The paper's single-GPU trace."""
MULTI_GPU = GPU_DEMANDS
"""A multi-GPU trace within one server: the weights of the published simulator."""
PHILLY_DEMANDS: Mapping[int, int] = {1: 76627, 2: 1818, 4: 1870, 8: 1643, 16: 199}
"""Jobs of the public Philly trace by GPU demand, 1 to 16 (82,157 of 82,247; the paper's range)."""

_MINUTE, _HOUR = 60, 3600


def derived_workload(
    *,
    jobs: int,
    seed: int,
    load: Number | None = None,
    split: Sequence[int] = (20, 70, 10),
    gpu_demands: Mapping[int, int] = SINGLE_GPU,
    axes: Mapping[str, Sequence[Number]] | None = None,
) -> Workload:
    """Draw a trace as the paper's §5.1 says.

    A duration is 10^x minutes, x uniform in [1.5, 3] for 80 % of the jobs and in [3, 4] for the
    others: 16.8 hours on average. It is what the job takes at its GPU-proportional throughput.

    Parameters
    ----------
    jobs
        How many, at least 1.
    seed
        Of the generator.
    load
        Arrivals in jobs/hour, a Poisson process; None for a static trace, where all jobs arrive
        at 0.
    split
        Weights of image, language and speech models.
    gpu_demands
        Weight of each GPU demand.
    axes
        Grid of the profiles, as `CacheModel.profile` takes it; default the models' own.

    Returns
    -------
    Workload
        Times are whole seconds, so that a last digit of a platform's logarithm does not matter.

    Raises
    ------
    InvalidInstance
        Naming the argument and its rule.

    References
    ----------
    Mohan et al., OSDI '22, §5.1, "Traces".

    Examples
    --------
    >>> workload = derived_workload(jobs=1000, seed=1, load=9)
    >>> workload.name, workload.jobs[0].profile, int(workload.jobs[999].submitted / 3600)
    ('derived-9-1', 'lstm', 113)
    """
    check_split(split)
    check_demands(gpu_demands)
    if jobs < 1:
        raise InvalidInstance(f"must be at least 1, not {jobs}", "jobs")
    rate = None if load is None else exact(load)
    if rate is not None and not 0 < rate <= 10**6:
        raise InvalidInstance(f"must be above 0 and at most 1000000, not {load}", "load")
    demand, model, length, arrival = (
        Random(f"derived {stream} {seed}") for stream in ("demand", "model", "length", "arrival")
    )
    at = 0.0
    trace: list[TraceJob] = []
    for i in range(jobs):
        if rate is not None:
            # 1 − u is above 0; the gap at load 1 is scaled, so that loads share one stream.
            at -= log(1 - arrival.random()) * _HOUR / float(rate)
        trace.append(
            TraceJob(
                id=f"J{i + 1}",
                submitted=Fraction(round(at)),
                duration=Fraction(_duration(length)),
                gpus=draw(demand, gpu_demands),
                profile=draw_model(model, split),
            )
        )
    used = {job.profile for job in trace}
    grid = axes if axes is not None else {"cpu": CPU_GRID, "memory": MEMORY_GRID}
    return Workload(
        name=f"derived-{'static' if rate is None else approximate(rate)}-{seed}",
        profiles={name: m.profile(grid) for name, m in MODELS.items() if name in used},
        jobs=tuple(trace),
    )


def part(workload: Workload, start: int, count: int) -> Workload:
    """Give `count` jobs from the `start`-th on, counted from 0; the first arrives at 0.

    Raises
    ------
    InvalidInstance
        When the workload has no such jobs.

    Examples
    --------
    >>> few = part(derived_workload(jobs=10, seed=1, load=9), 4, 2)
    >>> [job.id for job in few.jobs], few.jobs[0].submitted
    (['J5', 'J6'], Fraction(0, 1))
    """
    if not 0 <= start < start + count <= len(workload.jobs):
        rule = f"must lie within {len(workload.jobs)} jobs, not {count} jobs from {start} on"
        raise InvalidInstance(rule, "part")
    taken = workload.jobs[start : start + count]
    first = taken[0].submitted
    used = {job.profile for job in taken}
    return Workload(
        name=f"{workload.name}-{start}-{count}",
        profiles={name: p for name, p in workload.profiles.items() if name in used},
        jobs=tuple(replace(job, submitted=job.submitted - first) for job in taken),
    )


def _duration(rng: Random) -> int:
    """Draw a duration in whole seconds; the class by an integer, the exponent by a double."""
    low, high = (1.5, 3.0) if rng.randrange(10) < 8 else (3.0, 4.0)
    return round(_MINUTE * 10 ** (low + (high - low) * rng.random()))
