"""How a job may use slots: whole in one, or in pieces, all of one configuration.

Takes wishes and slot prices, gives the best options of a kind: its configuration and the slots
that its pieces take. The cheapest division of a job is a dynamic programme over its GPUs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from synergy_opt.configurations import at_least
from synergy_opt.packed.pricing import Index, Prices
from synergy_opt.packed.shapes import Shop, Slot, Wish

FAR = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One way to run a job of a kind.

    Parameters
    ----------
    wish
        Position of the kind.
    configuration
        Which of its fair configurations.
    slots
        Pairs (slot, pieces in such slots), by slot, ascending.
    """

    wish: int
    configuration: int
    slots: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Uses:
    """Which slots the pieces of a kind's jobs fill.

    Parameters
    ----------
    wish
        The kind.
    choices
        Pairs (group, GPUs) of a piece.
    slots
        Choices × configurations: the slot that the piece fills, -1 where no server has it, or
        where the configuration is not fair on any set of groups with this one.
    """

    wish: Wish
    choices: tuple[tuple[int, int], ...]
    slots: Index


def uses(shop: Shop, wish: Wish) -> Uses:
    """Look up the slots of a kind's pieces."""
    choices, rows = [], []
    totals = wish.sizes.tolist()
    for h, group in enumerate(shop.instance.cluster.servers):
        floor = min(f for some, f in wish.floors.items() if h in some)
        fair = at_least(wish.configurations.value, floor).tolist()
        for gpus in range(1, min(group.gpus, wish.gpus) + 1) if wish.pieces else [wish.gpus]:
            if gpus > group.gpus:
                continue
            choices.append((h, gpus))
            rows.append(
                [
                    shop.place_of.get(
                        Slot(h, gpus, tuple(size * gpus // wish.gpus for size in row)), FAR
                    )
                    if good
                    else FAR
                    for row, good in zip(totals, fair, strict=True)
                ]
            )
    slots = np.array(rows, dtype=np.int64).reshape(len(choices), len(wish.configurations))
    return Uses(wish=wish, choices=tuple(choices), slots=slots)


def costs(use: Uses, prices: Prices) -> tuple[Prices, npt.NDArray[np.bool_]]:
    """Give for each configuration the least price of slots that hold a whole job of the kind.

    For a job in pieces: C[m] = min over pieces of k ≤ m GPUs of C[m − k] + μ(k, k/g · d), and C[g]
    is the price. Whether a configuration is fair on the groups that the pieces touch *together* is
    not asked here, so that a bound made from these costs holds for all placements.

    Parameters
    ----------
    use
        Of the kind.
    prices
        μ, one a slot.

    Returns
    -------
    costs, possible
        One a configuration; where it is not possible the cost means nothing.
    """
    table, reached = _tables(use, prices)
    price: Prices = table[-1]
    return price, reached[-1]


def _tables(use: Uses, prices: Prices) -> tuple[Prices, npt.NDArray[np.bool_]]:
    width = use.slots.shape[1]
    gpus = use.wish.gpus
    if not use.wish.pieces:
        gpus = 1  # one step: all GPUs together
    table = np.zeros((gpus + 1, width), dtype=prices.dtype)
    reached = np.zeros((gpus + 1, width), dtype=bool)
    reached[0] = True
    for m in range(1, gpus + 1):
        for (_, k), row in zip(use.choices, use.slots, strict=True):
            before = m - (k if use.wish.pieces else 1)
            if before < 0:
                continue
            possible = reached[before] & (row != FAR)
            cost = table[before] + prices[row]
            better = possible & (~reached[m] | np.asarray(cost < table[m], dtype=bool))
            table[m][better] = cost[better]
            reached[m] |= possible
    return cast("Prices", table), reached


def whole(position: int, use: Uses) -> Iterator[Option]:
    """Give every option with the job in one piece."""
    for (_, k), row in zip(use.choices, use.slots, strict=True):
        if k == use.wish.gpus:
            for c, slot in enumerate(row.tolist()):
                if slot != FAR:
                    yield Option(wish=position, configuration=c, slots=((slot, 1),))


def divided(position: int, use: Uses, prices: Prices, configuration: int) -> Option:
    """Give the cheapest option of a job in pieces in this configuration, a possible one."""
    table, reached = _tables(use, prices)
    counts: Counter[int] = Counter()
    m = use.wish.gpus
    while m:
        for (_, k), slot in zip(use.choices, use.slots[:, configuration].tolist(), strict=True):
            if slot == FAR or k > m or not reached[m - k, configuration]:
                continue
            if table[m - k, configuration] + prices[slot] == table[m, configuration]:
                counts[slot] += 1
                m -= k
                break
    return Option(wish=position, configuration=configuration, slots=tuple(sorted(counts.items())))


def options_above(
    position: int, use: Uses, prices: Prices, least: float, *, most: int
) -> list[Option] | None:
    """Give every option whose value exceeds the price of its slots by at least `least`.

    None where there are more than `most`.

    Parameters
    ----------
    position, use
        The kind.
    prices
        μ, one a slot.
    least
        Where to cut; the cut is exact but for the rounding of floats.
    most
        Options after which to give up.
    """
    table, reached = _tables(use, prices)
    step = [k if use.wish.pieces else 1 for _, k in use.choices]
    found: list[Option] = []
    for c, value in enumerate(use.wish.values.tolist()):
        slots = use.slots[:, c].tolist()
        stack: list[tuple[int, int, float, tuple[int, ...]]] = [(len(table) - 1, 0, value, ())]
        while stack:
            left, first, gain, taken = stack.pop()
            if not left:
                counts = tuple(sorted(Counter(taken).items()))
                found.append(Option(wish=position, configuration=c, slots=counts))
                if len(found) > most:
                    return None
            for i in range(first, len(slots)):
                after = left - step[i]
                if slots[i] == FAR or after < 0 or not reached[after, c]:
                    continue
                rest = gain - prices[slots[i]]
                if rest - table[after, c] >= least:
                    stack.append((after, i, rest, (*taken, slots[i])))
    return found
