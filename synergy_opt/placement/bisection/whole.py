"""All parts whole on few servers: best fit, found in doubles and checked exactly.

Takes parts with the room of a server and gives a server for each part, or None.
"""

from __future__ import annotations

from collections.abc import Sequence

from synergy_opt.placement.bisection.parts import Demand, Part, total, weights

_NEAR = 1e-9  # of a server's room: closer calls are left to the exact check


def all_whole(
    demands: Sequence[Demand], parts: Sequence[Part], servers: int, room: Demand
) -> list[int] | None:
    """Put every part on one server, largest first, each where it leaves least; None if one fails.

    One server always has the room: what it is given was made to fit.
    """
    if servers == 1:
        return [0] * len(parts)
    weight = weights(room)
    needs = [
        [float(part.amount) * d * w for d, w in zip(demands[part.job], weight, strict=True)]
        for part in parts
    ]
    sizes = [sum(need) for need in needs]
    free = [[float(w > 0) for w in weight] for _ in range(servers)]
    left = [sum(row) for row in free]
    members: list[list[int]] = [[] for _ in range(servers)]
    for i in sorted(range(len(parts)), key=lambda i: -sizes[i]):
        fits = [
            k
            for k in range(servers)
            if all(n <= f + _NEAR for n, f in zip(needs[i], free[k], strict=True))
        ]
        if not fits:
            return None
        best = min(fits, key=left.__getitem__)
        members[best].append(i)
        free[best] = [f - n for f, n in zip(free[best], needs[i], strict=True)]
        left[best] -= sizes[i]
    placed = [0] * len(parts)
    for k, inside in enumerate(members):
        used = total(demands, (parts[i] for i in inside), len(room))
        if any(u > most for u, most in zip(used, room, strict=True)):
            return None
        for i in inside:
            placed[i] = k
    return placed
