"""Doomed cells: takes a state, gives how many reserved cells cannot be had in good health.

The exact number is a minimum over all ways to carve out what is owed; two fast bounds stand
beside it under names that say so.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hived_cells import bitset
from hived_cells.errors import HivedError, IllegalRequest, shown
from hived_cells.state import State

if TYPE_CHECKING:
    import numpy as np

__all__ = ["doomed", "doomed_greedy_upper_bound", "doomed_level_lower_bound", "doomed_of"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A pattern of bad GPUs in a cell, up to the order of its parts."""

    level: int
    bad: bool
    parts: tuple[tuple[int, int], ...]  # (shape of the level below, how many of it)


@dataclass(frozen=True, slots=True)
class Stock:
    """The free space of a state as counts of shapes, and what is owed from it."""

    shapes: tuple[Shape, ...]  # a shape comes after its parts
    free: tuple[int, ...]  # free cells of each shape
    owed: tuple[int, ...]  # by level, entry 0 unused
    pins: int  # owed pinned cells with a bad GPU: doomed whatever else is done


def doomed(state: State) -> int:
    """Return the least number of owed cells with a bad GPU over all packings.

    A packing carves every owed cell out of the free cells at the same time. Minimised exactly
    by an integer programme over shapes, patterns of bad GPUs up to order: variables a_T cells
    of shape T handed out and s_T split, a_T + s_T = free_T + sum over P of parts_{P,T} s_P and
    sum of a_T over a level = cells owed of that level. Size: number of different shapes, not
    of cells. Fast bounds: `doomed_level_lower_bound`, `doomed_greedy_upper_bound`.

    Raises
    ------
    HivedError
        The integer programme was not solved to proven optimality.

    References
    ----------
    HiveD (OSDI 2020), Section 4 (faulty hardware); counting level by level is too low.

    Examples
    --------
    >>> from hived_cells import Cell, Chain, Reservation, initial_state
    >>> from hived_cells.faults import mark_bad
    >>> state = initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {2: 1, 1: 2}}))
    >>> doomed(mark_bad(state, Cell(1, (0, 0))))
    1
    """
    stock = _stock(state)
    low, high = _level_bound(stock), _greedy_bound(stock)
    if low == high:
        return low + stock.pins
    return _solve(stock, stock.owed) + stock.pins


def doomed_of(state: State, tenant: str) -> int:
    """Return the least number of one tenant's owed cells with a bad GPU over all packings.

    The others' cells are packed as well, but only this tenant's count: what the tenant is sure
    to see as faulty. The sum over tenants is at most `doomed`.

    Parameters
    ----------
    state
        The pool as it is.
    tenant
        A tenant of the reservation.

    Raises
    ------
    IllegalRequest
        The tenant reserved nothing here.
    HivedError
        The integer programme was not solved to proven optimality.

    Examples
    --------
    >>> from hived_cells import Cell, Chain, Reservation, initial_state
    >>> from hived_cells.faults import mark_bad
    >>> state = initial_state(Chain(2, ()), Reservation({"A": {1: 1}, "B": {1: 1}}))
    >>> state = mark_bad(state, Cell(1, (0,)))
    >>> doomed_of(state, "A"), doomed_of(state, "B"), doomed(state)
    (0, 0, 1)
    """
    number = state.pool.tenant_number(tenant)
    if number < 0:
        raise IllegalRequest(f"tenant {shown(tenant)} reserved nothing here")
    stock = _stock(state, tenant=tenant)
    own = tuple(
        reserved - held
        for reserved, held in zip(state.pool.reserved[number], state.held[number], strict=True)
    )
    sure = any(shape.bad and own[shape.level] for shape in stock.shapes)
    return (_solve(stock, own) if sure else 0) + stock.pins


def doomed_level_lower_bound(state: State) -> int:
    """Return a lower bound on `doomed`: each level on its own, as if it had all to itself.

    sum over k of max(0, owed_k - healthy cells of level k in the free space). Fast, and too low
    where levels compete for the same healthy cells. O(free cells with bad GPUs).

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> doomed_level_lower_bound(initial_state(Chain(2, ()), Reservation({"A": {1: 1}})))
    0
    """
    stock = _stock(state)
    return _level_bound(stock) + stock.pins


def doomed_greedy_upper_bound(state: State) -> int:
    """Return an upper bound on `doomed`: hand out healthy cells first, from the top level down.

    The count of one packing that exists. O(shapes x levels + free cells with bad GPUs).

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> doomed_greedy_upper_bound(initial_state(Chain(2, ()), Reservation({"A": {1: 1}})))
    0
    """
    stock = _stock(state)
    return _greedy_bound(stock) + stock.pins


