"""What happens to a cluster, and what a simulation gives: faults, samples and runs as values."""

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["HOUR", "SUMS", "Fault", "Run", "Sample"]

HOUR = 3600
# What a run adds up, by its fields' names:
SUMS = (
    "guaranteed",
    "lent",
    "held",
    "whole",
    "preempted",
    "preemptions",
    "lost",
    "moved",
    "moved_others",
    "stopped",
    "killed",
)


class Fault(NamedTuple):
    """A node leaves (fails, or its machine is taken away), or returns.

    Examples
    --------
    >>> Fault(time=60, node=3, leaves=True).node
    3
    """

    time: int
    node: int
    leaves: bool


class Sample(NamedTuple):
    """What the cluster looked like at an hour's beginning.

    Examples
    --------
    >>> Sample(0, guaranteed=8, lent=2, whole=1, waiting=0).lent
    2
    """

    time: int
    guaranteed: int  # GPUs in use by guaranteed jobs
    lent: int  # GPUs in use at low priority
    whole: int  # nodes of which no GPU is held
    waiting: int  # jobs that have not started, or were stopped and run nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened: by job in the order of the trace, and in sums over the trace's time.

    Sums are taken from the first second to the last submission, so that the emptying cluster
    after it does not count.
    """

    started: "array[int]"  # first second of running, at whatever priority; -1 for never
    granted: "array[int]"  # first second of the guaranteed run (of its place, if done already)
    ended: "array[int]"  # when it was done; -1 for never
    seconds: int
    guaranteed: int = 0  # GPU-seconds of guaranteed jobs
    lent: int = 0  # GPU-seconds at low priority
    held: int = 0  # GPU-seconds held: those of bound cells, used or not
    whole: int = 0  # node-seconds of nodes of which nothing is held
    preempted: int = 0  # GPUs taken from low priority (or gone with a node), over all occasions
    preemptions: int = 0  # occasions
    lost: int = 0  # GPU-seconds of work lost with them
    moved: int = 0  # GPUs moved by migrations
    moved_others: int = 0  # of them, those of another tenant than the one that gained
    stopped: int = 0  # guaranteed jobs stopped by their scheduler
    killed: int = 0  # jobs that lost a node
    samples: tuple[Sample, ...] = field(default=(), repr=False)
