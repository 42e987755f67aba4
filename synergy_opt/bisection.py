"""Recursive bisection: jobs divided among identical servers with few cuts, in exact arithmetic.

Takes whole-number demands and the room of one server and gives for each job its part on each
server; no linear programme has more than q rows (theory: stage 2, point 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from synergy_opt.cuts import Cut, Demand, Part, dependency, move, use_slack
from synergy_opt.errors import Infeasible, SolverFailed
from synergy_opt.exact_linear import Equation, solve_exactly

_MANY = 24  # cuts from which on all but the last ones are decided at once
_LAST = 16
_WHOLE_FIRST = 16  # servers up to which all jobs are tried whole before any is cut


def bisect(
    demands: Sequence[Demand],
    parts: Sequence[Fraction],
    *,
    servers: int,
    room: Demand,
) -> list[dict[int, Fraction]]:
    """Divide jobs among identical servers: Σ_i x_ij = part of j, Σ_j D_j x_ij ≤ room.

    Parameters
    ----------
    demands
        D_j, q whole numbers a job.
    parts
        How much of each job these servers get, 0 to 1.
    servers
        Number s of servers.
    room
        What one server has, in the same units.

    Returns
    -------
    list of dict
        For each job, server → part; at most q (s − 1) pieces more than jobs that have any.

    Raises
    ------
    Infeasible
        When the demands exceed s · room: then nothing fits, else this always succeeds.

    Notes
    -----
    The servers are halved. Some y with Σ D_j y_j = λ Σ D_j exists for the first half's share λ,
    the constant one; any q + 1 columns in dimension q are dependent, and moving y along a
    dependency takes one of them to a bound without changing the sum. At most q stay between their
    bounds; those jobs are cut. Where there is slack the sum may move, too, until a half is full:
    a halving then cuts at most as many jobs as it has full rows. With c_v cuts in the halving v:

    - each halving that cuts joins two components of the graph of jobs and servers, so that the
      sum of c_v is at most q (s − κ), κ being the number of components;
    - a full half has all its servers full in that row, so that the sum of c_v is at most the
      number of full rows of servers, by induction over the halvings.

    These are the bounds that a vertex of the whole programme obeys. Before servers are halved,
    up to 16 of them, all jobs are tried whole. O(n q³ log s) operations on exact numbers, less
    where jobs have equal demands.

    Examples
    --------
    >>> [dict(row) for row in bisect([(2,), (2,), (2,)], [Fraction(1)] * 3, servers=2, room=(3,))]
    [{0: Fraction(1, 1)}, {0: Fraction(1, 2), 1: Fraction(1, 2)}, {1: Fraction(1, 1)}]
    """
    shares: list[dict[int, Fraction]] = [{} for _ in demands]
    start = [Part(j, part) for j, part in enumerate(parts) if part]
    total = _total(demands, start, len(room))
    if any(t > servers * most for t, most in zip(total, room, strict=True)):
        raise Infeasible("the demands exceed what the servers have together")
    stack = [(0, servers, start)]
    while stack:
        first, count, here = stack.pop()
        placed = _all_whole(demands, here, count, room) if count <= _WHOLE_FIRST else None
        if placed is not None:
            for part, server in zip(here, placed, strict=True):
                shares[part.job][first + server] = part.amount
            continue
        half = count // 2
        one, other = _halve(demands, here, count, room)
        stack.append((first + half, count - half, other))
        stack.append((first, half, one))
    return shares


def _total(demands: Sequence[Demand], parts: Iterable[Part], width: int) -> list[Fraction]:
    whole, total = [0] * width, [Fraction(0)] * width
    for part in parts:
        if part.amount == 1:
            whole = [w + d for w, d in zip(whole, demands[part.job], strict=True)]
        else:
            total = [t + part.amount * d for t, d in zip(total, demands[part.job], strict=True)]
    return [t + w for t, w in zip(total, whole, strict=True)]


def _all_whole(
    demands: Sequence[Demand], parts: Sequence[Part], servers: int, room: Demand
) -> list[int] | None:
    """Put every part on one server, largest first, each where it leaves least; None if one fails.

    One server always has the room: what it is given was made to fit.
    """
    if servers == 1:
        return [0] * len(parts)
    needs: list[Sequence[int | Fraction]] = [
        demands[part.job] if part.amount == 1 else _times(part.amount, demands[part.job])
        for part in parts
    ]
    weight = [1 / most if most else 0.0 for most in room]
    sizes = [sum(float(n) * w for n, w in zip(need, weight, strict=True)) for need in needs]
    free: list[Sequence[int | Fraction]] = [room] * servers
    left = [float(len(room))] * servers
    placed = [0] * len(parts)
    for i in sorted(range(len(parts)), key=lambda i: -sizes[i]):
        fits = [
            k
            for k in range(servers)
            if all(n <= f for n, f in zip(needs[i], free[k], strict=True))
        ]
        if not fits:
            return None
        best = min(fits, key=left.__getitem__)
        placed[i] = best
        free[best] = [f - n for f, n in zip(free[best], needs[i], strict=True)]
        left[best] -= sizes[i]
    return placed


def _halve(
    demands: Sequence[Demand], parts: Sequence[Part], servers: int, room: Demand
) -> tuple[list[Part], list[Part]]:
    """Divide parts between the first ⌊s/2⌋ servers and the others, cutting at most q of them."""
    half = servers // 2
    share = Fraction(half, servers)
    one, other, candidates = _spread_evenly(demands, parts, share)
    if len(candidates) > _MANY:
        candidates = _settled(candidates, room, one, other) or candidates
    between: list[Cut] = []
    for cut in candidates:
        if cut.here in (0, cut.most):
            (one if cut.here else other).append(Part(cut.job, cut.most))
            continue
        between.append(cut)
        if len(between) > len(room):
            move(between, dependency(between, range(len(room))), one, other)
    total = _total(demands, parts, len(room))
    used = [share * t for t in total]
    above = [half * most - u for most, u in zip(room, used, strict=True)]
    below = [u - t + (servers - half) * most for most, u, t in zip(room, used, total, strict=True)]
    use_slack(between, above, below, one, other)
    for cut in between:
        one.append(Part(cut.job, cut.here))
        other.append(Part(cut.job, cut.most - cut.here))
    return one, other


def _spread_evenly(
    demands: Sequence[Demand], parts: Sequence[Part], share: Fraction
) -> tuple[list[Part], list[Part], list[Cut]]:
    """Give the first half its share of every demand: of n equal jobs ⌊n λ⌋ whole ones, and a cut.

    Two equal columns are dependent: moving one up and the other down leaves one between 0 and 1.
    """
    equal: dict[Demand, list[Part]] = {}
    one: list[Part] = []
    other: list[Part] = []
    cuts: list[Cut] = []
    for part in parts:
        if part.amount == 1:
            equal.setdefault(demands[part.job], []).append(part)
        else:
            here = share * part.amount
            cuts.append(Cut(part.job, demands[part.job], part.amount, here))
    for demand, members in equal.items():
        here = share * len(members)
        whole = math.floor(here)
        one.extend(members[:whole])
        if here > whole:
            cuts.append(Cut(members[whole].job, demand, Fraction(1), here - whole))
            whole += 1
        other.extend(members[whole:])
    return one, other, cuts


def _settled(
    cuts: list[Cut], room: Demand, one: list[Part], other: list[Part]
) -> list[Cut] | None:
    """Send all cuts but the last ones to the half that is behind; these take up the difference.

    The difference b is spread by the least squares, D Dᵀ w = b and a change of D_jᵀ w, exactly.
    None, with nothing changed, where one of the last ones would leave its bounds.
    """
    head, last = cuts[:-_LAST], cuts[-_LAST:]
    weight = [1 / most if most else 0.0 for most in room]
    ahead = [0.0] * len(room)
    first: list[bool] = []
    for cut in head:
        size = [float(d) * w for d, w in zip(cut.demand, weight, strict=True)]
        here, there = float(cut.here), float(cut.most - cut.here)
        taken = [a + there * d for a, d in zip(ahead, size, strict=True)]
        given = [a - here * d for a, d in zip(ahead, size, strict=True)]
        first.append(sum(a * a for a in taken) < sum(a * a for a in given))
        ahead = taken if first[-1] else given
    behind = _difference(head, first, len(room))
    rows = range(len(room))
    square: list[Equation] = [
        ({r: Fraction(sum(c.demand[i] * c.demand[r] for c in last)) for r in rows}, behind[i])
        for i in rows
    ]
    try:
        w = solve_exactly(square, len(room))
    except SolverFailed:  # all last ones lie in a plane
        return None
    moved = [
        cut.here + sum((d * x for d, x in zip(cut.demand, w, strict=True)), Fraction(0))
        for cut in last
    ]
    if any(not 0 <= here <= cut.most for cut, here in zip(last, moved, strict=True)):
        return None
    for cut, goes in zip(head, first, strict=True):
        (one if goes else other).append(Part(cut.job, cut.most))
    return [replace(cut, here=here) for cut, here in zip(last, moved, strict=True)]


def _difference(cuts: Sequence[Cut], first: Sequence[bool], width: int) -> list[Fraction]:
    """Give what the first half lacks when each cut goes where `first` says: one sum a fraction."""
    sums: dict[Fraction, list[int]] = {}
    for cut, goes in zip(cuts, first, strict=True):
        change = cut.here - cut.most if goes else cut.here
        so_far = sums.get(change)
        sums[change] = (
            list(cut.demand)
            if so_far is None
            else [a + d for a, d in zip(so_far, cut.demand, strict=True)]
        )
    terms = [[change * n for n in total] for change, total in sums.items()]
    return [sum((row[r] for row in terms), Fraction(0)) for r in range(width)]


def _times(amount: Fraction, demand: Demand) -> tuple[Fraction, ...]:
    return tuple(amount * d for d in demand)
