"""HiveD 5: buddies merge across tenants; after all releases the first state is back."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import allocate, bound_cells, free_counts, initial_state, release
from hived_cells.testing import pools


@given(pools(max_gpus=32), st.randoms())
def test_all_released_in_any_order_is_the_first_state(pool, random):
    """Tests that whatever was split is whole again, whoever held the buddies."""
    first = state = initial_state(pool.chain, pool.reservation)
    requests = [
        (tenant, level)
        for tenant, counts in pool.reservation.cells
        for level, count in counts
        for _ in range(count)
    ]
    random.shuffle(requests)
    for tenant, level in requests:
        state, _ = allocate(state, tenant, level)
    held = list(bound_cells(state))
    assert len(held) == len(requests)
    random.shuffle(held)
    for tenant, cell in held:
        state = release(state, tenant, cell)
    assert state == first
    assert free_counts(state)[-1] == pool.chain.top_cells
