"""The moves of the elementary proof: q + 1 columns are dependent, so one can go to a bound.

Takes jobs that both halves may get and moves them, exactly, until few are between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from synergy_opt.placement.bisection.parts import Cut, Part


def dependency(cuts: Sequence[Cut], rows: Sequence[int]) -> list[int]:
    """Give integers z, not all 0, with Σ z_i D_i = 0 in these rows, fewer than there are cuts."""
    matrix = [[cuts[i].demand[r] for i in range(len(rows) + 1)] for r in rows]
    column = 0
    while True:  # there are more columns than rows: one has no pivot
        found = next((r for r in range(column, len(matrix)) if matrix[r][column]), None)
        if found is None:
            return _solution(matrix, column, len(cuts))
        matrix[column], matrix[found] = matrix[found], matrix[column]
        top = matrix[column]
        for r, row in enumerate(matrix):
            if r != column and row[column]:
                a, b = top[column], row[column]
                matrix[r] = [a * x - b * y for x, y in zip(row, top, strict=True)]
        column += 1


def _solution(matrix: list[list[int]], free: int, length: int) -> list[int]:
    """Read the dependency of the column `free` on the columns before it, which have pivots."""
    scale = math.prod(matrix[k][k] for k in range(free))
    z = [0] * length
    z[free] = scale
    for k in range(free):
        z[k] = -scale // matrix[k][k] * matrix[k][free]
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
