"""One unit for all times and all work, so that a simulation counts in whole numbers.

Takes the numbers of a workload and gives a `Clock`: every time and every amount of work is a whole
number of its ticks, and nothing is ever lost to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.fair_share import fair_throughput
from synergy_opt.model import Instance


@dataclass(frozen=True, slots=True)
class Clock:
    """Ticks a second, and the grain: events happen at multiples of it.

    A job of duration D has D seconds of work, counted in ticks like a time. It works at a speed:
    its throughput over its fair one. Speed · grain is whole for every grid point of every profile,
    so the work done between two events is a whole number of ticks.

    Examples
    --------
    >>> clock = Clock(second=6, grain=3)
    >>> clock.ticks(Fraction(5, 2)), clock.seconds(15)
    (15, Fraction(5, 2))
    """

    second: int
    grain: int

    def ticks(self, seconds: Fraction) -> int:
        """Give a time in ticks; it must be whole."""
        ticks = seconds * self.second
        assert ticks.denominator == 1, "the clock was made for all times"
        return ticks.numerator

    def seconds(self, ticks: int | Fraction) -> Fraction:
        """Give a time in seconds."""
        return Fraction(ticks) / self.second


def clock_of(kinds: Instance, times: Iterable[Fraction], *, per_second: int = 1) -> Clock:
    """Give the coarsest clock for these times and for all jobs of the kinds of an instance.

    Parameters
    ----------
    kinds
        One job a kind.
    times
        Every time and duration that the simulation starts from, in seconds.
    per_second
        Events may happen at this part of a second.
    """
    grain = 1
    for job in kinds.jobs:
        table = kinds.profile_of[job.profile].throughput
        fair = fair_throughput(kinds, job)
        whole = math.gcd(*(int(n) for n in table.numerators.flat))
        # W / W^f is a multiple of 1 / this; the second term makes 1 / W^f whole as well.
        steps = fair * table.denominator / whole
        grain = math.lcm(grain, steps.numerator, fair.numerator)
    second = math.lcm(per_second, *{time.denominator for time in times})
    return Clock(second=second * grain, grain=grain)
