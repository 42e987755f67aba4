"""What every method returns: an allocation (job → configuration) or a placement (job → pieces).

Takes what a method chose and gives frozen values with exact numbers; nothing here judges them,
`certificate` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from synergy_opt.answer.claims import Bound, PatternBound, Proof, SplitBound
from synergy_opt.exact import approximate, exact_sum
from synergy_opt.model import Vector


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the ideal allocation gives one job.

    Parameters
    ----------
    id
        The job.
    mixture
        Pairs of a grid point, as its flat index in C order, and the fraction of the job's time on
        it; one pair with fraction 1 when the allocation is integral.
    demand
        The job's total of each resource.
    throughput
        The job's term of the objective.
    """

    id: str
    mixture: tuple[tuple[int, Fraction], ...]
    demand: Vector
    throughput: Fraction


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """Stage 1's answer: for each runnable job its configuration, as if all servers were one.

    Parameters
    ----------
    instance
        Name of the instance.
    jobs
        One `Choice` a runnable job, in priority order.
    bound
        Upper bound on every fair placement of the same jobs within the consolidation rule, where
        `Bound.consolidated` says so.
    proof
        What shows that `throughput` is the best of its kind.
    rivals
        With ``solver="core"``: configurations, beside the best of each kind of jobs at
        the bound's multipliers, whose reduced cost is within the difference of bound and
        throughput and whose combinations were searched; 0 where no search was needed.
    stopped
        A time limit or Ctrl-C came before the method was done.
    """

    instance: str
    jobs: tuple[Choice, ...]
    bound: Bound
    proof: Proof
    rivals: int = 0
    stopped: bool = False

    @cached_property
    def throughput(self) -> Fraction:
        """Sum over the jobs, exact."""
        return exact_sum(job.throughput for job in self.jobs)

    @property
    def gap(self) -> Fraction:
        """(bound − throughput) / throughput; 0 means proven by the multipliers alone."""
        return relative_gap(self.throughput, self.bound.value)

    def __str__(self) -> str:
        return (
            f"Allocation of {self.instance!r}: {len(self.jobs)} jobs, "
            f"throughput {approximate(self.throughput)} ≤ {approximate(self.bound.value)} "
            f"(proof: {self.proof})"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Part of a job on one server.

    Parameters
    ----------
    server
        Index from 0 through the groups in file order.
    gpus
        GPUs there; whole, except in the fractional answer of stage 2.
    amounts
        Amount of each resource there.
    """

    server: int
    gpus: Fraction
    amounts: Vector


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedJob:
    """Where a job runs and what it gets.

    Parameters
    ----------
    id
        The job.
    demand
        Its total of each resource.
    throughput
        Its term of the objective; 0 where it is left out.
    pieces
        By server, ascending; empty where a runnable job is left out.
    """

    id: str
    demand: Vector
    throughput: Fraction
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What a mechanism returns: where each runnable job runs, with how much of each resource.

    Parameters
    ----------
    instance
        Name of the instance.
    mechanism
        Name of the method.
    jobs
        One `PlacedJob` a runnable job, in priority order.
    bound
        Upper bound with its proof, where the method has one.
    split
        Count of pieces with its bound: the answer is stage 2's fractional one, a vertex.
    proof
        What shows that `throughput` is the best that the method looks for; None where the method
        claims nothing.
    stopped
        A time limit or Ctrl-C came before the method was done. Not part of the file.
    """

    instance: str
    mechanism: str
    jobs: tuple[PlacedJob, ...]
    bound: Bound | PatternBound | None = None
    split: SplitBound | None = None
    proof: Proof | None = None
    stopped: bool = False

    @cached_property
    def throughput(self) -> Fraction:
        """Sum over the jobs, exact."""
        return exact_sum(job.throughput for job in self.jobs)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Runnable jobs without a place."""
        return tuple(job.id for job in self.jobs if not job.pieces)

    @cached_property
    def whole_gpus(self) -> bool:
        """Whether every piece has whole GPUs; stage 2's vertex may have fractions."""
        return all(piece.gpus.denominator == 1 for job in self.jobs for piece in job.pieces)

    @cached_property
    def split_jobs(self) -> tuple[str, ...]:
        """Jobs with pieces on more than one server."""
        return tuple(job.id for job in self.jobs if len(job.pieces) > 1)

    def __str__(self) -> str:
        text = f"Placement of {self.instance!r} by {self.mechanism}: {len(self.jobs)} jobs"
        if self.left_out:
            text += f", {len(self.left_out)} left out"
        if self.split_jobs:
            text += f", {len(self.split_jobs)} split"
        text += f", throughput {approximate(self.throughput)}"
        return text + (f" ≤ {approximate(self.bound.value)}" if self.bound else "")


def relative_gap(throughput: Fraction, bound: Fraction) -> Fraction:
    """Give (bound − throughput) / throughput; for throughput 0 the gap relative to the bound, 1.

    Examples
    --------
    >>> relative_gap(Fraction(4), Fraction(5)), relative_gap(Fraction(0), Fraction(5))
    (Fraction(1, 4), Fraction(1, 1))
    """
    return (bound - throughput) / (throughput or bound or 1)


def vector_sum(vectors: Iterable[Vector], width: int) -> Vector:
    """Add vectors of `width` amounts."""
    columns = list(zip(*vectors, strict=True)) or [()] * width
    return tuple(exact_sum(column) for column in columns)
