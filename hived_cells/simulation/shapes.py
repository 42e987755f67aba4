"""Traces made of traces: takes a trace, gives one with other job shapes or fewer tenants.

The evaluation of the HiveD paper rewrites its trace in these ways.
"""

import random
from collections.abc import Collection, Mapping

from hived_cells.errors import InvalidSpec
from hived_cells.simulation.trace import Shape, Trace, TraceJob, shape_of

__all__ = ["between", "soften", "with_shapes", "without"]


def with_shapes(trace: Trace, gpus: Mapping[str, int], *, node_gpus: int = 8) -> Trace:
    """Return the trace with all jobs of some tenants rewritten to one number of GPUs.

    A tenant's demand in GPU-seconds stays the same but for fewer than `gpus[tenant]` of them:
    jobs of the new size and of the old durations are submitted as soon as enough demand has
    come together, and one last shorter job takes the rest.

    Parameters
    ----------
    trace
        The trace.
    gpus
        Tenant → GPUs of each of its jobs from now on; other tenants stay as they are.
    node_gpus
        GPUs of a node, for the shape.

    Raises
    ------
    InvalidSpec
        A tenant is not in the trace, or the number makes no shape.

    References
    ----------
    HiveD (OSDI 2020), Section 5.2: each tenant's jobs become all 8-GPU or all 1-GPU.

    Examples
    --------
    >>> trace = Trace(TraceJob(f"j{i}", "A", i, 10, Shape(1, 2)) for i in range(5))
    >>> [(job.submit, job.duration, job.shape.total) for job in with_shapes(trace, {"A": 8}).jobs]
    [(3, 10, 8), (4, 2, 8)]
    """
    for tenant in gpus:
        if tenant not in trace.tenants:
            raise InvalidSpec(f"tenant {tenant!r} is not in the trace")
    shapes = {tenant: shape_of(number, node_gpus) for tenant, number in gpus.items()}
    pending = dict.fromkeys(gpus, 0)  # GPU-seconds that no job carries yet
    last: dict[str, TraceJob] = {}
    jobs = []
    for job in trace.jobs:
        tenant = job.tenant
        if tenant not in shapes:
            jobs.append(job)
            continue
        shape = shapes[tenant]
        last[tenant] = job
        count, pending[tenant] = divmod(
            pending[tenant] + job.shape.total * job.duration, shape.total * job.duration
        )
        jobs += [_renamed(job, f"{job.name}.{n}", job.duration, shape) for n in range(count)]
    for tenant, job in last.items():
        rest = pending[tenant] // shapes[tenant].total
        if rest:
            jobs.append(_renamed(job, f"{job.name}.rest", rest, shapes[tenant]))
    return Trace(jobs)


def _renamed(job: TraceJob, name: str, duration: int, shape: Shape) -> TraceJob:
    return TraceJob(name, job.tenant, job.submit, duration, shape)


def soften(trace: Trace, percent: int, *, seed: int) -> Trace:
    """Return the trace with that share of the jobs of several GPUs made soft, drawn by seed.

    Parameters
    ----------
    trace
        Whose jobs.
    percent
        Of the jobs of several GPUs, 0 to 100.
    seed
        Of the draws.

    References
    ----------
    HiveD (OSDI 2020), Section 5.2, Figure 9: half of the multi-GPU jobs.

    Examples
    --------
    >>> trace = Trace([TraceJob("j", "A", 0, 10, Shape(1, 2))])
    >>> soften(trace, 100, seed=0).jobs[0].shape
    Shape(nodes=1, gpus=2, soft=True)
    """
    if not 0 <= percent <= 100:
        raise InvalidSpec(f"{percent} % of the jobs: 0 to 100 are possible")
    draw = random.Random(seed)
    jobs = []
    for job in trace.jobs:
        if job.shape.total > 1 and draw.randrange(100) < percent:
            shape = Shape(job.shape.nodes, job.shape.gpus, True)
            jobs.append(_renamed(job, job.name, job.duration, shape))
        else:
            jobs.append(job)
    return Trace(jobs)


def without(trace: Trace, tenants: Collection[str]) -> Trace:
    """Return the trace without the jobs of some tenants.

    Parameters
    ----------
    trace
        Whose jobs.
    tenants
        Names; their jobs go.

    Examples
    --------
    >>> without(Trace([TraceJob("j", "A", 0, 10, Shape(1, 2))]), {"A"}).jobs
    ()
    """
    return Trace(job for job in trace.jobs if job.tenant not in tenants)


def between(trace: Trace, begin: int, end: int) -> Trace:
    """Return the jobs submitted in begin ≤ t < end (seconds), times counted from `begin`.

    Examples
    --------
    >>> trace = Trace(TraceJob(f"j{t}", "A", t, 10, Shape(1, 2)) for t in (0, 5, 9))
    >>> [job.submit for job in between(trace, 5, 9).jobs]
    [0]
    """
    return Trace(
        TraceJob(job.name, job.tenant, job.submit - begin, job.duration, job.shape)
        for job in trace.jobs
        if begin <= job.submit < end
    )
