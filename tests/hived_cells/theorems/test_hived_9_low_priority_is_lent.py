"""HiveD 9: low priority never decides a guaranteed request; it keeps away from guaranteed use."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    IllegalRequest,
    NoRoom,
    allocate,
    bitset,
    bound_cells,
    free_counts,
    initial_state,
    start,
)
from hived_cells.testing import pools


def ancestor_level(chain, one, other):
    """Return the level of the lowest cell that has both GPUs, beyond the top for none."""
    for level in range(1, chain.levels + 1):
        if one // chain.sizes[level] == other // chain.sizes[level]:
            return level
    return chain.levels + 1


@given(
    pools(max_gpus=24),
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4))),
    st.lists(st.integers(1, 4), max_size=4),
)
def test_low_priority_changes_no_count(pool, requests, sizes):
    """Tests that the same requests give the same counts with and without low-priority jobs."""
    plain = busy = initial_state(pool.chain, pool.reservation)
    for size in sizes:
        try:
            busy, _ = start(busy, "C", size)
        except NoRoom:
            continue
    for tenant, level in requests:
        try:
            plain, _ = allocate(plain, tenant, level)
        except IllegalRequest:
            continue
        busy, _ = allocate(busy, tenant, level)
        assert free_counts(plain) == free_counts(busy)


@given(
    pools(max_gpus=24), st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4)), min_size=1)
)
def test_a_job_runs_as_far_from_guaranteed_use_as_it_can(pool, requests):
    """Tests that no idle GPU has a higher common ancestor with the nearest guaranteed one."""
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in requests:
        try:
            state, _ = allocate(state, tenant, level)
        except IllegalRequest:
            continue
    used = list(bitset.indices(state.used))
    idle = [gpu for gpu in range(pool.chain.gpus) if gpu not in used]
    if not used or not idle or not list(bound_cells(state)):
        return
    _, job = start(state, "C", 1)
    distance = {g: min(ancestor_level(pool.chain, g, u) for u in used) for g in idle}
    assert distance[job.gpus[0]] == max(distance.values())
