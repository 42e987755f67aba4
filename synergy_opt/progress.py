"""How far a long solve is: what it has, what it can prove, and since when.

Takes throughput and bound at a moment and gives the frozen `Progress` that a callback is called
with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from synergy_opt.answer import relative_gap
from synergy_opt.exact import approximate, percent


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """What is known at a moment; both numbers are exact and stay valid whatever happens later.

    Parameters
    ----------
    seconds
        Since the start, by the clock.
    throughput
        Of the best answer so far.
    bound
        That no answer exceeds.

    Examples
    --------
    >>> print(Progress(seconds=1.5, throughput=Fraction(4), bound=Fraction(5)))
         1.5 s  throughput 4  bound 5  gap 25.0000%
    """

    seconds: float
    throughput: Fraction
    bound: Fraction

    @property
    def gap(self) -> Fraction:
        """(bound − throughput) / throughput."""
        return relative_gap(self.throughput, self.bound)

    def __str__(self) -> str:
        return (
            f"{self.seconds:8.1f} s  throughput {approximate(self.throughput)}  "
            f"bound {approximate(self.bound)}  gap {percent(self.gap, places=4)}"
        )


Watcher = Callable[[Progress], object]
"""Called each time that more is known; what it returns is ignored.

What it raises ends the solve; a `KeyboardInterrupt` does so like Ctrl-C: with the best so far.
"""
