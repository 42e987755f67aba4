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

    Parameters
    ----------
    time
        Seconds from the start.
    node
        Its number.
    leaves
        False: it returns.

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

    Parameters
    ----------
    started
        First second of running, at whatever priority; -1 for never.
    granted
        First second of the guaranteed run (of its place, if done already).
    ended
        When it was done; -1 for never.
    seconds
        Length of the sums.
    guaranteed
        GPU-seconds of guaranteed jobs.
    lent
        GPU-seconds at low priority.
    held
        GPU-seconds held: those of bound cells, used or not.
    whole
        Node-seconds of nodes of which nothing is held.
    preempted
        GPUs taken from low priority (or gone with a node), over all occasions.
    preemptions
        Occasions.
    lost
        GPU-seconds of work lost with them.
    moved
        GPUs moved by migrations.
    moved_others
        Of them, those of another tenant than the one that gained.
    stopped
        Guaranteed jobs stopped by their scheduler.
    killed
        Jobs that lost a node.
    samples
        The cluster at regular times.
    """

    started: "array[int]"
    granted: "array[int]"
    ended: "array[int]"
    seconds: int
    guaranteed: int = 0
    lent: int = 0
    held: int = 0
    whole: int = 0
    preempted: int = 0
    preemptions: int = 0
    lost: int = 0
    moved: int = 0
    moved_others: int = 0
    stopped: int = 0
    killed: int = 0
    samples: tuple[Sample, ...] = field(default=(), repr=False)