def _stock(state: State, *, tenant: str | None = None) -> Stock:
    chain = state.chain
    shapes = [Shape(1, bad=False, parts=())]
    shapes += [
        Shape(level, bad=False, parts=((level - 2, chain.splits[level]),))
        for level in range(2, chain.levels + 1)
    ]
    known = {shape: number for number, shape in enumerate(shapes)}
    seen: dict[tuple[int, int], int] = {}

    def shape_of(level: int, bad: int) -> int:
        if not bad:
            return level - 1
        if (level, bad) not in seen:
            parts: dict[int, int] = {}
            if level > 1:
                size = chain.sizes[level - 1]
                for at in range(0, chain.sizes[level], size):
                    part = shape_of(level - 1, bad >> at & ((1 << size) - 1))
                    parts[part] = parts.get(part, 0) + 1
            shape = Shape(level, bad=True, parts=tuple(sorted(parts.items())))
            if shape not in known:
                known[shape] = len(shapes)
                shapes.append(shape)
            seen[level, bad] = known[shape]
        return seen[level, bad]

    free: dict[int, int] = {}
    for level in range(1, chain.levels + 1):
        size = chain.sizes[level]
        for (_, bad, _), members in state.groups[level].items():
            if not bad:
                free[level - 1] = free.get(level - 1, 0) + bitset.count(members)
                continue
            for index in bitset.indices(members):
                number = shape_of(level, bitset.window(state.bad, index * size, size))
                free[number] = free.get(number, 0) + 1
    owed = zip(state.pool.owed_at_start, state.allocated, strict=True)
    pins = sum(
        bitset.window(state.bad, index * chain.sizes[pin.cell.level], chain.sizes[pin.cell.level])
        != 0
        for number, (pin, index) in enumerate(
            zip(state.reservation.pins, state.pool.pin_indices, strict=True)
        )
        if not state.pins_in_use >> number & 1 and tenant in {None, pin.tenant}
    )
    return Stock(
        tuple(shapes),
        tuple(free.get(number, 0) for number in range(len(shapes))),
        tuple(reserved - held for reserved, held in owed),
        pins,
    )


def _level_bound(stock: Stock) -> int:
    """Owed minus healthy, level by level, the healthy counted as if nothing else were owed."""
    whole = _all_split(stock)
    healthy = [0] * len(stock.owed)
    for shape, number in zip(stock.shapes, whole, strict=True):
        if not shape.bad:
            healthy[shape.level] += number
    return sum(max(0, owed - sound) for owed, sound in zip(stock.owed, healthy, strict=True))


def _all_split(stock: Stock) -> list[int]:
    """Return how many cells of each shape lie in the free space, at whatever depth."""
    number = list(stock.free)
    for place in sorted(range(len(number)), key=lambda i: -stock.shapes[i].level):
        for part, times in stock.shapes[place].parts:
            number[part] += times * number[place]
    return number


def _greedy_bound(stock: Stock) -> int:
    left = list(stock.free)
    found = 0
    for level in range(len(stock.owed) - 1, 0, -1):
        owed = stock.owed[level]
        places = [i for i, shape in enumerate(stock.shapes) if shape.level == level]
        places.sort(key=lambda i: (stock.shapes[i].bad, _soundness(stock, i)))
        for place in places:
            shape = stock.shapes[place]
            given = min(owed, left[place])
            owed -= given
            found += given if shape.bad else 0
            for part, times in shape.parts:
                left[part] += times * (left[place] - given)
    return found


def _soundness(stock: Stock, place: int) -> int:
    """Return how many healthy GPUs a shape has."""
    shape = stock.shapes[place]
    if shape.level == 1:
        return 0 if shape.bad else 1
    return sum(times * _soundness(stock, part) for part, times in shape.parts)


def _solve(stock: Stock, own: tuple[int, ...]) -> int:
    """Minimise the bad ones among `own` of the owed cells, over packings of all owed cells."""
    import numpy as np  # noqa: PLC0415 (heavy: only where it is used)
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415

    count = len(stock.shapes)
    # Columns: handed out to `own`, handed out to others, split; one of each for every shape.
    balance = np.zeros((count, 3 * count))
    for place, shape in enumerate(stock.shapes):
        balance[place, [place, count + place, 2 * count + place]] = 1
        for part, times in shape.parts:
            balance[part, 2 * count + place] -= times
    levels = len(stock.owed)
    demand = np.zeros((2 * levels, 3 * count))
    for place, shape in enumerate(stock.shapes):
        demand[shape.level, place] = 1
        demand[levels + shape.level, count + place] = 1
    others = [all_ - own_ for all_, own_ in zip(stock.owed, own, strict=True)]
    cost = np.array([float(shape.bad) for shape in stock.shapes] + [0.0] * (2 * count))
    result = milp(
        cost,
        constraints=[
            LinearConstraint(balance, stock.free, stock.free),
            LinearConstraint(demand, [*own, *others], [*own, *others]),
        ],
        integrality=np.ones(3 * count, dtype=np.int64),
        bounds=Bounds(0, np.inf),
        options={"mip_rel_gap": 0.0},
    )
    if result.x is None or result.status != 0:
        raise HivedError(f"doomed cells: not solved to optimality ({result.message})")
    return _checked(stock, own, result.x)


def _checked(stock: Stock, own: tuple[int, ...], values: "np.ndarray[Any, Any]") -> int:
    """Return the objective of the rounded answer once it is a packing in exact integers."""
    count = len(stock.shapes)
    whole = [round(float(value)) for value in values]
    mine, theirs, split = whole[:count], whole[count : 2 * count], whole[2 * count :]
    supply = list(stock.free)
    given = [0] * len(stock.owed)
    given_own = [0] * len(stock.owed)
    for place, shape in enumerate(stock.shapes):
        for part, times in shape.parts:
            supply[part] += times * split[place]
        given[shape.level] += mine[place] + theirs[place]
        given_own[shape.level] += mine[place]
    used = [a + b + c for a, b, c in zip(mine, theirs, split, strict=True)]
    if min(whole) < 0 or used != supply or tuple(given) != stock.owed or tuple(given_own) != own:
        raise HivedError("doomed cells: the integer programme's answer is not a packing")
    return sum(mine[place] for place, shape in enumerate(stock.shapes) if shape.bad)
