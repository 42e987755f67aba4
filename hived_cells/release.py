"""Algorithm 1, release: takes a state and a held cell, gives the state with it free and merged."""

from hived_cells import bitset
from hived_cells.draft import Draft, key_of
from hived_cells.errors import IllegalRequest, InvalidSpec, shown
from hived_cells.hierarchy import Cell
from hived_cells.state import State

__all__ = ["release"]


def release(state: State, tenant: str, cell: Cell) -> State:
    """Give a held cell back; it merges with its buddies as far up as they are all free.

    Every S_k stays or grows (a merge into level k + 1 raises S_{k+1} by one), at most n - k
    merges. A pinned cell goes back to its tenant's pin, not to the free list.
    O(levels x factor), independent of the number of cells.

    Parameters
    ----------
    state
        The present state; it stays as it is.
    tenant
        Who holds the cell.
    cell
        The cell, as `allocate` returned it.

    Raises
    ------
    IllegalRequest
        The tenant does not hold the cell; the message says what it reserved and holds.

    References
    ----------
    HiveD (OSDI 2020), Section 3, Algorithm 1.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate, initial_state
    >>> state = initial_state(Chain(top_cells=2, factors=(2, 2)), Reservation({"A": {1: 3}}))
    >>> later, cell = allocate(state, "A", 1)
    >>> release(later, "A", cell) == state
    True
    """
    number = state.pool.tenant_number(tenant)
    try:
        index = state.chain.index(cell)
    except InvalidSpec as error:
        raise IllegalRequest(
            f"tenant {shown(tenant)} releases no cell of the pool: {error}"
        ) from error
    level = cell.level
    if number < 0 or not bitset.has(state.bound[number][level], index):
        return _release_pin(state, tenant, cell)
    draft = Draft(state)
    draft.unbind(number, level, index)
    _merge(draft, level, index)
    return draft.freeze()


def _release_pin(state: State, tenant: str, cell: Cell) -> State:
    for number, pin in enumerate(state.reservation.pins):
        if pin.tenant == tenant and pin.cell == cell and state.pins_in_use >> number & 1:
            break
    else:
        raise IllegalRequest(
            f"tenant {shown(tenant)} does not hold cell {cell} of level {cell.level}: "
            + holdings(state, tenant)
        )
    draft = Draft(state)
    draft.pins_in_use &= ~(1 << number)
    size = state.chain.sizes[cell.level]
    start = state.pool.pin_indices[number] * size
    draft.used = bitset.write(draft.used, start, size, 0)
    return draft.freeze()


def holdings(state: State, tenant: str) -> str:
    """Return what the tenant reserved and holds, in words.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, initial_state
    >>> holdings(initial_state(Chain(1, ()), Reservation({"A": {1: 1}})), "A")
    'it reserved {1: 1} and holds {} (level: cells)'
    """
    number = state.pool.tenant_number(tenant)
    if number < 0:
        return "it reserved nothing here"
    reserved, held = (
        {level: count for level, count in enumerate(row) if count}
        for row in (state.pool.reserved[number], state.held[number])
    )
    return f"it reserved {reserved} and holds {held} (level: cells)"


def _merge(draft: Draft, level: int, index: int) -> None:
    """Put a cell on the free list, merged with its buddies as long as all of them are free."""
    chain = draft.chain
    while level < chain.levels:
        factor = chain.splits[level + 1]
        base = index - index % factor
        buddies = ((1 << factor) - 1) ^ (1 << (index - base))
        if bitset.window(draft.free[level], base, factor) != buddies:
            break
        for buddy in range(base, base + factor):
            if buddy != index:
                draft.drop_free(level, buddy, draft.key(level, buddy))
        level, index = level + 1, index // factor
    size = chain.sizes[level]
    low = bitset.window(draft.low, index * size, size)
    bad = bitset.window(draft.bad, index * size, size)
    draft.add_free(level, index, key_of(chain, level, low, bad))
