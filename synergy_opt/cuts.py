"""Jobs between two halves of the servers, moved along dependencies until few are left between.

Takes columns of whole numbers with a part between two bounds each and gives moves that keep the
sum, or use its slack: what recursive bisection cuts as few jobs by (theory: stage 2, point 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def dependency(cuts: Sequence[Cut], rows: Sequence[int]) -> list[int]:
    """Give integers z, not all 0, with Σ z_i D_i = 0 in these rows, fewer than there are cuts."""
    columns = range(len(rows) + 1)
    matrix = [[cuts[i].demand[r] for i in columns] for r in rows]
    pivots: list[int] = []
    for column in columns:
        k = len(pivots)
        found = next((r for r in range(k, len(matrix)) if matrix[r][column]), None)
        if found is None:
            return _solution(matrix, pivots, column, len(cuts))
        matrix[k], matrix[found] = matrix[found], matrix[k]
        top = matrix[k]
        for r, row in enumerate(matrix):
            if r != k and row[column]:
                a, b = top[column], row[column]
                matrix[r] = [a * x - b * y for x, y in zip(row, top, strict=True)]
        pivots.append(column)
    raise AssertionError  # more columns than rows: one has no pivot


def _solution(matrix: list[list[int]], pivots: list[int], free: int, length: int) -> list[int]:
    """Read the dependency of the column `free` on the pivot columns before it."""
    scale = math.prod(matrix[k][p] for k, p in enumerate(pivots))
    z = [0] * length
    z[free] = scale
    for k, p in enumerate(pivots):
        z[p] = -scale // matrix[k][p] * matrix[k][free]
    common = math.gcd(*z)
    return [n // common for n in z]


def _reach(cuts: Sequence[Cut], z: Sequence[int]) -> Fraction:
    """Give the largest t with which every cut stays within its bounds along t · z."""
    return min(
        (cut.most - cut.here if n > 0 else cut.here) / abs(n)
        for cut, n in zip(cuts, z, strict=True)
        if n
    )


def move(
    cuts: list[Cut],
    z: Sequence[int],
    one: list[Part],
    other: list[Part],
    step: Fraction | None = None,
) -> None:
    """Move along z, by default until a cut reaches a bound; take out those that have."""
    step = _reach(cuts, z) if step is None else step
    for cut, n in zip(cuts, z, strict=True):
        cut.here += step * n
    for cut in [c for c in cuts if c.here in (0, c.most)]:
        (one if cut.here else other).append(Part(cut.job, cut.most))
        cuts.remove(cut)


def use_slack(
    cuts: list[Cut],
    above: list[Fraction],
    below: list[Fraction],
    one: list[Part],
    other: list[Part],
) -> None:
    """Move the cuts while they are more than the rows of which a half is full.

    `above` is what the first half can still take of each row, `below` what it can give away.
    """
    while True:
        full = [r for r in range(len(above)) if not above[r] or not below[r]]
        if len(cuts) <= len(full):
            return
        z = dependency(cuts, full)
        best: tuple[bool, Fraction, list[int]] | None = None
        for way in (z, [-n for n in z]):
            change = [
                sum(n * cut.demand[r] for n, cut in zip(way, cuts, strict=True))
                for r in range(len(above))
            ]
            limits = [
                (above[r] if c > 0 else below[r]) / abs(c)
                for r, c in enumerate(change)
                if c and r not in full
            ]
            reach = _reach(cuts, way)
            ends = not limits or reach <= min(limits)
            step = reach if ends else min(limits)
            if best is None or (ends, -step) > (best[0], -best[1]):
                best = ends, step, way
        assert best is not None
        _, step, way = best
        for r in range(len(above)):
            moved = step * sum(n * cut.demand[r] for n, cut in zip(way, cuts, strict=True))
            above[r] -= moved
            below[r] += moved
        move(cuts, way, one, other, step)
