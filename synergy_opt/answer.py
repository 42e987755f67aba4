"""What every method returns: an allocation (job → configuration) or a placement (job → pieces).

Takes what a method chose and gives frozen values with exact numbers; nothing here judges them,
`certificate` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

from synergy_opt.exact import approximate, exact_sum
from synergy_opt.model import Vector

Proof = Literal["multipliers", "patterns", "core", "loads", "search", "none"]
"""What shows that a throughput is the best.

- "multipliers": the exact bound of its multipliers meets it. Anyone can check that.
- "patterns": the exact bound of its pattern prices meets it. Anyone can check that too.
- "core": the multipliers' bound is above it, and our own search decided in exact arithmetic every
  combination of the configurations whose reduced cost at these multipliers is within the
  difference. A checker confirms the bound, and with it the gap; the search it would have to
  repeat.
- "loads": the pattern prices' bound is above it, and our own search decided in exact arithmetic
  every combination of the loads of servers whose reduced cost at these prices is within the
  difference. A checker confirms the bound, and with it the gap; the search it would have to
  repeat.
- "search": a solver's own bound leaves no room for a better throughput on the lattice on which
  they lie: its word to five digits, not checked by us.
- "none": nothing does.
"""


Split = Literal["never", "allowed"]
"""Whether a job that fits on one server may be divided; a larger one always is."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """An upper bound on the throughput of fair placements, with what proves it.

    It holds for every fair placement of all listed jobs in which each job stays within the
    consolidation rule (Synergy, §6); the flags say where it holds for fewer or for more.

    The value is L(λ) = Σ_r λ_r R_r + Σ_j max_k (W_jk − λ·d_jk) over the fair configurations k of
    each job (theory: stage 1, points 2 and 6).

    Parameters
    ----------
    value
        The bound, in the unit of the objective.
    multipliers
        λ, one price ≥ 0 for each resource, in the order of `Cluster.resources`.
    integral
        True: placements that give each job one grid point; L(λ) may then be rounded down to the
        lattice that sums of throughputs lie on. False: also mixtures of grid points.
    rows
        True: mixtures that are fair on average, row (5) of the paper, instead of mixtures of fair
        configurations.
    consolidated
        True: the bound is for placements within the consolidation rule: a job that fits on one
        server has at most one server's worth of each resource, or its fair share on a group of
        servers; a larger one at most the worth of the fewest servers that hold it, or its share.
    skipping
        True: the bound also holds for placements that leave jobs out, each job's term being at
        least 0.
    """

    value: Fraction
    multipliers: Vector
    integral: bool = True
    rows: bool = False
    consolidated: bool = True
    skipping: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ShapePrice:
    """The price μ of room of one shape on a server, and of all room that is larger.

    Parameters
    ----------
    group
        Group of the servers.
    gpus
        GPUs of the piece that fills the room.
    amounts
        Amount of each resource.
    price
        Above 0, in the unit of the objective.
    """

    group: int
    gpus: int
    amounts: Vector
    price: Fraction


@dataclass(frozen=True, kw_only=True)
class PatternBound:
    """An upper bound on every fair placement in whole GPUs on real servers, by prices of shapes.

    A piece on a server is charged the highest price among the listed shapes of its group and GPUs
    that it covers, 0 where it covers none. With σ_h ≥ the charge of whatever fits one server of
    group h, and π_j the most that a job's throughput exceeds the charges of its pieces, the value
    is Σ_j π_j + Σ_h s_h σ_h, s_h the number of servers; it may be rounded down to the lattice that
    sums of throughputs lie on (theory: "The packed optimum", point 4).

    Parameters
    ----------
    value
        The bound, in the unit of the objective.
    shapes
        The priced shapes, ascending.
    servers
        σ, for each group the price of a server: what one more would be worth at most.
    split
        ``"never"``: for placements that keep a job on one server where it fits on one.
        ``"allowed"``: for all within the consolidation rule.
    """

    integral: ClassVar[bool] = True
    rows: ClassVar[bool] = False
    consolidated: ClassVar[bool] = True
    skipping: ClassVar[bool] = False

    value: Fraction
    shapes: tuple[ShapePrice, ...]
    servers: Vector
    split: Split


@dataclass(frozen=True, kw_only=True)
class SplitBound:
    """How far stage 2 split jobs: pieces − jobs ≤ q(s − κ) at a vertex (theory: stage 2, point 2).

    Parameters
    ----------
    servers
        s, number of servers.
    rows_per_server
        q, one for the GPUs and one for each resource.
    components
        κ, connected components of the graph that joins each job to the servers it has a piece on.
    extra_pieces
        Pieces − jobs.
    split_jobs
        Jobs with more than one piece.
    tight_rows
        Capacity rows (server, resource) without slack.
    fewest
        Least number of split jobs that any placement of the same totals has, by the search of
        `fewest_splits`: the solver's word. None where nobody searched.
    """

    servers: int
    rows_per_server: int
    components: int
    extra_pieces: int
    split_jobs: int
    tight_rows: int
    fewest: int | None = None

    @property
    def limit(self) -> int:
        """Most extra pieces that a vertex has, q(s − κ)."""
        return self.rows_per_server * (self.servers - self.components)


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
