"""What a simulation starts from: one job a kind on the cluster, the clock, the arrivals.

Takes a workload, a cluster and the timing, and gives a `Start`; what cannot run is refused here.
"""

from __future__ import annotations

from dataclasses import dataclass

from synergy_opt.errors import InvalidInstance
from synergy_opt.model import Cluster, Instance, Job
from synergy_opt.simulation.clock import Clock, clock_of
from synergy_opt.simulation.queue import QueuedJob
from synergy_opt.simulation.timing import FLUID_STEPS, Timing
from synergy_opt.simulation.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A simulation before its first moment.

    Parameters
    ----------
    kinds
        The cluster with the first job of each profile and GPU demand.
    clock
        On which all times and all work are whole.
    arrivals
        All jobs, in order of arrival.
    window
        Positions of the jobs to be measured.
    """

    kinds: Instance
    clock: Clock
    arrivals: list[QueuedJob]
    window: tuple[int, int]


def prepared(
    workload: Workload, cluster: Cluster, timing: Timing, window: tuple[int, int] | None
) -> Start:
    """Check that everything can run, and give the start.

    Raises
    ------
    TypeError
        When an argument is of another type.
    InvalidInstance
        When a job asks for more GPUs than there are, has no throughput at its fair share, or the
        window does not lie in the trace.
    """
    for name, value, kind in (
        ("workload", workload, Workload),
        ("cluster", cluster, Cluster),
        ("timing", timing, Timing),
    ):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    jobs = workload.jobs
    first, last = _numbers(window) if window is not None else (0, len(jobs))
    if not (0 <= first < last <= len(jobs)) and (window is not None or jobs):
        raise InvalidInstance(f"{first}:{last} is no part of {len(jobs)} jobs", "window")
    kinds = _kinds(workload, cluster)
    times = {timing.round_length, timing.move_cost, timing.profiling_time}
    times |= {time for job in jobs for time in (job.submitted, job.duration)}
    clock = clock_of(kinds, times, per_second=FLUID_STEPS if timing.fluid else 1)
    wait = clock.ticks(timing.profiling_time)
    arrivals = []
    for number, line in enumerate(jobs):
        submitted = clock.ticks(line.submitted)
        job = Job(id=line.id, gpus=line.gpus, profile=line.profile)
        duration = clock.ticks(line.duration)
        arrivals.append(QueuedJob(number, job, submitted, submitted + wait, duration))
    return Start(kinds=kinds, clock=clock, arrivals=arrivals, window=(first, last))


def _numbers(window: object) -> tuple[int, int]:
    match window:
        case (int(first), int(last)) | [int(first), int(last)]:
            return first, last
    raise InvalidInstance(f"must be two whole numbers, not {window!r:.40}", "window")


def _kinds(workload: Workload, cluster: Cluster) -> Instance:
    """Give an instance with the first job of each kind; its constructor checks that it can run."""
    first: dict[tuple[str, int], Job] = {}
    for i, line in enumerate(workload.jobs):
        if line.gpus > cluster.gpus:
            rule = f"job {line.id!r} asks for {line.gpus}, but the cluster has {cluster.gpus} GPUs"
            raise InvalidInstance(rule, f"$.jobs[{i}].gpus")
        if (line.profile, line.gpus) not in first:
            job = Job(id=line.id, gpus=line.gpus, profile=line.profile)
            first[line.profile, line.gpus] = job
    try:
        return Instance(
            name=workload.name,
            cluster=cluster,
            profiles=workload.profiles.values(),
            jobs=first.values(),
        )
    except InvalidInstance as error:  # its paths are of the kinds, not of the trace
        raise InvalidInstance(error.rule, f"workload {workload.name!r}") from None
