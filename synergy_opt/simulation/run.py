"""What a simulation gives: when each job ran and ended, and what was in use when.

Takes nothing and gives frozen values in exact seconds; `metrics` says what they amount to.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.model import Cluster, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One job of the trace.

    Parameters
    ----------
    id, gpus, profile, submitted, duration
        As in the trace; seconds.
    started
        When it first had GPUs, in seconds; None where it never had.
    finished
        When its work was done, in seconds; None where the simulation ended before.
    ran
        Seconds in which it made progress, of its life so far.
    slowest
        Lowest throughput over its fair one of all times at which it had a place; None where it
        never had one.
    moves
        How often it had to be restored: it changed servers, or went on after it had waited.
    """

    id: str
    gpus: int
    profile: str
    submitted: Fraction
    duration: Fraction
    started: Fraction | None
    finished: Fraction | None
    ran: Fraction
    slowest: Fraction | None
    moves: int

    @property
    def completion(self) -> Fraction | None:
        """Job completion time (JCT), from submission to the end, in seconds."""
        return None if self.finished is None else self.finished - self.submitted

    @property
    def queueing(self) -> Fraction | None:
        """Seconds in the system without progress."""
        completion = self.completion
        return None if completion is None else completion - self.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was in use in an interval of time.

    Parameters
    ----------
    start, end
        Seconds.
    used
        GPUs and each resource that jobs held, in order.
    running, waiting
        Jobs with and without a place.
    """

    start: Fraction
    end: Fraction
    used: Vector
    running: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One simulation.

    Parameters
    ----------
    workload, policy, mechanism
        Names.
    cluster
        Where it ran.
    jobs
        In the order of the trace.
    window
        Positions in the trace, first and one past the last, of the jobs to be measured.
    usage
        Intervals that follow each other from time 0.
    rounds
        Scheduling rounds; in fluid time, moments at which something happened.
    decisions
        How often the mechanism was asked: not where nothing had changed.
    """

    workload: str
    policy: str
    mechanism: str
    cluster: Cluster
    jobs: tuple[JobRun, ...]
    window: tuple[int, int]
    usage: tuple[Usage, ...]
    rounds: int
    decisions: int

    @property
    def measured(self) -> tuple[JobRun, ...]:
        """The jobs of the window."""
        return self.jobs[self.window[0] : self.window[1]]

    def __str__(self) -> str:
        return (
            f"Run of {self.workload!r}, {self.policy}, {self.mechanism}: "
            f"{sum(job.finished is not None for job in self.jobs)} of {len(self.jobs)} jobs done, "
            f"{self.rounds} rounds, {self.decisions} decisions"
        )
