"""A vertex of one halving, found in doubles and then computed exactly: one small system.

Takes the jobs that both halves may get and gives how much of each the first half gets, at most q
of them between their bounds, with the same sum as before; or None where doubles mislead.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from synergy_opt.placement.bisection.parts import Cut, Demand, weighted, weights

_MANY = 24  # cuts from which on all but the last ones are decided at once
_LAST = 16
_ZERO = 1e-11

Vector = list[float]


def guessed(cuts: Sequence[Cut], room: Demand) -> list[Fraction] | None:
    """Give a vertex of {x: Σ D_j x_j = Σ D_j here_j, 0 ≤ x_j ≤ most_j}, exactly.

    Doubles say which x_j are at which bound; the others, q of them, follow from q equations.
    None where these have no solution, or one out of bounds: decided in exact arithmetic.

    Complexity: O(n q) in doubles to send all but a few jobs to a half, O(q³) for each of the
    others, O(n q + q³) exact operations.
    """
    weight = weights(room)
    sizes = [[d * w for d, w in zip(cut.demand, weight, strict=True)] for cut in cuts]
    most = [float(cut.most) for cut in cuts]
    even = [float(cut.here) for cut in cuts]
    here, tail = even.copy(), list(range(len(cuts)))
    if len(cuts) > _MANY:
        # The largest are sent first, so that little is left over; jobs of all sizes take it up.
        order = sorted(tail, key=lambda j: -most[j] * sum(sizes[j]))
        few = order[:: len(order) // _LAST][:_LAST]
        inside = set(few)
        head = [j for j in order if j not in inside]
        behind = _send(head, sizes, here, most)
        if _absorb(few, sizes, here, most, behind):
            tail = few
        else:  # walk over all of them
            here = even
    between = _walk(tail, sizes, here, most)
    return _exactly(cuts, here, most, between)


def _send(head: Sequence[int], sizes: Sequence[Vector], here: Vector, most: Vector) -> Vector:
    """Send each to the half that is behind; give what the first half lacks at the end."""
    ahead = [0.0] * len(sizes[0])
    for j in head:
        taken = [a + (most[j] - here[j]) * d for a, d in zip(ahead, sizes[j], strict=True)]
        given = [a - here[j] * d for a, d in zip(ahead, sizes[j], strict=True)]
        first = sum(a * a for a in taken) < sum(a * a for a in given)
        here[j] = most[j] if first else 0.0
        ahead = taken if first else given
    return [-a for a in ahead]


def _absorb(
    few: Sequence[int], sizes: Sequence[Vector], here: Vector, most: Vector, behind: Vector
) -> bool:
    """Spread a difference by least squares, if that stays within the bounds.

    The least Σ (Δ_j / most_j)² with Σ D_j Δ_j = behind has Δ_j = most_j² D_jᵀ w.
    """
    rows = range(len(behind))
    square = [
        [sum(most[j] ** 2 * sizes[j][i] * sizes[j][r] for j in few) for r in rows] for i in rows
    ]
    z = _null([*square, behind])  # square is symmetric; w = −z / its last entry
    if abs(z[-1]) < _ZERO:
        return False
    w = [-n / z[-1] for n in z[:-1]]
    moved = [
        here[j] + most[j] ** 2 * sum(d * n for d, n in zip(sizes[j], w, strict=True)) for j in few
    ]
    inside = all(0 <= x <= most[j] for j, x in zip(few, moved, strict=True))
    if inside:
        for j, x in zip(few, moved, strict=True):
            here[j] = x
    return inside


def _walk(tail: Sequence[int], sizes: Sequence[Vector], here: Vector, most: Vector) -> list[int]:
    """Move q + 1 at a time along their dependency until one is at a bound; give the last q."""
    width = len(sizes[0])
    between: list[int] = []
    for j in tail:
        between.append(j)
        if len(between) <= width:
            continue
        z = _null([sizes[i] for i in between])
        step, out = min(
            ((most[i] - here[i]) / n if n > 0 else here[i] / -n, k)
            for k, (i, n) in enumerate(zip(between, z, strict=True))
            if abs(n) > _ZERO
        )
        for i, n in zip(between, z, strict=True):
            here[i] = min(max(here[i] + step * n, 0.0), most[i])
        i = between.pop(out)
        here[i] = most[i] if z[out] > 0 else 0.0
    return between


def _null(columns: Sequence[Vector]) -> Vector:
    """Give z with largest entry 1 and Σ z_i column_i = 0, columns being more than their rows."""
    rows = [list(row) for row in zip(*columns, strict=True)]
    pivots: list[int] = []
    free = len(columns) - 1
    for c in range(len(columns)):
        k = len(pivots)
        if k == len(rows):
            free = c
            break
        best = max(range(k, len(rows)), key=lambda r: abs(rows[r][c]))
        if abs(rows[best][c]) < _ZERO:
            free = c
            break
        rows[k], rows[best] = rows[best], rows[k]
        top = rows[k] = [x / rows[k][c] for x in rows[k]]
        for r, row in enumerate(rows):
            if r != k and row[c]:
                factor = row[c]
                rows[r] = [x - factor * y for x, y in zip(row, top, strict=True)]
        pivots.append(c)
    z = [0.0] * len(columns)
    z[free] = 1.0
    for k, p in enumerate(pivots):
        z[p] = -rows[k][free]
    largest = max(abs(n) for n in z)
    return [n / largest for n in z]


def _exactly(
    cuts: Sequence[Cut], here: Vector, most: Vector, between: Sequence[int]
) -> list[Fraction] | None:
    """Compute those between exactly from where the others are."""
    inside = set(between)
    found = [
        cut.here if j in inside else cut.most if here[j] == most[j] else Fraction(0)
        for j, cut in enumerate(cuts)
    ]
    width = len(cuts[0].demand)
    changes = [
        (cut.here - x, cut.demand)
        for j, (cut, x) in enumerate(zip(cuts, found, strict=True))
        if j not in inside
    ]
    behind, below = weighted(changes, width)
    solved = _solve([cuts[j].demand for j in between], behind)
    if solved is None:
        return None
    values, scale = solved
    for j, n in zip(between, values, strict=True):
        x = found[j] + Fraction(n, scale * below)
        if not 0 <= x <= cuts[j].most:
            return None
        found[j] = x
    return found


def _solve(columns: Sequence[Demand], right: Sequence[int]) -> tuple[list[int], int] | None:
    """Solve Σ x_i column_i = right by fraction-free elimination; give numerators, denominator."""
    size = len(columns)
    if size != len(right):
        return None
    rows = [[*row, b] for row, b in zip(zip(*columns, strict=True), right, strict=True)]
    last = 1
    for k in range(size):
        found = next((r for r in range(k, size) if rows[r][k]), None)
        if found is None:
            return None
        rows[k], rows[found] = rows[found], rows[k]
        top, pivot = rows[k], rows[k][k]
        for r, row in enumerate(rows):
            if r != k:
                # Every quotient is a minor of the matrix, hence whole (Bareiss, 1968).
                factor = row[k]
                rows[r] = [(pivot * x - factor * y) // last for x, y in zip(row, top, strict=True)]
        last = pivot
    return [row[-1] for row in rows], last
