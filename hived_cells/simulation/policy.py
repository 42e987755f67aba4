"""What a scheduler is: takes a view and a waiting job, gives a decision. Nothing is changed.

A scheduler of one's own is a value with these three members; it runs in all three ways.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from hived_cells.simulation.view import Ask, Pieces, View

__all__ = ["Decision", "Move", "Scheduler"]


class Move(NamedTuple):
    """A running job's pieces are to go elsewhere.

    Parameters
    ----------
    job
        A running job, by its place in the order of submission.
    pieces
        (node, GPUs) for each piece.

    Examples
    --------
    >>> Move(job=4, pieces=((2, 1),)).pieces
    ((2, 1),)
    """

    job: int
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Decision:
    """Start a job here, once others have been stopped or moved, in this order.

    Parameters
    ----------
    pieces
        (node, GPUs) for each piece of the job.
    stop
        Running jobs that wait again.
    move
        Running jobs that go elsewhere.

    Examples
    --------
    >>> Decision(pieces=((0, 8),)).stop
    ()
    """

    pieces: Pieces
    stop: tuple[int, ...] = ()
    move: tuple[Move, ...] = ()


class Scheduler(Protocol):
    """A policy: in which order jobs are looked at, where each starts, what makes room.

    Jobs of one tenant, shape and queue are looked at in the order of their submission; where
    one of them does not start, the others are not asked for until something was given back.
    """

    @property
    def name(self) -> str:
        """Name of the scheduler."""
        ...

    @property
    def thresholds(self) -> tuple[int, ...]:
        """GPU-seconds of service at which a job falls into the next queue; none: one queue."""
        ...

    def rank(self, view: View, ask: Ask) -> tuple[int, ...]:
        """Return the job's place among those that wait: the smallest is looked at first."""
        ...

    def decide(self, view: View, ask: Ask) -> Decision | None:
        """Return how the job starts, None where it waits. The tenant has quota for it."""
        ...
