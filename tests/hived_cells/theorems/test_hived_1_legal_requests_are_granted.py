"""HiveD 1: a legal request after a feasible start is granted with at most n - 1 splits."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    IllegalRequest,
    allocate,
    bound_cells,
    fewest_low_priority,
    free_counts,
    initial_state,
    lowest_address,
    release,
)
from hived_cells.testing import pools


def source_level(before, after):
    """Return the level of the cell that was taken: the highest one whose free list shrank."""
    counts = zip(free_counts(before), free_counts(after), strict=True)
    return max(level for level, (old, new) in enumerate(counts, 1) if new < old)


@given(pools(max_gpus=32), st.data())
def test_every_legal_request_is_granted(pool, data):
    """Tests that the whole reservation can be taken in any order, with releases in between."""
    state = initial_state(pool.chain, pool.reservation)
    choose = data.draw(st.sampled_from([lowest_address, fewest_low_priority]))
    levels = st.integers(1, pool.chain.levels)
    for tenant, level, back in data.draw(
        st.lists(st.tuples(st.sampled_from("AB"), levels, st.booleans()), max_size=20)
    ):
        held = list(bound_cells(state))
        if back and held:
            state = release(state, *data.draw(st.sampled_from(held)))
        try:
            state, _ = allocate(state, tenant, level, choose=choose)
        except IllegalRequest:
            number = state.reservation.tenants.index(tenant)
            assert state.held[number][level] == state.pool.reserved[number][level]
    for number, tenant in enumerate(state.reservation.tenants):
        for level in range(1, pool.chain.levels + 1):
            for _ in range(state.pool.reserved[number][level] - state.held[number][level]):
                before = state
                state, cell = allocate(state, tenant, level, choose=choose)
                assert source_level(before, state) - cell.level <= pool.chain.levels - 1
                grown = [
                    new - old
                    for old, new in zip(free_counts(before), free_counts(state), strict=True)
                ]
                for k in range(cell.level, source_level(before, state)):
                    assert grown[k - 1] == pool.chain.splits[k + 1] - 1
    assert state.held == state.pool.reserved
