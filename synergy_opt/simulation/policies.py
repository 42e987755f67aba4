"""Scheduling policies: which job comes first.

Takes the jobs in the system and the time, gives them in priority order; a policy is a function
``(jobs, now) -> jobs`` that changes nothing. Ties are broken by arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from synergy_opt.simulation.queue import QueuedJob

Policy = Callable[[Sequence[QueuedJob], int], list[QueuedJob]]

_BY_ARRIVAL = attrgetter("submitted", "number")


def fifo(jobs: Sequence[QueuedJob], now: int) -> list[QueuedJob]:  # noqa: ARG001 - one signature
    """First in, first out: who arrived first comes first (Synergy, OSDI '22, §2.2).

    Parameters
    ----------
    jobs
        Those in the system, in order of arrival.
    now
        The present, in ticks of the clock.

    Returns
    -------
    list of QueuedJob
        The same jobs, highest priority first; equals in order of arrival.

    Examples
    --------
    >>> from synergy_opt.model import Job
    >>> from synergy_opt.simulation.queue import QueuedJob
    >>> long, short = (QueuedJob(n, Job(id=i, gpus=1, profile="m"), n, n, d)
    ...                for n, (i, d) in enumerate({"long": 9, "short": 2}.items()))
    >>> [job.id for job in fifo([long, short], now=5)]
    ['long', 'short']
    """
    return sorted(jobs, key=_BY_ARRIVAL)


def srtf(jobs: Sequence[QueuedJob], now: int) -> list[QueuedJob]:  # noqa: ARG001
    """Shortest remaining time first: least work left at GPU-proportional throughput.

    The time that is left is counted at the fair throughput, as in the authors' simulator, for
    what the job will be given is not known (Synergy, OSDI '22, §2.2 and §4.3).

    Parameters
    ----------
    jobs
        Those in the system, in order of arrival.
    now
        The present, in ticks of the clock.

    Returns
    -------
    list of QueuedJob
        The same jobs, highest priority first; equals in order of arrival.

    Examples
    --------
    >>> from synergy_opt.model import Job
    >>> from synergy_opt.simulation.queue import QueuedJob
    >>> long, short = (QueuedJob(n, Job(id=i, gpus=1, profile="m"), n, n, d)
    ...                for n, (i, d) in enumerate({"long": 9, "short": 2}.items()))
    >>> [job.id for job in srtf([long, short], now=5)]
    ['short', 'long']
    """
    return sorted(jobs, key=attrgetter("remaining", "submitted", "number"))


def las(jobs: Sequence[QueuedJob], now: int) -> list[QueuedJob]:  # noqa: ARG001
    """Least attained service: who has had least GPU time comes first.

    GPU time is the job's GPUs times how long it has run (Gu et al., "Tiresias", NSDI '19, §3.2,
    the two-dimensional attained service, without its queues).

    Parameters
    ----------
    jobs
        Those in the system, in order of arrival.
    now
        The present, in ticks of the clock.

    Returns
    -------
    list of QueuedJob
        The same jobs, highest priority first; equals in order of arrival.

    Examples
    --------
    >>> from synergy_opt.model import Job
    >>> from synergy_opt.simulation.queue import QueuedJob
    >>> long, short = (QueuedJob(n, Job(id=i, gpus=1, profile="m"), n, n, d)
    ...                for n, (i, d) in enumerate({"long": 9, "short": 2}.items()))
    >>> long.attained = 4
    >>> [job.id for job in las([long, short], now=5)]
    ['short', 'long']
    """
    return sorted(jobs, key=lambda job: (job.attained * job.gpus, job.submitted, job.number))


def ftf(jobs: Sequence[QueuedJob], now: int) -> list[QueuedJob]:
    """Finish-time fairness: who is treated worst comes first.

    ρ = (time in the system + time left at the fair throughput) / time alone at the fair
    throughput; a larger ρ is worse (Mahajan et al., "Themis", NSDI '20, §4.2: the largest ρ is
    served; here with the GPU-proportional share of the job's own GPUs as its fair share, as in
    Synergy's simulator, which sorts the other way round).

    Parameters
    ----------
    jobs
        Those in the system, in order of arrival.
    now
        The present, in ticks of the clock.

    Returns
    -------
    list of QueuedJob
        The same jobs, highest priority first; equals in order of arrival.

    Examples
    --------
    >>> from synergy_opt.model import Job
    >>> from synergy_opt.simulation.queue import QueuedJob
    >>> long, short = (QueuedJob(n, Job(id=i, gpus=1, profile="m"), n, n, d)
    ...                for n, (i, d) in enumerate({"long": 9, "short": 2}.items()))
    >>> [job.id for job in ftf([long, short], now=5)]  # (5 + 9)/9 < (4 + 2)/2
    ['short', 'long']
    """
    # ⌊ρ · 2^shift⌋ orders exactly: two different ratios differ by at least 1 / longest².
    shift = 2 * max((job.duration.bit_length() for job in jobs), default=0)

    def key(job: QueuedJob) -> tuple[int, int, int]:
        total = now - job.submitted + job.remaining
        return -((total << shift) // job.duration), job.submitted, job.number

    return sorted(jobs, key=key)


POLICIES: Mapping[str, Policy] = {"fifo": fifo, "srtf": srtf, "las": las, "ftf": ftf}
"""By name."""

STEADY: frozenset[Policy] = frozenset({fifo})
"""Policies whose order changes only when a job comes or goes, not with time."""
