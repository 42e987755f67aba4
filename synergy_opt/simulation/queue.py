"""A job in the system: what policies order and the simulator moves on.

Takes a line of a trace and gives a `QueuedJob`, in whole ticks of the simulation's clock.
"""

from __future__ import annotations

from fractions import Fraction

from synergy_opt.answer import Piece
from synergy_opt.model import Job, Vector


class QueuedJob:
    """A job that has arrived and has not ended. Policies read it, the simulator alone writes it.

    All times are whole ticks of one clock, whatever it counts; only comparisons and ratios of
    them mean something.

    Attributes
    ----------
    number : int
        Position in the trace.
    id, profile : str
        As in the trace.
    gpus : int
        GPU demand.
    submitted : int
        When it arrived.
    duration : int
        How long it runs alone at its GPU-proportional throughput: its work.
    remaining : int
        Work that is left, in the same unit: how long it would still run at that throughput.
    attained : int
        How long it has run.
    """

    __slots__ = (
        "attained", "delay", "demand", "duration", "finished", "gpus", "id", "job", "moves",
        "number", "per_round", "pieces", "place", "profile", "ran", "ready", "remaining",
        "slowest", "speed", "started", "submitted",
    )  # fmt: skip

    def __init__(self, number: int, job: Job, submitted: int, ready: int, duration: int) -> None:
        self.number, self.job = number, job
        self.id, self.profile, self.gpus = job.id, job.profile, job.gpus
        self.submitted, self.ready = submitted, ready
        self.duration = self.remaining = duration
        self.attained = self.moves = self.delay = 0
        self.started: int | None = None
        self.finished: Fraction | None = None  # exact ticks: a job may end between two of them
        self.ran = Fraction(0)
        # While it is placed: speed · grain, what it holds, where it is or was last.
        self.speed = 0
        self.per_round: int | None = None  # work of a whole round in whole iterations
        self.slowest: int | None = None
        self.demand: Vector | None = None
        self.pieces: tuple[Piece, ...] = ()
        self.place: tuple[tuple[int, Fraction], ...] = ()
