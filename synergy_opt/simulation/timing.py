"""How time passes in a simulation: rounds of leases, or allocations that change at every event.

Takes the choices and gives a checked `Timing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.checks import not_negative
from synergy_opt.errors import InvalidInstance

FLUID_STEPS = 1000
"""In fluid time jobs leave at the first whole part of a second, this many, after their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When decisions are taken and what they cost.

    Parameters
    ----------
    round_length
        Seconds between two decisions; at each one all jobs are placed anew. A job that ends inside
        a round holds its resources to the end of it (its lease), but has ended.
    fluid
        No rounds: decisions at every arrival and end, at once. Ends are counted exactly;
        resources come free at the next millisecond. Policies are asked at these events only.
    sticky
        Identical servers are renamed after each decision so that as much as possible stays where
        it is.
    move_cost
        Seconds without progress of a job that is restored, because it changed servers or had
        waited.
    profiling_time
        Seconds between a job's submission and its entry into the queue.
    floor_iterations
        The semantics of Synergy's own simulator: in a round a job makes a whole number of units
        of its profile's throughput (iterations), rounded down, and ends with a round.

    Raises
    ------
    InvalidInstance
        When a number is negative, the round is empty, or the choices exclude each other.
    """

    round_length: Fraction = Fraction(300)
    fluid: bool = False
    sticky: bool = False
    move_cost: Fraction = Fraction(0)
    profiling_time: Fraction = Fraction(0)
    floor_iterations: bool = False

    def __post_init__(self) -> None:
        for name in ("round_length", "move_cost", "profiling_time"):
            object.__setattr__(self, name, not_negative(getattr(self, name), f".{name}"))
        if self.round_length == 0:
            raise InvalidInstance("must be above 0", ".round_length")
        if self.fluid and self.floor_iterations:
            raise InvalidInstance(
                "counts iterations in rounds, and fluid time has none", ".floor_iterations"
            )
