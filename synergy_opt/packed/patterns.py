"""Patterns by enumeration: divisions into fair shares, and all that can still matter.

Takes a server and what its slots are worth and gives lists of patterns that need no optimisation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from synergy_opt.packed.pricing import Index, Knapsack, Pattern, Priced, Prices


def share_patterns(sack: Knapsack, shares: Mapping[int, int], *, most: int) -> list[Pattern]:
    """Give the divisions of a server's GPUs into fair shares, the first `most` of them.

    Parameters
    ----------
    sack
        The server.
    shares
        For a number of GPUs the position of the slot that is their fair share; these fit in every
        combination of at most the server's GPUs.
    most
        How many to give.
    """
    sizes = sorted(shares, reverse=True)
    found: list[Pattern] = []
    stack: list[tuple[int, int, tuple[int, ...]]] = [(sack.gpus, 0, ())]
    while stack and len(found) < most:
        left, first, taken = stack.pop()
        fits = [i for i in range(first, len(sizes)) if sizes[i] <= left]
        if not fits and (not sizes or left < sizes[-1]):
            counts = Counter(shares[gpus] for gpus in taken)
            found.append(tuple(sorted(counts.items())))
        stack += [(left - sizes[i], i, (*taken, sizes[i])) for i in reversed(fits)]
    return found


def patterns_above(
    priced: Priced,
    prices: Prices,
    least: float,
    *,
    copies: Mapping[int, int],
    most: int,
    late: Callable[[], bool],
) -> tuple[list[Pattern], bool]:
    """Give the full patterns of total price at least `least`, and whether these are all of them.

    Full: no further slot fits, and no slot can be exchanged for a larger one of as many GPUs. A
    pattern that is not full can do nothing that a full one cannot.

    Parameters
    ----------
    priced, prices
        The solved knapsack and the prices of all its slots, which rise with the size.
    least
        Where to cut: by the solved table the cut is exact but for the rounding of floats.
    copies
        For a number of GPUs, how many such slots of a pattern can be used at most.
    most
        Patterns, and twenty times as many partial patterns, after which to give up.
    late
        Tells when to give up.
    """
    sack, visited = priced.knapsack, 0
    found: list[Pattern] = []
    if not priced.exact:
        return found, False
    stack: list[tuple[tuple[int, ...], int, Index, float]] = [
        ((), sack.gpus, np.array(sack.room, dtype=sack.sizes.dtype), least)
    ]
    while stack:
        rows, gpus, room, missing = stack.pop()
        visited += 1
        if visited > 20 * most or len(found) > most or (visited % 256 == 0 and late()):
            return found, False
        free = (sack.weights <= gpus) & (sack.sizes <= room).all(axis=1)
        used = Counter(sack.weights[list(rows)].tolist())
        for weight, count in used.items():
            if count >= copies.get(weight, 0):
                free &= sack.weights != weight
        fits = np.flatnonzero(free)
        if not len(fits):
            if not _can_grow(sack, rows, room):
                counts = Counter(rows)
                found.append(tuple(sorted((sack.slots[i], n) for i, n in counts.items())))
            continue
        fits = fits[fits >= (rows[-1] if rows else 0)]
        left = gpus - sack.weights[fits]
        rooms = room - sack.sizes[fits]
        good = prices[fits] + priced.table[left, priced.state_of(rooms)] >= missing
        for i in np.flatnonzero(good).tolist():
            row = int(fits[i])
            stack.append(((*rows, row), int(left[i]), rooms[i], missing - float(prices[row])))
    return found, True


def _can_grow(sack: Knapsack, rows: tuple[int, ...], room: Index) -> bool:
    """Tell whether one of the slots can be exchanged for a larger one."""
    return any(
        (sack.sizes[larger] - sack.sizes[row] <= room).all()
        for row in set(rows)
        for larger in sack.larger[row]
    )
