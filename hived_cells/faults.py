"""Faulty hardware: takes a state and a cell that went bad or healed, gives the next state.

Health is a fact about GPUs: a cell is bad while it has a bad GPU. Bad cells stay on the free
list, so Theorem 1 stands and nothing has to be put back when they heal.
"""

from collections.abc import Iterator

from hived_cells import bitset
from hived_cells.draft import Draft
from hived_cells.hierarchy import Cell
from hived_cells.state import State, bound_cells

__all__ = ["bad_gpus", "flagged", "heal", "is_bad", "mark_bad"]


def mark_bad(state: State, cell: Cell) -> State:
    """Mark every GPU of a cell as bad; one that is already stays so.

    No count and no S_k changes. O(levels + free cells inside).

    Parameters
    ----------
    state
        The pool as it is.
    cell
        A cell of the pool's chain.

    Returns
    -------
    State
        The next state; what is held stays held.

    Raises
    ------
    InvalidSpec
        There is no such cell.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {1: 3}}))
    >>> mark_bad(state, Cell(2, (1,)))
    <State of 4 GPUs in 2 levels: free 2+0, owed 0+3, held {}, 2 GPUs bad>
    """
    return _set_health(state, cell, bad=True)


def heal(state: State, cell: Cell) -> State:
    """Mark every GPU of a cell as healthy; one that is already stays so.

    Parameters
    ----------
    state
        The pool as it is.
    cell
        A cell of the pool's chain.

    Returns
    -------
    State
        The next state.

    Raises
    ------
    InvalidSpec
        There is no such cell.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2,)), Reservation({"A": {1: 3}}))
    >>> heal(mark_bad(state, Cell(2, (1,))), Cell(2, (1,))) == state
    True
    """
    return _set_health(state, cell, bad=False)


def is_bad(state: State, cell: Cell) -> bool:
    """Return whether the cell has a bad GPU.

    Parameters
    ----------
    state
        The pool as it is.
    cell
        A cell of the pool's chain.

    Raises
    ------
    InvalidSpec
        There is no such cell.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2,)), Reservation({}))
    >>> is_bad(mark_bad(state, Cell(1, (1, 0))), Cell(2, (1,)))
    True
    """
    index = state.chain.index(cell)
    size = state.chain.sizes[cell.level]
    return bitset.window(state.bad, index * size, size) != 0


def bad_gpus(state: State) -> tuple[Cell, ...]:
    """Return the bad GPUs as cells of level 1, in address order.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> bad_gpus(mark_bad(initial_state(Chain(2, ()), Reservation({})), Cell(1, (1,))))
    (Cell(level=1, path=(1,)),)
    """
    return tuple(state.chain.cell(1, gpu) for gpu in bitset.indices(state.bad))


def flagged(state: State) -> tuple[tuple[str, Cell], ...]:
    """Return (tenant, cell) for every held cell with a bad GPU, for the tenants to avoid.

    References
    ----------
    HiveD (OSDI 2020), Section 4: a faulty cell is bound only where there is no other choice, so
    that the scheduler inside sees it.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state = mark_bad(initial_state(Chain(1, ()), Reservation({"A": {1: 1}})), Cell(1, (0,)))
    >>> flagged(allocate(state, "A", 1)[0])
    (('A', Cell(level=1, path=(0,))),)
    """
    return tuple((tenant, cell) for tenant, cell in bound_cells(state) if is_bad(state, cell))


def _set_health(state: State, cell: Cell, *, bad: bool) -> State:
    index = state.chain.index(cell)
    size = state.chain.sizes[cell.level]
    draft = Draft(state)
    touched = [(level, number) for level, number in _free_around(state, cell.level, index)]
    keys = [draft.key(level, number) for level, number in touched]
    draft.bad = bitset.write(draft.bad, index * size, size, (1 << size) - 1 if bad else 0)
    for (level, number), key in zip(touched, keys, strict=True):
        draft.regroup(level, number, key)
    return draft.freeze()


def _free_around(state: State, level: int, index: int) -> Iterator[tuple[int, int]]:
    """Yield (level, number) of the free cell that contains the cell, or of those inside it."""
    chain = state.chain
    above = index
    for upper in range(level, chain.levels + 1):
        if upper > level:
            above //= chain.splits[upper]
        if bitset.has(state.free[upper], above):
            yield upper, above
            return
    for lower in range(level - 1, 0, -1):
        width = chain.sizes[level] // chain.sizes[lower]
        inside = bitset.window(state.free[lower], index * width, width)
        while inside:
            yield lower, index * width + (inside & -inside).bit_length() - 1
            inside &= inside - 1
