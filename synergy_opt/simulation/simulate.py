"""Run a workload on a cluster under a policy and a mechanism.

Takes a `Workload`, a `Cluster` and two functions and gives a `Run`; nothing is drawn at random and
nothing rounded, so the same arguments give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from synergy_opt.errors import Infeasible, InvalidInstance
from synergy_opt.model import Cluster
from synergy_opt.proportional import proportional
from synergy_opt.simulation.clock import Clock
from synergy_opt.simulation.engine import Engine, Mechanism
from synergy_opt.simulation.policies import STEADY, Policy, fifo
from synergy_opt.simulation.queue import QueuedJob
from synergy_opt.simulation.run import JobRun, Run, Usage
from synergy_opt.simulation.start import prepared
from synergy_opt.simulation.timing import FLUID_STEPS, Timing
from synergy_opt.simulation.workload import Workload
from synergy_opt.tune import tune, tune_as_simulated

Shown = Literal["runnable", "queue"]
Progress = Callable[[int, int], None]

LOOKS_AT_RUNNABLE: frozenset[Mechanism] = frozenset({tune, tune_as_simulated, proportional})
"""Mechanisms that look at the runnable jobs alone, whatever waits behind them."""


def simulate(
    workload: Workload,
    cluster: Cluster,
    *,
    policy: Policy = fifo,
    mechanism: Mechanism = tune,
    timing: Timing | None = None,
    window: tuple[int, int] | None = None,
    shown: Shown | None = None,
    progress: Progress | None = None,
) -> Run:
    """Simulate a workload, decision by decision.

    At each decision the policy orders all jobs in the system, the mechanism places them, and each
    job works at the throughput that its amounts allow until the next decision. That throughput is
    computed here from the amounts alone, in the same way for every mechanism (`job_throughput`).
    Where neither a job nor the order of the candidates has changed, nothing is asked again.

    Parameters
    ----------
    workload, cluster
        What runs where. A job's work is its duration times its GPU-proportional throughput.
    policy
        From `policies`, or a function ``(jobs, now) -> jobs`` of yours.
    mechanism
        Any function from an `Instance` to a `Placement`; its jobs are in the policy's order.
    timing
        Rounds of 300 s by default; see `Timing`.
    window
        Positions in the trace, first and one past the last, of the jobs to be measured; the
        simulation ends with the last of them. Default: all.
    shown
        ``"queue"``: the instance has all jobs in the system. ``"runnable"``: those alone whose
        GPUs fit in the order of priority, which saves time with mechanisms that look at no
        others. Default: runnable for those in `LOOKS_AT_RUNNABLE`, else the queue.
    progress
        Called with the number of jobs that have ended and of all jobs.

    Returns
    -------
    Run
        Times are exact: a job that ends inside a round ends at that very moment.

    Raises
    ------
    TypeError
        When an argument is of another type.
    TypeError
        When an argument is of another type.
    InvalidInstance
        When a job cannot run on the cluster at its fair share, the window is empty, the policy
        does not give each job once, or the mechanism gives no placement.
    Infeasible
        When jobs wait that the mechanism places nowhere although nothing runs.
    NotCertified
        When a placement gives more than there is or does not add up: ``used + free = capacity``
        is checked in every resource of every server at each decision.

    Notes
    -----
    Each round costs O(n log n) for the policy's order of n jobs in the system; a decision costs
    what the mechanism does. Under a policy whose order does not change with time (`STEADY`),
    rounds in which nobody comes or ends are passed over at once.

    References
    ----------
    Mohan et al., "Looking Beyond GPUs for DNN Scheduling on Multi-Tenant Clusters", OSDI '22,
    §4.3 and §5.1.

    Examples
    --------
    >>> from synergy_opt.model import Profile, Server
    >>> from synergy_opt.simulation.workload import TraceJob
    >>> place = Cluster(resources={"cpu": "cores"},
    ...                 servers=[Server(type="n", count=1, gpus=2, capacity=(6,))])
    >>> hungry = Profile(name="hungry", axes={"cpu": [3, 5]}, throughput=[2, 3])
    >>> modest = Profile(name="modest", axes={"cpu": [1]}, throughput=[1])
    >>> jobs = (TraceJob("a", 0, 900, 1, "hungry"), TraceJob("b", 0, 400, 1, "modest"))
    >>> done = simulate(Workload("two", {"hungry": hungry, "modest": modest}, jobs), place)
    >>> [float(job.completion) for job in done.jobs]
    [600.0, 400.0]
    """
    timing = timing or Timing()
    for what, function in (("policy", policy), ("mechanism", mechanism)):
        if not callable(function):
            raise TypeError(f"{what} must be a function, not {type(function).__name__}")
    if shown not in (None, "queue", "runnable"):
        raise InvalidInstance(f"must be queue or runnable, not {shown!r:.40}", "shown")
    start = prepared(workload, cluster, timing, window)
    kinds, clock, arrivals, (first, last) = start.kinds, start.clock, start.arrivals, start.window
    whole = (shown or ("runnable" if mechanism in LOOKS_AT_RUNNABLE else "queue")) == "queue"
    engine = Engine(
        kinds,
        clock,
        arrivals,
        policy=policy,
        mechanism=mechanism,
        timing=timing,
        whole_queue=whole,
    )
    awaited = last - first
    now, rounds, done, usage = 0, 0, 0, _Usage(clock)
    while awaited:
        engine.admit(now)
        if engine.queue:
            engine.decide(now)
            ticks, passed = _until_next(engine, clock, timing, now, steady=policy in STEADY)
        else:
            arrival = engine.next_arrival()
            assert arrival is not None, "somebody is awaited"
            ticks, passed = _to(arrival, clock, timing, now), 0
        usage.add(now, now + ticks, engine)
        ended = engine.advance(now, ticks)
        awaited -= sum(first <= job.number < last for job in ended)
        now, rounds, done = now + ticks, rounds + passed, done + len(ended)
        if progress and ended:
            progress(done, len(arrivals))
    return Run(
        workload=workload.name,
        policy=getattr(policy, "__name__", "policy"),
        mechanism=getattr(mechanism, "__name__", "mechanism"),
        cluster=cluster,
        jobs=tuple(_job_run(workload, clock, job) for job in arrivals),
        window=(first, last),
        usage=usage.intervals(),
        rounds=rounds,
        decisions=engine.decisions,
    )


def _until_next(
    engine: Engine, clock: Clock, timing: Timing, now: int, *, steady: bool
) -> tuple[int, int]:
    """Give the ticks to the next moment that may differ from now, and the rounds that they are."""
    arrival = engine.next_arrival()
    if not engine.running and arrival is None:
        names = ", ".join(job.id for job in engine.queue[:3])
        raise Infeasible(
            f"nothing runs, nobody comes, and {len(engine.queue)} jobs wait for ever ({names}): "
            "the mechanism places none of them"
        )
    to_arrival = None if arrival is None else _to(arrival, clock, timing, now)
    if timing.fluid:
        step, shortest = clock.second // FLUID_STEPS, engine.shortest()
        to_end = None if shortest is None else -(-shortest // step) * step
        return min(ticks for ticks in (to_arrival, to_end) if ticks is not None), 1
    length = clock.ticks(timing.round_length)
    if engine.running and not steady:
        return length, 1
    to_end = engine.rounds_to_end()
    rounds = [] if to_end is None else [to_end]
    if to_arrival is not None:
        rounds.append(to_arrival // length)
    return min(rounds) * length, min(rounds)


def _to(arrival: int, clock: Clock, timing: Timing, now: int) -> int:
    """Give the ticks until somebody who arrives then is seen."""
    if timing.fluid:
        return arrival - now
    length = clock.ticks(timing.round_length)
    return -(-arrival // length) * length - now


class _Usage:
    """Intervals in the making; equal neighbours are one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: list[tuple[int, int, tuple[object, ...]]] = []

    def add(self, start: int, end: int, engine: Engine) -> None:
        """Add what is in use from now on until `end`."""
        running = len(engine.running)
        state = (engine.used, running, len(engine.queue) - running)
        if self._found and self._found[-1][2] == state:
            start = self._found.pop()[0]
        self._found.append((start, end, state))

    def intervals(self) -> tuple[Usage, ...]:
        """Give them in seconds."""
        seconds = self._clock.seconds
        return tuple(
            Usage(start=seconds(a), end=seconds(b), used=used, running=running, waiting=waiting)  # type: ignore[arg-type]
            for a, b, (used, running, waiting) in self._found
        )


def _job_run(workload: Workload, clock: Clock, job: QueuedJob) -> JobRun:
    line = workload.jobs[job.number]
    return JobRun(
        id=line.id,
        gpus=line.gpus,
        profile=line.profile,
        submitted=line.submitted,
        duration=line.duration,
        started=None if job.started is None else clock.seconds(job.started),
        finished=None if job.finished is None else clock.seconds(job.finished),
        ran=clock.seconds(job.attained if job.finished is None else job.ran),
        slowest=None if job.slowest is None else Fraction(job.slowest, clock.grain),
        moves=job.moves,
    )
