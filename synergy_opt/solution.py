"""What a solver says: why it stopped, kept apart from what is known.

Takes nothing, gives the frozen `Limits` that every solver is given and the `Solution` that every
adapter returns. Nothing in a `Solution` is believed: what follows rounds and checks exactly.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic

import numpy as np
import numpy.typing as npt

from synergy_opt.checks import not_negative, whole_count
from synergy_opt.errors import InvalidInstance
from synergy_opt.exact import shown
from synergy_opt.program import FloatArray

_LONGEST = 1e300  # seconds; a whole number beyond has no double near it


class Stop(enum.StrEnum):
    """Why a solver stopped."""

    OPTIMAL = "optimal"
    LIMIT = "limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a solver may stop, and what makes it repeatable.

    Parameters
    ----------
    time
        Seconds of wall-clock time, None for no limit. With a limit the answer can differ from run
        to run.
    gap
        Relative gap at which an answer is good enough; 0 where "optimal" is said.
    threads
        Of the solver. One makes every built-in solver repeatable.
    seed
        Of the solver's own random choices.
    """

    time: float | None = None
    gap: Fraction = Fraction(0)
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.time is not None and not _is_time(self.time):
            rule = f"must be at least 0 seconds and finite, not {shown(self.time)}"
            raise InvalidInstance(rule, ".time")
        object.__setattr__(self, "gap", not_negative(self.gap, ".gap"))
        object.__setattr__(self, "threads", whole_count(self.threads, ".threads"))
        whole = isinstance(self.seed, int) and not isinstance(self.seed, bool)
        if not (whole and 0 <= self.seed < 2**31):
            raise InvalidInstance(f"must be from 0 to 2³¹ − 1, not {shown(self.seed)}", ".seed")

    def since(self, start: float) -> Limits:
        """Give the limits with the time that is left, `start` being a `time.monotonic()`."""
        if self.time is None:
            return self
        return replace(self, time=max(0.0, self.time - (monotonic() - start)))


def _is_time(value: object) -> bool:
    """Tell whether a value is a number of at least 0 that a double holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _LONGEST


def limits_of(limits: object) -> Limits:
    """Give the limits that a caller passed, or none where it passed None.

    Raises
    ------
    TypeError
        When it is something else, such as a bare number of seconds.
    """
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        kind = type(limits).__name__
        raise TypeError(f"limits must be a Limits, such as Limits(time=60), not {kind}")
    return limits


@dataclass(frozen=True, kw_only=True)
class Basis:
    """Which columns and rows are basic in a simplex basis: a vertex."""

    columns: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A solver's answer to a programme.

    Parameters
    ----------
    stop
        Why it stopped; this says nothing about `x`.
    objective
        Of `x`, as the solver has it; None without `x`.
    bound
        The solver's own upper bound, None where it has none.
    x
        A point that the solver holds feasible, None where it has none: never zeros.
    row_duals
        Multipliers of the rows, ≥ 0 where a row's upper bound holds; None for integer programmes.
    basis
        A valid simplex basis, None where there is none.
    """

    stop: Stop
    objective: float | None = None
    bound: float | None = None
    x: FloatArray | None = None
    row_duals: FloatArray | None = None
    basis: Basis | None = None
