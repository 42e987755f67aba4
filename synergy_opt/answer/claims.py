"""What a method claims about its answer: an upper bound with what proves it, a count of pieces.

Takes exact numbers and gives frozen values; nothing here is believed, `certificate` recomputes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

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
    """An upper bound on fair placements in whole GPUs on real servers, by prices of shapes.

    It holds within the consolidation rule (`configurations.consolidation_limits`). A piece on
    a server is charged the highest price among the listed shapes of its group and GPUs that it
    covers, 0 where it covers none. With σ_h ≥ the charge of whatever fits one server of group
    h, and π_j the most that a job's throughput exceeds the charges of its pieces, the value is
    Σ_j π_j + Σ_h s_h σ_h, s_h the number of servers; it may be rounded down to the lattice
    that sums of throughputs lie on (theory: "The packed optimum", point 4).

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
