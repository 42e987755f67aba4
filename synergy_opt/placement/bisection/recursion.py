"""The recursion: servers halved until each half's jobs fit whole.

Takes demands, parts and the room of one server; gives for each job its part on each server.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from synergy_opt.errors import Infeasible
from synergy_opt.placement.bisection.halve import Side, halve
from synergy_opt.placement.bisection.parts import Demand, Part, total
from synergy_opt.placement.bisection.whole import all_whole

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
    needed = total(demands, start, len(room))
    if any(t > servers * most for t, most in zip(needed, room, strict=True)):
        raise Infeasible("the demands exceed what the servers have together")
    stack: list[tuple[int, int, Side]] = [(0, servers, (start, needed))]
    while stack:
        first, count, side = stack.pop()
        here = side[0]
        placed = all_whole(demands, here, count, room) if count <= _WHOLE_FIRST else None
        if placed is not None:
            for part, server in zip(here, placed, strict=True):
                shares[part.job][first + server] = part.amount
            continue
        half = count // 2
        one, other = halve(demands, side, count, room)
        stack.append((first + half, count - half, other))
        stack.append((first, half, one))
    return shares
