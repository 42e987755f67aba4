"""HiveD 3: a take from level l lowers S_j by one for k < j <= l, a merge raises S_{k+1} by one."""

from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Candidates,
    IllegalRequest,
    allocate,
    bound_cells,
    free_counts,
    initial_state,
    owed_counts,
    release,
    slack,
)
from hived_cells.testing import pools


@given(pools(max_gpus=24), st.data())
def test_slack_moves_by_splits_and_merges_alone(pool, data):
    """Tests the change of S in each level for random takes, detours and releases."""
    state = initial_state(pool.chain, pool.reservation)

    def anything(candidates: Candidates):
        higher = candidates.detour()
        if higher is not None and data.draw(st.booleans()):
            return anything(higher)
        return data.draw(st.sampled_from([c.cell for c in candidates]))

    for _ in range(data.draw(st.integers(0, 12))):
        before, held = state, list(bound_cells(state))
        old, counts = slack(before), free_counts(before)
        if held and data.draw(st.booleans()):
            tenant, cell = data.draw(st.sampled_from(held))
            state = release(before, tenant, cell)
            top = max(
                k for k in range(1, len(old) + 1) if free_counts(state)[k - 1] > counts[k - 1]
            )
            rise = [int(cell.level < k <= top) for k in range(1, len(old) + 1)]
            assert list(slack(state)) == [s + r for s, r in zip(old, rise, strict=True)]
            continue
        tenant, level = data.draw(st.sampled_from("AB")), data.draw(st.integers(1, len(old)))
        try:
            state, cell = allocate(before, tenant, level, choose=anything)
        except IllegalRequest:
            continue
        top = max(k for k in range(1, len(old) + 1) if free_counts(state)[k - 1] < counts[k - 1])
        fall = [int(level < k <= top) for k in range(1, len(old) + 1)]
        assert list(slack(state)) == [s - f for s, f in zip(old, fall, strict=True)]


@given(pools(max_gpus=24), st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 4))))
def test_slack_counts_gpus(pool, requests):
    """Tests w_k S_k = GPUs free at levels >= k minus GPUs owed at levels >= k."""
    state = initial_state(pool.chain, pool.reservation)
    for tenant, level in requests:
        try:
            state, _ = allocate(state, tenant, level)
        except IllegalRequest:
            continue
    free, owed, sizes = free_counts(state), owed_counts(state), pool.chain.sizes
    for k in range(1, pool.chain.levels + 1):
        above = range(k, pool.chain.levels + 1)
        gpus = sum(sizes[j] * (free[j - 1] - owed[j - 1]) for j in above)
        assert sizes[k] * slack(state)[k - 1] == gpus
