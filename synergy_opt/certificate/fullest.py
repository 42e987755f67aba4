"""The dearest multiset of items that fits one server: a dynamic programme in integers.

Takes items with GPUs, sizes and a price each, gives the highest total price; states that another
one beats in every respect are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Item = tuple[int, tuple[int, ...], int]
"""GPUs, an amount of each resource, price; all whole numbers of at least 0."""
Numbers = npt.NDArray[np.object_]

_DENSE = 4_000_000  # cells of a table of states; with more only equal states are merged


def fullest(items: Sequence[Item], gpus: int, room: Sequence[int]) -> int:
    """Give max Σ price over multisets of items with Σ GPUs ≤ `gpus` and Σ amounts ≤ `room`.

    Parameters
    ----------
    items
        Each may be taken any number of times; GPUs at least 1.
    gpus, room
        Of one server.

    Notes
    -----
    Level n holds the states (amounts used, price) of multisets of at most n GPUs that no other
    such state beats in every amount and the price. O(gpus · items · states).

    Examples
    --------
    Two of (1 GPU, 3 cores) and one of (2 GPUs, 4 cores) in 4 GPUs and 10 cores:

    >>> fullest([(1, (3,), 5), (2, (4,), 6)], 4, (10,))
    16
    """
    levels = [(np.zeros((1, len(room)), dtype=object), np.zeros(1, dtype=object))]
    for n in range(1, gpus + 1):
        used, worth = [levels[-1][0]], [levels[-1][1]]
        for weight, amounts, price in items:
            if weight <= n and price > 0:
                before, value = levels[n - weight]
                after = before + np.array(amounts, dtype=object)
                fits = np.asarray(after <= np.array(room, dtype=object), dtype=bool).all(axis=1)
                used.append(after[fits])
                worth.append(value[fits] + price)
        levels.append(_unbeaten(np.concatenate(used), np.concatenate(worth)))
    return int(max(levels[-1][1]))


def _unbeaten(used: Numbers, worth: Numbers) -> tuple[Numbers, Numbers]:
    """Keep the states that no other one beats or equals."""
    places = [np.unique(used[:, r], return_inverse=True) for r in range(used.shape[1])]
    values, ranks = np.unique(worth, return_inverse=True)
    shape = tuple(len(amounts) for amounts, _ in places)
    if np.prod([float(n) for n in shape]) > _DENSE:
        return _merged(used, worth)
    best = np.full(shape, -1, dtype=np.int64)
    np.maximum.at(best, tuple(place for _, place in places), ranks)
    reach = best
    for axis in range(best.ndim):
        reach = np.maximum.accumulate(reach, axis=axis)
    kept = best >= 0
    for axis in range(best.ndim):
        later, earlier = [slice(None)] * best.ndim, [slice(None)] * best.ndim
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        kept[tuple(later)] &= best[tuple(later)] > reach[tuple(earlier)]
    cells = np.nonzero(kept)
    columns = [amounts[cell] for (amounts, _), cell in zip(places, cells, strict=True)]
    return np.stack(columns, axis=1), values[best[cells]]


def _merged(used: Numbers, worth: Numbers) -> tuple[Numbers, Numbers]:
    best: dict[tuple[int, ...], int] = {}
    for row, price in zip(used.tolist(), worth.tolist(), strict=True):
        key = tuple(row)
        best[key] = max(best.get(key, price), price)
    table = np.array(list(best), dtype=object).reshape(len(best), used.shape[1])
    return table, np.array(list(best.values()), dtype=object)
