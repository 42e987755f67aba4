"""HiveD 6: bad cells stay on the free list, legal requests are granted, a bad one is flagged."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    allocate,
    doomed,
    flagged,
    free_cells,
    initial_state,
    is_bad,
    mark_bad,
    slack,
)
from hived_cells.testing import pools


def faulty(pool, gpus):
    state = initial_state(pool.chain, pool.reservation)
    for gpu in gpus:
        state = mark_bad(state, pool.chain.cell(1, gpu % pool.chain.gpus))
    return state


@given(pools(max_gpus=24), st.sets(st.integers(0, 23)))
def test_all_that_is_owed_is_granted_though_hardware_is_bad(pool, gpus):
    """Tests that faults refuse nothing, and that at least the doomed number is flagged."""
    state = faulty(pool, gpus)
    assert slack(state) == slack(initial_state(pool.chain, pool.reservation))
    least = doomed(state)
    for tenant, counts in pool.reservation.cells:
        for level, count in counts:
            for _ in range(count):
                state, _ = allocate(state, tenant, level)
    assert state.held == state.pool.reserved
    assert len(flagged(state)) >= least


@given(pools(max_gpus=24), st.sets(st.integers(0, 23)), st.data())
def test_a_healthy_cell_is_bound_where_the_lowest_list_has_one(pool, gpus, data):
    """Tests that a bad cell is bound only if no cell of the list served has a healthy part."""
    state = faulty(pool, gpus)
    rights = [(t, level) for t, counts in pool.reservation.cells for level, n in counts if n]
    if not rights:
        return
    tenant, level = data.draw(st.sampled_from(rights))
    later, cell = allocate(state, tenant, level)
    if is_bad(later, cell):
        source = min(k for k in range(level, pool.chain.levels + 1) if state.free_count[k])
        for free in free_cells(state, source):
            inside = (c for c in pool.chain.cells(level) if c.path[: len(free.path)] == free.path)
            assert all(is_bad(state, part) for part in inside)
