"""Parts of jobs, and jobs that two halves may share.

Takes whole-number demands with exact parts of jobs and gives their sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Demand = tuple[int, ...]
"""GPUs and resources, each in whole units."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a job that a set of servers gets."""

    job: int
    amount: Fraction


@dataclass(slots=True)
class Cut:
    """A job that may go to both halves: `here` of at most `most` is in the first one."""

    job: int
    demand: Demand
    most: Fraction
    here: Fraction


def total(demands: Sequence[Demand], parts: Iterable[Part], width: int) -> list[Fraction]:
    """Give Σ amount · demand of some parts."""
    sums, below = weighted([(part.amount, demands[part.job]) for part in parts], width)
    return [Fraction(n, below) for n in sums]


def weighted(pairs: Sequence[tuple[Fraction, Demand]], width: int) -> tuple[list[int], int]:
    """Give the numerators of Σ x · demand and their denominator.

    On one denominator from the start: sums of `Fraction` reduce at every step.
    """
    # By numbers, since a Fraction's hash is slow.
    equal: dict[tuple[int, int], list[Demand]] = {}
    for x, demand in pairs:
        equal.setdefault((x.numerator, x.denominator), []).append(demand)
    below = math.lcm(*(denominator for _, denominator in equal))
    sums = [0] * width
    for (numerator, denominator), members in equal.items():
        factor = numerator * (below // denominator)
        sums = [s + factor * sum(c) for s, c in zip(sums, zip(*members, strict=True), strict=True)]
    return sums, below


def weights(room: Demand) -> list[float]:
    """Give 1 / room, what makes demands comparable."""
    return [1 / most if most else 0.0 for most in room]
